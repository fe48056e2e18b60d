// The sources of the search, one per kind. Every statement of `find` names the team, beside row-level security.
import { listRelatedEventsRoute } from '@pharos/contract/events/event'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { listDevicesRoute } from '@pharos/contract/inventory/device'
import { listZonesRoute } from '@pharos/contract/dns/zone'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { listAsnsRoute } from '@pharos/contract/inventory/asn'
import { listMembersRoute } from '@pharos/contract/team/member'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import { listServicesRoute } from '@pharos/contract/inventory/service'
import { listShieldListsRoute } from '@pharos/contract/shield/shield'
import { listTeamsRoute } from '@pharos/contract/team/team'
import { listTokensRoute } from '@pharos/contract/team/token'
import { listWebhooksRoute } from '@pharos/contract/messages/webhook'
import { sql, type RawBuilder } from 'kysely'
import { listsTeam } from '../db/proofs.ts'
import { lengthOf, networkOf, prefixAround, type Prefix } from '../net/prefix.ts'
import { reportedStatus, unreadAnnouncements } from '../byoip/status/reported-status.store.ts'
import { statusOfZone } from '../dns/zone/zone-status.store.ts'
import { visibleDevices } from '../inventory/device/device.store.ts'
import { teamPorts } from '../inventory/port/port.store.ts'
import type { SearchTerm } from '../net/search-term.ts'
import {
  best,
  hits,
  ofNoOtherTeam,
  ofOtherTeam,
  placeOf,
  placeOfPrefix,
  type HitRow,
  type SearchSource,
  type SearchSql,
} from './source.ts'

const originOf = (sought: SearchTerm, origin: SearchSql): SearchSql | null =>
  sought.asn === null ? null : sql`(case when ${origin} = ${sought.asn}::bigint then 1 end)`

const announcementPlace = (sought: SearchTerm) =>
  best(
    placeOfPrefix(sql`a.prefix`, sought),
    placeOf(sql`a.description`, sought),
    originOf(sought, sql`a.origin_asn`),
  )
const announcementText = sql`a.id::text as id, a.prefix::text as title,
  concat_ws(', ', 'AS' || a.origin_asn, nullif(a.description, '')) as subtitle, a.prefix`

const announcement: SearchSource = {
  kind: 'announcement',
  list: listAnnouncementsRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`${announcementText}, ${reportedStatus} as state, '/v3/ipam/announcements/' || a.id as url, ${ofNoOtherTeam}`,
      announcementPlace(sought),
      sql`(select * from announcements where team_id = ${teamId} and deleted is null) a
        left join ${unreadAnnouncements(sql`ar.team_id = ${teamId}`)} u on u.announcement_id = a.id`,
      sql`prefix`,
      limit,
    ),
  findInAll: (teamId, sought, limit) =>
    hits(
      sql`${announcementText}, null::text as state, ${ofOtherTeam}`,
      announcementPlace(sought),
      sql`announcements a join teams t on t.id = a.team_id and t.id <> ${teamId} and a.deleted is null
        ${indexed(sql`a.prefix`, sought)}`,
      sql`prefix`,
      limit,
    ),
}

/** An index condition of the prefix, if the text is one. Names and descriptions do not contain it. */
const indexed = (prefix: SearchSql, sought: SearchTerm): SearchSql =>
  sought.prefix === null ? sql`` : sql`and ${prefix} && ${sought.prefix}::cidr`

const prefixPlace = (sought: SearchTerm) =>
  best(placeOfPrefix(sql`p.prefix`, sought), placeOf(sql`p.name`, sought))
const prefixText = sql`p.id::text as id, p.prefix::text as title, p.name as subtitle, null::text as state, p.prefix`

const prefix: SearchSource = {
  kind: 'prefix',
  list: listPrefixesRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`${prefixText}, '/v3/inventory/prefixes/' || p.id as url, ${ofNoOtherTeam}`,
      prefixPlace(sought),
      sql`(select * from prefixes where team_id = ${teamId}) p`,
      sql`prefix`,
      limit,
    ),
  findInAll: (teamId, sought, limit) =>
    hits(
      sql`${prefixText}, ${ofOtherTeam}`,
      prefixPlace(sought),
      sql`prefixes p join teams t on t.id = p.team_id and t.id <> ${teamId} ${indexed(sql`p.prefix`, sought)}`,
      sql`prefix`,
      limit,
    ),
}

