// Reads and writes the rows of a kind by its fields. Values travel as JSON and become columns by the table's own types
// (jsonb_populate_record), so that a field works for every type of PostgreSQL.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { RowColumns, Create, Field, Fields, Kind, Row, Update } from './kind.ts'

/** All rows of a kind that the file can name, in the order of their ids. */
export async function readRows(db: Db | Trx, kind: Kind): Promise<Row[]> {
  const { name, id, select = {}, where = sql`true` } = kind.table
  const columns = Object.entries(columnsOf(kind))
    .filter(([column]) => !(column in select))
    .map(([column, field]) => sql`${readColumn(column, field)} as ${sql.ref(column)}`)
  const further = Object.entries(select).map(([alias, value]) => sql`${value} as ${sql.ref(alias)}`)
  const idOfRow = sql`${sql.ref(`t.${id}`)} as "#id"`
  const { rows } = await sql<RowColumns>`
    select ${sql.join([idOfRow, ...columns, ...further])}
    from ${sql.table(name)} t where ${where} order by ${sql.ref(`t.${id}`)}`.execute(db)
  return rows.map((row) => rowOf(kind, row))
}

function columnsOf({ fields }: Kind): Record<string, Field> {
  return Object.fromEntries(
    Object.values(fields).flatMap((field) => field.columns.map((column) => [column, field])),
  )
}

function rowOf(kind: Kind, row: RowColumns): Row {
  const fields: Fields = Object.fromEntries(
    Object.entries(kind.fields).map(([name, field]) => [name, field.read(row)]),
  )
  const state = { inUse: null, alsoRefersTo: [], isPrunable: true, setByOwner: [], ...kind.stateOf?.(row) }
  const selected = Object.fromEntries(Object.keys(kind.table.select ?? {}).map((name) => [name, row[name]]))
  const id = row['#id'] as number | string
  return { kind: kind.name, key: kind.keyOf(fields), id, fields, selected, ...state }
}

function readColumn(column: string, { reference }: Field): RawBuilder<unknown> {
  const own = sql.ref(`t.${column}`)
  if (!reference?.isId) return own
  const { name, id } = reference.kind.table
  return sql`(select ${keyOf(reference.kind)} from ${sql.table(name)} r where ${sql.ref(`r.${id}`)} = ${own})`
}

/** The key of row `r` of a kind that others refer to by id. */
function keyOf({ table, fields, identity }: Kind): RawBuilder<unknown> {
  return table.key ?? sql.ref(`r.${fields[identity[0]!]!.columns[0]!}`)
}

const batchSize = 1000

type InsertOptions<F> = {
  /** Returns further columns of a row. */
  readonly more?: (fields: F) => RowColumns
  /** Columns of the new rows to return. */
  readonly returning?: readonly string[]
}

/** Inserts rows in the order of `created`, so that ids follow the order of the file. */
export async function insertRows<F>(
  trx: Trx,
  kind: Kind<F>,
  created: readonly Create<F>[],
  now: Date,
  { more, returning = [] }: InsertOptions<F> = {},
): Promise<RowColumns[]> {
  const erased = kind as unknown as Kind
  const rows = created.map(({ fields }) => ({
    ...toColumns(erased, fields as Fields, now),
    ...more?.(fields),
  }))
  const inserted: RowColumns[] = []
  for (let at = 0; at < rows.length; at += batchSize) {
    inserted.push(...(await insertBatch(trx, erased, rows.slice(at, at + batchSize), returning)))
  }
  return inserted
}

async function insertBatch(
  trx: Trx,
  kind: Kind,
  rows: readonly RowColumns[],
  returning: readonly string[],
): Promise<RowColumns[]> {
  const columns = Object.keys(rows[0]!)
  const result =
    returning.length > 0 ? sql`returning ${sql.join(returning.map((name) => sql.ref(name)))}` : sql``
  const { rows: inserted } = await sql<RowColumns>`
    insert into ${sql.table(kind.table.name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(columns.map((column) => newValue(kind, column)))}
    from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality as e (value, place),
      jsonb_populate_record(null::${sql.table(kind.table.name)}, ${withoutIds(kind)}) n
    order by e.place ${result}`.execute(trx)
  return inserted
}

/** Sets the columns of the fields that change, and `more`, in exactly one row. */
export async function updateRow<F>(
  trx: Trx,
  kind: Kind<F>,
  { fields, row }: Update<F>,
  now: Date,
  more: RowColumns = {},
): Promise<void> {
  const erased = kind as unknown as Kind
  const values = { ...toColumns(erased, fields as Fields, now), ...more }
  const columns = Object.keys(values)
  if (columns.length === 0) return
  const { name, id } = kind.table
  const { numAffectedRows } = await sql`
    update ${sql.table(name)} t
    set ${sql.join(columns.map((column) => sql`${sql.ref(column)} = ${newValue(erased, column)}`))}
    from (select ${JSON.stringify(values)}::jsonb as value) e,
      jsonb_populate_record(null::${sql.table(name)}, ${withoutIds(erased)}) n
    where ${sql.ref(`t.${id}`)} = ${row.id}`.execute(trx)
  if (numAffectedRows !== 1n)
    throw new Error(`${kind.name} ${row.key}: ${numAffectedRows} rows instead of one`)
}

function toColumns(kind: Kind, fields: Fields, now: Date): RowColumns {
  return Object.assign(
    {},
    ...Object.entries(fields).map(([name, value]) => kind.fields[name]!.write(value, now)),
  )
}

/** The value of a column from element `e`, or from record `n` that has the column's type. */
function newValue(kind: Kind, column: string): RawBuilder<unknown> {
  const { reference } = columnsOf(kind)[column] ?? {}
  if (!reference?.isId) return sql.ref(`n.${column}`)
  const { name, id } = reference.kind.table
  return sql`(select ${sql.ref(`r.${id}`)} from ${sql.table(name)} r where ${keyOf(reference.kind)} = e.value ->> ${sql.lit(column)})`
}

/** The element without the columns that hold ids: it has keys in them. */
function withoutIds(kind: Kind): RawBuilder<unknown> {
  const ids = Object.entries(columnsOf(kind)).filter(([, { reference }]) => reference?.isId)
  return sql`e.value - ${ids.map(([column]) => column)}::text[]`
}

export async function deleteRow<F>(trx: Trx, { table: { name, id } }: Kind<F>, row: Row<F>): Promise<void> {
  await sql`delete from ${sql.table(name)} where ${sql.ref(id)} = ${row.id}`.execute(trx)
}
