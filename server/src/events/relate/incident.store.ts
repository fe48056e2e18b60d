// The SQL that finds the incidents of events, and moves events between incidents. The caller has locked the teams.
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { unnestRows } from '../../db/unnest.ts'
import { lastHostOf, type Prefix } from '../../net/prefix.ts'
import {
  directionFlagsOf,
  pauseMs,
  incidentReachOf,
  type Extent,
  type IncidentMember,
  type Moved,
} from './incident.ts'

/** An event of a team, to which incidents are to be found. */
export type PlacedEvent = Extent & { readonly team_id: number }

/** An event, and the id of an incident with an event that is connected with it. */
export type ConnectedEvent = { readonly event: PlacedEvent; readonly incident: string }

/** An incident that more events have is not divided any more: they stay together. */
export const membersMax = 2_000
/** Limit of incidents on networks inside the network of an event. */
const neighborsMax = 10_000

const placeTypes = {
  team_id: 'integer',
  network: 'cidr',
  last: 'cidr',
  since: 'float8',
  reach: 'float8',
  direction: 'integer',
}
const directionBits = sql.lit(directionFlagsOf(-1))

/**
 * Lists the incidents of stored events that are connected with one of these, possibly repeated; for a stored event also
 * its own. One statement for all. Most events have no neighbors.
 */
export async function listNeighbors(trx: Trx, events: readonly PlacedEvent[]): Promise<ConnectedEvent[]> {
  const placed: PlacedEvent[] = []
  const places = events.flatMap((event) =>
    event.networks.map((network) => {
      const { team_id, start_at: start, end_at: end, flags } = event
      placed.push(event)
      return {
        team_id,
        network,
        last: isHost(network) ? null : lastHostOf(network),
        // As numbers, which are sent and parsed faster than times.
        since: (start.getTime() - pauseMs) / 1_000,
        reach: end === null ? Infinity : (end.getTime() + pauseMs) / 1_000,
        direction: directionFlagsOf(flags),
      }
    }),
  )
  if (places.length === 0) return []
  const { rows } = await sql<{ place: number; incident: string }>`
    select n.place::integer as place, t.incident
    from ${unnestRows(places, placeTypes, { few: true })}
      cross join lateral (select * from (${candidates}) c limit ${sql.lit(neighborsMax)}) t`.execute(trx)
  return rows.map(({ place, incident }) => ({ event: placed[place - 1]!, incident }))
}

const isHost = (network: Prefix): boolean => network.endsWith(network.includes(':') ? '/128' : '/32')

const found = sql`coalesce(t.incident, t.event_id) as incident`
/** In sums, so that no index by time is used: the networks have far fewer events. */
const isConnected = sql`t.start_at + interval '0' < to_timestamp(n.reach) and coalesce(t.end_at, 'infinity') > to_timestamp(n.since)
    and (t.flags & ${directionBits}) = n.direction`

const isWide = (network: string) =>
  sql.raw(`masklen(${network}) < case family(${network}) when 4 then 32 else 128 end`)

/** The events with one of these as a further network. */
const withFurther = (condition: RawBuilder<unknown>) => sql`
  select ${found} from event_networks m cross join lateral (
    select * from team_events t where t.team_id = n.team_id and t.event_id = m.event_id offset 0) t
  where ${condition} and ${isConnected}`

/**
 * Events on the networks in `n`, inside them and around them. Each is one range of an index. A further network that
 * covers a network of the team belongs to it in part.
 */
const candidates = sql`
  select ${found} from team_events t
  where t.team_id = n.team_id and t.affected_network >= n.network and t.affected_network <= coalesce(n.last, n.network) and ${isConnected}
  union all
  select ${found} from team_events t
  where t.affected_network >> n.network and ${isWide('t.affected_network')} and t.team_id + 0 = n.team_id and ${isConnected}
  union all ${withFurther(sql`m.network >= n.network and m.network <= coalesce(n.last, n.network)`)}
  union all ${withFurther(sql`m.network >> n.network and ${isWide('m.network')}`)}`

