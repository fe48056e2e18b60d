// The SQL of events: the complete data, independent of teams. Only loops and the operator's commands write it.
import { sql, type RawBuilder } from 'kysely'
import { lengthOf, networkOf, parsePrefix, prefixAround } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { columns, type RowOf } from '../../db/columns.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { arrayText, unnestRows } from '../../db/unnest.ts'
import { networksOf } from './event.ts'
import type { Event } from './event.ts'

/** `isRebuilt`: the next observation replaces the event instead of being merged into it (see replay.ts). */
export type LockedEvent = { readonly event: Event; readonly isRebuilt: boolean }

/** Every field of an event, by name; each is read from and written to a column, see `columnOf`. */
const eventColumns = columns(
  'events',
  'e',
  [
    'id',
    'source_key',
    'source_event_id',
    'source_timezone',
    'source_resource_id',
    'source_location_id',
    'source_country',
    'source_location',
    'classification_key',
    'description',
    'affected_bps',
    'affected_pps',
    'has_attachment',
    'source_delivery',
    'source_received',
    'start_at',
    'end_at',
  ],
  {
    flags: sql<Event['flags']>`e.flags`,
    status: sql<Event['status']>`e.status`,
    affected_network: sql<string | null>`e.affected_network::text`,
    parsed_data: sql<Event['parsedData']>`e.parsed_data`,
    merge_state: sql<Event['mergeState'] | null>`e.merge_state`,
  },
)
type EventRow = RowOf<typeof eventColumns>

/** The types of columns that are not text, as they are passed. */
const types: Readonly<Record<string, string>> = {
  affected_network: 'cidr',
  start_at: 'timestamptz',
  end_at: 'timestamptz',
  affected_bps: 'bigint',
  affected_pps: 'bigint',
  has_attachment: 'boolean',
  source_delivery: 'bigint',
  source_received: 'timestamptz',
  parsed_data: 'json',
  merge_state: 'json',
}
/** Casts of columns that are passed as text. */
const casts: Readonly<Record<string, string>> = {
  flags: '::text[]',
  status: '::text[]',
  parsed_data: '::jsonb',
  merge_state: '::jsonb',
}

const names = eventColumns.entries.map(([name]) => name as keyof EventRow)
const passed = Object.fromEntries(names.map((name) => [name, types[name] ?? 'text'])) as Record<
  keyof EventRow,
  string
>
const written = sql.join(names.map((name) => sql.ref(name)))
const valueOf = (name: string) => sql`${sql.ref(`n.${name}`)}${sql.raw(casts[name] ?? '')}`
const values = sql.join(names.map(valueOf))
const keys: ReadonlySet<keyof EventRow> = new Set(['id', 'source_key', 'source_event_id'])
const assignments = sql.join(
  names.filter((name) => !keys.has(name)).map((name) => sql`${sql.ref(name)} = ${valueOf(name)}`),
)

/** Locks the existing events in the order of their ids, so that concurrent transactions cannot deadlock. */
export async function lockEvents(trx: Trx, ids: readonly string[]): Promise<LockedEvent[]> {
  const { rows } = await sql<EventRow>`
    select ${eventColumns} from events e where e.id = any(${ids}) order by e.id for update`.execute(trx)
  return rows.map((row) => ({ event: eventOf(row), isRebuilt: row.merge_state === null }))
}

/** The detectors' part of an event to which a team's view adds. */
export type ReportedEvent = Pick<Event, 'id' | 'status' | 'flags'>

/** Like `lockEvents`, without the rest of the event. */
export async function lockReported(trx: Trx, ids: readonly string[]): Promise<ReportedEvent[]> {
  const { rows } = await sql<ReportedEvent>`
    select id, status, flags from events where id = any(${ids}::text[]) order by id for update`.execute(trx)
  return rows
}

/** Returns the inserted ids; another transaction has inserted the missing ones. */
export async function insertEvents(trx: Trx, events: readonly Event[]): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    insert into events (${written}) select ${values} from ${recordset(events)} order by id
    on conflict (id) do nothing
    returning id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/** Updates events that the transaction has locked. */
export async function saveEvents(trx: Trx, events: readonly Event[]): Promise<void> {
  if (events.length === 0) return
  await sql`
    update events e set ${assignments}, updated = now() from ${recordset(events)} where e.id = n.id`.execute(
    trx,
  )
}

