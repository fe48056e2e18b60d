// The lease of a region, and what a run reads with it: recent decisions and withdrawals, in one statement with the epoch.
import { sql } from 'kysely'
import { lockClass } from '../../db/lock-class.ts'
import type { Postgres } from '../../db/postgres.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { LeaseLost, TargetLock, type Fence, type Lease, type LeaseTarget } from '../../reconcile/lease.ts'
import { decisionEntry, inForce } from '../../approval/approval-sql.ts'
import { itemKey, type OpenApproval, type StoredItem } from '../../approval/coverage.ts'
import {
  windowMinutes,
  type Decision,
  type RecentWithdrawal,
  type RouteReason,
  type Withdrawal,
} from './guard.ts'
import type { NeighborCheck } from './evidence.ts'
import type { Applied } from './plan.ts'
import type { Route } from './speaker.ts'

/** A route without a row, as a router had it when its approval was opened. */
export type KeptRoute = { readonly router: string; readonly route: Route }

export type RouterMemory = {
  readonly drained: boolean
  readonly applied: Applied | null
  readonly checks: readonly NeighborCheck[]
}

/** A former router: `isRead`, and the prefixes that it had then, or may have before. */
export type FormerMemory = {
  readonly id: number
  readonly isRead: boolean
  readonly prefixes: ReadonlySet<Prefix>
}

/** Recent decisions and withdrawals of a region, for the guard. */
export type RegionMemory = {
  readonly recent: readonly RecentWithdrawal[]
  readonly decisions: readonly Decision[]
  readonly openApproval: OpenApproval | null
  /** Routes of approvals that are open or rejected. */
  readonly kept: readonly KeptRoute[]
  readonly routers: ReadonlyMap<string, RouterMemory>
  readonly formers: readonly FormerMemory[]
  /** The daemons of the routers of all regions at their last check; empty without former routers here. */
  readonly daemons: readonly string[]
}

/** The right to change a region's routers. */
export interface RegionLease extends Fence {
  readonly regionId: number
  /** Throws LeaseLost if another reconciler has taken over. */
  readMemory(): Promise<RegionMemory>
  /** Written before withdrawals are sent, so that they count for the guard even after a crash in between. */
  recordWithdrawals(withdrawals: readonly Withdrawal[]): Promise<void>
}

export type RegionLockOptions = {
  /** Interval of the full runs, which determines when the last check of the region is overdue. */
  readonly intervalMs?: number
  /** Called when this process takes over the lock from another one: `hold()` now succeeds. */
  readonly onAcquired?: () => void
}

/** The lock of one region. Inert until `hold()`. */
export class RegionLock {
  readonly #regionId: number
  readonly #lock: TargetLock
  #current: { readonly lease: Lease; readonly ofRegion: RegionLease } | undefined

  constructor(
    postgres: Pick<Postgres, 'directConnection'>,
    regionId: number,
    { intervalMs = 30_000, onAcquired }: RegionLockOptions = {},
  ) {
    this.#regionId = regionId
    this.#lock = new TargetLock(postgres, targetOf(regionId, intervalMs), onAcquired)
  }

