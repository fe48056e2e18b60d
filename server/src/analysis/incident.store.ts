// The SQL that finds the incidents that events belong to, and moves events to others. The caller holds the locks of the teams.
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import { unnestRows } from '../db/unnest.ts'
import { lastHostOf, networkOf, hostPrefix, type Prefix } from '../net/prefix.ts'
import { directionOf, pauseMs, reachOf, type Extent, type Member, type Moved } from './incident.ts'

/** An event of a team, to which incidents are to be found. */
export type PlacedEvent = Extent & { readonly team_id: number }

export type Neighbor = {
  readonly team_id: number
  readonly event_id: string
  /** Id of an incident to which the event belongs, or one to which it belongs too. */
  readonly incident: string
}

/** An incident that more events have is not divided any more: they stay together. */
export const membersMax = 2_000
/** More incidents on networks inside the one of an event are not looked at. */
const neighborsMax = 10_000

const placeTypes = {
  team_id: 'integer',
  event_id: 'text',
  network: 'cidr',
  last: 'cidr',
  since: 'timestamptz',
  reach: 'timestamptz',
  direction: 'integer',
}
const directionBits = directionOf(-1)

/** Lists the incidents of stored events that are connected with one of these. One statement for all; most find none. */
export async function listNeighbors(trx: Trx, events: readonly PlacedEvent[]): Promise<Neighbor[]> {
  const places = events.flatMap((event) =>
    event.networks.map((network) => ({
      team_id: event.team_id,
      event_id: event.event_id,
      network,
      last: lastOf(network),
      since: new Date(event.start_at.getTime() - pauseMs),
      reach: reachOf(event) ?? 'infinity',
      direction: directionOf(event.flags),
    })),
  )
  if (places.length === 0) return []
  const { rows } = await sql<Neighbor>`
    select distinct n.team_id, n.event_id, coalesce(t.incident, t.event_id) as incident
    from ${unnestRows(places, placeTypes, { few: true })}
      cross join lateral (select c.event_id from (${candidates}) c limit ${sql.lit(neighborsMax)}) c
      cross join lateral (
        select t.* from team_events t where t.team_id = n.team_id and t.event_id = c.event_id offset 0) t
    where (t.flags & ${sql.lit(directionBits)}) = n.direction and t.event_id <> n.event_id and ${isNear}`.execute(trx)
  return rows
}

/** In sums, so that no index by time is used: the networks have far fewer events. */
const isNear = sql`t.start_at + interval '0' < n.reach and coalesce(t.end_at, 'infinity') > n.since`

const isWide = (network: string) => sql.raw(
  `masklen(${network}) < case family(${network}) when 4 then 32 else 128 end`,
)

/**
 * Events on the networks in `n`, inside them and around them. Each is one range of an index. A further network of an event that covers one of the
 * team's is one that the team has a part of.
 */
const candidates = sql`
  select t.event_id from team_events t
  where t.team_id = n.team_id and t.affected_network >= n.network and t.affected_network <= n.last and ${isNear}
  union all
  select t.event_id from team_events t
  where t.affected_network >> n.network and ${isWide('t.affected_network')} and t.team_id + 0 = n.team_id and ${isNear}
  union all
  select m.event_id from event_networks m where m.network >= n.network and m.network <= n.last
  union all
  select m.event_id from event_networks m where m.network >> n.network and ${isWide('m.network')}`

const lastOf = (network: Prefix): Prefix =>
  hostPrefix(networkOf(network)) === network ? network : lastHostOf(network)

/** Returns those of the ended events whose incident has events that are too late for them. */
export async function listCutOff(trx: Trx, events: readonly PlacedEvent[]): Promise<Omit<Neighbor, 'incident'>[]> {
  if (events.length === 0) return []
  const rows = events.map(({ team_id, event_id, end_at }) => ({ team_id, event_id, reach: reachOf({ end_at }) }))
  const later = sql`t.team_id = e.team_id and t.start_at >= n.reach`
  const { rows: found } = await sql<Omit<Neighbor, 'incident'>>`
    select e.team_id, e.event_id
    from ${unnestRows(rows, { team_id: 'integer', event_id: 'text', reach: 'timestamptz' }, { few: true })}
      join team_events e on e.team_id = n.team_id and e.event_id = n.event_id
    where exists (select from team_events t where ${later} and t.incident = coalesce(e.incident, e.event_id))
      or exists (select from team_events t where ${later} and t.event_id = e.incident)`.execute(trx)
  return found
}

/** Lists the events of the incidents; one more than `membersMax` at most. */
export async function listMembers(trx: Trx, teamId: number, incidents: readonly string[]): Promise<Member[]> {
  if (incidents.length === 0) return []
  const { rows } = await sql<Omit<Member, 'networks'> & { readonly networks: Prefix[] | null }>`
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
export async function listIncidentsOf(trx: Trx, teamId: number, eventIds: readonly string[]): Promise<string[]> {
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
    select event_id, start_at from team_events where team_id = ${teamId} and event_id = any(${incidents}::text[])`.execute(trx)
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
    where team_id = ${teamId} and (event_id = any(${incidents}::text[]) or incident = any(${incidents}::text[]))`.execute(trx)
}

export async function saveMoved(trx: Trx, teamId: number, moved: readonly Moved[]): Promise<void> {
  if (moved.length === 0) return
  await sql`
    update team_events t set incident = n.incident
    from ${unnestRows(moved, { event_id: 'text', incident: 'text' })}
    where t.team_id = ${teamId} and t.event_id = n.event_id`.execute(trx)
}
