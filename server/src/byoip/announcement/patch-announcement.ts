// Changes an announcement, its regions and its details: the rules of PATCH as one pure function, and its use case. Stores the desired state
// and wakes the reconciler; must not connect to a router and must not wait for one.
import { ownDetailNames, type OwnDetailName } from '@pharos/contract/byoip/announcement-checks'
import type { HistoryKind } from '@pharos/contract/byoip/announcement-checks'
import type { Announcement as Wire, updateAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf } from '@pharos/contract/route'
import { neededRole } from '@pharos/contract/role'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { isRevokedAsn } from '../../inventory/holding/asn.ts'
import { errorAt, fail, failWith, invalid, notFound, type Failure } from '../../runtime/error.ts'
import { fieldsOf } from '../../operation/fields.ts'
import { lacksGrant, mayDo } from '../../operation/grant.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import {
  desiredChanges,
  missingValidations,
  regionsToEnable,
  withIntent,
  type Announcement,
  type Intent,
  type OpenRegion,
  type StoredValidationName,
} from '../status/announcement.ts'
import { lockAnnouncement, saveAnnouncement, saveDetails } from './announcement.store.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { writeHistory } from './history.store.ts'
import {
  needsChecks,
  needsVisibility,
  parseInclude,
  presentAnnouncement,
  shownEtag,
  type IncludedParts,
  type AnnouncementIncludeQuery,
} from './present-announcement.ts'
import { unknownRegion } from './region.ts'
import type { Check } from '../validation/validation.ts'
import { readChecksIn, requestIrrCheck } from '../validation/validation.store.ts'
import { readVisibilityIn } from '../visibility/present-visibility.ts'

export type Patch = BodyOf<typeof updateAnnouncementRoute>

export type PatchDeps = {
  readonly postgres: Postgres
  /** Whether members who are not admins may enable and disable announcements. */
  readonly memberToggle: boolean
  readonly now: () => Date
}

/**
 * Returns the announcement after the patch, or the same object without a change. Throws 422 on an unknown region, and
 * 409 `suspended`, `not_validated` or `conflict` if it would be announced in another region; disabling is never
 * rejected.
 */
export function applyPatch(
  announcement: Announcement,
  patch: Patch,
  open: readonly OpenRegion[],
  now: Date,
  checks: readonly Check[] = [],
): Announcement {
  const intent = intentAfter(announcement, patch, open)
  // Thrown even if it is already enabled: a 200 would suggest that the prefix will be announced.
  if (announcement.suspended && (patch.enabled || adds(announcement, intent))) throw suspended()
  if (isSame(announcement, intent)) return withDetails(announcement, announcement, patch)
  if (adds(announcement, intent)) requireValidations(announcement, checks)
  return withDetails(announcement, withIntent(announcement, intent, open, now), patch)
}

function intentAfter(announcement: Announcement, patch: Patch, open: readonly OpenRegion[]): Intent {
  const { enabled, region, regions } = patch
  if (region !== undefined && regions !== undefined) throw invalid(['body', 'region'], 'regionAndRegions')
  if (regions !== undefined) return setRegions(announcement, enabled ?? announcement.enabled, regions, open)
  if (enabled === undefined && (region !== undefined || Object.keys(patch).length === 0))
    throw invalid(['body', 'enabled'], 'required')
  if (enabled === undefined) return { ...announcement, configured: configuredOf(announcement) }
  return region === undefined
    ? setInAllRegions(announcement, enabled, open)
    : changeRegion(
        announcement,
        enabled,
        regionIds(announcement, [region], open, () => ['body', 'region'])[0]!,
      )
}

/** Whether the intent announces the prefix in a region in which it should not be announced now. */
function adds(announcement: Announcement, { enabled, configured }: Intent): boolean {
  const before = announcement.enabled ? configuredOf(announcement) : new Set<number>()
  return enabled && !configured.isSubsetOf(before)
}

/** The whole set; while disabled, the set that enabling will use. */
function setRegions(
  announcement: Announcement,
  enabled: boolean,
  slugs: readonly string[],
  open: readonly OpenRegion[],
): Intent {
  const configured = new Set(regionIds(announcement, slugs, open, (at) => ['body', 'regions', at]))
  if (enabled && configured.size === 0) throw invalid(['body', 'regions'], 'noRegions')
  return { ...announcement, enabled, configured }
}

/** Returns `next` with the details of the patch, and a version after that of `before`; `next` itself if they are the same. */
function withDetails(before: Announcement, next: Announcement, patch: Patch): Announcement {
  const changed = changedDetails(before, patch)
  if (changed.length === 0) return next
  return { ...next, details: { ...before.details, ...fieldsOf(patch, changed) }, version: before.version + 1 }
}

const changedDetails = ({ details }: Announcement, patch: Patch): OwnDetailName[] =>
  ownDetailNames.filter((name) => patch[name] !== undefined && patch[name] !== details[name])

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