  /** Returns the lease; undefined while another process holds the lock. It is the same one until the lock is lost. */
  async hold(): Promise<RegionLease | undefined> {
    const lease = await this.#lock.hold()
    if (!lease) return undefined
    if (this.#current?.lease !== lease) this.#current = { lease, ofRegion: ofRegion(this.#regionId, lease) }
    return this.#current.ofRegion
  }

  release(): Promise<void> {
    return this.#lock.release()
  }
}

const targetOf = (regionId: number, intervalMs: number): LeaseTarget => ({
  name: `region ${regionId}`,
  lock: [lockClass.region, regionId],
  raise: {
    text: `update regions set epoch = epoch + 1, check_interval = make_interval(secs => $2) where id = $1 returning epoch`,
    values: [regionId, intervalMs / 1000],
  },
  share: (fenceTimeout) => sql<{ epoch: number }>`
      select epoch, set_config('idle_in_transaction_session_timeout', ${fenceTimeout}, true)
      from regions where id = ${regionId} for share`,
})

const memoryQuery = `
  select r.epoch,
    (select coalesce(json_agg(distinct jsonb_build_object('prefix', w.prefix, 'teamId', w.counted_for)), '[]')
      from region_withdrawals w
      where w.region_id = r.id and w.at > now() - make_interval(mins => ${windowMinutes})) as recent,
    (select coalesce(json_agg(json_build_object('id', a.id, 'state', a.state, 'reason', a.findings -> 0 -> 'reason',
        'evidence', a.evidence, 'items', a.items, 'context', a.context, 'decided', a.decided, 'entry', ${decisionEntry})), '[]')
      from approvals a where a.area = 'routes' and a.region_id = r.id and ${inForce}) as approvals,
    (select coalesce(json_agg(json_build_object('name', o.name, 'drained', o.drained is not null,
        'applied', o.applied, 'checks', o.neighbor_checks)), '[]')
      from region_routers o where o.region_id = r.id) as routers,
    (select coalesce(json_agg(json_build_object('id', f.id, 'isRead', f.last_check is not null, 'prefixes', f.prefixes)), '[]')
      from former_speakers f where f.region_id = r.id) as formers,
    (select coalesce(json_agg(o.daemon), '[]')
      from regions g cross join jsonb_array_elements(g.speakers) s
        join region_routers o on o.region_id = g.id and o.name = s ->> 'name'
      where o.daemon is not null and exists (select from former_speakers f where f.region_id = r.id)) as daemons
  from regions r where r.id = $1`

const recordQuery = `
  with expired as (delete from region_withdrawals where region_id = $1 and at < now() - interval '1 day')
  insert into region_withdrawals (region_id, prefix, counted_for)
  select $1, n.prefix, n.team_id from unnest($2::cidr[], $3::integer[]) n (prefix, team_id)`

type MemoryRow = {
  epoch: number
  recent: { prefix: string; teamId: number | null }[]
  approvals: {
    id: number
    state: 'open' | 'approved' | 'rejected'
    reason: RouteReason
    evidence: string
    items: StoredItem[]
    context: KeptRoute[]
    decided: string
    entry: number | null
  }[]
  routers: (RouterMemory & { name: string })[]
  formers: { id: number; isRead: boolean; prefixes: string[] }[]
  daemons: string[]
}

const ofRegion = (regionId: number, lease: Lease): RegionLease => ({
  ...lease,
  regionId,
  async readMemory() {
    const [row] = await lease.query<MemoryRow>(memoryQuery, [regionId])
    if (row?.epoch !== lease.epoch) throw new LeaseLost(`region ${regionId}`)
    return memoryOf(row)
  },
  async recordWithdrawals(withdrawals) {
    if (withdrawals.length === 0) return
    const prefixes = withdrawals.map(({ prefix }) => prefix)
    const teams = withdrawals.map(({ teamId }) => teamId)
    await lease.query(recordQuery, [regionId, prefixes, teams])
  },
})

function memoryOf(row: MemoryRow): RegionMemory {
  const approvals = row.approvals.map(({ items, ...one }) => ({
    ...one,
    covered: new Set(items.map(itemKey)),
  }))
  const decided = approvals.filter(({ state }) => state !== 'open')
  return {
    recent: row.recent.map(({ prefix, teamId }) => ({ prefix: parsePrefix(prefix), teamId })),
    openApproval: approvals.find(({ state }) => state === 'open') ?? null,
    decisions: decided.map((one) => ({
      ...one,
      approved: one.state === 'approved',
      decided: new Date(one.decided),
    })),
    kept: approvals.filter(({ state }) => state !== 'approved').flatMap(({ context }) => context),
    routers: new Map(row.routers.map(({ name, ...router }) => [name, router])),
    formers: row.formers.map((one) => ({ ...one, prefixes: prefixesOf(one.prefixes) })),
    daemons: row.daemons,
  }
}

const prefixesOf = (texts: readonly string[]): Set<Prefix> => new Set(texts.map(parsePrefix))
