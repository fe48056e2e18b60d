// Security events by the million: generated inside PostgreSQL from a number each, in the state in which the product's
// own writers would leave them. `requireAsWritten` proves that on a sample, by letting the product write them again.
import type { Client } from 'pg'
import { relateEvents } from '../../server/src/events/relate/relationship.ts'
import { lockEvents } from '../../server/src/events/event/event.store.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { createOwnershipCache } from '../../server/src/inventory/holding/ownership.ts'
import { fillBare } from './bulk.ts'

export type EventsPlan = {
  readonly events: number
  readonly teams: number
  /** The share of events that concern team 1; the others are distributed evenly. */
  readonly firstShare: number
}

/** The events start within these two years, in the order of their numbers. */
export const eventsFrom = new Date('2024-01-01T00:00:00Z')
const secondsInAll = 730 * 86_400

/** Classes and descriptions. */
const kinds = [
  ['udp.flood', 'UDP flood'],
  ['udp.amplification.dns', 'UDP amplification (DNS)'],
  ['udp.amplification.ntp', 'UDP amplification (NTP)'],
  ['tcp.syn_flood', 'TCP SYN flood'],
  ['tcp.ack_flood', 'TCP ACK flood'],
  ['icmp.flood', 'ICMP flood'],
  ['ip.fragment', 'IP fragment flood'],
  ['unknown', 'attack of unknown kind'],
] as const
/** The combinations of flags, as bits in the order of the contract. */
const flagBits = [1, 2, 17, 33, 65, 97]
/** `EVENT_ENDED` and `EVENT_ONGOING`, as bits in the order of the contract. */
const statusBits = [4, 2]
const facetsPerTeam = flagBits.length * statusBits.length * kinds.length

/** A fraction of 1 that is derived from the number and a salt. */
const dice = (salt: number): string => `((hashint8extended(n, ${salt}) & 2147483647) / 2147483648.0)`

/**
 * The events from $1 to $2, with their teams, the same in every call. `offset 0` keeps the planner from inlining each
 * expression wherever its column is used.
 */
function rowsOf({ events, teams, firstShare }: EventsPlan): string {
  const restShare = teams === 1 ? 0 : (1 - firstShare) / (teams - 1)
  const team =
    restShare === 0
      ? '1'
      : `case when ${dice(1)} < ${firstShare} then 1
           else least(${teams}, 2 + floor((${dice(1)} - ${firstShare}) / ${restShare}))::integer end`
  return `(
    select *, case bits when 1 then '{INCOMING}' when 2 then '{OUTGOING}' when 17 then '{INCOMING,CARPET_BOMB}'
        when 33 then '{INCOMING,MULTI_VECTOR}' when 65 then '{INCOMING,BLACKHOLED}'
        else '{INCOMING,MULTI_VECTOR,BLACKHOLED}' end::text[] as flags,
      start_at + make_interval(secs => lasted) as end_at,
      (bps / (512 + 11200 * ${dice(9)}))::bigint as pps,
      words[1] as class, words[2] as description
    from (
      select n, ${team} as team,
        timestamptz '${eventsFrom.toISOString()}' + make_interval(secs => floor((n - 1) * ${secondsInAll / events}::float8)) as start_at,
        case when n > ${Math.floor(events * 0.999)} and ${dice(2)} < 0.5 then null
          when ${dice(2)} < 0.99 then floor(exp(${dice(3)} * 9)) else floor(${dice(3)} * 864000) end as lasted,
        floor(exp(13.8 + ${dice(4)} * 12.9))::bigint as bps,
        case when ${dice(5)} < 0.85 then 1 when ${dice(5)} < 0.93 then 33 when ${dice(5)} < 0.96 then 65
          when ${dice(5)} < 0.98 then 2 when ${dice(5)} < 0.985 then 17 else 97 end as bits,
        floor(${dice(6)} * 256)::integer as third, floor(${dice(7)} * 256)::integer as fourth,
        (array[${kinds.map(([key, label]) => `['${key}', '${label}']`).join(', ')}])[1 + floor(${dice(8)} * 8)::integer : 1 + floor(${dice(8)} * 8)::integer] as slice
      from generate_series($1::bigint, $2::bigint) n offset 0) a
    cross join lateral (select array[slice[1][1], slice[1][2]] as words) w offset 0)`
}

const idOf = `substr(md5('bench ' || n), 1, 20)`
const sourceIdOf = `md5('attack ' || n)::uuid::text`
const addressOf = `'10.' || team || '.' || third || '.' || fourth`
const statusOf = `case when lasted is null then 'EVENT_ONGOING' else 'EVENT_ENDED' end`
const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')`

