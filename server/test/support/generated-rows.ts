// Generates rows for every table from the types of its columns only: for tests of the access rules of PostgreSQL. The rows are not
// meaningful, so constraints and triggers are dropped before.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../src/db/postgres.ts'

export type TableColumn = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly hasDefault: boolean
  readonly isGenerated: boolean
}

export type TableShape = {
  readonly name: string
  readonly hasRowSecurity: boolean
  readonly policies: readonly string[]
  /** The rights of the team role, as `select`, `update (name)`; sorted. */
  readonly rights: readonly string[]
  readonly columns: readonly TableColumn[]
}

/** Returns all tables; a partitioned table represents its partitions. */
export async function listTables(db: Db): Promise<TableShape[]> {
  const { rows } = await sql<TableShape>`
    select c.relname as name, c.relrowsecurity as "hasRowSecurity",
      array(select pg_get_expr(p.polqual, p.polrelid) from pg_policy p where p.polrelid = c.oid) as policies,
      array(
        select lower(a.privilege_type) from aclexplode(c.relacl) a where a.grantee = 'pharos_tenant'::regrole
        union all
        select format('%s (%s)', lower(a.privilege_type), string_agg(t.attname, ', ' order by t.attnum))
        from pg_attribute t, aclexplode(t.attacl) a
        where t.attrelid = c.oid and a.grantee = 'pharos_tenant'::regrole group by a.privilege_type
        order by 1) as rights,
      (select jsonb_agg(jsonb_build_object(
          'name', a.attname, 'type', format_type(a.atttypid, null), 'required', a.attnotnull,
          'hasDefault', a.atthasdef and a.attgenerated = '', 'isGenerated', a.attgenerated <> '') order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`.execute(db)
  return rows
}

/** Drops foreign keys, checks and triggers: only for a database that is not used for anything else. */
export async function dropRules(db: Db, tables: readonly TableShape[]): Promise<void> {
  const { rows } = await sql<{ statement: string }>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('c', 'f') and conparentid = 0 and coninhcount = 0
      and conrelid <> 0`.execute(db)
  for (const { statement } of rows) await sql.raw(statement).execute(db)
  for (const { name } of tables) await sql`alter table ${sql.table(name)} disable trigger user`.execute(db)
}

/** Expressions of the number of a row, `n`. */
const byType: Record<string, string> = {
  integer: 'n',
  bigint: 'n',
  xid8: 'n::text::xid8',
  smallint: 'n',
  'double precision': 'n',
  real: 'n',
  numeric: 'n',
  boolean: 'false',
  text: `'x' || n`,
  character: 'n::text',
  'character varying': `'x' || n`,
  bytea: 'sha256(n::text::bytea)',
  jsonb: `'{}'::jsonb`,
  json: `'{}'::json`,
  cidr: `set_masklen('192.0.0.0'::inet + n * 256, 24)::cidr`,
  inet: `'192.0.0.1'::inet + n * 256`,
  uuid: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
  tstzrange: `'[2026-03-01,)'::tstzrange`,
  tstzmultirange: `'{[2026-03-01,2026-03-02)}'::tstzmultirange`,
  date: `'2026-03-01'::date`,
  'timestamp with time zone': `'2026-03-01T10:00:00Z'::timestamptz`,
}

/**
 * Inserts rows `first` to `last` of a team, or of nobody. Ids and references of row n are n, so that rows with the same number
 * reference each other.
 */
export async function addGeneratedRows(
  trx: Trx,
  table: TableShape,
  { first, last, team }: { readonly first: number; readonly last: number; readonly team: number | null },
): Promise<void> {
  const columns = table.columns.filter(
    ({ name, required, hasDefault, isGenerated }) =>
      isTeam(name) || filled[table.name] === name || (required && !hasDefault && !isGenerated),
  )
  if (columns.length === 0)
    return void (await sql`insert into ${sql.table(table.name)} default values on conflict do nothing`.execute(
      trx,
    ))
  const values = columns.map((column) => (isTeam(column.name) ? sql`${team}::bigint` : madeUp(table, column)))
  await sql`
    insert into ${sql.table(table.name)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
    overriding system value
    select ${sql.join(values)} from generate_series(${first}::bigint, ${last}::bigint) n`.execute(trx)
}

/** Inserts row `n` of a team, or of nobody. */
export const addGeneratedRow = (trx: Trx, table: TableShape, n: number, team: number | null): Promise<void> =>
  addGeneratedRows(trx, table, { first: n, last: n, team })

/** Columns that may be null: at most one restore is open, a port that is in use has a device, and a session that a team sees a port. */
const filled: Readonly<Record<string, string>> = {
  restores: 'closed',
  ports: 'device_id',
  bgp_sessions: 'port_id',
}

const isTeam = (column: string): boolean => column === 'team_id' || column === 'customer_id'

function madeUp(table: TableShape, { name, type }: TableColumn): RawBuilder<unknown> {
  if (type.endsWith('[]')) return sql.raw(`'{}'::${type}`)
  const expression = byType[type]
  if (!expression)
    throw new Error(`generated-rows.ts has no value for the type ${type} of ${table.name}.${name}`)
  return sql.raw(expression)
}
