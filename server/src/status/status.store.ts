// The SQL of `pharos status` and of the reports of processes. Each statement reads an index or a few rows, except
// the count of rows by region.
import type { listProcessesRoute } from '@pharos/contract/operator/status'
import type { RegistryState } from '@pharos/contract/operator/team'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns } from '../db/columns.ts'
import { lockClass } from '../db/lock-class.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import { isUnread } from '../inventory/assignment/device-state.store.ts'
import { needsDecision } from '../inventory/bill/bill.store.ts'
import { findOpenRestore } from '../restore/restore.store.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { sendable } from '../webhook/send.store.ts'
import type { FlowStoreReport } from '../flow/measured-flow-store.ts'

export type LoopReport = {
  readonly name: string
  readonly interval_seconds: number
  readonly last_success: string | null
}

export type RegistryReport = {
  readonly kind: 'rpki' | 'irr'
  readonly name: string
  readonly ok: boolean
  readonly answered: string | null
  /** These are missing in reports of older versions. */
  readonly state?: RegistryState
  readonly error?: string | null
  /** Why its data are in doubt: they are withheld, or another source has different data. */
  readonly doubt?: string | null
  readonly records?: number | null
  readonly serial?: string | null
}

export type ReportedRegistry = RegistryReport & { readonly seen: Date }

export type ProcessReport = {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly roles: readonly string[]
  readonly started: Date
  readonly loops: readonly LoopReport[]
  readonly registries: readonly RegistryReport[]
  /** Null in reports of older versions. */
  readonly flow_store: FlowStoreReport | null
}

/**
 * Returns the oldest release that may run, and by how much the clock of this process is ahead of that of the database. Also removes
 * processes that were killed a day ago.
 */
export async function saveProcess(
  db: Db,
  report: ProcessReport,
): Promise<{ readonly floor: string | null; readonly clockMs: number | null }> {
  const { id, host, pid, version, roles, started, loops, registries, flow_store } = report
  const clockMs = await compareClocks(db)
  const { rows } = await sql<{ floor: string | null }>`
    with gone as (delete from processes where seen < now() - interval '1 day')
    insert into processes (id, host, pid, version, roles, started, seen, loops, registries, flow_store, clock_ms)
    values (${id}, ${host}, ${pid}, ${version}, ${roles}::text[], ${started}, now(), ${JSON.stringify(loops)},
      ${JSON.stringify(registries)}, ${JSON.stringify(flow_store)}, ${clockMs})
    on conflict (id) do update set seen = excluded.seen, loops = excluded.loops, registries = excluded.registries,
      flow_store = excluded.flow_store, clock_ms = excluded.clock_ms
    returning (select schema_floor from installation) as floor`.execute(db)
  return { floor: rows[0]!.floor, clockMs }
}

/** A longer wait for the answer, such as for a connection, would be taken for a difference of the clocks. */
const answerMaxMs = 2_000

/** Null if the answer took too long to compare. */
async function compareClocks(db: Db): Promise<number | null> {
  const before = Date.now()
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db)
  const after = Date.now()
  const isShort = after >= before && after - before <= answerMaxMs
  return isShort ? Math.round((before + after) / 2 - rows[0]!.ms) : null
}

/** The oldest release that may run; null before the first upgrade was finished. */
export async function readFloor(trx: Trx): Promise<string | null> {
  const { rows } = await sql<{
    floor: string | null
  }>`select schema_floor as floor from installation`.execute(trx)
  return rows[0]?.floor ?? null
}

