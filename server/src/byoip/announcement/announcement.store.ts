// The SQL of a team's announcements: read, lock, save. Every statement names the team. What a loop reads and writes
// for all teams is in reconcile.store.ts.
import type { SuspendedBy } from '@pharos/contract/announcement-checks'
import { sql, type RawBuilder } from 'kysely'
import type { ReasonAttrs, RegionReason } from '@pharos/contract/region-reason'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import type {
  Announcement,
  AnnouncementRegion,
  AnnouncementStatus,
  Clearance,
  OpenRegion,
  RegionState,
} from './announcement.ts'
import type { Check } from '../validation/validation.ts'
import { checkOf, checksJson, type CheckJson } from '../validation/validation.store.ts'
import { checkResult, shownStatus, unreadAnnouncements } from './shown-status.store.ts'
import { notifyStatusChanges } from './status-message.store.ts'

export type AnnouncementFilter = {
  readonly overlaps?: readonly Prefix[]
  readonly originAsns?: readonly number[]
  readonly regions?: readonly string[]
  readonly statuses?: readonly AnnouncementStatus[]
  readonly enabled?: boolean
  readonly family?: 4 | 6
  /** Those that were deleted and can be restored, instead of those that are there. */
  readonly deleted?: boolean
}

export type OrderingKey = 'id' | 'cidr' | 'origin_asn' | 'created' | 'status' | 'last_check'
export type Order = { readonly key: OrderingKey; readonly descending: boolean }
export type Slice = { readonly limit: number; readonly offset: number }

type AnnouncementRow = {
  id: number
  team_id: number
  prefix: string
  origin_asn: number
  enabled: boolean
  suspended: boolean
  irr_validated: Date | null
  rpki_validated: Date | null
  loa_validated: Date | null
  clearance: Clearance
  claimed: Date | null
  status: AnnouncementStatus
  version: number
  created: Date
  description: string
  as_set: string | null
  delegate_loa: boolean
  loa_signatory: string
  suspended_reason: string | null
  suspended_by: SuspendedBy | null
  deleted: Date | null
}

type RegionRow = {
  region_id: number
  slug: string
  configured: boolean
  state: RegionState
  since: Date
  reason: RegionReason | null
  attrs: ReasonAttrs | null
  changes: Date[]
  last_check: Date | null
  last_check_result: boolean | null
  reached: boolean
}

/** A row that went through JSON: its times are text. */
type RegionJson = Omit<RegionRow, 'since' | 'changes' | 'last_check'> & {
  since: string
  changes: string[]
  last_check: string | null
}

const columns = sql`a.id, a.team_id, a.prefix, a.origin_asn, a.enabled, a.suspended,
  a.irr_validated, a.rpki_validated, a.loa_validated, a.clearance, a.claimed, a.status, a.version, a.created,
  a.description, a.as_set, a.delegate_loa, a.loa_signatory, a.suspended_reason, a.suspended_by, a.deleted`

/** Whether a quorum of the region's routers has an established session for the family of announcement `a`. */
const reached = sql`case family(a.prefix) when 4 then r.neighbors4 else r.neighbors6 end`

/** The regions of an announcement `a` as one JSON array. */
const regionsJson = sql`coalesce((
    select json_agg(json_build_object(
      'region_id', ar.region_id, 'slug', r.slug, 'configured', ar.configured, 'state', ar.state, 'since', ar.since,
      'reason', ar.reason, 'attrs', ar.attrs, 'changes', ar.changes, 'last_check', r.last_check,
      'last_check_result', ${checkResult}, 'reached', ${reached}
    ) order by r.slug collate "C")
    from announcement_regions ar join regions r on r.id = ar.region_id
    where ar.announcement_id = a.id and ar.team_id = a.team_id), '[]') as regions`

/** An announcement with its kept checks, from one snapshot; none of them unless they were asked for. */
export type WithChecks = { readonly announcement: Announcement; readonly checks: readonly Check[] }

type FullRow = AnnouncementRow & { regions: RegionJson[]; checks?: CheckJson[] }

const columnsOf = (withChecks: boolean) =>
  sql`${columns}, ${regionsJson}${withChecks ? sql`, ${checksJson}` : sql``}`

function fullOf(row: FullRow): WithChecks {
  const announcement = announcementOf(row, row.regions.map(regionOfJson))
  return { announcement, checks: (row.checks ?? []).map(checkOf) }
}

/** One announcement of the team with its regions. */
export async function findAnnouncement(
  postgres: Postgres,
  teamId: number,
  id: number,
  withChecks: boolean,
): Promise<WithChecks | undefined> {
  const query = sql`
    select ${columnsOf(withChecks)} from announcements a where a.team_id = ${teamId} and a.id = ${id}::bigint
      and a.deleted is null`
  const [row] = await postgres.readInTeam<FullRow>(teamId, query.compile(postgres.owner))
  return row && fullOf(row)
}