const record = `concat('{"id":"', ${idOf}, '","flags":["', array_to_string(flags, '","'), '"],"status":["', ${statusOf},
  '"],"affected_network":"', ${addressOf}, '/32","source_timezone":"Europe/Amsterdam","start":"', ${iso('start_at')},
  '","end":', coalesce('"' || ${iso('end_at')} || '"', 'null'), ',"source_key":"fastnetmon","source_event_id":"',
  ${sourceIdOf}, '","source_resource_id":"","source_location_id":"ams","source_country":"NL",',
  '"source_location":"Amsterdam","target_country":"NL","target_location":"Amsterdam","classification_key":"', class,
  '","description":"', description, '","affected_bps":', bps, ',"affected_pps":', pps)`

const relationship = (id: string, resource: string, path: string, length: number): string =>
  `'{"id":', ${id}, ',"match_resouce_name":"10.', team, '.0.0/${length}","match_resource_link":"${path}', team,
  '","match_resource":"${resource}","match_type":"covers","match_value":"10.', team, '.0.0/${length}"}'`

const announcementPath = '/v3/ipam/announcements/'
const prefixPath = '/v3/inventory/prefixes/'
/** The announcement of a team is the lower half of its prefix, so that half of the events have two relationships. */
const relationships = `concat('[', case when third < 128
  then concat(${relationship('2 * n - 1', 'announcement', announcementPath, 17)}, ',') end,
  ${relationship('2 * n', 'prefix', prefixPath, 16)}, ']')`

/** Teams must exist; each gets a prefix and an announcement, whose ids are the team's. */
export async function seedEvents(
  client: Client,
  plan: EventsPlan,
  report: (text: string) => void,
): Promise<void> {
  await seedHoldings(client, plan.teams)
  const start = performance.now()
  const tables = ['events', 'event_relationships', 'team_events', 'team_event_counts', 'team_event_hours']
  await fillBare(client, tables, async () => {
    await insertEvents(client, plan)
    report(
      `${plan.events} events were written in ${((performance.now() - start) / 1000).toFixed(0)} s; now their indexes`,
    )
  })
}

async function seedHoldings(client: Client, teams: number): Promise<void> {
  await client.query(
    `insert into locations (key, name, country, timezone) values ('ams', 'Amsterdam', 'NL', 'Europe/Amsterdam')`,
  )
  await client.query(
    `insert into sources (key, kind, name, secret_mac) values ('fastnetmon', 'fastnetmon', 'FastNetMon', '')`,
  )
  await client.query(
    `insert into prefixes (team_id, prefix, location_key, matched)
     select n, ('10.' || n || '.0.0/16')::cidr, 'ams', true from generate_series(1, $1::integer) n order by n`,
    [teams],
  )
  await client.query(
    `insert into announcements (team_id, prefix, origin_asn, irr_validated, rpki_validated, loa_validated, matched,
       vouched, clearance, claimed, checked_origin)
     select n, ('10.' || n || '.0.0/17')::cidr, 64496, now(), now(), now(), true, '{irr,rpki,loa}', 'passed', now(), 64496
     from generate_series(1, $1::integer) n order by n`,
    [teams],
  )
}

const batch = 500_000

async function insertEvents(client: Client, plan: EventsPlan): Promise<void> {
  const rows = rowsOf(plan)
  await client.query(insertOfFacets, [plan.teams])
  await client.query(`select setval(pg_get_serial_sequence('team_event_facets', 'id'), $1)`, [
    plan.teams * facetsPerTeam,
  ])
  for (let first = 1; first <= plan.events; first += batch) {
    const range = [first, Math.min(first + batch - 1, plan.events)]
    await client.query(insertOfEvents(rows), range)
    await client.query(insertOfRelationships(rows), range)
    await client.query(insertOfTeamEvents(rows), range)
  }
  await client.query(
    `insert into team_event_counts (team_id, facet, measure, bucket, events)
     select e.team_id, b.facet, b.measure, b.bucket, count(*)
     from team_events e
       cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.facet) b
     group by 1, 2, 3, 4`,
  )
  await client.query(
    `insert into team_event_hours (team_id, minutes, at, classification_key, started, ended, max_bps, max_pps)
     select e.team_id, h.minutes, h.at, e.classification_key, sum(h.started), sum(h.ended), max(h.max_bps), max(h.max_pps)
     from team_events e cross join event_hours(e.start_at, e.end_at, e.affected_bps, e.affected_pps) h
     group by 1, 2, 3, 4 order by h.at`,
  )
  await client.query(`select setval(pg_get_serial_sequence('event_relationships', 'id'), $1)`, [
    plan.events * 2,
  ])
}

