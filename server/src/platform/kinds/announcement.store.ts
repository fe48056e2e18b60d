// Writes announcements of the platform file by the same rules as the API: regions change in their direction, and status and
// version follow.
import { sql } from 'kysely'
import {
  missingValidations,
  regionsToEnable,
  withIntent,
  type Announcement,
  type OpenRegion,
} from '../../byoip/status/announcement.ts'
import { noDetails } from '../../byoip/status/announcement-details.ts'
import {
  lockAnnouncement,
  saveAnnouncement,
  saveAnnouncements,
} from '../../byoip/announcement/announcement.store.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { parseAsn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Create, Kind, Objection, Row, Update } from '../engine/kind.ts'
import { insertRows, updateRow } from '../engine/table.store.ts'
import { toTime, type PassedAt } from './values.ts'

/** The fields of the kind `announcement`. */
type AnnouncementFields = {
  readonly team: string
  readonly prefix: Prefix
  readonly origin_asn: number
  readonly description: string
  readonly suspended: boolean
  readonly irr: PassedAt
  readonly rpki: PassedAt
  readonly loa: PassedAt
  readonly enabled: boolean
  /** Slugs in order. */
  readonly regions: readonly string[]
}

type KnownRegion = OpenRegion & { readonly open: boolean }

export async function insertPlatformAnnouncements(
  trx: Trx,
  kind: Kind<AnnouncementFields>,
  created: readonly Create<AnnouncementFields>[],
  now: Date,
): Promise<void> {
  await deleteRequestsOfTeams(trx, created)
  type Inserted = { readonly id: number; readonly team_id: number; readonly prefix: string }
  const more = (fields: AnnouncementFields) => ({ ...vouchedChecks(fields, now), created: now })
  const options = { more, returning: ['id', 'team_id', 'prefix'] }
  const inserted = (await insertRows(trx, kind, created, now, options)) as Inserted[]
  const regions = await listRegions(trx)
  const byPrefix = new Map(created.map(({ key, fields }) => [key, fields]))
  const changes = inserted.map(({ id, team_id: teamId, prefix }) =>
    newAnnouncement(id, teamId, byPrefix.get(prefix)!, regions, now),
  )
  await saveAnnouncements(trx, changes)
}

/** Deletes the teams' own unproven requests: the operator's announcements replace them. */
async function deleteRequestsOfTeams(
  trx: Trx,
  created: readonly Create<AnnouncementFields>[],
): Promise<void> {
  const keys = created.map(({ fields: { team, prefix } }) => ({ team, prefix }))
  await sql`
    update announcements a set deleted = now()
    from teams t, jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as n (team text, prefix cidr)
    where t.slug = n.team and a.team_id = t.id and a.prefix = n.prefix and a.claimed is null and a.deleted is null`.execute(
    trx,
  )
}

/** Returns an announcement that was just inserted, and with the regions and the status that follow from its fields. */
function newAnnouncement(
  id: number,
  teamId: number,
  fields: AnnouncementFields,
  regions: readonly KnownRegion[],
  now: Date,
): { readonly before: Announcement; readonly after: Announcement } {
  const { clearance, claimed } = vouchedChecks(fields, now)
  const bare: Announcement = {
    id,
    teamId,
    prefix: fields.prefix,
    originAsn: parseAsn(fields.origin_asn),
    enabled: false,
    suspended: fields.suspended,
    irrValidated: toTime(fields.irr, now),
    rpkiValidated: toTime(fields.rpki, now),
    loaValidated: toTime(fields.loa, now),
    clearance,
    claimed,
    status: 'pending_validation',
    version: 0,
    created: now,
    details: noDetails,
    regions: [],
  }
  // Enabled without regions: all that are open.
  const { regions: slugs, ...rest } = fields
  const configured = configuredAfter(bare, slugs.length > 0 ? fields : rest, regions)
  return { before: bare, after: withIntent(bare, { ...fields, configured }, regions, now) }
}

const checkNames = ['irr', 'rpki', 'loa'] as const

/** The columns that follow from the checks that the file vouches for: with all three, no other check is needed. */
function vouchedChecks(fields: AnnouncementFields, now: Date) {
  const vouched = checkNames.filter((name) => fields[name] !== false)
  const hasPassed = vouched.length === checkNames.length
  return {
    vouched,
    clearance: hasPassed ? ('passed' as const) : ('pending' as const),
    claimed: hasPassed ? now : null,
    checked_origin: hasPassed ? fields.origin_asn : null,
  }
}

export async function updateAnnouncement(
  trx: Trx,
  kind: Kind<AnnouncementFields>,
  change: Update<AnnouncementFields>,
  now: Date,
): Promise<void> {
  const { fields } = change
  const id = Number(change.row.id)
  if (fields.team !== undefined) await transferAnnouncement(trx, change.row, fields.team)
  const { rows } = await sql<{ team_id: number; vouched: string[] }>`
    select team_id, vouched from announcements where id = ${id} and deleted is null`.execute(trx)
  const before = rows[0] && (await lockAnnouncement(trx, rows[0].team_id, id))?.announcement
  if (!before) throw new Error(`announcement ${change.key} no longer exists`)
  const base = withClearance(
    {
      ...before,
      originAsn: parseAsn(fields.origin_asn ?? before.originAsn),
      irrValidated: fields.irr === undefined ? before.irrValidated : toTime(fields.irr, now),
      rpkiValidated: fields.rpki === undefined ? before.rpkiValidated : toTime(fields.rpki, now),
      loaValidated: fields.loa === undefined ? before.loaValidated : toTime(fields.loa, now),
    },
    now,
  )
  const regions = await listRegions(trx)
  const intent = {
    enabled: fields.enabled ?? before.enabled,
    suspended: fields.suspended ?? before.suspended,
    configured: configuredAfter(before, fields, regions),
  }
  const given = checkNames.filter((name) => fields[name] !== undefined)
  await updateRow(trx, kind, change, now, {
    clearance: base.clearance,
    claimed: base.claimed,
    managed_by: 'operator',
    vouched: [
      ...rows[0]!.vouched.filter((name) => !(given as readonly string[]).includes(name)),
      ...given.filter((name) => fields[name] !== false),
    ],
  })
  // If the operator vouches for all checks, they count for the origin in the file.
  await sql`
    update announcements set checked_origin = origin_asn
    where id = ${id} and vouched @> '{irr,rpki,loa}'`.execute(trx)
  if (base.originAsn !== before.originAsn) await forgetChecks(trx, id)
  await saveAnnouncement(trx, before, withIntent(base, intent, regions, now))
}

