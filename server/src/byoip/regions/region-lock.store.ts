// One reconciler per region: an advisory lock on a separate connection, and an epoch that each new holder of the lock
// raises. The lock excludes a second reconciler; the epoch stops a paused one that has lost its lock.
import type { HeartbeatConnection } from '../../db/heartbeat-connection.ts'
import { lockClass } from '../../db/lock-class.ts'
import type { Postgres } from '../../db/postgres.ts'
import { SessionLock } from '../../db/session-lock.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
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

/** Must exceed the time for which PostgreSQL lets a paused process lock the region's row, see withFence(). */
const raiseTimeoutMs = 20_000

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

/** The right to change a region's routers, while the lock's connection lives and the epoch is unchanged. */
export interface RegionLease {
  readonly regionId: number
  readonly epoch: number
  /** Throws LeaseLost if another reconciler has taken over. */
  readMemory(): Promise<RegionMemory>
  /** Written before withdrawals are sent, so that they count for the guard even after a crash in between. */
  recordWithdrawals(withdrawals: readonly Withdrawal[]): Promise<void>
}

/** Another reconciler has taken over the region: this run must not change anything. */
export class LeaseLost extends Error {
  constructor(regionId: number) {
    super(`region ${regionId} was taken over by another reconciler`)
    this.name = 'LeaseLost'
  }
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
  readonly #intervalMs: number
  readonly #lock: SessionLock
  #lease: ClientLease | undefined

  constructor(
    postgres: Pick<Postgres, 'directConnection'>,
    regionId: number,
    { intervalMs = 30_000, onAcquired }: RegionLockOptions = {},
  ) {
    this.#regionId = regionId
    this.#intervalMs = intervalMs
    this.#lock = new SessionLock(postgres, [lockClass.region, regionId], onAcquired)
  }

  /** Returns the lease; undefined while another process has the lock. The connection stays open for the next call. */
  async hold(): Promise<RegionLease | undefined> {
    const connection = await this.#lock.hold()
    if (!connection) return undefined
    if (this.#lease?.connection === connection) return this.#lease
    try {
      const epoch = await raiseEpoch(connection, this.#regionId, this.#intervalMs)
      return (this.#lease = new ClientLease(connection, this.#regionId, epoch))
    } catch (error) {
      await this.release()
      throw error
    }
  }

  /** Releases the lock by closing its connection; `hold()` opens another one. */
  async release(): Promise<void> {
    this.#lease = undefined
    await this.#lock.release()
  }
}

/** Raises the epoch. Waits for a reconciler that is sending now: it locks the row until its routes are sent. */
async function raiseEpoch(
  connection: HeartbeatConnection,
  regionId: number,
  intervalMs: number,
): Promise<number> {
  const [row] = await connection.query<{ epoch: number }>(
    `update regions set epoch = epoch + 1, check_interval = make_interval(secs => $2) where id = $1 returning epoch`,
    [regionId, intervalMs / 1000],
    raiseTimeoutMs,
  )
  if (!row) throw new Error(`region ${regionId} does not exist`)
  return row.epoch
}

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

class ClientLease implements RegionLease {
  readonly regionId: number
  readonly epoch: number
  readonly connection: HeartbeatConnection

  constructor(connection: HeartbeatConnection, regionId: number, epoch: number) {
    this.connection = connection
    this.regionId = regionId
    this.epoch = epoch
  }

  async readMemory(): Promise<RegionMemory> {
    const [row] = await this.connection.query<MemoryRow>(memoryQuery, [this.regionId])
    if (row?.epoch !== this.epoch) throw new LeaseLost(this.regionId)
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

  async recordWithdrawals(withdrawals: readonly Withdrawal[]): Promise<void> {
    if (withdrawals.length === 0) return
    const prefixes = withdrawals.map(({ prefix }) => prefix)
    const teams = withdrawals.map(({ teamId }) => teamId)
    await this.connection.query(recordQuery, [this.regionId, prefixes, teams])
  }
}

const prefixesOf = (texts: readonly string[]): Set<Prefix> => new Set(texts.map(parsePrefix))