const insertOfEvents = (rows: string): string => `
  insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at,
    end_at, source_resource_id, source_location_id, source_country, source_location, classification_key, description,
    affected_bps, affected_pps, parsed_data, merge_state)
  select ${idOf}, 'fastnetmon', ${sourceIdOf}, flags, array[${statusOf}], (${addressOf} || '/32')::cidr,
    'Europe/Amsterdam', start_at, end_at, '', 'ams', 'NL', 'Amsterdam', class, description, bps, pps,
    concat('{"vectors":["', class, '"],"protocols":["udp"],"total_bytes":', bps / 8,
      ',"peaks":{"bps":{"value":', bps, ',"at":"', ${iso('start_at')}, '"}}}')::jsonb,
    '{"signals":["ended"],"stamps":{}}'::jsonb
  from ${rows} r`

const insertOfRelationships = (rows: string): string => `
  insert into event_relationships (id, event_id, team_id, match_resource, match_resource_id, match_resource_name,
    match_resource_link, match_type, match_value)
  overriding system value
  select 2 * n - m.back, ${idOf}, team, m.resource, team, '10.' || team || '.0.0/' || m.length, m.path || team,
    'covers', '10.' || team || '.0.0/' || m.length
  from ${rows} r
    join (values (1, 'announcement', '${announcementPath}', '17'), (0, 'prefix', '${prefixPath}', '16'))
      m (back, resource, path, length) on m.back = 0 or third < 128
  order by n, m.back desc`

/** The id of a facet, from its team and the positions of its flags, status and class. */
const facetOf = (flags: string, status: string, kind: string): string =>
  `(team - 1) * ${facetsPerTeam} + ((${flags} - 1) * ${statusBits.length} + ${status} - 1) * ${kinds.length} + ${kind}`
const arrayOf = (values: readonly (string | number)[]): string =>
  `array[${values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(', ')}]`
const positionOf = (values: readonly (string | number)[], value: string): string =>
  `array_position(${arrayOf(values)}, ${value})`

const insertOfFacets = `
  insert into team_event_facets (id, team_id, flags, status, classification_key, source_key, description)
  overriding system value
  select ${facetOf('f.at', 's.at', 'k.at')}, team, f.flags, s.status, k.class, 'fastnetmon', k.description
  from generate_series(1, $1::bigint) team
    cross join unnest(${arrayOf(flagBits)}) with ordinality f(flags, at)
    cross join unnest(${arrayOf(statusBits)}) with ordinality s(status, at)
    cross join unnest(${arrayOf(kinds.map(([key]) => key))}, ${arrayOf(kinds.map(([, label]) => label.toLowerCase()))})
      with ordinality k(class, description, at)`

const insertOfTeamEvents = (rows: string): string => `
  insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
    classification_key, description, record, relationships, facet)
  select team, ${idOf}, start_at, end_at, bps, pps, bits, (${addressOf} || '/32')::cidr, class, lower(description),
    ${record}, ${relationships},
    ${facetOf(
      positionOf(flagBits, 'bits'),
      'case when lasted is null then 2 else 1 end',
      positionOf(
        kinds.map(([key]) => key),
        'class',
      ),
    )}
  from ${rows} r`

/** Lets the product relate a sample of the events again: rows in the state that it would write stay unchanged. */
export async function requireAsWritten(postgres: Postgres, client: Client): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    'select id from events tablesample system (0.5) limit 200',
  )
  const ids = rows.map(({ id }) => id)
  const versions = async () => {
    const found = await client.query<{ version: string }>(
      `select concat(event_id, ctid, xmin) as version from team_events where event_id = any($1)
       union all select concat(id, ctid, xmin) from event_relationships where event_id = any($1) order by 1`,
      [ids],
    )
    return found.rows.map(({ version }) => version)
  }
  const before = await versions()
  const cache = createOwnershipCache()
  await postgres.owner.transaction().execute(async (trx) => {
    const ownership = await cache.lock(trx)
    const events = await lockEvents(trx, ids)
    await relateEvents(
      trx,
      events.map(({ event }) => event),
      ownership,
      { isObserved: false },
    )
  })
  const after = await versions()
  const changed = after.filter((version, at) => version !== before[at]).length
  if (before.length < ids.length || changed > 0)
    throw new Error(`the product would write ${changed} of ${before.length} rows differently`)
}
