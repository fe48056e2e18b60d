// Enables and disables an announcement: the rules of PATCH as one pure function, and its use case. Stores the desired state
// and wakes the reconciler; must not connect to a router and must not wait for one.
import type { Announcement as Wire } from '@pharos/contract/byoip'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runChange, type Answer } from '../../db/run-change.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { isRevokedAsn } from '../../inventory/asn.ts'
import { fail, invalid, notFound, type Failure } from '../../runtime/error.ts'
import { adminOnly } from '../../operation/admin-only.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import {
  missingValidations,
  regionsToEnable,
  withIntent,
  type Announcement,
  type Intent,
  type OpenRegion,
  type ValidationName,
} from './announcement.ts'
import { lockAnnouncement, saveAnnouncement } from './announcement.store.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { writeHistory } from './history.store.ts'
import {
  needsChecks,
  needsVisibility,
  parseInclude,
  present,
  type Include,
  type IncludeQuery,
} from './present-announcement.ts'
import { unknownRegion } from './region.ts'
import type { Check } from '../validation/validation.ts'
import { readChecksIn } from '../validation/validation.store.ts'
import { readVisibilityIn } from '../visibility/present-visibility.ts'

export type Patch = { readonly enabled: boolean; readonly region?: string }

export type PatchDeps = {
  readonly postgres: Postgres
  /** Whether members who are not admins may enable and disable announcements. */
  readonly memberToggle: boolean
  readonly now: () => Date
}

/**
 * Returns the announcement after the patch, or the same object if nothing changes. Throws 422 on an unknown region, and
 * 409 `suspended`, `not_validated` or `conflict` on enabling; disabling is never rejected.
 */
export function applyPatch(
  announcement: Announcement,
  patch: Patch,
  open: readonly OpenRegion[],
  now: Date,
  checks: readonly Check[] = [],
): Announcement {
  const intent =
    patch.region === undefined
      ? setInAllRegions(announcement, patch.enabled, open)
      : changeRegion(announcement, patch.enabled, knownRegion(announcement, patch.region, open))
  // Thrown even if it is already enabled: a 200 would suggest that the prefix will be announced.
  if (patch.enabled && announcement.suspended) throw suspended()
  if (isSame(announcement, intent)) return announcement
  if (patch.enabled) requireValidations(announcement, checks)
  return withIntent(announcement, intent, open, now)
}

function setInAllRegions(announcement: Announcement, enabled: boolean, open: readonly OpenRegion[]): Intent {
  if (!enabled) return { ...announcement, enabled, configured: configuredOf(announcement) }
  const configured = regionsToEnable(announcement, open)
  if (configured.size > 0) return { ...announcement, enabled, configured }
  if (open.length === 0) throw fail('conflict', 'noOpenRegion')
  throw fail('conflict', 'regionsClosed', { open: open.map(({ slug }) => slug) })
}

/** Enabling one region of a disabled announcement enables no other: its earlier regions are replaced. */
function changeRegion(announcement: Announcement, enabled: boolean, regionId: number): Intent {
  const configured = configuredOf(announcement)
  if (enabled) {
    const kept = announcement.enabled ? configured : new Set<number>()
    return { ...announcement, enabled, configured: kept.add(regionId) }
  }
  const removed = configured.delete(regionId)
  const lastGone = removed && configured.size === 0
  return { ...announcement, enabled: announcement.enabled && !lastGone, configured }
}

/** A region that was closed meanwhile can still be disabled. */
function knownRegion(announcement: Announcement, slug: string, open: readonly OpenRegion[]): number {
  const known = [...open, ...announcement.regions.filter((region) => region.configured)]
  const region = known.find((one) => one.slug === slug)
  if (region) return region.regionId
  const valid = [...new Set(known.map((one) => one.slug))].sort()
  throw invalid(['body', 'region'], 'region', unknownRegion(slug, valid))
}

function configuredOf(announcement: Announcement): Set<number> {
  return new Set(announcement.regions.filter((region) => region.configured).map((region) => region.regionId))
}

function isSame(announcement: Announcement, intent: Intent): boolean {
  return (
    announcement.enabled === intent.enabled &&
    configuredOf(announcement).symmetricDifference(intent.configured).size === 0
  )
}

function suspended(): Failure {
  return fail('suspended', 'announcement')
}

