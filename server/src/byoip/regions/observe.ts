// Converts the routes on a region's routers after a run into the values that its rows store: the state and, if it is not
// as desired, the reason. Pure.
import type { ReasonAttrs, RegionReason } from '@pharos/contract/reason/region-reason'
import type { Family } from '../../net/bits.ts'
import { familyOf } from '../../net/address.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { RegionState } from '../status/announcement.ts'
import type { CheckedRow, Plan, PlanRow, QuarantinedRow } from './plan.ts'
import type { Hearing, RouterHearing } from './evidence.ts'
import { sameRoute, type InstalledRoute, type Route } from './speaker.ts'

/** The address families that a router's established BGP sessions carry. */
export type Reach = Readonly<Record<Family, boolean>>

/** Final state of one router that could be read. */
export type RouterResult = {
  readonly asn: number
  readonly drained: boolean
  /** The region no longer has the router. */
  readonly isFormer: boolean
  readonly reach: Reach
  readonly after: ReadonlyMap<Prefix, InstalledRoute>
  /** Changes that were sent to it. */
  readonly announced: ReadonlyMap<Prefix, Route>
  /** Prefixes that the router rejected. */
  readonly refused: ReadonlySet<string>
  /** Whether a neighbor receives a route. */
  readonly hearing: RouterHearing['hearing']
}

/** Result of a run in all routers of the region. */
export type RunResult = {
  readonly routers: readonly RouterResult[]
  /** Number of routers that are not drained and could not be read. */
  readonly unread: number
  /** Number of routers that must carry a route. */
  readonly quorum: number
  readonly waiting: ReadonlyMap<Prefix, Date>
  readonly withdrawn: ReadonlySet<Prefix>
  readonly held: ReadonlySet<Prefix>
  readonly declined: ReadonlySet<Prefix>
  /** Prefixes that former routers may still announce. */
  readonly onFormers: ReadonlySet<Prefix>
  /** Withdrawals that this run leaves to another one: their rows are not updated. */
  readonly undecided: ReadonlySet<Prefix>
  /** Prefixes with a paused change of origin, next hop or communities. */
  readonly heldChanges: ReadonlySet<Prefix>
}

type Observed = {
  readonly state: RegionState
  readonly reason: RegionReason | null
  readonly attrs: ReasonAttrs | null
  readonly announcedOrigin: number | null
}

/** Observed values of one row that differ from the stored ones. */
export type ObservedRow = Observed & {
  /** Null for a black hole. */
  readonly announcementId: number | null
  readonly blackholeId?: number
  /** The desired state at the time of the observation. */
  readonly desired: boolean
}

/** Reasons for which a route that was sent does not reach the neighbors. */
const missingReasons: ReadonlySet<RegionReason | null> = new Set([
  'not_shown',
  'refused',
  'not_best',
  'not_advertised',
] satisfies RegionReason[])

/** `changed`: the rows whose stored state or reason differs from the observed one. `missing`: desired routes that get nowhere. */
export type Observation = { readonly changed: readonly ObservedRow[]; readonly missing: number }

/** Returns the observations of a run about the rows of the region. */
export function observedRows(
  regionId: number,
  plan: Pick<Plan, 'rows' | 'quarantined'>,
  result: RunResult,
): Observation {
  const quarantined = plan.quarantined.filter(({ row }) => row.regionId === regionId)
  const { changed, missing } = observeRows(plan.rows.values(), result)
  return { changed: [...changed, ...quarantined.flatMap(observeQuarantined)], missing }
}

function observeRows(rows: Iterable<CheckedRow>, result: RunResult): Observation {
  const changed: ObservedRow[] = []
  let missing = 0
  for (const row of rows) {
    const holders = result.routers.filter(({ after }) => after.has(row.prefix))
    const settled = row.desired
      ? stateOfDesired(row, holders, result)
      : stateOfUndesired(row, holders, result)
    if (settled === 'unknown') continue
    if (row.desired && missingReasons.has(settled.reason)) missing++
    const one = { attrs: null, ...settled, announcedOrigin: originOf(row, settled, holders) }
    if (isStored(row, one)) continue
    changed.push({ ...subjectOf(row), desired: row.desired, ...one })
  }
  return { changed, missing }
}

const isStored = (row: PlanRow, { state, reason, attrs, announcedOrigin }: Observed): boolean =>
  state === row.state &&
  reason === row.reason &&
  announcedOrigin === row.announcedOrigin &&
  JSON.stringify(attrs) === JSON.stringify(row.attrs)

const subjectOf = ({ announcementId, blackholeId }: PlanRow) => ({
  announcementId,
  ...(blackholeId === undefined ? {} : { blackholeId }),
})

