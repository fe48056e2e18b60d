// Fills tables that no request fills with rows that their constraints accept: references are to existing rows, and values are of the lists of the
// checks. For dumps of a release: every table needs rows.
import { sql } from 'kysely'
import type { Db, Trx } from '../../src/db/postgres.ts'

type ColumnShape = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly hasDefault: boolean
  /** The checks of the column and of its table, as PostgreSQL prints them. */
  readonly checks: readonly string[]
}

type Reference = {
  readonly columns: readonly string[]
  readonly table: string
  readonly referenced: readonly string[]
}

type Shape = {
  readonly name: string
  readonly columns: readonly ColumnShape[]
  readonly references: readonly Reference[]
}

/** Inserts a row into each of the tables that has none, with as many columns as possible. Returns what could not be filled, with the reason. */
export async function fillTables(db: Db, tables: readonly string[], fixed: FixedValues): Promise<string[]> {
  const shapes = (await readShapes(db)).filter(({ name }) => tables.includes(name))
  const failures = new Map(shapes.map(({ name }) => [name, 'not tried']))
  for (let before = -1; before !== failures.size;) {
    before = failures.size
    for (const shape of shapes.filter(({ name }) => failures.has(name))) {
      const reason = await fill(db, shape, fixed[shape.name] ?? {})
      if (reason === undefined) failures.delete(shape.name)
      else failures.set(shape.name, reason)
    }
  }
  return [...failures].map(([name, reason]) => `${name}: ${reason}`)
}

/** By table and column: a value, or undefined for a column that stays empty. */
export type FixedValues = Readonly<Record<string, Readonly<Record<string, unknown>>>>

async function fill(
  db: Db,
  shape: Shape,
  fixed: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  let reason: string | undefined
  for (const isWhole of [true, false]) {
    const columns = shape.columns.filter(
      ({ name, required, hasDefault }) => name in fixed || (isWhole ? !hasDefault : required && !hasDefault),
    )
    reason = await insert(db, shape, columns, fixed).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    )
    if (reason === undefined) return undefined
  }
  return reason
}

async function insert(
  db: Db,
  shape: Shape,
  columns: readonly ColumnShape[],
  fixed: Readonly<Record<string, unknown>>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const references = await readReferences(trx, shape)
    const chosen = columns.filter(({ name }) => !(name in fixed && fixed[name] === undefined))
    const values = chosen.map(
      (column) => fixed[column.name] ?? references.get(column.name) ?? valueOf(column),
    )
    await sql`
      insert into ${sql.table(shape.name)} (${sql.join(chosen.map(({ name }) => sql.ref(name)))})
      overriding system value values (${sql.join(values)})`.execute(trx)
  })
}

/** Columns that reference a row, with the values of the first one: longer references decide. */
async function readReferences(trx: Trx, { references }: Shape): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>()
  for (const { columns, table, referenced } of references) {
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(referenced.map((name) => sql.ref(name)))} from ${sql.table(table)} order by 1 limit 1`.execute(
      trx,
    )
    for (const [at, column] of columns.entries())
      if (rows[0] !== undefined && !found.has(column)) found.set(column, rows[0][referenced[at]!])
  }
  return found
}

const byType: Readonly<Record<string, unknown>> = {
  integer: 1,
  bigint: 1,
  smallint: 1,
  xid8: '1',
  'double precision': 0.5,
  real: 0.5,
  boolean: true,
  text: 'text',
  bytea: Buffer.from('bytes'),
  json: '{}',
  jsonb: '{}',
  cidr: '203.0.113.0/24',
  inet: '203.0.113.1',
  uuid: '00000000-0000-4000-8000-000000000001',
  date: '2026-03-01',
  tstzrange: '[2026-03-01,)',
  'timestamp with time zone': '2026-03-01T10:00:00Z',
}

function valueOf({ name, type, checks }: ColumnShape): unknown {
  const listed = checks
    .map((check) => new RegExp(`\\(${name} = ANY \\(ARRAY\\['([^']*)'`).exec(check)?.[1])
    .find((value) => value !== undefined)
  if (listed !== undefined) return listed
  const number = checks
    .map((check) => new RegExp(`\\(${name} (?:=|>=) (\\d+)\\)`).exec(check)?.[1])
    .find((value) => value !== undefined)
  if (number !== undefined && number !== '0') return Number(number)
  if (type.endsWith('[]')) return '{}'
  if (!(type in byType)) throw new Error(`valid-rows.ts has no value for the type ${type}`)
  return byType[type]
}

async function readShapes(db: Db): Promise<Shape[]> {
  const { rows } = await sql<Shape>`
    select c.relname as name,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null), 'required', a.attnotnull,
          'hasDefault', a.atthasdef or a.attidentity <> '',
          'checks', array(select pg_get_constraintdef(n.oid) from pg_constraint n
            where n.conrelid = c.oid and n.contype = 'c' and a.attnum = any (n.conkey))) order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select json_agg(json_build_object('table', n.confrelid::regclass::text,
          'columns', (select json_agg(a.attname order by u.place) from unnest(n.conkey) with ordinality u (attnum, place)
            join pg_attribute a on a.attrelid = n.conrelid and a.attnum = u.attnum),
          'referenced', (select json_agg(a.attname order by u.place) from unnest(n.confkey) with ordinality u (attnum, place)
            join pg_attribute a on a.attrelid = n.confrelid and a.attnum = u.attnum)) order by cardinality(n.conkey) desc, n.conname)
        from pg_constraint n where n.conrelid = c.oid and n.contype = 'f' and n.conparentid = 0), '[]') as "references"
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by c.oid`.execute(
    db,
  )
  return rows
}
