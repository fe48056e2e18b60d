// Makes announcements as the operator's file wants them, through the same pure rules by which a team switches them:
// regions in their direction, status and version following.
import { sql } from 'kysely'
import {
  missingValidations,
  withIntent,
  type Announcement,
  type OpenRegion,
} from '../byoip/announcement/announcement.ts'
import { noDetails } from '../byoip/announcement/announcement-details.ts'
import { lockAnnouncement, saveAnnouncement } from '../byoip/announcement/announcement.store.ts'
import type { Trx } from '../db/postgres.ts'
import { parseAsn } from '../net/asn.ts'
import type { Create, Update } from './plan.ts'
import type { Fields, PassedAt } from './platform.ts'

type KnownRegion = OpenRegion & { readonly open: boolean }

export async function createAnnouncements(
  trx: Trx,
  created: readonly Create<'announcement'>[],
  now: Date,
): Promise<void> {
  const rows = created.map(({ fields }, place) => ({ ...fields, ...validationsOf(fields, now), place }))
  await takeOver(trx, rows)
  const inserted = await sql<{ id: number; team_id: number; prefix: string }>`
    insert into announcements (team_id, prefix, origin_asn, description, suspended,
      irr_validated, rpki_validated, loa_validated, created)
    select t.id, n.prefix, n.origin_asn, n.description, n.suspended, n.irr, n.rpki, n.loa, ${now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (place integer, team text, prefix cidr, origin_asn bigint,
      description text, suspended boolean, irr timestamptz, rpki timestamptz, loa timestamptz)
    join teams t on t.slug = n.team
    order by n.place
    returning id, team_id, prefix`.execute(trx)
  const regions = await knownRegions(trx)
  const byPrefix = new Map(created.map((change) => [String(change.key), change.fields]))
  for (const { id, team_id: teamId, prefix } of inserted.rows) {
    await saveNew(trx, id, teamId, byPrefix.get(prefix)!, regions, now)
  }
}

/** What the team itself had asked for, and could not prove yet, makes room for the operator's word. */
async function takeOver(trx: Trx, rows: readonly { team: string; prefix: string }[]): Promise<void> {
  await sql`
    update announcements a set deleted = now()
    from teams t, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (team text, prefix cidr)
    where t.slug = n.team and a.team_id = t.id and a.prefix = n.prefix and a.claimed is null and a.deleted is null`.execute(
    trx,
  )
}

/** Every announcement passes here, so that its status is what statusOf() says. */
async function saveNew(
  trx: Trx,
  id: number,
  teamId: number,
  fields: Fields['announcement'],
  regions: readonly KnownRegion[],
  now: Date,
): Promise<void> {
  const { irr, rpki, loa } = validationsOf(fields, now)
  const passed = irr !== null && rpki !== null && loa !== null
  const bare: Announcement = {
    id,
    teamId,
    prefix: fields.prefix,
    originAsn: parseAsn(fields.origin_asn),
    enabled: false,
    suspended: fields.suspended,
    irrValidated: irr,
    rpkiValidated: rpki,
    loaValidated: loa,
    clearance: passed ? 'passed' : 'pending',
    claimed: passed ? now : null,
    status: 'pending_validation',
    version: 0,
    created: now,
    details: noDetails,
    regions: [],
  }
  const everywhere = fields.enabled && fields.regions.length === 0
  const wanted = regions.filter(({ slug, open }) => (everywhere ? open : fields.regions.includes(slug)))
  const configured = new Set(wanted.map(({ regionId }) => regionId))
  await saveAnnouncement(trx, bare, withIntent(bare, { ...fields, configured }, regions, now))
}

