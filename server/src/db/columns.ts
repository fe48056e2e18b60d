// Select lists whose names come from the generated schema: a list is written once, and the type of its rows follows from
// it, so that a column that is missing or misspelt fails the type check. Expressions beside columns are typed by hand.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type RawBuilder,
  type Selectable,
} from 'kysely'
import type { Schema } from './schema.ts'

/** A select list. Columns are of the alias, and the expressions use it too. */
export type Columns<Row> = RawBuilder<Row> & { readonly alias: string; readonly entries: readonly Entry[] }
type Entry = readonly [name: string, value: RawBuilder<unknown>]

/** The row that a select list or a statement returns. */
export type RowOf<C> = C extends RawBuilder<infer Row> ? Row : never

type Expressions = Readonly<Record<string, RawBuilder<unknown>>>
type Rows = { [Table in keyof Schema]: Selectable<Schema[Table]> }
type With<Row, E extends Expressions> = { [Name in keyof Row]: Row[Name] } & {
  [Name in keyof E]: RowOf<E[Name]>
}

/**
 * The columns of a table, and expressions by the name that they get in the row:
 * `columns('letters', 'l', ['id', 'filename'], { sha256: sql<string>`encode(l.sha256, 'hex')` })`.
 */
export function columns<
  Table extends keyof Schema,
  Name extends keyof Rows[Table] & string,
  E extends Expressions = Record<never, never>,
>(
  _table: Table,
  alias: string,
  names: readonly Name[],
  expressions?: E,
): Columns<With<Pick<Rows[Table], Name>, E>> {
  return selectList(alias, [...names.map((name) => columnOf(alias, name)), ...entriesOf(expressions)])
}

/** Adds expressions to a select list. */
export function withExpressions<Row, E extends Expressions>(
  { alias, entries }: Columns<Row>,
  expressions: E,
): Columns<With<Row, E>> {
  return selectList(alias, [...entries, ...entriesOf(expressions)])
}

const columnOf = (alias: string, name: string): Entry => [name, sql.ref(`${alias}.${name}`)]
const entriesOf = (expressions: Expressions = {}): Entry[] => Object.entries(expressions)

function selectList<Row>(alias: string, entries: readonly Entry[]): Columns<Row> {
  const list = fixed(sql<Row>`${sql.join(entries.map(([name, value]) => sql`${value} as ${sql.ref(name)}`))}`)
  return Object.assign(list, { alias, entries })
}

const compiler = new Kysely({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** The same fragment as one text, if it has no parameters: a statement is compiled for every request. */
function fixed<Row>(fragment: RawBuilder<Row>): RawBuilder<Row> {
  const { sql: text, parameters } = fragment.compile(compiler)
  return parameters.length === 0 ? sql.raw<Row>(text) : fragment
}

/** A row that went through JSON: its times are text. */
export type JsonRow<Row> = { [Name in keyof Row]: TimesAsText<Row[Name]> }
type TimesAsText<Value> = Value extends Date ? string : Value extends Date[] ? string[] : Value

/** The names of the columns that hold times. */
type TimeName<Row> = {
  [Name in keyof Row]: Extract<Row[Name], Date | Date[]> extends never ? never : Name
}[keyof Row]

/** The columns as one JSON object, for `json_agg`. */
export function jsonOf<Row>({ entries }: Columns<Row>): RawBuilder<JsonRow<Row>> {
  return sql`json_build_object(${sql.join(entries.map(([name, value]) => sql`${sql.lit(name)}, ${value}`))})`
}

/** Returns a row as it was before its conversion to JSON. `times` names every column of times. */
export function parseJsonRow<Row>(row: JsonRow<Row>, times: Readonly<Record<TimeName<Row>, true>>): Row {
  const parsed: Record<PropertyKey, unknown> = { ...row }
  for (const name of Object.keys(times)) parsed[name] = timeOf(parsed[name])
  return parsed as Row
}

function timeOf(value: unknown): unknown {
  if (value === null) return null
  return Array.isArray(value) ? value.map(timeOf) : new Date(value as string)
}