type EventOfTeam = Pick<PlacedEvent, 'team_id' | 'event_id'>

/** Filters the ended events: only events whose incident has events that start too late for them. */
export async function listCutOff(trx: Trx, events: readonly PlacedEvent[]): Promise<EventOfTeam[]> {
  if (events.length === 0) return []
  const rows = events.map(({ team_id, event_id, end_at }) => ({
    team_id,
    event_id,
    reach: incidentReachOf({ end_at }),
  }))
  const later = sql`t.team_id = e.team_id and t.start_at >= n.reach`
  const { rows: found } = await sql<EventOfTeam>`
    select e.team_id, e.event_id
    from ${unnestRows(rows, { team_id: 'integer', event_id: 'text', reach: 'timestamptz' }, { few: true })}
      join team_events e on e.team_id = n.team_id and e.event_id = n.event_id
    where exists (select from team_events t where ${later} and t.incident = coalesce(e.incident, e.event_id))
      or exists (select from team_events t where ${later} and t.event_id = e.incident)`.execute(trx)
  return found
}

/** Lists the events of the incidents; one more than `membersMax` at most. */
export async function listIncidentMembers(
  trx: Trx,
  teamId: number,
  incidents: readonly string[],
): Promise<IncidentMember[]> {
  if (incidents.length === 0) return []
  const { rows } = await sql<Omit<IncidentMember, 'networks'> & { readonly networks: Prefix[] | null }>`
    select t.event_id, t.incident, t.start_at, t.end_at, t.flags, coalesce(
        case when t.parsed_data is null
          then (select array_agg(n.network::text) from event_networks n where n.event_id = t.event_id)
          else (select array_agg(n) from json_array_elements_text(t.parsed_data::json -> 'networks') n) end,
        array[t.affected_network::text]) as networks
    from (
      select event_id from team_events where team_id = ${teamId} and event_id = any(${incidents}::text[])
      union all
      select event_id from team_events where team_id = ${teamId} and incident = any(${incidents}::text[])
      limit ${sql.lit(membersMax + 1)}) m
      join team_events t on t.team_id = ${teamId} and t.event_id = m.event_id`.execute(trx)
  return rows.map((row) => ({ ...row, networks: (row.networks ?? []).filter((network) => network !== null) }))
}

/** Returns the incidents that the events are in. */
export async function listIncidentsOf(
  trx: Trx,
  teamId: number,
  eventIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ incident: string }>`
    select distinct coalesce(incident, event_id) as incident from team_events
    where team_id = ${teamId} and event_id = any(${eventIds}::text[])`.execute(trx)
  return rows.map(({ incident }) => incident)
}

/** Returns the first events of the incidents. */
export async function listFirst(
  trx: Trx,
  teamId: number,
  incidents: readonly string[],
): Promise<Pick<Extent, 'event_id' | 'start_at'>[]> {
  const { rows } = await sql<Pick<Extent, 'event_id' | 'start_at'>>`
    select event_id, start_at from team_events where team_id = ${teamId} and event_id = any(${incidents}::text[])`.execute(
    trx,
  )
  return rows
}

/** Moves all events of the incidents to another one. */
export async function mergeIncidents(
  trx: Trx,
  teamId: number,
  incidents: readonly string[],
  into: string,
): Promise<void> {
  await sql`
    update team_events set incident = ${into}
    where team_id = ${teamId} and (event_id = any(${incidents}::text[]) or incident = any(${incidents}::text[]))`.execute(
    trx,
  )
}

export async function saveMoved(trx: Trx, teamId: number, moved: readonly Moved[]): Promise<void> {
  if (moved.length === 0) return
  await sql`
    update team_events t set incident = n.incident
    from ${unnestRows(moved, { event_id: 'text', incident: 'text' })}
    where t.team_id = ${teamId} and t.event_id = n.event_id`.execute(trx)
}
