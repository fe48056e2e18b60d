// One reconciler per region: an advisory lock on a connection of its own, and an epoch that whoever takes the lock
// raises. The lock keeps a second reconciler out; the epoch stops a first one that was paused and lost its lock.
import type { HeartbeatConnection } from '../../db/heartbeat-connection.ts'
import type { Postgres } from '../../db/postgres.ts'
import { SessionLock } from '../../db/session-lock.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { approvalMinutes, rejectionHours, windowMinutes, type Decision } from './guard.ts'

/** First half of the advisory lock's key, "phar"; the second is the region's id. */
const lockClass = 0x70686172

/** Longer than PostgreSQL lets a paused process keep the region's row, see whileHolding(). */
const raiseTimeoutMs = 20_000

export type OpenHold = {
  readonly id: number
  readonly reason: string
  readonly withdrawals: ReadonlySet<string>
}

/** What the guard remembers of a region. */
export type RegionMemory = {
  readonly withdrawnRecently: number
  readonly decisions: readonly Decision[]
  readonly openHold: OpenHold | null
}

/** The right to change a region's router, for as long as the lock's connection lives and nobody raised the epoch. */
export interface RegionLease {
  readonly regionId: number
  readonly epoch: number
  /** Throws LeaseLost when another reconciler has taken over. */
  readMemory(): Promise<RegionMemory>
  /** Written before withdrawals are sent, so that a crash in between cannot make the guard forget them. */
  recordWithdrawals(count: { readonly approved: number; readonly free: number }): Promise<void>
}

/** Another reconciler has the region now: this run must change nothing more. */
export class LeaseLost extends Error {
  constructor(regionId: number) {
    super(`region ${regionId} was taken over by another reconciler`)
    this.name = 'LeaseLost'
  }
}

export type RegionLockOptions = {
  /** How often the holder compares the region with its router, for whoever asks whether the last check is stale. */
  readonly intervalMs?: number
  /** Called when the lock that `hold()` did not get was taken over from its holder: `hold()` now has it. */
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
    this.#lock = new SessionLock(postgres, [lockClass, regionId], onAcquired)
  }

  /** The lease, taken if need be; undefined while another process has it. The connection stays open to ask again. */
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

  /** Gives the lock back by ending its session; `hold()` begins anew. */
  async release(): Promise<void> {
    this.#lease = undefined
    await this.#lock.release()
  }
}

/** Waits for a reconciler that is sending at this moment: it holds the row until its routes are sent. */
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
  if (!row) throw new Error(`there is no region ${regionId}`)
  return row.epoch
}

const memoryQuery = `
  select r.epoch,
    (select coalesce(sum(w.withdrawals), 0) from region_withdrawals w
      where w.region_id = r.id and not w.approved
        and w.at > now() - make_interval(mins => ${windowMinutes})) as withdrawn_recently,
    (select json_build_object('id', h.id, 'reason', h.reason, 'withdrawals', h.withdrawals)
      from holds h where h.region_id = r.id and h.state = 'open') as open_hold,
    (select coalesce(json_agg(json_build_object('approved', h.state = 'approved', 'reason', h.reason,
        'withdrawals', h.withdrawals, 'decided', h.decided)), '[]')
      from holds h where h.region_id = r.id
        and (h.state = 'approved' and h.decided > now() - make_interval(mins => ${approvalMinutes})
          or h.state = 'rejected' and h.decided > now() - make_interval(hours => ${rejectionHours}))) as decisions
  from regions r where r.id = $1`

const recordQuery = `
  with forgotten as (delete from region_withdrawals where region_id = $1 and at < now() - interval '1 day')
  insert into region_withdrawals (region_id, withdrawals, approved)
  select $1, n.withdrawals, n.approved from (values ($2::integer, true), ($3::integer, false)) n (withdrawals, approved)
  where n.withdrawals > 0`

type MemoryRow = {
  epoch: number
  withdrawn_recently: number
  open_hold: { id: number; reason: string; withdrawals: string[] } | null
  decisions: { approved: boolean; reason: string; withdrawals: string[]; decided: string }[]
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
    return {
      withdrawnRecently: row.withdrawn_recently,
      openHold: row.open_hold && { ...row.open_hold, withdrawals: prefixesOf(row.open_hold.withdrawals) },
      decisions: row.decisions.map(({ approved, reason, withdrawals, decided }) => {
        return { approved, reason, withdrawals: prefixesOf(withdrawals), decided: new Date(decided) }
      }),
    }
  }

  async recordWithdrawals({ approved, free }: { approved: number; free: number }): Promise<void> {
    await this.connection.query(recordQuery, [this.regionId, approved, free])
  }
}

const prefixesOf = (texts: readonly string[]): Set<string> => new Set(texts.map(parsePrefix))