/** Returns the ids of the regions. A region that was closed in the meantime can still be disabled, and kept. */
function regionIds(
  announcement: Announcement,
  slugs: readonly string[],
  open: readonly OpenRegion[],
  locOf: (at: number) => ProblemError['loc'],
): number[] {
  const known = [...open, ...announcement.regions.filter((region) => region.configured)]
  const ids = new Map(known.map(({ slug, regionId }) => [slug, regionId]))
  const valid = [...ids.keys()].sort()
  const errors = slugs.flatMap((slug, at) =>
    ids.has(slug) ? [] : [errorAt(locOf(at), 'region', unknownRegion(slug, valid))],
  )
  if (errors.length > 0) throw failWith('invalid', errors)
  return slugs.map((slug) => ids.get(slug)!)
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

const missingTexts: Record<StoredValidationName | 'overlap', string> = {
  irr: 'no route object for the prefix and its origin was found in the IRR',
  rpki: 'the prefix and its origin are not validated by RPKI',
  loa: 'no letter of authorization has been accepted',
  overlap: 'the prefix or its origin has not passed its checks yet',
}

function requireValidations(announcement: Announcement, checks: readonly Check[]): void {
  const missing: readonly (StoredValidationName | 'overlap')[] = missingValidations(announcement)
  if (missing.length > 0) throw notValidated(missing, checks)
  // Every check except `overlap` has passed: the prefix belongs to another team, or the verification of the ASN has
  // expired.
  if (announcement.claimed === null) throw notValidated(['overlap'], checks)
}

function notValidated(
  missing: readonly (StoredValidationName | 'overlap')[],
  checks: readonly Check[],
): Failure {
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
  query: AnnouncementIncludeQuery = {},
): Promise<ChangeAnswer<Wire>> {
  const include = parseInclude(query.include)
  requireRole(operation, deps.memberToggle, patch)
  return runChange(deps.postgres, operation, async (trx) => {
    const locked = await lockAnnouncement(trx, operation.actor.teamId, id)
    if (!locked) throw notFound('announcement')
    const { announcement, open } = locked
    requireMatch(operation.ifMatch, etagOf(announcement.version))
    const now = deps.now()
    const checks = await checksFor(trx, announcement, patch, include)
    const next = applyPatch(announcement, patch, open, now, checks)
    const isAdded = adds(announcement, { ...next, configured: configuredOf(next) })
    // Sent together: a rejection rolls back.
    await Promise.all([
      isAdded ? rejectRevokedAsn(trx, announcement) : undefined,
      next === announcement ? undefined : store(trx, operation, announcement, next, patch),
    ])
    const { teamId } = announcement
    const visibility = needsVisibility(include)
      ? (await readVisibilityIn(trx, teamId, [id]))(announcement)
      : null
    const body = presentAnnouncement(next, include, { checks, visibility, now })
    const before = presentAnnouncement(announcement, include, { checks, visibility, now })
    const hidden = include.details ? [] : changedDetails(announcement, patch)
    const beside = { before: fieldsOf(announcement.details, hidden), after: fieldsOf(next.details, hidden) }
    return { body, before, beside, etag: shownEtag(next, body) }
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
  include: IncludedParts,
): Promise<readonly Check[]> {
  const mayAdd = patch.enabled || (announcement.enabled && patch.regions !== undefined)
  const isRefused = mayAdd && (announcement.claimed === null || missingValidations(announcement).length > 0)
  if (!isRefused && !needsChecks(include)) return []
  return readChecksIn(trx, announcement.teamId, announcement.id)
}

/** The details belong to the grant `ipam.manage`. */
function requireRole({ actor }: Operation, memberToggle: boolean, patch: Patch): void {
  if (mayDo(actor, 'ipam.manage')) return
  const hasDetails = ownDetailNames.some((name) => patch[name] !== undefined)
  if (memberToggle && !hasDetails) return
  if (actor.kind === 'token' || actor.access) throw lacksGrant(actor, 'ipam.manage', 'ipam:write')
  throw fail('forbidden', hasDetails ? 'details' : 'toggle', { role: neededRole('ipam.manage') })
}

async function store(
  trx: Trx,
  operation: Operation,
  before: Announcement,
  after: Announcement,
  patch: Patch,
): Promise<void> {
  const details = changedDetails(before, patch)
  await saveAnnouncement(trx, before, after)
  if (details.length > 0) await saveDetails(trx, after)
  if (details.includes('as_set')) await requestIrrCheck(trx, after.teamId, after.id)
  await writeHistory(trx, {
    announcementId: after.id,
    teamId: after.teamId,
    kind: historyKind(before, after, patch),
    actor: actorName(operation.actor),
    detail: historyDetail(before, after, patch),
  })
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'announcement.update',
    target: `announcement:${after.id}`,
    before: { ...intentOf(before), ...fieldsOf(before.details, details) },
    after: {
      ...intentOf(after),
      ...fieldsOf(after.details, details),
      desired: desiredChanges(before, after),
    },
  })
  await wake(trx, 'announcements')
}

function historyKind(before: Announcement, after: Announcement, { enabled, region }: Patch): HistoryKind {
  if (region === undefined && before.enabled === after.enabled) return 'updated'
  return enabled ? 'enabled' : 'disabled'
}

function historyDetail(before: Announcement, after: Announcement, patch: Patch): object {
  const { region, regions } = patch
  const fields = changedDetails(before, patch)
  return {
    ...(region === undefined ? {} : { region }),
    ...(regions === undefined || isSame(before, { ...before, configured: configuredOf(after) })
      ? {}
      : { regions: intentOf(after).regions }),
    ...(fields.length === 0 ? {} : { fields }),
  }
}

function intentOf({ enabled, regions }: Announcement) {
  return { enabled, regions: regions.filter((region) => region.configured).map((region) => region.slug) }
}
