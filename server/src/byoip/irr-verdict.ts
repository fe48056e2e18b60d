// What route objects say about one announcement, as a pure function of them. Where they come from, and how old they are, is
// not known here.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { RouteObject } from './irr-source.ts'

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
  if (right.length > 0) return { state: 'valid', objects: right }
  if (exact.length > 0) return { state: 'mismatch_asn', objects: exact }
  const shorter = routes.filter(({ origin }) => origins.has(origin))
  return { state: shorter.length > 0 ? 'mismatch_length' : 'missing', objects: shorter }
}