/** The same in a transaction, of several, by id. */
export async function readAnnouncements(
  trx: Trx,
  teamId: number,
  ids: readonly number[],
): Promise<Announcement[]> {
  const { rows } = await sql<AnnouncementRow & { regions: RegionJson[] }>`
    select ${columns}, ${regionsJson} from announcements a
    where a.team_id = ${teamId} and a.id = any(${ids}::integer[]) and a.deleted is null order by a.id`.execute(
    trx,
  )
  return rows.map((row) => announcementOf(row, row.regions.map(regionOfJson)))
}

/** A page and the count of all that match, from one snapshot: one statement. */
export async function listAnnouncementRows(
  postgres: Postgres,
  teamId: number,
  filter: AnnouncementFilter,
  order: readonly Order[],
  { limit, offset }: Slice,
  withChecks: boolean,
): Promise<{ page: WithChecks[]; count: number }> {
  const byLastCheck = order.some(({ key }) => key === 'last_check')
  const byStatus = order.some(({ key }) => key === 'status')
  const query = sql`
    with matching as (
      select a.* ${byLastCheck ? lastCheck : sql``} ${byStatus ? sql`, ${shownStatus} as shown` : sql``}
      from announcements a ${byStatus || filter.statuses ? unreadOf(teamId) : sql``}
      where a.team_id = ${teamId} ${sql.join(conditions(filter), sql` `)}),
    page as (
      select row_number() over () as place, p.* from (
        select * from matching a order by ${ordering(order)} limit ${limit} offset ${offset}) p)
    select c.count, ${columnsOf(withChecks)}
    from (select count(*) from matching) c left join page a on true
    order by a.place`
  const rows = await postgres.readInTeam<PageRow>(teamId, query.compile(postgres.owner))
  const page = rows.filter((row) => row.id !== null).map(fullOf)
  return { page, count: rows[0]!.count }
}

/** A page that is empty still has one row, with the count: its other columns are null. */
type Empty = { id: null; count: number }
type PageRow = Empty | (FullRow & { count: number })

function conditions(filter: AnnouncementFilter): RawBuilder<unknown>[] {
  const all = [
    filter.deleted ? sql`and a.deleted is not null` : sql`and a.deleted is null`,
    filter.overlaps && sql`and a.prefix && any(${filter.overlaps}::inet[])`,
    filter.originAsns && sql`and a.origin_asn = any(${filter.originAsns}::bigint[])`,
    filter.statuses && sql`and ${shownStatus} = any(${filter.statuses}::text[])`,
    filter.enabled !== undefined && sql`and a.enabled = ${filter.enabled}`,
    filter.family && sql`and family(a.prefix) = ${filter.family}`,
    filter.regions &&
      sql`and exists (
        select from announcement_regions ar join regions r on r.id = ar.region_id
        where ar.announcement_id = a.id and ar.team_id = a.team_id and ar.configured
          and r.slug = any(${filter.regions}::text[]))`,
  ]
  return all.filter((one) => typeof one === 'object')
}

/** As checkOf() in present-announcement.ts: the oldest of the regions concerned, null when one was never checked. */
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

const orderings: Record<OrderingKey, RawBuilder<unknown>> = {
  id: sql`a.id`,
  cidr: sql`a.prefix`,
  origin_asn: sql`a.origin_asn`,
  created: sql`a.created`,
  status: sql`a.shown collate "C"`,
  last_check: sql`a.last_check`,
}

/** What was never checked counts as checked longest ago. The id comes last, so that pages are stable. */
function ordering(order: readonly Order[]): RawBuilder<unknown> {
  const keys = order.map(({ key, descending }) =>
    descending ? sql`${orderings[key]} desc nulls last` : sql`${orderings[key]} asc nulls first`,
  )
  return sql.join([...keys, sql`a.id`])
}

export type Locked = { readonly announcement: Announcement; readonly open: readonly OpenRegion[] }

/**
 * The announcement, locked until the end of the transaction, with the regions open to the team. Whoever changes what is
 * desired takes this lock first, so that the regions read after it are the newest. Two statements for that reason: one
 * statement that waited for the lock would show the regions as they were before the wait.
 */
