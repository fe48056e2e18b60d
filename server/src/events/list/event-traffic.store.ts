// The SQL of the traffic of an event: its time, and the networks and samples that the team sees. Row-level security shows the event itself only
// to teams that hold all of its networks.
import { sql } from 'kysely'
import type { TimelineSample } from '@pharos/contract/events/event'
import type { Postgres } from '../../db/postgres.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'

export type TrafficView = {
  readonly start: Date
  readonly end: Date | null
  /** The affected networks, or the team's parts of them. */
  readonly networks: readonly Prefix[]
  readonly timeline: readonly TimelineSample[]
}

/** Limit of used networks per event. */
const networksMax = 100

export async function findTrafficView(
  postgres: Postgres,
  teamId: number,
  eventId: string,
): Promise<TrafficView | undefined> {
  const [row] = await postgres.readInTeam(
    teamId,
    sql<TrafficView>`
      select t.start_at as start, t.end_at as end, coalesce(d.data -> 'timeline', '[]') as timeline,
        coalesce(d.data -> 'networks', to_jsonb(array_remove(array[t.affected_network::text], null))) as networks
      from team_events t left join events e on e.id = t.event_id and t.parsed_data is null
        cross join lateral (select coalesce(t.parsed_data::jsonb, e.parsed_data, '{}') as data) d
      where t.team_id = ${teamId} and t.event_id = ${eventId}`,
  )
  return row && { ...row, networks: row.networks.slice(0, networksMax) }
}

/** Returns the prefixes of the team's shield lists around and inside the networks. */
export async function listFilteredPrefixes(
  postgres: Postgres,
  teamId: number,
  networks: readonly Prefix[],
): Promise<Prefix[]> {
  const rows = await postgres.readInTeam(
    teamId,
    sql<{ prefix: string }>`
      select l.prefix::text as prefix from shield_lists l
      where l.team_id = ${teamId} and l.version > 0 and l.prefix && any(${networks}::inet[]) order by l.id limit 100`,
  )
  return rows.map(({ prefix }) => parsePrefix(prefix))
}