export async function updateAnnouncement(trx: Trx, change: Update<'announcement'>, now: Date): Promise<void> {
  const { before: row, fields } = change
  const { rows } = await sql<{ id: number; team_id: number }>`
    select a.id, a.team_id from announcements a join teams t on t.id = a.team_id
    where a.prefix = ${row.prefix}::cidr and t.slug = ${row.team} and a.deleted is null`.execute(trx)
  const locked = rows[0] && (await lockAnnouncement(trx, rows[0].team_id, rows[0].id))
  if (!locked) throw new Error(`announcement ${change.key} is gone`)
  const before = locked.announcement
  const regions = await knownRegions(trx)
  const validations = validationsOf(fields, now)
  const base = withClearance(
    {
      ...before,
      irrValidated: fields.irr === undefined ? before.irrValidated : validations.irr,
      rpkiValidated: fields.rpki === undefined ? before.rpkiValidated : validations.rpki,
      loaValidated: fields.loa === undefined ? before.loaValidated : validations.loa,
    },
    now,
  )
  const given = (['irr', 'rpki', 'loa'] as const).filter((name) => fields[name] !== undefined)
  const vouched = given.filter((name) => validations[name] !== null)
  const intent = {
    enabled: fields.enabled ?? before.enabled,
    suspended: fields.suspended ?? before.suspended,
    configured: configuredAfter(before, fields, regions),
  }
  const after = withIntent(base, intent, regions, now)
  await sql`
    update announcements set suspended = ${after.suspended},
      origin_asn = ${fields.origin_asn ?? before.originAsn}, description = ${fields.description ?? row.description},
      irr_validated = ${after.irrValidated}, rpki_validated = ${after.rpkiValidated}, loa_validated = ${after.loaValidated},
      clearance = ${after.clearance}, claimed = ${after.claimed}, managed_by = 'operator',
      vouched = array(select name from unnest(vouched) name where name <> all(${given}::text[])) || ${vouched}::text[]
    where team_id = ${before.teamId} and id = ${before.id}`.execute(trx)
  // The operator's word for all checks covers the origin that the file names.
  await sql`
    update announcements set checked_origin = origin_asn
    where team_id = ${before.teamId} and id = ${before.id} and vouched @> '{irr,rpki,loa}'`.execute(trx)
  await saveAnnouncement(trx, before, after)
}

/** As the validator would have it, which runs only later: the operator's word counts at once. */
function withClearance(announcement: Announcement, now: Date): Announcement {
  if (missingValidations(announcement).length === 0)
    return { ...announcement, clearance: 'passed', claimed: announcement.claimed ?? now }
  const { clearance } = announcement
  return { ...announcement, clearance: clearance === 'passed' ? 'pending' : clearance }
}

function configuredAfter(
  before: Announcement,
  { enabled, regions: wanted }: Partial<Fields['announcement']>,
  regions: readonly KnownRegion[],
): Set<number> {
  const present = before.regions.filter((region) => region.configured).map(({ regionId }) => regionId)
  if (wanted !== undefined) {
    return new Set(regions.filter(({ slug }) => wanted.includes(slug)).map(({ regionId }) => regionId))
  }
  if (enabled && present.length === 0) {
    return new Set(regions.filter(({ open }) => open).map(({ regionId }) => regionId))
  }
  return new Set(present)
}

export async function deleteAnnouncement(trx: Trx, key: string): Promise<void> {
  await sql`delete from announcements
    where prefix = ${key}::cidr and not enabled and managed_by = 'operator' and deleted is null`.execute(trx)
}

async function knownRegions(trx: Trx): Promise<KnownRegion[]> {
  const { rows } = await sql<KnownRegion>`
    select id as "regionId", slug, open, last_check as "lastCheck", last_check_result as "lastCheckResult"
    from regions`.execute(trx)
  return rows
}

function validationsOf(
  { irr = false, rpki = false, loa = false }: Partial<Fields['announcement']>,
  now: Date,
): { irr: Date | null; rpki: Date | null; loa: Date | null } {
  const timeOf = (passed: PassedAt) => (passed === false ? null : passed === true ? now : new Date(passed))
  return { irr: timeOf(irr), rpki: timeOf(rpki), loa: timeOf(loa) }
}
