// The SQL behind the mitigation of events: the rules that scrubbers hold, and the events that they may concern. As the owner: the loop acts for
// every team, and each statement names the team.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import type { ReportedAttack } from './attack-match.ts'
import type { StoredRule } from './reconcile.store.ts'

/** Returns the teams with installed rules in force, or with events marked as mitigated. */
export async function listMitigatingTeams(db: Db): Promise<number[]> {
  const { rows } = await sql<{ teamId: number }>`
    select team_id as "teamId" from shield_installs where held <> '[]' and reason is distinct from 'rules_may_be_lost'
    union select team_id from event_marks where marks ? 'MITIGATION_ACTIVE' order by 1`.execute(db)
  return rows.map(({ teamId }) => teamId)
}

export type HeldRow = {
  readonly scrubber: string
  readonly prefix: Prefix
  readonly rules: readonly StoredRule[]
}

export async function listActiveRules(db: Db, teamId: number): Promise<HeldRow[]> {
  const { rows } = await sql<Omit<HeldRow, 'prefix'> & { prefix: string }>`
    select i.scrubber, l.prefix::text as prefix, i.held as rules
    from shield_installs i join shield_lists l on l.id = i.list_id
    where i.team_id = ${teamId} and i.held <> '[]' and i.reason is distinct from 'rules_may_be_lost' order by i.scrubber, l.id`.execute(
    db,
  )
  return rows.map((row) => ({ ...row, prefix: parsePrefix(row.prefix) }))
}

export type ScopedEvent = {
  readonly eventId: string
  /** Null: it is not known, or the event does not concern the team any more. */
  readonly network: Prefix | null
  /** Whether the event has several networks. */
  readonly hasSeveral: boolean
  /** Whether the event is ongoing or ended a short time ago. */
  readonly isRecent: boolean
  readonly isActive: boolean
  /** Whether the event has, or had, the mark. */
  readonly wasMitigated: boolean
}

/**
 * Returns the next events of the team, by id, whose mitigation mark may change: ongoing events, events that ended
 * within the last hour, and events with the mark.
 */
export async function listScoped(
  db: Db,
  teamId: number,
  afterEventId: string,
  limit: number,
): Promise<ScopedEvent[]> {
  const next = sql`event_id > ${afterEventId} order by event_id limit ${limit}`
  const recent = sql`now() - interval '1 hour'`
  const { rows } = await sql<ScopedEvent>`
    with scoped as (
      (select event_id from team_events where team_id = ${teamId} and end_at is null and ${next})
      union (select event_id from team_events where team_id = ${teamId} and end_at > ${recent} and ${next})
      union (select event_id from event_marks where team_id = ${teamId} and marks ? 'MITIGATION_ACTIVE' and ${next})
      order by event_id limit ${limit})
    select s.event_id as "eventId", t.affected_network::text as network,
      exists (select from event_networks n where n.event_id = s.event_id) as "hasSeveral",
      t.event_id is not null and (t.end_at is null or t.end_at > ${recent}) as "isRecent",
      coalesce(m.marks ? 'MITIGATION_ACTIVE', false) as "isActive",
      coalesce(m.marks ?| array['MITIGATION_ACTIVE', 'MITIGATION_ENDED'], false) as "wasMitigated"
    from scoped s left join team_events t on t.team_id = ${teamId} and t.event_id = s.event_id
      left join event_marks m on m.team_id = ${teamId} and m.event_id = s.event_id
    order by s.event_id`.execute(db)
  return rows
}

export type DetectedAttack = ReportedAttack & {
  readonly eventId: string
  /** The highest rates; 0 if they are not known. */
  readonly bps: number
  readonly pps: number
  /** When its first report was processed, and how long ago; null if it is not known. */
  readonly detected: Date | null
  readonly detectedSeconds: number | null
}

/** Returns the attacks in the view of the team. */
export async function listAttacks(
  db: Db,
  teamId: number,
  eventIds: readonly string[],
): Promise<DetectedAttack[]> {
  const { rows } = await sql<DetectedAttack>`
    select t.event_id as "eventId", o.detected, extract(epoch from now() - o.detected)::float8 as "detectedSeconds", t.start_at as start, t.classification_key as classification,
      t.affected_bps::float8 as bps, t.affected_pps::float8 as pps,
      coalesce(d.data -> 'networks', to_jsonb(array_remove(array[t.affected_network::text], null))) as networks,
      jsonb_strip_nulls(jsonb_build_object('vectors', d.data -> 'vectors', 'protocols', d.data -> 'protocols',
        'source_ports', d.data -> 'source_ports', 'destination_ports', d.data -> 'destination_ports',
        'top_sources', d.data -> 'top_sources')) as details
    from team_events t join events o on o.id = t.event_id
      left join events e on e.id = t.event_id and t.parsed_data is null
      cross join lateral (select coalesce(t.parsed_data::jsonb, e.parsed_data, '{}') as data) d
    where t.team_id = ${teamId} and t.event_id = any(${eventIds}::text[])`.execute(db)
  return rows
}
