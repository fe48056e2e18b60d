// The SQL of the related list and of one event in it. Access is enforced twice: every condition names the team, and
// row-level security hides the events of others. event-page.store.ts finds the pages.
import { sql } from 'kysely'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { lengthOf } from '../../net/prefix.ts'
import type { EventQuery } from './event-query.ts'
import { pageStatement } from './event-page.store.ts'
import type { EventRows } from './event-sql.store.ts'
import {
  sourceColumns,
  sourceRowOf,
  sourcesWithPlace,
  type SourceRow,
  type StoredSource,
} from '../ingest/source.store.ts'

export async function listEventsOfTeam(
  postgres: Postgres,
  teamId: number,
  query: EventQuery,
): Promise<EventRows> {
  const statement = pageStatement(teamId, query)
  const rows = isSearch(query)
    ? await postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
    : await postgres.readInTeam(teamId, statement)
  return rows[0]!
}

/** A query that may read a large part of the team's events must not block the other reads on its connection. */
function isSearch({ network, description, search, bps, pps }: EventQuery): boolean {
  if (description !== null || search !== null || bps !== null || pps !== null) return true
  if (network === null) return false
  return 'text' in network || lengthOf(network.prefix) < (network.prefix.includes(':') ? 48 : 24)
}

/**
 * The delivery with the detector's latest message about an event; null if unknown, or if the event contains the message
 * itself.
 */
export type DeliveryPlace = { readonly source_delivery: number | null; readonly source_received: Date | null }

export type EventDetail = DeliveryPlace & {
  readonly event_id: string
  readonly record: string
  /** JSON: the team's part. */
  readonly parsed_data: string
  /** Whether all networks of the event belong to the team. */
  readonly is_whole: boolean
  readonly has_attachment: boolean
  /** Version of the team's review; 0 without one. */
  readonly review: number
}

/** Of event `e`. */
const deliveryPlace = sql`case when not e.parsed_data ? 'source' then e.source_delivery end as source_delivery, e.source_received`

/** Row-level security shows the event itself only to teams that hold all of its networks. */
const detailStatement = (teamId: number, eventId: string) => sql<EventDetail>`
  select t.event_id, t.record, coalesce(t.parsed_data, e.parsed_data::text, '{}') as parsed_data,
    t.parsed_data is null as is_whole, exists (select from attachments a where a.subject_kind = 'event' and a.subject_id = t.event_id
      and (a.customer_id = t.team_id or a.customer_id is null and t.parsed_data is null)) as has_attachment,
    coalesce(r.version, 0) as review, ${deliveryPlace}
  from team_events t left join events e on e.id = t.event_id and t.parsed_data is null
    left join event_reviews r on r.event_id = t.event_id and r.team_id = t.team_id
  where t.team_id = ${teamId} and t.event_id = ${eventId}`

export async function findEventOfTeam(
  postgres: Postgres,
  teamId: number,
  eventId: string,
): Promise<EventDetail | undefined> {
  return (await postgres.readInTeam(teamId, detailStatement(teamId, eventId)))[0]
}

/** Like `findRelatedEvent`, in a transaction of the owner. */
export async function findDetail(
  trx: Trx,
  teamId: number,
  eventId: string,
): Promise<EventDetail | undefined> {
  return (await detailStatement(teamId, eventId).execute(trx)).rows[0]
}

/** A delivery, with its source. */
export type EventDelivery = { readonly received: Date; readonly body: Buffer; readonly source: SourceRow }

/**
 * Only for callers who may read all events of the delivery, and for a part of the body. Undefined if the delivery was
 * deleted.
 */
export async function findEventDelivery(
  db: Db | Trx,
  id: number,
  received: Date,
): Promise<EventDelivery | undefined> {
  const { rows } = await sql<Omit<EventDelivery, 'source'> & StoredSource>`
    select d.received, d.body, ${sourceColumns}
    from deliveries d join ${sourcesWithPlace} on s.key = d.source_key
    -- To the millisecond; it selects the partition.
    where d.id = ${id} and d.received >= ${received} and d.received < ${received}::timestamptz + interval '1 ms'`.execute(
    db,
  )
  const [row] = rows
  return row && { received: row.received, body: row.body, source: sourceRowOf(row) }
}

/** The complete parsed data of the event as JSON, for staff. */
export type WholeDetail = DeliveryPlace & { readonly parsed_data: string }

export async function findWholeDetail(db: Db | Trx, eventId: string): Promise<WholeDetail | undefined> {
  const { rows } = await sql<WholeDetail>`
    select e.parsed_data::text as parsed_data, ${deliveryPlace} from events e where e.id = ${eventId}`.execute(
    db,
  )
  return rows[0]
}
