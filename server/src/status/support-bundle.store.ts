// The SQL of the support bundle: counts, sizes and states, never rows of customers. Every statement reads an index, the catalog or the statistics.
import { CompiledQuery, sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

export async function readDatabaseServer(db: Db) {
  const { rows } = await sql<{
    version: string
    started: Date
    is_replica: boolean
    database_bytes: number
    settings: Record<string, string>
    extensions: string[]
  }>`
    select version(), pg_postmaster_start_time() as started, pg_is_in_recovery() as is_replica,
      pg_database_size(current_database()) as database_bytes,
      (select json_object_agg(name, setting || coalesce(unit, '')) from pg_settings where name = any('{max_connections,shared_buffers,work_mem,
        maintenance_work_mem,effective_cache_size,max_wal_size,checkpoint_timeout,wal_level,synchronous_commit,synchronous_standby_names,
        random_page_cost,autovacuum,autovacuum_max_workers,statement_timeout,idle_in_transaction_session_timeout,jit,TimeZone}')) as settings,
      array(select extname || ' ' || extversion from pg_extension order by extname) as extensions`.execute(db)
  return rows[0]!
}

export async function listAppliedMigrations(db: Db) {
  const { rows } = await sql<{ number: number; file: string; applied: Date }>`
    select number, file, applied from migrations order by number`.execute(db)
  return rows
}

/** The use of each table; a partition is listed by itself. */
export async function listTableUse(db: Db) {
  const { rows } = await sql<{
    name: string
    live: number
    dead: number
    sequential_scans: number
    index_scans: number
    vacuumed: Date | null
    analyzed: Date | null
  }>`
    select relname as name, n_live_tup as live, n_dead_tup as dead, seq_scan as sequential_scans, coalesce(idx_scan, 0) as index_scans,
      greatest(last_vacuum, last_autovacuum) as vacuumed, greatest(last_analyze, last_autoanalyze) as analyzed
    from pg_stat_user_tables where schemaname = 'public' order by n_dead_tup desc, relname limit 500`.execute(
    db,
  )
  return rows
}

/** Sessions of this database by their wait events, without their statements. */
export async function listDatabaseSessions(db: Db) {
  const { rows } = await sql<{
    application: string
    state: string
    wait: string | null
    count: number
    blocked: number
    oldest_transaction_seconds: number | null
  }>`
    select application_name as application, coalesce(state, 'unknown') as state, wait_event_type || ': ' || wait_event as wait, count(*),
      count(*) filter (where cardinality(pg_blocking_pids(pid)) > 0) as blocked,
      extract(epoch from now() - min(xact_start))::float8 as oldest_transaction_seconds
    from pg_stat_activity where datname = current_database() group by 1, 2, 3 order by 1, 2, 3 limit 500`.execute(
    db,
  )
  return rows
}

type Count = { readonly area: string; readonly what: string; readonly state: string; readonly count: number }

/** Counts of rows written since then, by area and state. */
export async function countSince(db: Db, since: Date) {
  const { rows } = await sql<Count>`
    select 'audit' as area, action as what, case when by_staff then 'staff' else split_part(actor, ':', 1) end as state, count(*)
      from audit_entries where at >= ${since} group by 1, 2, 3
    union all select 'deliveries', source_key, state, count(*) from deliveries where received >= ${since} group by 1, 2, 3
    union all select 'webhook deliveries', type, state, count(*) from webhook_deliveries where created >= ${since} group by 1, 2, 3
    union all select 'mails', template, case when sent is not null then 'sent' when failed is not null then 'failed' else 'waiting' end, count(*)
      from mails where created >= ${since} group by 1, 2, 3
    union all select 'approvals of ' || area, findings -> 0 ->> 'reason', state, count(*) from approvals
      where created >= ${since} group by 1, 2, 3
    union all select 'restores', reason, case when closed is null then 'open' else 'closed' end, count(*)
      from restores where detected >= ${since} group by 1, 2, 3
    order by 1, 2, 3 limit 5000`.execute(db)
  return rows
}

export type SlowStatement = {
  readonly calls: number
  readonly total_ms: number
  readonly mean_ms: number
  readonly max_ms: number
  readonly rows: number
  readonly blocks_read: number
  readonly query: string
}

/** PostgreSQL replaces constants in these kinds of statements; others, such as ALTER ROLE, could contain a password. */
const slowest = `
  select calls, round(total_exec_time)::float8 as total_ms, round(mean_exec_time::numeric, 3)::float8 as mean_ms,
    round(max_exec_time::numeric, 3)::float8 as max_ms, rows, shared_blks_read as blocks_read, left(query, 2000) as query
  from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
    and query ~* '^\\s*(select|with|insert|update|delete)\\M'
  order by total_exec_time desc limit 50`

/** Returns the statements that took most time in all; rejects without the extension. */
export async function listSlowStatements(db: Db): Promise<readonly SlowStatement[]> {
  const { rows } = await db.executeQuery<SlowStatement>(CompiledQuery.raw(slowest))
  return rows
}