export async function lockAnnouncement(trx: Trx, teamId: number, id: number): Promise<Locked | undefined> {
  const locked = await sql<AnnouncementRow>`
    select ${columns} from announcements a where a.team_id = ${teamId} and a.id = ${id}::bigint
      and a.deleted is null for no key update`.execute(trx)
  const row = locked.rows[0]
  if (!row) return undefined
  const { rows } = await sql<RegionRow & { open: boolean; configured: boolean | null }>`
    select r.id as region_id, r.slug, r.open, r.last_check, ${checkResult} as last_check_result,
      case family(${row.prefix}::cidr) when 4 then r.neighbors4 else r.neighbors6 end as reached,
      ar.configured, ar.state, ar.since, ar.reason, ar.attrs, ar.changes
    from regions r
    left join announcement_regions ar
      on ar.region_id = r.id and ar.announcement_id = ${id} and ar.team_id = ${teamId}
    where r.open or ar.announcement_id is not null
    order by r.slug collate "C"`.execute(trx)
  const present = rows.filter((region) => region.configured !== null)
  return {
    announcement: announcementOf(row, present.map(regionOf)),
    open: rows.filter(isOpen).map(openRegionOf),
  }
}

const isOpen = (region: { open: boolean }): boolean => region.open

/** As `saveAnnouncements`, for one. */
export const saveAnnouncement = (trx: Trx, before: Announcement, after: Announcement): Promise<void> =>
  saveAnnouncements(trx, [{ before, after }])

/**
 * Writes the switches and the regions that differ, and notifies the teams of all changed statuses at once. Rows of regions are never
 * deleted: they are the evidence.
 */
export async function saveAnnouncements(
  trx: Trx,
  changes: readonly { readonly before: Announcement; readonly after: Announcement }[],
): Promise<void> {
  for (const { before, after } of changes) {
    const known = new Set(before.regions)
    const regions = after.regions.filter((region) => !known.has(region)).map(jsonOfRegion)
    await sql`
      with switched as (
        update announcements set enabled = ${after.enabled}, status = ${after.status}, version = ${after.version}
        where team_id = ${after.teamId} and id = ${after.id})
      insert into announcement_regions as ar
        (announcement_id, region_id, team_id, configured, state, since, reason, attrs, changes)
      select ${after.id}, n.region_id, ${after.teamId}, n.configured, n.state, n.since, n.reason, n.attrs, n.changes
      from jsonb_to_recordset(${JSON.stringify(regions)}::jsonb) as n (
        region_id integer, configured boolean, state text, since timestamptz, reason text, attrs jsonb,
        changes timestamptz[])
      on conflict (announcement_id, region_id) do update
      set configured = excluded.configured, state = excluded.state, since = excluded.since, reason = excluded.reason,
        attrs = excluded.attrs, changes = excluded.changes
      where ar.team_id = ${after.teamId}`.execute(trx)
  }
  await notifyStatusChanges(
    trx,
    changes.map(({ before, after: { id, teamId, prefix, originAsn, status } }) => {
      return { id, teamId, cidr: prefix, originAsn, before: before.status, after: status }
    }),
  )
}

/** Days for which a deleted announcement can be restored. */
const restorableDays = 7

/** The team's deleted announcement, locked, while it can be restored; without its regions, which do not matter yet. */
export async function lockDeleted(trx: Trx, teamId: number, id: number): Promise<Announcement | undefined> {
  const { rows } = await sql<AnnouncementRow>`
    select ${columns} from announcements a
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

/** The validator asks all registries anew. */
export async function requestChecks(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`update announcements set check_requested = now() where team_id = ${teamId} and id = ${id}`.execute(
    trx,
  )
}

function jsonOfRegion({ regionId, configured, state, since, reason, attrs, changes }: AnnouncementRegion) {
  return { region_id: regionId, configured, state, since, reason, attrs, changes }
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
    details: {
      description: row.description,
      asSet: row.as_set,
      delegateLoa: row.delegate_loa,
      loaSignatory: row.loa_signatory,
      suspendedReason: row.suspended_reason,
      suspendedBy: row.suspended_by,
      deleted: row.deleted,
    },
    regions,
  }
}

function regionOf(row: RegionRow): AnnouncementRegion {
  const { configured, state, since, reason, attrs, changes } = row
  return { ...openRegionOf(row), configured, state, since, reason, attrs, changes }
}

function regionOfJson(row: RegionJson): AnnouncementRegion {
  const last_check = row.last_check === null ? null : new Date(row.last_check)
  const changes = row.changes.map((time) => new Date(time))
  return regionOf({ ...row, since: new Date(row.since), changes, last_check })
}

function openRegionOf(
  row: Pick<RegionRow, 'region_id' | 'slug' | 'last_check' | 'last_check_result' | 'reached'>,
): OpenRegion {
  return {
    regionId: row.region_id,
    slug: row.slug,
    lastCheck: row.last_check,
    lastCheckResult: row.last_check_result,
    reached: row.reached,
  }
}