const asn: SearchSource = {
  kind: 'asn',
  list: listAsnsRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`a.asn::text as id, 'AS' || a.asn as title, a.name as subtitle,
        case when a.verified is not null and (a.expires is null or a.expires > now()) then 'verified'
          else 'unverified' end as state,
        '/v3/inventory/asns/' || a.asn as url, ${ofNoOtherTeam}, a.asn as number`,
      best(
        sought.asn === null ? null : sql`(case when a.asn = ${sought.asn}::bigint then 0 end)`,
        placeOf(sql`'as' || a.asn`, sought),
        placeOf(sql`a.name`, sought),
      ),
      sql`(select * from asns where team_id = ${teamId}) a`,
      sql`number`,
      limit,
    ),
}

/** Events by network are gathered up to this number and sorted; beyond, the newest are walked until enough match. */
const gatherMax = 2_000
const idStart = /^[a-z0-9]{6,}$/

const event: SearchSource = {
  kind: 'event',
  list: listRelatedEventsRoute,
  find: (teamId, { text, prefix: network }, limit) =>
    network !== null
      ? eventsOn(teamId, network, limit)
      : idStart.test(text)
        ? eventsById(teamId, text, limit)
        : null,
}

const eventColumns = sql`e.event_id as id, coalesce(abbrev(e.affected_network::inet), '') as title,
  concat_ws(' ', e.classification_key, to_char(e.start_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as subtitle,
  case when e.end_at is null then 'EVENT_ONGOING' else 'EVENT_ENDED' end as state,
  '/v3/lighthouse/security/events/related/' || e.event_id as url, ${ofNoOtherTeam}`