/** Devices with a driver that no process has read for three intervals. */
export async function countUnreadDevices(trx: Trx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from devices d join device_states s on s.device_id = d.id
    where d.driver <> 'none' and ${isUnread}`.execute(trx)
  return rows[0]!.count
}

export type BillCounts = {
  readonly needs_decision: number
  readonly last_month: string | null
  readonly last_month_bills: number
}

/** Bills that were corrected are not counted. */
export async function countBills(trx: Trx): Promise<BillCounts> {
  const { rows } = await sql<BillCounts>`
    select (select count(*) from billing_periods b where ${needsDecision}) as needs_decision, m.month as last_month,
      (select count(*) from billing_periods b where b.month = m.month
        and not exists (select from billing_periods c where c.corrects = b.id)) as last_month_bills
    from (select max(month) as month from billing_periods) m`.execute(trx)
  return rows[0]!
}

export async function deleteProcess(db: Db, id: string): Promise<void> {
  await sql`delete from processes where id = ${id}`.execute(db)
}

export type LiveProcess = ProcessReport & {
  /** The last report. */
  readonly seen: Date
  readonly age_seconds: number
  readonly uptime_seconds: number
  /** Difference between its clock and the database's in ms; null if they could not be compared. */
  readonly clock_ms: number | null
}

const processColumns = columns(
  'processes',
  'p',
  ['id', 'host', 'pid', 'version', 'roles', 'started', 'seen', 'clock_ms'],
  {
    loops: sql<LoopReport[]>`p.loops`,
    registries: sql<RegistryReport[]>`p.registries`,
    flow_store: sql<FlowStoreReport | null>`p.flow_store`,
    age_seconds: sql<number>`extract(epoch from now() - p.seen)::float8`,
    uptime_seconds: sql<number>`extract(epoch from now() - p.started)::float8`,
  },
)

/** Seen now, by the clock of the database. */
export async function listProcesses(trx: Trx): Promise<LiveProcess[]> {
  const { rows } = await sql<LiveProcess>`
    select ${processColumns} from processes p order by p.host, p.started, p.id`.execute(trx)
  return rows
}

/** Seconds after its last report within which a process counts as running. */
export const runningSeconds = 45

export const listProcessRows = (
  db: Db,
  { role, running, version, ordering, ...slice }: QueryOf<typeof listProcessesRoute>,
): Promise<Page<LiveProcess>> =>
  listAll<LiveProcess>(db, {
    matching: sql`select p.* from processes p where true ${andAll(
      role && sql`p.roles && ${role}::text[]`,
      version && sql`p.version = any(${version}::text[])`,
      running !== undefined &&
        sql`(p.seen >= now() - make_interval(secs => ${sql.lit(runningSeconds)})) = ${running}`,
    )}`,
    columns: processColumns,
    order: orderBy(
      ordering,
      { host: sql`p.host`, started: sql`p.started`, seen: sql`p.seen`, version: sql`p.version` },
      sql`p.id`,
    ),
    slice,
  })

/** Lists the registry sources of all processes that reported within three intervals. */
export async function listRegistryReports(db: Db): Promise<ReportedRegistry[]> {
  const { rows } = await sql<{ seen: Date; report: RegistryReport }>`
    select p.seen, r.report from processes p cross join lateral jsonb_array_elements(p.registries) r (report)
    where p.seen > now() - make_interval(secs => ${sql.lit(runningSeconds)}) order by p.started, p.id`.execute(
    db,
  )
  return rows.map(({ seen, report }) => ({ ...report, seen }))
}

export type Leaders = {
  /** Ids of the regions whose lock a reconciler has. */
  readonly regions: readonly number[]
  readonly works: readonly string[]
}

/** Current leaders, by their advisory locks. `works`: names of Leadership to look for. */
export async function readLeaders(trx: Trx, works: readonly string[]): Promise<Leaders> {
  const { rows } = await sql<Leaders>`
    with held as (
      select l.classid::bigint as class, l.objid::bigint as object from pg_locks l
      where l.locktype = 'advisory' and l.objsubid = 2 and l.granted
        and l.database = (select oid from pg_database where datname = current_database()))
    select array(select r.id from regions r join held h
        on h.class = ${lockClass.region}::bigint and h.object = r.id order by r.id) as regions,
      array(select w.name from unnest(${works}::text[]) w (name) join held h
        on h.class = ${lockClass.leadership}::bigint and h.object = hashtext(w.name)::bigint & 4294967295) as works`.execute(
    trx,
  )
  return rows[0]!
}

export type Lag = {
  readonly outbox: number
  readonly outbox_seconds: number
  readonly webhook_seconds: number
  readonly audit_unsealed: number
  readonly audit_seconds: number
  readonly operator_webhook_failing_since: Date | null
}

/**
 * `webhook_seconds`: since when a delivery could be sent while its webhook had no other one. `outbox`: messages that are not readable
 * yet, because an older transaction is still open.
 */
export async function readLag(trx: Trx): Promise<Lag> {
  const { rows } = await sql<Lag>`
    select o.count as outbox, o.seconds as outbox_seconds, a.count as audit_unsealed, a.seconds as audit_seconds,
      (select coalesce(extract(epoch from now() - min(greatest(d.due, w.resting_until, w.last_delivery))), 0)::float8
        from ${sendable}) as webhook_seconds,
      (select failing_since from webhooks where team_id is null) as operator_webhook_failing_since
    from (select count(*), coalesce(extract(epoch from now() - min(at)), 0)::float8 as seconds from outbox
        where xid >= pg_snapshot_xmin(pg_current_snapshot())) o,
      (select count(*), coalesce(extract(epoch from now() - min(entry_at)), 0)::float8 as seconds
        from audit_unsealed) a`.execute(trx)
  return rows[0]!
}

export type WaitingApproval = {
  readonly id: number
  readonly area: string
  /** Slug of the region, or another name of the subject; the area without one. */
  readonly subject: string
  readonly reason: string
  readonly item_count: number
  readonly created: Date
}

/** Returns the open approvals, the longest waiting first; at most 100. */
export async function listOpenApprovals(trx: Trx): Promise<WaitingApproval[]> {
  const { rows } = await sql<WaitingApproval>`
    select a.id, a.area, coalesce((select r.slug from regions r where r.id = a.region_id),
        (select rtrim(z.name, '.') from dns_zones z where z.id = a.zone_id),
        (select l.prefix::text from shield_lists l where l.id = a.list_id), a.scrubber,
        a.findings -> 0 -> 'attrs' ->> 'source', a.area) as subject,
      a.findings -> 0 ->> 'reason' as reason, a.item_count, a.created
    from approvals a where a.state = 'open' order by a.id limit 100`.execute(trx)
  return rows
}

/** Deleted teams have no name. */
export async function listTeamNames(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('teams').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export type RefusedZone = { readonly name: string; readonly servers: readonly string[] }

/** Returns zones that a name server refuses while others serve them. */
export async function listRefusedZones(trx: Trx): Promise<RefusedZone[]> {
  const { rows } = await sql<RefusedZone>`
    select z.name, z.attrs -> 'servers' as servers from dns_zones z
    where z.reason = 'zone_refused' and z.deleted is null order by z.name_key limit 100`.execute(trx)
  return rows
}

export async function readOpenRestore(
  trx: Trx,
): Promise<{ readonly id: number; readonly detected: string; readonly undecided: number } | null> {
  const row = await findOpenRestore(trx)
  if (!row) return null
  const undecided = row.areas.reduce((sum, area) => sum + area.undecided, 0)
  return { id: row.id, detected: row.detected.toISOString(), undecided }
}
