// What route objects say about one announcement, as a pure function of them and of when they were fetched. Whom to ask, and
// whether an answer is too old, is not known here.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { AsSetFinding } from './as-set.ts'
import type { IrrAnswer } from './irr-reader.ts'
import type { RouteObject } from './irr-source.ts'
import type { IrrVerdict } from './irr.ts'

/** What one source answered. */
export type SourceRoutes = { readonly source: string; readonly answer: IrrAnswer<readonly RouteObject[]> }

/** Some prefixes have hundreds of objects; a few of them tell as much. */
const objectsMax = 50

export type RouteJudgement = {
  readonly state: 'valid' | 'missing' | 'mismatch_asn' | 'mismatch_length'
  /** Those that the state rests on. */
  readonly objects: readonly RouteObject[]
}

/**
 * A route object says what one AS originates, exactly and without more specific prefixes (RFC 2622 section 4). An exact one
 * with another origin says more than a shorter one with this origin: somebody else's prefix is told before a missing object.
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

/** A verdict of no answer. */
export function unavailable(reason: string): IrrVerdict {
  return { state: 'unavailable', objects: [], source: null, fetched: null, cached: false, reason }
}

/** A verdict by the member of an as-set that holds the object; `sets` are the answers that led to it. */
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

/** Of the oldest answer. */
export function ageOf(answers: readonly IrrAnswer<unknown>[]): Pick<IrrVerdict, 'fetched' | 'cached'> {
  const times = answers.map(({ fetched }) => fetched.getTime())
  return {
    fetched: times.length === 0 ? null : new Date(Math.min(...times)),
    cached: answers.some(({ cached }) => cached),
  }
}