const eventsById = (teamId: number, text: string, limit: number): RawBuilder<HitRow> => sql<HitRow>`
  select ${eventColumns}, case when e.event_id = ${text} then 0 else 2 end as place
  from team_events e where e.team_id = ${teamId} and e.event_id >= ${text} and e.event_id < ${`${text}{`}
  order by e.event_id limit ${limit}`

/** Each incident once: that of the events that match. */
const incident: SearchSource = {
  kind: 'incident',
  list: listIncidentsRoute,
  find: (teamId, { text, prefix: network }, limit) =>
    network !== null
      ? incidentsOf(teamId, eventsNear(teamId, network, limit), limit)
      : idStart.test(text)
        ? incidentsOf(teamId, eventsNamed(teamId, text, limit), limit)
        : null,
}

/** An incident has the network of its first event, and ends when all of its events have. */
const incidentsOf = (teamId: number, { ctes, rows }: Found, limit: number): RawBuilder<HitRow> => sql<HitRow>`
  with ${ctes}matching as (
    select coalesce(m.incident, m.event_id) as id, min(f.place) as place
    from ${rows} f join team_events m on m.team_id = ${teamId} and m.event_id = f.event_id group by 1)
  select e.event_id as id, coalesce(abbrev(e.affected_network::inet), '') as title,
    concat_ws(' ', e.classification_key, to_char(e.start_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as subtitle,
    case when e.end_at is null or exists (
      select from team_events o where o.team_id = ${teamId} and o.incident = e.event_id and o.end_at is null)
      then 'EVENT_ONGOING' else 'EVENT_ENDED' end as state,
    '/v3/lighthouse/security/incidents/' || e.event_id as url, ${ofNoOtherTeam}, i.place
  from matching i join team_events e on e.team_id = ${teamId} and e.event_id = i.id
  order by i.place, e.start_at desc limit ${limit}`

/** `rows`, in parentheses, has `event_id`, `start_at` and `place`; the CTEs that it needs end with a comma. */
type Found = { readonly ctes: SearchSql; readonly rows: SearchSql }

const eventsNamed = (teamId: number, text: string, limit: number): Found => ({
  ctes: sql``,
  rows: sql`(
    select event_id, start_at, case when event_id = ${text} then 0 else 2 end as place from team_events
    where team_id = ${teamId} and event_id >= ${text} and event_id < ${`${text}{`} order by event_id limit ${limit})`,
})

const eventsOn = (teamId: number, network: Prefix, limit: number): RawBuilder<HitRow> => {
  const { ctes, rows } = eventsNear(teamId, network, limit)
  return sql<HitRow>`
    with ${ctes}nearest as (select * from ${rows} r order by place, start_at desc limit ${limit})
    select ${eventColumns}, f.place from nearest f join team_events e on e.team_id = ${teamId} and e.event_id = f.event_id
    order by f.place, e.start_at desc`
}

/** Comparisons instead of `&&`: under row-level security, only leakproof conditions can use the index. */
function eventsNear(teamId: number, network: Prefix, limit: number): Found {
  const inside = sql`(affected_network >= ${network}::cidr
    and affected_network <= host(broadcast(${network}::inet))::cidr)`
  const larger = Array.from({ length: lengthOf(network) }, (_, length) =>
    prefixAround(networkOf(network), length),
  )
  const place = sql`case when affected_network = ${network}::cidr then 0 else 1 end`
  return {
    ctes: sql`
    gathered as materialized (
      select event_id, start_at, ${place} as place from team_events where team_id = ${teamId} and ${inside} limit ${sql.lit(gatherMax + 1)}),
    found as (
      select * from gathered where (select count(*) from gathered) <= ${sql.lit(gatherMax)}
      union all (
        select * from (select event_id, start_at, ${place} as place from team_events where team_id = ${teamId} and ${inside}
          and (select count(*) from gathered) > ${sql.lit(gatherMax)} order by start_at desc limit ${limit}) w)
      union all (
        select * from (select event_id, start_at, ${place} as place from team_events
          where team_id = ${teamId} and affected_network = any(${larger}::cidr[])
          order by start_at desc limit ${limit}) l)),`,
    rows: sql`(select event_id, start_at, place from found)`,
  }
}

/** Lists with rules, by their prefix and the comments of their rules. */
const shieldList: SearchSource = {
  kind: 'shield_list',
  list: listShieldListsRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`l.id::text as id, l.prefix::text as title, concat(l.rules, case l.rules when 1 then ' rule' else ' rules' end) as subtitle,
        l.status as state, '/v3/lighthouse/security/shield/rules?prefix=' || l.prefix as url, ${ofNoOtherTeam}, l.prefix`,
      best(placeOfPrefix(sql`l.prefix`, sought), placeOf(sql`l.comments`, sought)),
      sql`(select l.id, l.prefix, l.status, count(*) as rules, string_agg(r.comment, ' ' order by r.sequence) as comments
        from shield_lists l join shield_rules r on r.list_id = l.id
        where l.team_id = ${teamId} and r.team_id = ${teamId} group by l.id) l`,
      sql`prefix`,
      limit,
    ),
}

const service: SearchSource = {
  kind: 'service',
  list: listServicesRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`s.id::text as id, s.name as title, concat_ws(', ', s.type, nullif(s.external_ref, ''), nullif(s.billing_ref, ''))
          as subtitle, s.state, '/v3/inventory/services/' || s.id as url, ${ofNoOtherTeam}`,
      best(
        placeOf(sql`s.name`, sought),
        placeOf(sql`s.external_ref`, sought),
        placeOf(sql`s.billing_ref`, sought),
        originOf(sought, sql`s.asn`),
      ),
      sql`(select * from services where team_id = ${teamId}) s`,
      sql`lower(title)`,
      limit,
    ),
}

const device: SearchSource = {
  kind: 'device',
  list: listDevicesRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`d.id::text as id, d.name as title, concat_ws(', ', nullif(d.vendor, ''), nullif(d.model, '')) as subtitle,
        d.status as state, '/v3/inventory/devices/' || d.id as url, ${ofNoOtherTeam}`,
      best(placeOf(sql`d.name`, sought), placeOf(sql`d.model`, sought), placeOf(sql`d.serial`, sought)),
      sql`(${visibleDevices(teamId)}) d`,
      sql`title`,
      limit,
    ),
}

const port: SearchSource = {
  kind: 'port',
  list: listPortsRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`p.id::text as id, p.device_name || ' ' || p.name as title,
        concat_ws(', ', p.circuit_id, nullif(p.description, '')) as subtitle, p.oper_status as state,
        '/v3/inventory/ports/' || p.id as url, ${ofNoOtherTeam}`,
      best(
        placeOf(sql`p.circuit_id`, sought),
        placeOf(sql`p.name`, sought),
        placeOf(sql`p.device_name || ' ' || p.name`, sought),
        placeOf(sql`p.description`, sought),
      ),
      sql`(${teamPorts(teamId)}) p`,
      sql`title`,
      limit,
    ),
}