/** Returns the origin that a router shows; an origin that is not observed and not known to be gone is kept. */
function originOf(
  { prefix, announcedOrigin, blackholeId }: CheckedRow,
  { state, reason }: Pick<Observed, 'state' | 'reason'>,
  [holder]: readonly RouterResult[],
): number | null {
  // A lost black hole is announced again from its row alone, which knows its end.
  if (blackholeId !== undefined) return null
  // The region's own routers have shown that it is gone: its withdrawal is not planned, and counted, again.
  if (reason === 'former_router') return null
  if (holder) return holder.after.get(prefix)!.asPath.at(-1) ?? holder.asn
  return state === 'withdrawn' ? null : announcedOrigin
}

type RowState = Pick<Observed, 'state' | 'reason'> & { readonly attrs?: ReasonAttrs }

function stateOfDesired(
  row: CheckedRow,
  holders: readonly RouterResult[],
  result: RunResult,
): RowState | 'unknown' {
  const { prefix } = row
  const { quorum, unread, waiting, heldChanges, routers } = result
  const carriers = holders.filter((router) => !router.drained && isAsSent(router, prefix))
  if (carriers.length >= quorum) {
    const family = familyOf(prefix)
    const reached = carriers.filter(({ reach }) => reach[family]).length >= quorum
    // A session that goes down later is the region's state, not that of each of its rows.
    if (!reached && row.state !== 'announced') return { state: 'announcing', reason: 'no_neighbor' }
    const best = carriers.filter(({ after }) => after.get(prefix)!.isBest)
    if (best.length < quorum) return { state: 'announcing', reason: 'not_best' }
    if (isUnheard(row, best, quorum)) return { state: 'announcing', reason: 'not_advertised' }
    return { state: 'announced', reason: heldChanges.has(prefix) ? 'change_held' : null }
  }
  if (routers.some(({ refused }) => refused.has(prefix))) return { state: 'error', reason: 'refused' }
  const until = waiting.get(prefix)
  if (until) return { state: 'announcing', reason: 'damped', attrs: { until: until.toISOString() } }
  if (carriers.length + unread < quorum) return { state: 'announcing', reason: 'not_shown' }
  // A router that cannot be read may still carry the route.
  return row.state === 'announced' ? 'unknown' : { state: 'announcing', reason: 'router_unreadable' }
}

/** Without an answer of a neighbor, a route that was not advertised before still counts as not advertised. */
function isUnheard(
  { prefix, changedMs, reason }: CheckedRow,
  routers: readonly RouterResult[],
  quorum: number,
): boolean {
  const hearings = routers.map(({ hearing }) => hearing(prefix, changedMs))
  const count = (wanted: Hearing[]) => hearings.filter((one) => wanted.includes(one)).length
  return count(reason === 'not_advertised' ? ['yes'] : ['yes', 'unknown']) < quorum
}

function isAsSent({ after, announced }: RouterResult, prefix: Prefix): boolean {
  const sent = announced.get(prefix)
  return !sent || sameRoute(after.get(prefix)!, sent)
}

function stateOfUndesired(
  row: CheckedRow,
  holders: readonly RouterResult[],
  { unread, withdrawn, held, declined, routers, undecided, onFormers }: RunResult,
): RowState | 'unknown' {
  const { prefix } = row
  if (undecided.has(prefix)) return 'unknown'
  if (declined.has(prefix)) return { state: 'withdrawing', reason: 'withdrawal_rejected' }
  if (held.has(prefix)) return { state: 'withdrawing', reason: 'withdrawal_held' }
  if (onFormers.has(prefix) && holders.every(({ isFormer }) => isFormer))
    return { state: 'withdrawing', reason: 'former_router' }
  if (holders.length === 0) {
    const isSure = unread === 0 || row.state === 'withdrawn'
    return isSure
      ? { state: 'withdrawn', reason: null }
      : { state: 'withdrawing', reason: 'router_unreadable' }
  }
  if (routers.some(({ refused }) => refused.has(prefix)))
    return { state: 'error', reason: 'withdrawal_refused' }
  if (!withdrawn.has(prefix)) return { state: 'withdrawing', reason: null }
  return { state: 'withdrawing', reason: 'withdrawal_sent', attrs: lingeringAttrs(row) }
}

/** Returns whether the withdrawal of the row was sent since it was last changed, and had no effect. */
export function isLingering(row: PlanRow): boolean {
  return (
    row.state === 'withdrawing' &&
    row.reason === 'withdrawal_sent' &&
    row.attrs?.disabled === lingeringAttrs(row).disabled
  )
}

const lingeringAttrs = ({ changedMs }: PlanRow) => ({
  disabled: changedMs === null ? null : new Date(changedMs).toISOString(),
})

function observeQuarantined({ row, problem }: QuarantinedRow): ObservedRow[] {
  if (!Number.isInteger(row.blackholeId ?? row.announcementId) || typeof row.desired !== 'boolean') return []
  const { desired, announcedOrigin } = row
  const one = { state: 'error', reason: 'invalid_row', attrs: { problem }, announcedOrigin } as const
  return isStored(row, one) ? [] : [{ ...subjectOf(row), desired, ...one }]
}
