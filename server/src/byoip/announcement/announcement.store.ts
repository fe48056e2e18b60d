// The SQL of a team's announcements: read, lock, save. Every statement filters by the team. The statements of the loops,
// which work for all teams, are in reconcile.store.ts.
import { sql, type RawBuilder } from 'kysely'
import type {
  AnnouncementCondition,
  AnnouncementStatus,
  listAnnouncementsRoute,
} from '@pharos/contract/byoip/announcement'
import { ownDetailNames } from '@pharos/contract/byoip/announcement-checks'
import type { ReasonAttrs, RegionReason } from '@pharos/contract/reason/region-reason'
import type { QueryOf } from '@pharos/contract/route'
import { columns, jsonOf, parseJsonRow, withExpressions, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { executeLater } from '../../db/team-transactions.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { parseSearchTerm } from '../../net/search-term.ts'
import { fieldsOf } from '../../operation/fields.ts'
import type { Limits } from '../../operation/limits.ts'
import type { Announcement, AnnouncementRegion, OpenRegion } from '../status/announcement.ts'
import { detailNames } from '../status/announcement-details.ts'
import type { Check } from '../validation/validation.ts'
import { checkOf, checksJson, type CheckJson } from '../validation/validation.store.ts'
import { regionCheckResult, reportedStatus, unreadAnnouncements } from '../status/reported-status.store.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { regionMessages, type RegionChange } from '../status/region-message.ts'
import { notifyStatusChanges } from '../status/status-message.store.ts'

export type AnnouncementListQuery = QueryOf<typeof listAnnouncementsRoute>

const announcementColumns = columns(
  'announcements',
  'a',
  [
    'id',
    'team_id',
    'prefix',
    'origin_asn',
    'enabled',
    'suspended',
    'irr_validated',
    'rpki_validated',
    'loa_validated',
    'clearance',
    'claimed',
    'status',
    'version',
    'created',
  ],
  { details: jsonOf(columns('announcements', 'a', detailNames)) },
)

/** A region `r` with its row `ar` of an announcement `a`. */
const regionColumns = columns(
  'announcement_regions',
  'ar',
  ['configured', 'restorable', 'state', 'since', 'settled', 'changes'],
  {
    reason: sql<RegionReason | null>`ar.reason`,
    attrs: sql<ReasonAttrs | null>`ar.attrs`,
    region_id: sql<number>`r.id`,
    slug: sql<string>`r.slug`,
    last_check: sql<Date | null>`r.last_check`,
    last_check_result: regionCheckResult,
    // Whether a quorum of the region's routers has an established session for the family.
    reached: sql<boolean>`case family(a.prefix) when 4 then r.neighbors4 else r.neighbors6 end`,
  },
)
type RegionRow = RowOf<typeof regionColumns>
const regionTimes = { since: true, settled: true, changes: true, last_check: true } as const

const regionJson = jsonOf(regionColumns)
const fullColumns = withExpressions(announcementColumns, {
  regions: sql<RowOf<typeof regionJson>[]>`coalesce((
    select json_agg(${regionJson} order by r.slug collate "C")
    from announcement_regions ar join regions r on r.id = ar.region_id
    where ar.announcement_id = a.id and ar.team_id = a.team_id), '[]')`,
})
const checkedColumns = withExpressions(fullColumns, { checks: checksJson })

/** An announcement with its stored checks, from one snapshot; without checks unless they were requested. */
export type WithChecks = { readonly announcement: Announcement; readonly checks: readonly Check[] }

type AnnouncementRow = RowOf<typeof announcementColumns>
type FullRow = RowOf<typeof fullColumns> & { readonly checks?: CheckJson[] }

const columnsOf = (withChecks: boolean) => (withChecks ? checkedColumns : fullColumns)

function fullOf({ regions, checks = [], ...row }: FullRow): WithChecks {
  const parsed = regions.map((region) => regionOf(parseJsonRow<RegionRow>(region, regionTimes)))
  return { announcement: announcementOf(row, parsed), checks: checks.map(checkOf) }
}

function announcementOf(row: AnnouncementRow, regions: readonly AnnouncementRegion[]): Announcement {
  return {
    id: row.id,
    teamId: row.team_id,
    prefix: parsePrefix(row.prefix),
    originAsn: parseAsn(row.origin_asn),
    enabled: row.enabled,
    suspended: row.suspended,
    irrValidated: row.irr_validated,
    rpkiValidated: row.rpki_validated,
    loaValidated: row.loa_validated,
    clearance: row.clearance,
    claimed: row.claimed,
    status: row.status,
    version: row.version,
    created: row.created,
    details: parseJsonRow(row.details, { deleted: true }),
    regions,
  }
}

const regionOf = (row: RegionRow): AnnouncementRegion => ({
  regionId: row.region_id,
  slug: row.slug,
  configured: row.configured,
  restorable: row.restorable,
  state: row.state,
  since: row.since,
  settled: row.settled,
  reason: row.reason,
  attrs: row.attrs,
  changes: row.changes,
  lastCheck: row.last_check,
  lastCheckResult: row.last_check_result,
  reached: row.reached,
})

/** Returns one announcement of the team with its regions. */
export async function findAnnouncement(
  postgres: Postgres,
  teamId: number,
  id: number,
  withChecks: boolean,
): Promise<WithChecks | undefined> {
  const [row] = await postgres.readInTeam(
    teamId,
    sql<FullRow>`
      select ${columnsOf(withChecks)} from announcements a where a.team_id = ${teamId} and a.id = ${id}::bigint
        and a.deleted is null`,
  )
  return row && fullOf(row)
}

/** Returns several announcements by id, with their checks, in a transaction. */
export async function readAnnouncements(
  trx: Trx,
  teamId: number,
  ids: readonly number[],
): Promise<WithChecks[]> {
  const { rows } = await sql<FullRow>`
    select ${checkedColumns} from announcements a
    where a.team_id = ${teamId} and a.id = any(${ids}::integer[]) and a.deleted is null order by a.id`.execute(
    trx,
  )
  return rows.map(fullOf)
}

/** `overlapped`: lists only announcements that overlap any of these prefixes. */
export async function listAnnouncementRows(
  postgres: Postgres,
  teamId: number,
  query: AnnouncementListQuery,
  overlapped: readonly Prefix[] | undefined,
  withChecks: boolean,
  limits: Limits | null,
): Promise<Page<WithChecks>> {
  const {
    origin_asn: originAsns,
    region: regions,
    status: statuses,
    condition: conditions,
    enabled,
    family,
  } = query
  const keys = new Set(query.ordering.split(',').map((key) => key.replace(/^-/, '')))
  const [byLastCheck, byStatus] = [keys.has('last_check'), keys.has('status')]
  const { page, count } = await listInTeam<FullRow>(postgres, teamId, {
    matching: sql`
      select a.* ${byLastCheck ? lastCheck : sql``} ${byStatus ? sql`, ${reportedStatus} as shown` : sql``}
      from announcements a ${byStatus || statuses || conditions ? unreadOf(teamId) : sql``}
      where a.team_id = ${teamId} ${andAll(
        query.deleted ? sql`a.deleted is not null` : sql`a.deleted is null`,
        limits && isWithin(limits),
        overlapped && sql`a.prefix && any(${overlapped}::inet[])`,
        query.search !== undefined && found(query.search),
        originAsns && sql`a.origin_asn = any(${originAsns}::bigint[])`,
        statuses && sql`${reportedStatus} = any(${statuses}::text[])`,
        conditions && sql`${condition} = any(${conditions}::text[])`,
        enabled !== undefined && sql`a.enabled = ${enabled}`,
        family && sql`family(a.prefix) = ${Number(family)}`,
        regions &&
          sql`exists (
            select from announcement_regions ar join regions r on r.id = ar.region_id
            where ar.announcement_id = a.id and ar.team_id = a.team_id and ar.configured
              and r.slug = any(${regions}::text[]))`,
      )}`,
    columns: columnsOf(withChecks),
    order: orderBy(
      query.ordering,
      {
        id: sql`a.id`,
        cidr: sql`a.prefix`,
        origin_asn: sql`a.origin_asn`,
        created: sql`a.created`,
        status: sql`a.shown collate "C"`,
        last_check: sql`a.last_check`,
      },
      sql`a.id`,
    ),
    slice: query,
  })
  return { page: page.map(fullOf), count }
}

/** Whether announcement `a` is within the prefixes of a limited token. */
const isWithin = ({ prefixes }: Limits) => sql`a.prefix <<= any(${prefixes}::cidr[])`

const onRouters = sql`('announcing', 'announced', 'partially_announced', 'withdrawing', 'error')`
const blocked = sql`('pending_validation', 'validating', 'validation_failed', 'suspended')`

/** Whether the search finds announcement `a`: by a part of its text, or as a network that overlaps its prefix. */
function found(search: string): RawBuilder<boolean> {
  const { text, prefix } = parseSearchTerm(search)
  return sql`(
    strpos(lower(concat_ws(chr(10), text(a.prefix), a.description, 'AS' || a.origin_asn)), ${text}) > 0
    ${prefix === null ? sql`` : sql`or a.prefix && ${prefix}::inet`})`
}

/** Of announcement `a`, joined as by `unreadOf`. */
const condition = sql<AnnouncementCondition>`case
  when ${reportedStatus} in ${blocked} then 'blocked'
  when a.enabled then case ${reportedStatus} when 'announced' then 'in_sync' else 'out_of_sync' end
  when ${reportedStatus} in ${onRouters} then 'out_of_sync'
  else 'off' end`

export type AnnouncementCountRow = {
  readonly status: AnnouncementStatus
  readonly condition: AnnouncementCondition
  readonly count: number
}

/** Counts the team's announcements by shown status and condition. */
export const countAnnouncementRows = (
  postgres: Postgres,
  teamId: number,
  limits: Limits | null,
): Promise<AnnouncementCountRow[]> =>
  postgres.readInTeam(
    teamId,
    sql<AnnouncementCountRow>`
      select s.status, s.condition, count(*)::integer as count from (
        select ${reportedStatus} as status, ${condition} as condition
        from announcements a ${unreadOf(teamId)} where a.team_id = ${teamId} and a.deleted is null ${andAll(limits && isWithin(limits))}) s
      group by 1, 2`,
  )

/** Like checkOf() in present-announcement.ts: the oldest check of its regions; null if a region was never checked. */
const lastCheck = sql`, (
    select case when bool_or(o.last_check is null) then null else min(o.last_check) end
    from (
      select r.last_check, concerned, bool_or(concerned) over () as any_concerned
      from announcement_regions ar join regions r on r.id = ar.region_id,
        lateral (select ar.configured and a.enabled and not a.suspended or ar.state <> 'withdrawn' as concerned) c
      where ar.announcement_id = a.id and ar.team_id = a.team_id) o
    where o.concerned or not o.any_concerned) as last_check`

const unreadOf = (teamId: number) => sql`
  left join ${unreadAnnouncements(sql`ar.team_id = ${teamId}`)} u on u.announcement_id = a.id`

export type Locked = { readonly announcement: Announcement; readonly open: readonly OpenRegion[] }

/**
 * Returns the announcement, locked until the end of the transaction, with the regions open to the team. Every change of the
 * desired state takes this lock first, so that the regions read after it are the newest. Two statements for that reason, sent together: a
 * single statement that waited for the lock would return the regions as they were before the wait.
 */
export async function lockAnnouncement(trx: Trx, teamId: number, id: number): Promise<Locked | undefined> {
  const [{ rows: locked }, { rows }] = await Promise.all([
    sql<AnnouncementRow>`
      select ${announcementColumns} from announcements a where a.team_id = ${teamId} and a.id = ${id}::bigint
        and a.deleted is null for no key update`.execute(trx),
    sql<RegionRow & { open: boolean }>`
      select ${regionColumns}, r.open
      from announcements a cross join regions r
      left join announcement_regions ar
        on ar.region_id = r.id and ar.announcement_id = a.id and ar.team_id = a.team_id
      where a.team_id = ${teamId} and a.id = ${id}::bigint and (r.open or ar.announcement_id is not null)
      order by r.slug collate "C"`.execute(trx),
  ])
  const [row] = locked
  if (!row) return undefined
  const regions = rows.map(regionOf)
  // Columns of a region that was never configured for the announcement are null.
  const present = regions.filter(({ configured }) => (configured as boolean | null) !== null)
  return {
    announcement: announcementOf(row, present),
    open: regions.filter((_, at) => rows[at]!.open),
  }
}

/** Like `saveAnnouncements`, for one announcement. */
export const saveAnnouncement = (trx: Trx, before: Announcement, after: Announcement): Promise<void> =>
  saveAnnouncements(trx, [{ before, after }])

/**
 * Saves the changed announcements and regions, and notifies the teams of all changed statuses together. Rows of regions
 * are never deleted: they are the evidence.
 */
export async function saveAnnouncements(
  trx: Trx,
  changes: readonly { readonly before: Announcement; readonly after: Announcement }[],
): Promise<void> {
  for (const { before, after } of changes) {
    const known = new Set(before.regions)
    const regions = after.regions.filter((region) => !known.has(region)).map(jsonOfRegion)
    await executeLater(
      trx,
      sql`
      with switched as (
        update announcements set enabled = ${after.enabled}, status = ${after.status}, version = ${after.version}
        where team_id = ${after.teamId} and id = ${after.id})
      insert into announcement_regions as ar
        (announcement_id, region_id, team_id, configured, restorable, state, since, reason, attrs, changes)
      select ${after.id}, n.region_id, ${after.teamId}, n.configured, n.restorable, n.state, n.since, n.reason, n.attrs, n.changes
      from jsonb_to_recordset(${JSON.stringify(regions)}::jsonb) as n (
        region_id integer, configured boolean, restorable boolean, state text, since timestamptz, reason text, attrs jsonb,
        changes timestamptz[])
      on conflict (announcement_id, region_id) do update
      set configured = excluded.configured, restorable = excluded.restorable, state = excluded.state, since = excluded.since, reason = excluded.reason,
        attrs = excluded.attrs, changes = excluded.changes
      where ar.team_id = ${after.teamId}`,
    )
  }
  const quiet = changes.filter(({ before, after }) => before.status === after.status)
  await writeMessages(trx, regionMessages(quiet.flatMap(changedRegions), new Date()))
  await notifyStatusChanges(
    trx,
    changes.map(({ before, after: { id, teamId, prefix, originAsn, status } }) => {
      return { id, teamId, cidr: prefix, originAsn, before: before.status, after: status }
    }),
  )
}

function changedRegions({ before, after }: { before: Announcement; after: Announcement }): RegionChange[] {
  const known = new Set(before.regions)
  return after.regions
    .filter((region) => !known.has(region))
    .map(({ slug, state }) => ({ id: after.id, teamId: after.teamId, region: slug, state }))
}

/** Days for which a deleted announcement can be restored. */
const restorableDays = 7

/** Locks and returns the team's deleted announcement while it can be restored; without its regions, which are not needed. */
export async function lockDeleted(trx: Trx, teamId: number, id: number): Promise<Announcement | undefined> {
  const { rows } = await sql<AnnouncementRow>`
    select ${announcementColumns} from announcements a
    where a.team_id = ${teamId} and a.id = ${id}::bigint
      and a.deleted > now() - make_interval(days => ${restorableDays}) for no key update`.execute(trx)
  return rows[0] && announcementOf(rows[0], [])
}

export async function markDeleted(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`update announcements set deleted = now(), version = version + 1
    where team_id = ${teamId} and id = ${id}`.execute(trx)
}

export async function markRestored(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`update announcements set deleted = null, check_requested = now(), version = version + 1
    where team_id = ${teamId} and id = ${id}`.execute(trx)
}

/** Saves the details that the team may change. The caller saves the version with `saveAnnouncement`. */
export async function saveDetails(trx: Trx, { teamId, id, details }: Announcement): Promise<void> {
  await executeLater(
    trx,
    trx
      .updateTable('announcements')
      .set(fieldsOf(details, ownDetailNames))
      .where('team_id', '=', teamId)
      .where('id', '=', id),
  )
}

/** Requests that the validator queries all registries again. Returns when that was requested before, and now. */
export async function requestChecks(
  trx: Trx,
  teamId: number,
  id: number,
): Promise<Record<'before' | 'after', { readonly check_requested: Date | null }>> {
  const { rows } = await sql<{ before: Date | null; after: Date }>`
    update announcements a set check_requested = now()
    from (select id, check_requested from announcements where team_id = ${teamId} and id = ${id}) o
    where a.team_id = ${teamId} and a.id = o.id
    returning o.check_requested as before, a.check_requested as after`.execute(trx)
  const { before, after } = rows[0]!
  return { before: { check_requested: before }, after: { check_requested: after } }
}

function jsonOfRegion(region: AnnouncementRegion) {
  const { regionId, configured, restorable, state, since, reason, attrs, changes } = region
  return { region_id: regionId, configured, restorable, state, since, reason, attrs, changes }
}

/** Reports whether the team exists; for staff, who are in any team. */
export async function teamExists(db: Db, teamId: number): Promise<boolean> {
  const { rows } = await sql`select 1 from teams where id = ${teamId}::bigint`.execute(db)
  return rows.length > 0
}
