// The rules of visibility: the conclusions from the routes of many collectors about one announcement. Pure: no clock, no SQL, no network.
// A conclusion that the data do not support is null, never false.
import type { SeenOrigin, SeenRoute, VisibilityReason } from '@pharos/contract/byoip/visibility'
import type { RegionState } from '../status/announcement.ts'
import type { Asn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'

/** Share of the collectors at which a change counts as propagated. */
const propagatedShare = 0.8

/**
 * How long after a withdrawal a remaining route counts as a zombie. BGP converges within minutes; measurements of stuck routes use
 * 90 minutes (Fontugne et al., "BGP Zombies: an Analysis of Beacons Stuck Routes", PAM 2019), which is too late to act.
 */
export const zombieAfterMs = 15 * 60_000

/** Fewer collectors with the route are a fault of the collectors' own sessions: at least two, and 1 % of all. */
const zombieShare = 0.01
const zombieCollectorsMin = 2

/** With fewer collectors in total, their share is not evaluated. */
export const collectorsMin = 10

/** Collectors that must report an unexpected origin before it is a warning. */
const unexpectedCollectorsMin = 2

/** How long after an announcement it must be visible, and at which share of the collectors the warning starts and ends. */
const visibleAfterMs = zombieAfterMs
const notVisibleShare = { starts: 0.2, ends: 0.5 }

/** Maximum number of routes of other networks in one warning. */
const unexpectedRoutesMax = 10

/** The last change on our routers: the first of them announced the prefix, or the last one withdrew it. */
export type RouterChange = { readonly kind: 'announced' | 'withdrawn'; readonly at: Date }

export type ObservedRegion = {
  readonly state: RegionState
  readonly since: Date
  /** Whether it was ever requested there. */
  readonly wasUsed: boolean
}

/**
 * Returns the last change on the routers of all regions together. Regions between two states are ignored, so that a
 * change in a single region is no change; null if the prefix was never announced.
 */
export function nextRouterChange(
  before: RouterChange | null,
  regions: readonly ObservedRegion[],
): RouterChange | null {
  const announced = regions.filter(({ state }) => state === 'announced')
  if (announced.length > 0) {
    if (before?.kind === 'announced') return before
    return { kind: 'announced', at: notBefore(before, extremeOf(announced, Math.min)) }
  }
  const isGone = regions.every(({ state }) => state === 'withdrawn')
  const used = regions.filter(({ wasUsed }) => wasUsed)
  if (!isGone || used.length === 0 || before?.kind === 'withdrawn') return before
  return { kind: 'withdrawn', at: notBefore(before, extremeOf(used, Math.max)) }
}

function extremeOf(regions: readonly ObservedRegion[], choose: (...times: number[]) => number): Date {
  return new Date(choose(...regions.map(({ since }) => since.getTime())))
}

const notBefore = (before: RouterChange | null, at: Date): Date => (before && before.at > at ? before.at : at)

/** The state of one collector for one prefix. */
export type SeenState = {
  /** 0: no route. */
  readonly origin: number
  /** Whether the path contains our ASN; true if our ASN is not known. */
  readonly isOurs: boolean
  /** Time from which it has this origin, in milliseconds. */
  readonly atMs: number
}

export type VisibilityEvidence = {
  readonly originAsn: Asn
  readonly change: RouterChange | null
  readonly states: readonly SeenState[]
  readonly moreSpecifics: readonly {
    readonly prefix: Prefix
    readonly states: readonly SeenState[]
  }[]
  /** Known collectors of the address family. */
  readonly collectors: number
  /** Whether the state of every known collector is known. */
  readonly isComplete: boolean
  /** Whether routes were dropped because there are too many. */
  readonly isTruncated: boolean
  /** Whether every change since the last change on the routers was received, so that times can be measured. */
  readonly isContinuous: boolean
  /** The propagation time that was measured before for the same change. */
  readonly settledSeconds: number | null
}

export type Summary = {
  readonly state: 'current' | 'partial'
  readonly reason: VisibilityReason | null
  readonly collectorsTotal: number
  readonly collectorsSeeing: number
  readonly origins: readonly SeenOrigin[]
  readonly moreSpecifics: readonly SeenRoute[]
  readonly change: RouterChange | null
  readonly secondsTo80pct: number | null
  /** Collectors with our origin and our ASN in the path; all with our origin if our ASN is not known. */
  readonly ours: number
  /** Collectors with our route although it was withdrawn. */
  readonly stuck: number
  /** Null: not known. */
  readonly zombie: boolean | null
}

/** Returns the summary of an announcement at the time `nowMs`. */
export function summarise(evidence: VisibilityEvidence, nowMs: number): Summary {
  const { originAsn, states, moreSpecifics, change } = evidence
  const seeing = states.filter(({ origin }) => origin !== 0)
  const collectorsTotal = Math.max(evidence.collectors, states.length)
  const reason = reasonOf(evidence, collectorsTotal)
  const stuck = stuckOf(evidence)
  return {
    state: reason === null ? 'current' : 'partial',
    reason,
    collectorsTotal,
    collectorsSeeing: seeing.length,
    origins: countOrigins(seeing).map(([asn, count]) => ({ asn, count, expected: asn === originAsn })),
    moreSpecifics: moreSpecifics.flatMap(({ prefix, states }) =>
      countOrigins(states)
        .filter(([asn]) => asn !== originAsn)
        .map(([asn, count]) => ({ cidr: prefix, asn, count })),
    ),
    change,
    secondsTo80pct: evidence.settledSeconds ?? propagationSeconds(evidence, collectorsTotal, reason === null),
    ours: states.filter(({ origin, isOurs }) => origin === originAsn && isOurs).length,
    stuck,
    zombie: isZombie(change, stuck, collectorsTotal, reason === null, nowMs),
  }
}

function reasonOf({ isComplete, isTruncated }: VisibilityEvidence, total: number): VisibilityReason | null {
  if (isTruncated) return 'too_many_routes'
  if (total < collectorsMin) return 'few_collectors'
  return isComplete ? null : 'changes_only'
}

/** Returns the origins with their number of collectors, most first. */
function countOrigins(states: readonly SeenState[]): [asn: number, count: number][] {
  const counts = new Map<number, number>()
  for (const { origin } of states) if (origin !== 0) counts.set(origin, (counts.get(origin) ?? 0) + 1)
  return [...counts].toSorted(([a, x], [b, y]) => y - x || a - b)
}

/**
 * Returns the whole seconds from the change on our routers until 80 % of the collectors had followed it; null if they have not, or if
 * changes were missed. After a withdrawal only the collectors count that had the route. Clocks of collectors may differ from
 * ours: a time before the change counts as 0.
 */
function propagationSeconds(
  { originAsn, change, states, isContinuous }: VisibilityEvidence,
  total: number,
  isKnown: boolean,
): number | null {
  if (!change || !isContinuous || !isKnown) return null
  const changeMs = change.at.getTime()
  const has = (state: SeenState) => state.origin === originAsn
  const [done, all] =
    change.kind === 'announced'
      ? [states.filter(has), total]
      : [
          states.filter((state) => !has(state) && state.atMs >= changeMs),
          states.filter((state) => has(state) || state.atMs >= changeMs).length,
        ]
  const needed = Math.ceil(all * propagatedShare)
  if (needed === 0 || done.length < needed) return null
  const times = done.map(({ atMs }) => Math.max(0, atMs - changeMs)).toSorted((a, b) => a - b)
  return Math.round(times[needed - 1]! / 1000)
}

/** A route with the same origin that does not contain our ASN is announced elsewhere, not left over from our announcement. */
function stuckOf({ originAsn, change, states }: VisibilityEvidence): number {
  if (change?.kind !== 'withdrawn') return 0
  return states.filter(({ origin, isOurs }) => origin === originAsn && isOurs).length
}

function isZombie(
  change: RouterChange | null,
  stuck: number,
  total: number,
  isKnown: boolean,
  nowMs: number,
): boolean | null {
  if (change?.kind !== 'withdrawn' || nowMs - change.at.getTime() < zombieAfterMs) return false
  if (stuck >= Math.max(zombieCollectorsMin, Math.ceil(total * zombieShare))) return true
  return isKnown ? false : null
}

type SeenAnnouncement = Pick<Summary, 'state' | 'change' | 'collectorsTotal' | 'origins' | 'ours'>

const seeingOf = ({ origins }: SeenAnnouncement): number =>
  origins.find(({ expected }) => expected)?.count ?? 0

/** Whether the summary is enough for a conclusion about an announced prefix. */
const isConclusive = ({ state, change }: SeenAnnouncement, nowMs: number): boolean =>
  state === 'current' && change !== null && nowMs - change.at.getTime() >= visibleAfterMs

/** Returns whether an announced prefix is hardly seen by anyone; without enough data, the conclusion before. */
export function isNotVisible(before: boolean, summary: SeenAnnouncement, nowMs: number): boolean {
  if (summary.change?.kind !== 'announced') return false
  if (!isConclusive(summary, nowMs)) return before
  const { starts, ends } = notVisibleShare
  return seeingOf(summary) < summary.collectorsTotal * (before ? ends : starts)
}

/** Returns whether collectors have an announced prefix with its origin, but no path through the provider's ASN. */
export function isOnOtherPath(before: boolean, summary: SeenAnnouncement, nowMs: number): boolean {
  if (summary.change?.kind !== 'announced' || summary.ours > 0) return false
  return isConclusive(summary, nowMs) ? seeingOf(summary) >= unexpectedCollectorsMin : before
}

/**
 * Returns the routes of other networks for the prefix or a part of it that are a warning, most visible first. Empty
 * while it is not announced: its holder may announce it elsewhere.
 */
export function unexpectedRoutes(
  cidr: Prefix,
  { origins, moreSpecifics, change }: Pick<Summary, 'origins' | 'moreSpecifics' | 'change'>,
): SeenRoute[] {
  if (change?.kind !== 'announced') return []
  const own = origins.filter(({ expected }) => !expected).map(({ asn, count }) => ({ cidr, asn, count }))
  return [...own, ...moreSpecifics]
    .filter(({ count }) => count >= unexpectedCollectorsMin)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, unexpectedRoutesMax)
}
