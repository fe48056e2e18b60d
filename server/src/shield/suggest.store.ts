// The SQL behind suggestions: the team's targets of an event, and its list for a prefix.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import { ruleColumns, type RuleRow } from './shield-list.store.ts'

export type AttackedEvent = {
  readonly start: Date
  readonly end: Date | null
  /** The highest rates; 0 if they are not known. */
  readonly bps: number
  readonly pps: number
  /** Parts of the event's networks that the team may filter, each inside `prefix`. */
  readonly targets: readonly { readonly network: Prefix; readonly prefix: Prefix }[]
  /** The detector's report in the view of the team. */
  readonly details: {
    readonly protocols?: readonly string[]
    readonly source_ports?: readonly { readonly port: number }[]
    readonly thresholds?: Readonly<Record<string, unknown>>
  }
}

/** As the owner, since networks of events belong to all teams. The prefix of a target is the team's longest that covers it. */
export async function findAttackedEvent(
  db: Db,
  teamId: number,
  eventId: string,
): Promise<AttackedEvent | undefined> {
  const { rows } = await sql<AttackedEvent>`
    select t.start_at as start, t.end_at as end, t.affected_bps::float8 as bps, t.affected_pps::float8 as pps,
      coalesce((select json_agg(json_build_object('network', n.network, 'prefix', n.prefix) order by n.network)
        from (select distinct on (o.network) o.network, h.prefix from (
            select v.affected_network as network from events v where v.id = t.event_id and v.affected_network is not null
            union
            -- Of events with several networks only.
            select m.network from event_networks m where m.event_id = t.event_id) o
          join (
            select p.prefix from prefixes p where p.team_id = ${teamId}
            union
            select a.prefix from announcements a where a.team_id = ${teamId} and a.claimed is not null and a.deleted is null) h
            on h.prefix >>= o.network and shield_may_filter(${teamId}, h.prefix)
          order by o.network, masklen(h.prefix) desc limit 200) n), '[]') as targets,
      coalesce(t.parsed_data::jsonb, (select e.parsed_data from events e where e.id = t.event_id), '{}') as details
    from team_events t where t.team_id = ${teamId} and t.event_id = ${eventId}`.execute(db)
  return rows[0]
}

/** The version of the team's list of exactly this prefix, 0 without one, and its id. */
export async function findList(
  trx: Trx,
  teamId: number,
  prefix: Prefix,
): Promise<{ readonly id: number; readonly version: number } | undefined> {
  const { rows } = await sql<{ id: number; version: number }>`
    select id, version from shield_lists where team_id = ${teamId} and prefix = ${prefix}::cidr`.execute(trx)
  return rows[0]
}

/** A rule of a list, with the prefix of the list. */
export type RuleAround = RuleRow & { readonly prefix: Prefix }

/** Returns the rules of the team's lists around and inside the prefix, in the order in which they are evaluated. */
export async function listRulesAround(trx: Trx, teamId: number, prefix: Prefix): Promise<RuleAround[]> {
  const { rows } = await sql<RuleRow & { readonly prefix: string }>`
    select ${ruleColumns}, l.prefix::text as prefix from shield_rules r join shield_lists l on l.id = r.list_id
    where r.team_id = ${teamId} and l.prefix && ${prefix}::inet order by masklen(l.prefix) desc, l.id, r.sequence`.execute(
    trx,
  )
  return rows.map((row) => ({ ...row, prefix: parsePrefix(row.prefix) }))
}
