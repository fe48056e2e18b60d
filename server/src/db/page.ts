// Lists: a page and the exact count of everything that matches, from one snapshot, in one statement. The ordering
// parameter carries its keys in its type, so that the SQL of a list names a column for each of them.
import type { OrderingText } from '@pharos/contract/scalar'
import { sql, type RawBuilder } from 'kysely'
import { notFound } from '../runtime/error.ts'
import type { Columns } from './columns.ts'
import type { Db, Postgres, Trx } from './postgres.ts'

export type Page<Row> = { readonly page: Row[]; readonly count: number }
export type Slice = { readonly limit: number; readonly offset: number }
type Sql = RawBuilder<unknown>

export type List<Row> = {
  /** Selects everything that matches. */
  readonly matching: RawBuilder<unknown>
  /** The select list for the rows of the page, which have its alias; by default all columns of `matching`. */
  readonly columns?: Columns<Row>
  /** From `orderBy`, in the alias of the columns, else in names of `matching`. */
  readonly order: Sql
  readonly slice: Slice
  /**
   * Selects the rows of the page by the `id`s of the array, if `matching` has only the ids and the keys of the order
   * (`orderKeys`): for long lists of wide rows, since all matching rows are stored until they are counted.
   */
  readonly rows?: (ids: Sql) => Sql
  /** The parent record: if `statement` returns no row, the list is `not_found`. */
  readonly parent?: { readonly name: string; readonly statement: Sql }
  /** An index has the order and the count: what matches is read once for each, instead of being stored and sorted. */
  readonly isIndexed?: boolean
}

/** Lists as the team, in one round trip on a shared connection. */
export async function listInTeam<Row>(
  postgres: Postgres,
  teamId: number,
  list: List<Row>,
): Promise<Page<Row>> {
  return readPage(await postgres.readInTeam(teamId, pageStatement(list)), list.parent?.name)
}

/** Lists across all teams, as the owner. */
export async function listAll<Row>(db: Db | Trx, list: List<Row>): Promise<Page<Row>> {
  return readPage((await pageStatement(list).execute(db)).rows, list.parent?.name)
}

/** An empty page still has one row, with the count: its position is null. */
export type PageRow<Row> = Row & { readonly place: number | null; readonly count: number }

function pageStatement<Row>({
  matching,
  columns,
  order,
  slice,
  rows,
  parent,
  isIndexed = false,
}: List<Row>): RawBuilder<PageRow<Row>> {
  const alias = sql.ref(columns?.alias ?? 'm')
  const found = rows && sql`join (${rows(sql`(select array_agg(id) from listed)`)}) r on r.id = listed.id`
  return sql`
    with ${parent ? sql`parent as (${parent.statement}),` : sql``} matching as ${isIndexed ? sql`not materialized` : sql``} (${matching}),
    listed as (
      select row_number() over () as place, o.* from (
        select * from matching ${alias} order by ${order} limit ${slice.limit} offset ${slice.offset}) o),
    page as (select ${found ? sql`listed.place, r.*` : sql`listed.*`} from listed ${found ?? sql``})
    select ${columns ? sql`${columns}, ${alias}.place` : sql`${alias}.*`}, c.count
    from ${parent ? sql`parent cross join` : sql``} (select count(*) from matching) c
    left join page ${alias} on true order by ${alias}.place`
}

/** Throws `not_found` of the parent if the statement returned no row at all. */
export function readPage<Row>(rows: readonly PageRow<Row>[], parent = 'list'): Page<Row> {
  const [first] = rows
  if (!first) throw notFound(parent)
  const page = rows.filter(({ place }) => place !== null)
  return { page: page.map(({ place: _place, count: _count, ...row }) => row as Row), count: first.count }
}

/**
 * The ordering as SQL: nulls come before all values, unless the columns are `not null`, which lets an index provide the
 * order. `last` makes the order of rows that are equal in all keys the same on every page.
 */
export function orderBy<Key extends string>(
  text: OrderingText<Key>,
  columns: Readonly<Record<NoInfer<Key>, Sql>>,
  last: Sql,
  nulls: 'nulls are least' | 'not null' = 'nulls are least',
): Sql {
  const [up, down] =
    nulls === 'not null' ? [sql`asc`, sql`desc`] : [sql`asc nulls first`, sql`desc nulls last`]
  const keys = parseOrdering<Key>(text).map(
    ({ key, descending }) => sql`${columns[key]} ${descending ? down : up}`,
  )
  return sql.join([...keys, last])
}

/**
 * The columns of `matching` for a list with `rows`: the id and the keys of its ordering, and the order in these names.
 */
export function orderKeys<Key extends string>(
  text: OrderingText<Key>,
  columns: Readonly<Record<NoInfer<Key>, Sql>>,
  id: Sql,
): { readonly keys: Sql; readonly order: Sql } {
  const wanted = [...new Set(parseOrdering<Key>(text).map(({ key }) => key))]
  const keys = wanted.map((key) => sql`, ${columns[key]} as ${sql.ref(`key_${key}`)}`)
  const named = Object.fromEntries(wanted.map((key) => [key, sql.ref(`key_${key}`)])) as Record<Key, Sql>
  return { keys: sql`${id} as id${sql.join(keys, sql``)}`, order: orderBy<Key>(text, named, sql`id`) }
}

/** `-created,id` becomes `[{ key: 'created', descending: true }, { key: 'id', descending: false }]`. */
export const parseOrdering = <Key extends string>(text: OrderingText<Key>) =>
  text.split(',').map((part) => ({ key: part.replace(/^-/, '') as Key, descending: part.startsWith('-') }))

/** Conditions as `and ...`, without undefined and false ones. */
export function andAll(...conditions: readonly (Sql | false | null | undefined)[]): Sql {
  const present = conditions.filter((one) => typeof one === 'object' && one !== null)
  return sql.join(
    present.map((one) => sql`and ${one}`),
    sql` `,
  )
}
