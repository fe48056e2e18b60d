// The SQL of the list of sources with the state of their deliveries.
import {
  recentDeliveriesMax,
  type IngestState,
  type listSourcesRoute,
} from '@pharos/contract/events/delivery'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, withExpressions, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db } from '../../db/postgres.ts'

type Failure = {
  readonly id: number
  readonly received: string
  readonly state: IngestState
  readonly error: string | null
}

/** The last delivery of a kind: with the index on source and time, or on failures, it reads one row of each partition. */
const lastReceived = (condition: string) => sql<Date | null>`(
  select d.received from deliveries d where d.source_key = s.key and ${sql.raw(condition)}
  order by d.received desc limit 1)`

/** A count up to a maximum, so that a busy source does not make the list slow. */
const recent = (condition: string) => sql<number>`(
  select count(*) from (select from deliveries d where d.source_key = s.key
    and d.received > now() - interval '24 hours' and ${sql.raw(condition)} limit ${sql.lit(recentDeliveriesMax)}) r)`

const isFailure = "d.state in ('partial', 'failed')"

/** Whether the last processed delivery of the source `s` could not be read, completely or in part. */
export const failing = sql<boolean>`coalesce((
  select ${sql.raw(isFailure)} from deliveries d where d.source_key = s.key and d.state <> 'new'
  order by d.received desc, d.id desc limit 1), false)`

const plain = columns('sources', 's', ['key', 'kind', 'name'])
const listed = withExpressions(plain, {
  failing: sql<boolean>`s.failing`,
  last_delivery: sql<Date | null>`s.last_delivery`,
  last_success: lastReceived("d.state = 'done'"),
  last_failure: sql<Failure | null>`(
    select json_build_object('id', d.id, 'received', d.received, 'state', d.state, 'error', d.error)
    from deliveries d where d.source_key = s.key and ${sql.raw(isFailure)}
    order by d.received desc, d.id desc limit 1)`,
  waiting: sql<number>`(select count(*) from deliveries d where d.source_key = s.key and d.state = 'new')`,
  deliveries_24h: recent('true'),
  failures_24h: recent(isFailure),
})
export type SourceListRow = RowOf<typeof listed>

export const listSourcePage = (
  db: Db,
  query: QueryOf<typeof listSourcesRoute>,
): Promise<Page<SourceListRow>> =>
  listAll(db, {
    matching: sql`
      select m.* from (
        select s.*, ${failing} as failing, ${lastReceived('true')} as last_delivery from sources s) m
      where true ${andAll(
        query.key && sql`m.key = any(${query.key}::text[])`,
        query.failing !== undefined && sql`m.failing = ${query.failing}`,
      )}`,
    columns: listed,
    order: orderBy(
      query.ordering,
      { key: sql`s.key`, name: sql`s.name`, last_delivery: sql`s.last_delivery` },
      sql`s.key`,
    ),
    slice: query,
  })
