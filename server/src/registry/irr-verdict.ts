// The verdict of the routing registries about one announcement: a pure function of the route objects and the time at which they
// were fetched. It does not choose sources and does not decide whether an answer is too old.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { AsSetFinding } from './as-set.ts'
import type { IrrAnswer } from './irr-reader.ts'
import type { RouteObject } from './irr-source.ts'

/**
 * - `valid`: an object of exactly this prefix has this origin (or an origin that the as-set has as a member).
 * - `mismatch_asn`: objects of exactly this prefix, but of other origins only.
 * - `mismatch_length`: this origin has an object of a less specific prefix only.
 * - `missing`: no such object.
 * - `unavailable`: a source did not answer and no other one has a valid object, or no source is configured.
 */
export type IrrState = 'valid' | 'missing' | 'mismatch_asn' | 'mismatch_length' | 'unavailable'

export type IrrVerdict = {
  readonly state: IrrState
  /** The objects that decided the state, at most 50. */
  readonly objects: readonly RouteObject[]
  /** The label of the source that decided the state; null if all sources did, or no source. */
  readonly source: string | null
  /** The time of the oldest used answer; null without answers. */
  readonly fetched: Date | null
  /** Whether any answer came from the cache. */
  readonly cached: boolean
  /** The member of the as-set that makes it valid, and the sets that contain it, outermost first. */
  readonly member?: { readonly asn: Asn; readonly through: readonly string[] }
  /** For people, if the state alone does not explain it: the source that is down, the problem of the as-set. */
  readonly reason?: string
}

/** The answer of one source. `source` is its label. */
export type SourceRoutes = { readonly source: string; readonly answer: IrrAnswer<readonly RouteObject[]> }

/** Some prefixes have hundreds of objects; the first ones are enough as evidence. */
const objectsMax = 50

export type RouteJudgement = {
  readonly state: 'valid' | 'missing' | 'mismatch_asn' | 'mismatch_length'
  /** The objects that decided the state. */
  readonly objects: readonly RouteObject[]
}

/**
 * Judges route objects against a prefix and its origins. A route object covers one prefix exactly, without more
 * specific ones (RFC 2622 section 4). An exact object of another origin takes precedence over a shorter object of this
 * origin, because the prefix may belong to another network.
 */
export function judgeRoutes(
  prefix: Prefix,
  origins: ReadonlySet<Asn>,
  routes: readonly RouteObject[],
): RouteJudgement {
  const exact = routes.filter((route) => route.prefix === prefix)
  const right = exact.filter(({ origin }) => origins.has(origin))
  if (right.length > 0) return { state: 'valid', objects: right.slice(0, objectsMax) }
  if (exact.length > 0) return { state: 'mismatch_asn', objects: exact.slice(0, objectsMax) }
  const shorter = routes.filter(({ origin }) => origins.has(origin))
  return { state: shorter.length > 0 ? 'mismatch_length' : 'missing', objects: shorter.slice(0, objectsMax) }
}

/** Returns the verdict if no source answered. */
export function unavailable(reason: string): IrrVerdict {
  return { state: 'unavailable', objects: [], source: null, fetched: null, cached: false, reason }
}

/** Returns the verdict if a member of the as-set has the object; `sets` are the answers that led to the member. */
export function validByMember(
  prefix: Prefix,
  { asn, through }: Extract<AsSetFinding, { found: true }>,
  routes: readonly SourceRoutes[],
  sets: readonly IrrAnswer<unknown>[],
): IrrVerdict {
  const isRight = (route: RouteObject): boolean => route.prefix === prefix && route.origin === asn
  const holder = routes.find(({ answer }) => answer.value.some(isRight))!
  return {
    state: 'valid',
    objects: holder.answer.value.filter(isRight).slice(0, objectsMax),
    source: holder.source,
    ...ageOf([holder.answer, ...sets]),
    member: { asn, through },
    reason: `AS${asn} holds the object and is a member of ${through[0]}`,
  }
}

/** Returns the time of the oldest answer, and whether any of them came from the cache. */
export function ageOf(answers: readonly IrrAnswer<unknown>[]): Pick<IrrVerdict, 'fetched' | 'cached'> {
  const times = answers.map(({ fetched }) => fetched.getTime())
  return {
    fetched: times.length === 0 ? null : new Date(Math.min(...times)),
    cached: answers.some(({ cached }) => cached),
  }
}