/** Returns every use of a prefix by the team that is about to lose it: it could not be ended afterwards. */
export async function objectionsToTransfers(
  trx: Db | Trx,
  updates: readonly Update<AnnouncementFields>[],
): Promise<Objection[]> {
  const transfers = updates
    .filter(({ fields }) => fields.team !== undefined)
    .map(({ key, row: { fields } }) => ({ key, team: fields.team, prefix: fields.prefix }))
  if (transfers.length === 0) return []
  const { rows } = await sql<{ key: string; team: string; use: string }>`
    select n.key, n.team, u.use
    from jsonb_to_recordset(${JSON.stringify(transfers)}::jsonb) as n (key text, team text, prefix cidr)
    join teams t on t.slug = n.team
    cross join lateral (
      select 'its shield list of ' || l.prefix::text as use from shield_lists l
        where l.team_id = t.id and l.prefix <<= n.prefix and exists (select from shield_rules r where r.list_id = l.id)
      union all
      select 'its black hole of ' || host(b.host) from blackholes b
        where b.team_id = t.id and b.host <<= n.prefix and b.ended is null and b.expires > now()) u
    order by n.prefix, u.use`.execute(trx)
  return rows.map(({ key, team, use }) => ({
    key,
    field: 'team',
    message: `${key} stays with team ${team} because of ${use}; end that first`,
  }))
}

/**
 * Gives an announcement to another team. Prefix, origin and regions stay, so that the plan of no router changes. Letters, proofs and history
 * stay with the former team, and the checks are made again.
 */
async function transferAnnouncement(
  trx: Trx,
  { id, fields: { prefix } }: Row<AnnouncementFields>,
  team: string,
): Promise<void> {
  await sql`
    insert into former_holdings (team_id, prefix, held_from, held_until)
    select team_id, prefix, claimed, now() from announcements where id = ${id} and claimed is not null`.execute(
    trx,
  )
  await sql`
    update announcements a set deleted = now(), enabled = false
    from teams t where t.slug = ${team} and a.team_id = t.id and a.prefix = ${prefix}::cidr and a.deleted is null`.execute(
    trx,
  )
  await sql`
    with moved as (
      update announcements a set team_id = t.id, version = a.version + 1, as_set = null from teams t
      where a.id = ${id} and t.slug = ${team} returning a.id, a.team_id),
    regions as (
      update announcement_regions r set team_id = m.team_id from moved m where r.announcement_id = m.id),
    visibility as (
      update announcement_visibility v set team_id = m.team_id from moved m where v.announcement_id = m.id),
    statuses as (
      update notified_statuses s set team_id = m.team_id from moved m where s.announcement_id = m.id),
    proofs as (delete from announcement_proofs p using moved m where p.announcement_id = m.id)
    delete from letter_announcements l using moved m where l.announcement_id = m.id`.execute(trx)
  await forgetChecks(trx, Number(id))
}

/**
 * Makes the validator repeat all checks: the stored answers apply to another origin, and would count as the last
 * answers of a registry that is down.
 */
async function forgetChecks(trx: Trx, id: number): Promise<void> {
  await sql`delete from announcement_validations where announcement_id = ${id}`.execute(trx)
  await sql`update announcements set check_requested = now() where id = ${id}`.execute(trx)
  await wake(trx, 'validations')
}

/** Sets the result of the validator's next run, so that the operator's checks apply immediately. */
function withClearance(announcement: Announcement, now: Date): Announcement {
  if (missingValidations(announcement).length === 0)
    return { ...announcement, clearance: 'passed', claimed: announcement.claimed ?? now }
  const { clearance } = announcement
  return { ...announcement, clearance: clearance === 'passed' ? 'pending' : clearance }
}

/**
 * The ids of the configured regions: the regions in the fields, or the default when it is enabled without a region, as
 * for a team.
 */
function configuredAfter(
  before: Announcement,
  { enabled, regions: slugs }: Partial<AnnouncementFields>,
  regions: readonly KnownRegion[],
): Set<number> {
  if (slugs !== undefined)
    return new Set(regions.filter(({ slug }) => slugs.includes(slug)).map(({ regionId }) => regionId))
  if (enabled) {
    const open = regions.filter((region) => region.open)
    return regionsToEnable(before, open)
  }
  return new Set(before.regions.filter((region) => region.configured).map(({ regionId }) => regionId))
}

export async function deletePlatformAnnouncement(trx: Trx, { id }: Row<AnnouncementFields>): Promise<void> {
  await sql`delete from announcements
    where id = ${id} and not enabled and managed_by = 'operator' and deleted is null`.execute(trx)
}

async function listRegions(trx: Trx): Promise<KnownRegion[]> {
  const { rows } = await sql<KnownRegion>`
    select id as "regionId", slug, open, last_check as "lastCheck", last_check_result as "lastCheckResult"
    from regions`.execute(trx)
  return rows
}