const zone: SearchSource = {
  kind: 'zone',
  list: listZonesRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`z.id::text as id, z.shown as title, z.kind as subtitle, ${statusOfZone} as state, '/v3/dns/zones/' || z.id as url,
        ${ofNoOtherTeam}`,
      placeOf(sql`z.shown`, sought),
      sql`(select *, rtrim(name, '.') as shown from dns_zones where team_id = ${teamId} and deleted is null) z`,
      sql`title`,
      limit,
    ),
}

const member: SearchSource = {
  kind: 'member',
  list: listMembersRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`m.id::text as id, coalesce(nullif(m.name, ''), m.email) as title,
        case when m.name = '' then '' else m.email end as subtitle, m.state,
        '/v3/teams/' || ${teamId}::integer || '/members/' || m.id as url, ${ofNoOtherTeam}`,
      best(placeOf(sql`m.name`, sought), placeOf(sql`m.email`, sought)),
      sql`(select m.id, u.display_name as name, u.email, 'active' as state
          from memberships m join users u on u.id = m.user_id where m.team_id = ${teamId}
        union all
        select i.id, '', i.email, 'invited' from invitations i
          where i.team_id = ${teamId} and i.accepted is null and i.expires > now()) m`,
      sql`lower(title)`,
      limit,
    ),
}

const webhook: SearchSource = {
  kind: 'webhook',
  list: listWebhooksRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`w.id::text as id, coalesce(nullif(w.description, ''), w.url) as title,
        case when w.description = '' then '' else w.url end as subtitle,
        case when w.enabled then 'enabled' else 'disabled' end as state, '/v3/webhooks/' || w.id as url, ${ofNoOtherTeam}`,
      best(placeOf(sql`w.description`, sought), placeOf(sql`w.url`, sought)),
      sql`(select id, url as url, description, enabled from webhooks where team_id = ${teamId}) w`,
      sql`lower(title)`,
      limit,
    ),
}

const token: SearchSource = {
  kind: 'token',
  list: listTokensRoute,
  find: (teamId, sought, limit) =>
    hits(
      sql`k.id, k.name as title, k.id as subtitle,
        case when k.expires <= now() then 'expired' else 'active' end as state, '/v3/tokens/' || k.id as url, ${ofNoOtherTeam}`,
      best(placeOf(sql`k.name`, sought), placeOf(sql`k.id`, sought)),
      sql`(select id, name, expires from api_tokens where team_id = ${teamId} and revoked is null) k`,
      sql`lower(title)`,
      limit,
    ),
}

const teamText = sql`t.id::text as id, t.name as title, t.slug as subtitle, null::text as state`
const teamPlace = (sought: SearchTerm) => best(placeOf(sql`t.name`, sought), placeOf(sql`t.slug`, sought))

/** The one source beyond the team of the caller: the teams of the user that the session may list, whose memberships are in the SQL. */
const team: SearchSource = {
  kind: 'team',
  list: listTeamsRoute,
  find: (teamId, sought, limit, actor) =>
    hits(
      sql`${teamText}, '/v3/teams/' || t.id as url, ${ofNoOtherTeam}`,
      teamPlace(sought),
      actor.kind === 'user'
        ? sql`teams t join memberships m on m.team_id = t.id and m.user_id = ${actor.userId} join users u on u.id = m.user_id
            join sessions s on s.id = ${actor.sessionId}::uuid and ${listsTeam}`
        : sql`(select * from teams where id = ${teamId}) t`,
      sql`lower(title)`,
      limit,
    ),
  findInAll: (_teamId, sought, limit) =>
    hits(
      sql`${teamText}, '/v3/admin/teams/' || t.id as url, null::integer as team_id, null::text as team_name`,
      teamPlace(sought),
      sql`teams t`,
      sql`lower(title)`,
      limit,
    ),
}

/** In the order of `searchKinds`. A new kind is one entry here and one in the contract. */
export const searchSources: readonly SearchSource[] = [
  announcement,
  prefix,
  asn,
  incident,
  event,
  shieldList,
  zone,
  service,
  device,
  port,
  member,
  webhook,
  token,
  team,
]
