// The SQL of the drill: contents of a copy of the database and the live one. Reads catalogs, and a few rows of tables.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

/**
 * Identifies a database of a running server. A physical copy has the system identifier and the object ids of its original, but another start
 * of its server.
 */
export async function findPlace(db: Db): Promise<string> {
  const { rows } = await sql<{ place: string }>`
    select concat_ws(' ', (select system_identifier from pg_control_system()), pg_postmaster_start_time()::text, current_database()) as place`.execute(
    db,
  )
  return rows[0]!.place
}

export type DrillRow = {
  readonly now: Date
  /** Running processes report every few seconds, even without other writes. Null for an unused database. */
  readonly written: Date | null
}

export async function findWritten(db: Db): Promise<DrillRow> {
  const { rows } = await sql<DrillRow>`
    select now() as now, greatest(
      (select max(seen) from processes), (select at from audit_entries order by id desc limit 1)) as written`.execute(
    db,
  )
  return rows[0]!
}

export type TableSize = { readonly name: string; readonly rows: number | null; readonly bytes: number }

/**
 * Lists the tables with the number of rows that the planner assumes, null before the first ANALYZE; a partitioned table
 * has the sum of its parts.
 */
export async function listTableSizes(db: Db): Promise<TableSize[]> {
  const { rows } = await sql<TableSize>`
    select t.name, sum(c.reltuples) filter (where c.reltuples >= 0)::bigint as rows, sum(pg_total_relation_size(c.oid))::bigint as bytes
    from (select oid, relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition) t
    join pg_class c on c.relkind = 'r' and (c.oid = t.oid or pg_partition_root(c.oid) = t.oid)
    group by t.name order by t.name`.execute(db)
  return rows
}

export type SchemaObject = {
  /** The table that it belongs to; empty for a function. */
  readonly table: string
  /** Such as `policy announcements.tenant`. */
  readonly name: string
}

/** Lists the objects that the migrations create, apart from the partitions that follow the calendar. */
export async function listObjects(db: Db): Promise<SchemaObject[]> {
  const { rows } = await sql<SchemaObject>`
    with t as (select oid, relname::text, relacl from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S') and not relispartition),
    tenant as (select oid from pg_roles where rolname = 'pharos_tenant')
    select o.of as "table", format('%s %s', o.kind, o.name) as name from (
      select relname, 'table', relname from t
      union all
      select relname, 'column', concat(relname, '.', attname, ' ', format_type(atttypid, atttypmod), case when attnotnull then ' not null' end) from t
        join pg_attribute on attrelid = t.oid and attnum > 0 and not attisdropped
      union all
      select t.relname, 'index', i.relname from t join pg_index on indrelid = t.oid join pg_class i on i.oid = indexrelid where indisvalid
      union all
      -- From version 18 on, PostgreSQL also has a constraint for each column that is not null.
      select relname, 'constraint', format('%s.%s', relname, conname) from t join pg_constraint on conrelid = t.oid
        where convalidated and contype <> 'n'
      union all
      select relname, 'trigger', format('%s.%s', relname, tgname) from t join pg_trigger on tgrelid = t.oid and not tgisinternal and tgenabled <> 'D'
      union all
      select relname, 'policy', format('%s.%s', relname, polname) from t join pg_policy on polrelid = t.oid
      union all
      select relname, 'right', format('%s %s', relname, lower(a.privilege_type)) from tenant, t, aclexplode(relacl) a where a.grantee = tenant.oid
      union all
      select relname, 'right', format('%s.%s %s', relname, attname, lower(a.privilege_type)) from tenant, t
        join pg_attribute on attrelid = t.oid, aclexplode(attacl) a where a.grantee = tenant.oid
      union all
      select '', 'function', p.oid::regprocedure::text from pg_proc p where pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')) o (of, kind, name)
    order by 2`.execute(db)
  return rows
}
