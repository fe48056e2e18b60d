// The SQL of events: what is known of each, whoever may see it. Only loops and the operator's commands write here.
import { sql, type RawBuilder } from 'kysely'
import { lengthOf, networkOf, parsePrefix, prefixAround } from '../net/prefix.ts'
import type { Prefix } from '../net/prefix.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { networksOf } from './event.ts'
import type { Event } from './event.ts'

/** `anew`: what is known is to be replaced by the next observation, not merged with it (see replay.ts). */
export type LockedEvent = { readonly event: Event; readonly anew: boolean }

type EventRow = {
  id: string
  source_key: string
  source_event_id: string
  flags: Event['flags']
  status: Event['status']
  affected_network: string | null
  source_timezone: string
  start_at: Date
  end_at: Date | null
  source_resource_id: string
  source_location_id: string
  source_country: string
  source_location: string
  classification_key: string
  description: string
  affected_bps: number
  affected_pps: number
  parsed_data: Event['parsedData']
  has_attachment: boolean
  merge_state: Event['mergeState'] | null
}

/** Those that exist, locked in the order of their ids, so that two that lock some of the same never wait in a circle. */
export async function lockEvents(trx: Trx, ids: readonly string[]): Promise<LockedEvent[]> {
  const { rows } = await sql<EventRow>`
    select id, source_key, source_event_id, flags, status, affected_network::text as affected_network,
      source_timezone, start_at, end_at, source_resource_id, source_location_id, source_country, source_location,
      classification_key, description, affected_bps, affected_pps, parsed_data, has_attachment, merge_state
    from events where id = any(${ids}) order by id for update`.execute(trx)
  return rows.map((row) => ({ event: eventOf(row), anew: row.merge_state === null }))
}

/** Gives back the ids that were written; one that is missing was written by another transaction meanwhile. */
export async function insertEvents(trx: Trx, events: readonly Event[]): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at,
      end_at, source_resource_id, source_location_id, source_country, source_location, classification_key, description,
      affected_bps, affected_pps, parsed_data, has_attachment, merge_state)
    select id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at,
      end_at, source_resource_id, source_location_id, source_country, source_location, classification_key, description,
      affected_bps, affected_pps, parsed_data, has_attachment, merge_state
    from ${recordset(events)} order by id
    on conflict (id) do nothing
    returning id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/** Of events that the transaction has locked. */
export async function saveEvents(trx: Trx, events: readonly Event[]): Promise<void> {
  if (events.length === 0) return
  await sql`
    update events e set flags = n.flags, status = n.status, affected_network = n.affected_network,
      source_timezone = n.source_timezone, start_at = n.start_at, end_at = n.end_at,
      source_resource_id = n.source_resource_id, source_location_id = n.source_location_id,
      source_country = n.source_country, source_location = n.source_location,
      classification_key = n.classification_key, description = n.description, affected_bps = n.affected_bps,
      affected_pps = n.affected_pps, parsed_data = n.parsed_data, has_attachment = n.has_attachment,
      merge_state = n.merge_state, updated = now()
    from ${recordset(events)} where e.id = n.id`.execute(trx)
}

/** The networks of events that have, or had, several. */
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

/** One JSON parameter instead of twenty arrays: arrays of arrays (flags) cannot be unnested by row. */
function recordset(events: readonly Event[]) {
  return sql`json_to_recordset(${JSON.stringify(events.map(rowOf))}::json) as n(
    id text, source_key text, source_event_id text, flags text[], status text[], affected_network cidr,
    source_timezone text, start_at timestamptz, end_at timestamptz, source_resource_id text, source_location_id text,
    source_country text, source_location text, classification_key text, description text, affected_bps bigint,
    affected_pps bigint, parsed_data jsonb, has_attachment boolean, merge_state jsonb)`
}

function rowOf(event: Event): EventRow {
  return {
    id: event.id,
    source_key: event.sourceKey,
    source_event_id: event.sourceEventId,
    flags: event.flags,
    status: event.status,
    affected_network: event.affectedNetwork,
    source_timezone: event.sourceTimezone,
    start_at: event.start,
    end_at: event.end,
    source_resource_id: event.sourceResourceId,
    source_location_id: event.sourceLocationId,
    source_country: event.sourceCountry,
    source_location: event.sourceLocation,
    classification_key: event.classificationKey,
    description: event.description,
    affected_bps: event.affectedBps,
    affected_pps: event.affectedPps,
    parsed_data: event.parsedData,
    has_attachment: event.hasAttachment,
    merge_state: event.mergeState,
  }
}

function eventOf(row: EventRow): Event {
  return {
    id: row.id,
    sourceKey: row.source_key,
    sourceEventId: row.source_event_id,
    flags: row.flags,
    status: row.status,
    affectedNetwork: row.affected_network === null ? null : parsePrefix(row.affected_network),
    sourceTimezone: row.source_timezone,
    start: row.start_at,
    end: row.end_at,
    sourceResourceId: row.source_resource_id,
    sourceLocationId: row.source_location_id,
    sourceCountry: row.source_country,
    sourceLocation: row.source_location,
    classificationKey: row.classification_key,
    description: row.description,
    affectedBps: row.affected_bps,
    affectedPps: row.affected_pps,
    parsedData: row.parsed_data,
    hasAttachment: row.has_attachment,
    mergeState: row.merge_state ?? { signals: [], stamps: {} },
  }
}

/** A place in the events by network, in PostgreSQL's order of cidr. */
export type EventCursor = { readonly network: string; readonly id: string }

/** Before every event. */
export const firstCursor: EventCursor = { network: '0.0.0.0/0', id: '' }

/**
 * The next events after the cursor whose network is the prefix or inside it. In PostgreSQL's order of cidr these are
 * one run of the index, from the prefix to its last address.
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

/** The next events after the cursor whose network is larger than the prefix and covers it. */
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
