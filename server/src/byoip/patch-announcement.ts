// Switching an announcement: the rules of PATCH as one pure function, and the use-case around it. It stores what should
// be true and wakes the reconciler; it must not talk to a router and must not wait for one.
import type { Announcement as Wire } from '@pharos/contract/byoip'
import { auditOf, writeAudit } from '../db/audit.ts'
import { mutate, type Answer } from '../db/mutate.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { Failure, invalid, notFound } from '../runtime/error.ts'
import type { Operation } from '../runtime/operation.ts'
import {
  missingValidations,
  withIntent,
  type Announcement,
  type Intent,
  type OpenRegion,
  type ValidationName,
} from './announcement.ts'
import { lockAnnouncement, saveAnnouncement } from './announcement.store.ts'
import { etagOf, requireMatch } from './etag.ts'
import { present, type Include } from './present-announcement.ts'

export type Patch = { readonly enabled: boolean; readonly region?: string }

export type PatchDeps = {
  readonly postgres: Postgres
  /** Whether members who are not admins may switch announcements. */
  readonly memberToggle: boolean
  readonly now: () => Date
}

/**
 * The announcement after the patch, or the very same object when it is already so (contract.md 2.2). Throws 422 on an
 * unknown region, 409 `suspended`, `not_validated` or `conflict` on enabling; disabling is never refused.
 */
export function applyPatch(
  announcement: Announcement,
  patch: Patch,
  open: readonly OpenRegion[],
  now: Date,
): Announcement {
  const intent =
    patch.region === undefined
      ? switchEverywhere(announcement, patch.enabled, open)
      : switchRegion(announcement, patch.enabled, knownRegion(announcement, patch.region, open))
  // Said even when it is enabled already: the caller would otherwise take the 200 for "it goes out".
  if (patch.enabled && announcement.suspended) throw suspended()
  if (isSame(announcement, intent)) return announcement
  if (patch.enabled) requireValidations(announcement)
  return withIntent(announcement, intent, open, now)
}

function switchEverywhere(announcement: Announcement, enabled: boolean, open: readonly OpenRegion[]): Intent {
  const configured = configuredOf(announcement)
  if (!enabled || configured.size > 0) return { ...announcement, enabled, configured }
  if (open.length === 0) throw new Failure('conflict', 'No region is open to the team.')
  return { ...announcement, enabled, configured: new Set(open.map(({ regionId }) => regionId)) }
}

function switchRegion(announcement: Announcement, enabled: boolean, regionId: number): Intent {
  const configured = configuredOf(announcement)
  if (enabled) return { ...announcement, enabled, configured: configured.add(regionId) }
  const removed = configured.delete(regionId)
  const lastGone = removed && configured.size === 0
  return { ...announcement, enabled: announcement.enabled && !lastGone, configured }
}

/** A region that was closed since can still be switched off. */
function knownRegion(announcement: Announcement, slug: string, open: readonly OpenRegion[]): number {
  const known = [...open, ...announcement.regions.filter((region) => region.configured)]
  const region = known.find((one) => one.slug === slug)
  if (region) return region.regionId
  const valid = [...new Set(known.map((one) => one.slug))].sort()
  throw invalid(['body', 'region'], `is not a region; valid are ${valid.join(', ')}`, 'unknown', { valid })
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
  return new Failure('suspended', 'The operator has suspended this announcement; ask your provider.')
}

const whatIsMissing: Record<ValidationName, string> = {
  irr: 'no route object for the prefix and its origin was found in the IRR',
  rpki: 'the prefix and its origin are not validated by RPKI',
  loa: 'no letter of authorization has been accepted',
}

function requireValidations(announcement: Announcement): void {
  const missing = missingValidations(announcement)
  if (missing.length === 0) return
  const errors = missing.map((name) => ({
    loc: ['body', 'enabled'],
    msg: whatIsMissing[name],
    type: 'not_validated',
    ctx: { missing: name },
  }))
  const detail = `The announcement cannot be enabled before it is validated; missing: ${missing.join(', ')}.`
  throw new Failure('not_validated', detail, { errors })
}

/** Stores the patch and wakes the reconciler; answers what GET then answers. */
export async function patchAnnouncement(
  deps: PatchDeps,
  operation: Operation,
  id: number,
  patch: Patch,
  include: Include = {},
): Promise<Answer<Wire>> {
  requireToggle(operation, deps.memberToggle)
  return mutate(deps.postgres, operation, async (trx) => {
    const locked = await lockAnnouncement(trx, operation.actor.teamId, id)
    if (!locked) throw notFound('announcement')
    const { announcement, open } = locked
    requireMatch(operation.ifMatch, etagOf(announcement.version))
    const next = applyPatch(announcement, patch, open, deps.now())
    if (next !== announcement) await store(trx, operation, announcement, next)
    return {
      body: present(next, include),
      before: present(announcement, include),
      etag: etagOf(next.version),
    }
  })
}

function requireToggle({ actor }: Operation, memberToggle: boolean): void {
  if (memberToggle || actor.isAdmin || actor.isStaff) return
  throw new Failure('forbidden', 'Only an admin of the team may switch announcements.')
}

async function store(
  trx: Trx,
  operation: Operation,
  before: Announcement,
  after: Announcement,
): Promise<void> {
  await saveAnnouncement(trx, before, after)
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