const missingTexts: Record<ValidationName | 'overlap', string> = {
  irr: 'no route object for the prefix and its origin was found in the IRR',
  rpki: 'the prefix and its origin are not validated by RPKI',
  loa: 'no letter of authorization has been accepted',
  overlap: 'the prefix or its origin has not passed its checks yet',
}

function requireValidations(announcement: Announcement, checks: readonly Check[]): void {
  const missing: readonly (ValidationName | 'overlap')[] = missingValidations(announcement)
  if (missing.length > 0) throw notValidated(missing, checks)
  // Every check except that of the prefix has passed: another team holds it, or the verification of the ASN has expired.
  if (announcement.claimed === null) throw notValidated(['overlap'], checks)
}

function notValidated(missing: readonly (ValidationName | 'overlap')[], checks: readonly Check[]): Failure {
  const errors = missing.map((name) => {
    const check = checks.find((one) => one.name === name)
    const ctx = { missing: name, ...(check ? { state: check.state, fix: check.fix } : {}) }
    return { loc: ['body', 'enabled'], msg: check?.note ?? missingTexts[name], type: 'not_validated', ctx }
  })
  return fail('not_validated', 'checks', { missing }, { errors })
}

/** Saves the patch and wakes the reconciler; returns the announcement as GET does. */
export async function patchAnnouncement(
  deps: PatchDeps,
  operation: Operation,
  id: number,
  patch: Patch,
  query: IncludeQuery = {},
): Promise<Answer<Wire>> {
  const include = parseInclude(query.include)
  requireToggle(operation, deps.memberToggle)
  return runChange(deps.postgres, operation, async (trx) => {
    const locked = await lockAnnouncement(trx, operation.actor.teamId, id)
    if (!locked) throw notFound('announcement')
    const { announcement, open } = locked
    requireMatch(operation.ifMatch, etagOf(announcement.version))
    const now = deps.now()
    const checks = await checksFor(trx, announcement, patch, include)
    const next = applyPatch(announcement, patch, open, now, checks)
    if (patch.enabled && next !== announcement) await rejectRevokedAsn(trx, announcement)
    if (next !== announcement) await store(trx, operation, announcement, next, patch)
    const { teamId } = announcement
    const visibility = needsVisibility(include)
      ? (await readVisibilityIn(trx, teamId, [id]))(announcement)
      : null
    return {
      body: present(next, include, { checks, visibility, now }),
      before: present(announcement, include, { checks, visibility, now }),
      etag: etagOf(next.version),
    }
  })
}

/** After a revocation the checks are updated with a short delay; enabling is rejected immediately. */
async function rejectRevokedAsn(trx: Trx, { teamId, originAsn }: Announcement): Promise<void> {
  if (!(await isRevokedAsn(trx, teamId, originAsn))) return
  const msg = `the provider has revoked the verification of AS${originAsn} for the team; contact the provider`
  const errors = [
    { loc: ['body', 'enabled'], msg, type: 'not_validated', ctx: { missing: 'asn', state: 'missing' } },
  ]
  throw fail('not_validated', 'asnRevoked', { asn: originAsn }, { errors })
}

/** Returns the stored checks if they are shown or explain the error. */
async function checksFor(
  trx: Trx,
  announcement: Announcement,
  patch: Patch,
  include: Include,
): Promise<readonly Check[]> {
  const isRefused =
    patch.enabled && (announcement.claimed === null || missingValidations(announcement).length > 0)
  if (!isRefused && !needsChecks(include)) return []
  return readChecksIn(trx, announcement.teamId, announcement.id)
}

function requireToggle({ actor }: Operation, memberToggle: boolean): void {
  if (memberToggle || actor.isAdmin || actor.isStaff) return
  throw actor.kind === 'token' ? adminOnly(actor.kind, 'ipam:write') : fail('forbidden', 'toggle')
}

async function store(
  trx: Trx,
  operation: Operation,
  before: Announcement,
  after: Announcement,
  patch: Patch,
): Promise<void> {
  await saveAnnouncement(trx, before, after)
  await writeHistory(trx, {
    announcementId: after.id,
    teamId: after.teamId,
    kind: patch.enabled ? 'enabled' : 'disabled',
    actor: actorName(operation.actor),
    detail: patch.region === undefined ? {} : { region: patch.region },
  })
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'announcement.update',
    target: `announcement:${after.id}`,
    before: intentOf(before),
    after: intentOf(after),
  })
  await wake(trx, 'announcements')
}

function intentOf({ enabled, regions }: Announcement) {
  return { enabled, regions: regions.filter((region) => region.configured).map((region) => region.slug) }
}