/** Saves the networks of events that have, or had, several. */
export async function saveEventNetworks(trx: Trx, events: readonly Event[]): Promise<void> {
  if (events.length === 0) return
  const networks = events.flatMap((event) => {
    const list = networksOf(event)
    return list.length > 1 ? list.map((network) => ({ network, event_id: event.id })) : []
  })
  await sql`delete from event_networks where event_id = any(${events.map(({ id }) => id)})`.execute(trx)
  await sql`
    insert into event_networks (network, event_id)
    select network, event_id from json_to_recordset(${JSON.stringify(networks)}::json) as n(network cidr, event_id text)`.execute(
    trx,
  )
}

const recordset = (events: readonly Event[]) => unnestRows(events.map(rowOf), passed)

/** The row of an event, with values that a cast of `casts` needs as text. */
const rowOf = (event: Event): Readonly<Record<keyof EventRow, unknown>> => ({
  id: event.id,
  source_key: event.sourceKey,
  source_event_id: event.sourceEventId,
  source_timezone: event.sourceTimezone,
  source_resource_id: event.sourceResourceId,
  source_location_id: event.sourceLocationId,
  source_country: event.sourceCountry,
  source_location: event.sourceLocation,
  classification_key: event.classificationKey,
  description: event.description,
  affected_network: event.affectedNetwork,
  affected_bps: event.affectedBps,
  affected_pps: event.affectedPps,
  has_attachment: event.hasAttachment,
  source_delivery: event.sourceDelivery,
  source_received: event.sourceReceived,
  start_at: event.start,
  end_at: event.end,
  flags: arrayText(event.flags),
  status: arrayText(event.status),
  parsed_data: JSON.stringify(event.parsedData),
  merge_state: JSON.stringify(event.mergeState),
})

const eventOf = (row: EventRow): Event => ({
  id: row.id,
  sourceKey: row.source_key,
  sourceEventId: row.source_event_id,
  sourceTimezone: row.source_timezone,
  sourceResourceId: row.source_resource_id,
  sourceLocationId: row.source_location_id,
  sourceCountry: row.source_country,
  sourceLocation: row.source_location,
  classificationKey: row.classification_key,
  description: row.description,
  affectedNetwork: row.affected_network === null ? null : parsePrefix(row.affected_network),
  affectedBps: row.affected_bps,
  affectedPps: row.affected_pps,
  hasAttachment: row.has_attachment,
  sourceDelivery: row.source_delivery,
  sourceReceived: row.source_received,
  start: row.start_at,
  end: row.end_at,
  flags: row.flags,
  status: row.status,
  parsedData: row.parsed_data,
  mergeState: row.merge_state ?? { signals: [], stamps: {} },
})

/** A position in the events by network, in PostgreSQL's order of cidr. */
export type EventCursor = { readonly network: string; readonly id: string }

/** A position before every event. */
export const firstCursor: EventCursor = { network: '0.0.0.0/0', id: '' }

/**
 * Lists the next events after the cursor whose network is the prefix or inside it. In PostgreSQL's order of cidr these
 * are one range of the index, from the prefix to its last address.
 */
export async function listEventsInside(
  db: Db,
  prefix: Prefix,
  after: EventCursor,
  limit: number,
): Promise<EventCursor[]> {
  const start = after === firstCursor ? { network: prefix, id: '' } : after
  return await listByNetwork(
    db,
    start,
    limit,
    (network) => sql`${network} <= host(broadcast(${prefix}::inet))::cidr`,
  )
}

/** Lists the next events after the cursor whose network is larger than the prefix and covers it. */
export async function listEventsAround(
  db: Db,
  prefix: Prefix,
  after: EventCursor,
  limit: number,
): Promise<EventCursor[]> {
  const larger = Array.from({ length: lengthOf(prefix) }, (_, length) =>
    prefixAround(networkOf(prefix), length),
  )
  return await listByNetwork(db, after, limit, (network) => sql`${network} = any(${larger}::cidr[])`)
}

async function listByNetwork(
  db: Db,
  after: EventCursor,
  limit: number,
  condition: (network: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<EventCursor[]> {
  const { rows } = await sql<EventCursor>`
    select network::text as network, id from (
      (select affected_network as network, id from events
        where (affected_network, id) > (${after.network}::cidr, ${after.id})
          and ${condition(sql`affected_network`)}
        order by affected_network, id limit ${limit})
      union
      (select network, event_id from event_networks
        where (network, event_id) > (${after.network}::cidr, ${after.id}) and ${condition(sql`network`)}
        order by network, event_id limit ${limit})
    ) e order by e.network, id limit ${limit}`.execute(db)
  return rows
}
