// Deletes and restores announcements. An announcement can be deleted only if it is on no router; it can be restored for
// seven days.
import type { Announcement as Wire, deleteAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import type { Prefix } from '../../net/prefix.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { undesiredIn, type Announcement } from '../status/announcement.ts'
import { lockAnnouncement, lockDeleted, markDeleted, markRestored } from './announcement.store.ts'
import { countTeamAnnouncements, readClaims } from './create-announcements.store.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { writeHistory } from './history.store.ts'
import {
  parseInclude,
  presentAnnouncement,
  shownEtag,
  type AnnouncementIncludeQuery,
} from './present-announcement.ts'
import { reportedAnnouncement } from '../status/reported-announcement.ts'
import { isAuthorized } from '../validation/check-rules.ts'
import { completeChecks } from '../validation/validation.ts'
import { readChecksIn } from '../validation/validation.store.ts'
import { readVisibilityIn } from '../visibility/present-visibility.ts'

export type DeleteDeps = {
  readonly postgres: Postgres
  readonly quota: number
  readonly now: () => Date
  /** Returns the names of the team's zones of reverse DNS that only this prefix allows. */
  readonly listDependentZones: (trx: Trx, teamId: number, prefix: Prefix) => Promise<readonly string[]>
  /** Returns the prefixes of the team's lists of shield rules that only this prefix allows. */
  readonly listDependentLists: (trx: Trx, teamId: number, prefix: Prefix) => Promise<readonly string[]>
}

/** Throws 409 `still_announced` with the regions if it is enabled or a router shows it, and `in_use` with the zones and lists of shield rules that depend on it. */
export function deleteAnnouncement(
  deps: Pick<DeleteDeps, 'postgres' | 'listDependentZones' | 'listDependentLists'>,
  operation: Operation,
  id: number,
  { force }: QueryOf<typeof deleteAnnouncementRoute>,
): Promise<ChangeAnswer<null>> {
  const { teamId } = operation.actor
  return runChange(deps.postgres, operation, async (trx) => {
    const locked = await lockAnnouncement(trx, teamId, id)
    if (!locked) throw notFound('announcement')
    requireMatch(operation.ifMatch, etagOf(locked.announcement.version))
    requireWithdrawn(locked.announcement)
    if (!force) await requireUnused(deps, trx, teamId, locked.announcement.prefix)
    await markDeleted(trx, teamId, id)
    await note(trx, operation, locked.announcement, 'deleted', 'announcement.delete')
    return { body: null, before: presentAnnouncement(locked.announcement, {}) }
  })
}

async function requireUnused(
  { listDependentZones, listDependentLists }: Pick<DeleteDeps, 'listDependentZones' | 'listDependentLists'>,
  trx: Trx,
  teamId: number,
  prefix: Prefix,
): Promise<void> {
  const zones = await listDependentZones(trx, teamId, prefix)
  const lists = await listDependentLists(trx, teamId, prefix)
  const errors = [...zones.map(zoneError), ...lists.map(listError)]
  if (zones.length > 0) throw fail('in_use', 'reverseZones', { zones }, { errors })
  if (lists.length > 0) throw fail('in_use', 'shieldRules', { prefixes: lists }, { errors })
}

const listError = (prefix: string) => ({
  loc: ['shield', prefix],
  msg: 'has shield rules, which end without the announcement',
  type: 'in_use',
  ctx: { prefix },
})

const zoneError = (zone: string) => ({
  loc: ['zones', zone],
  msg: 'is a zone of reverse DNS of the prefix',
  type: 'in_use',
  ctx: { zone },
})

function requireWithdrawn(announcement: Announcement): void {
  const { enabled, regions } = reportedAnnouncement(announcement)
  const showing = regions.filter(({ state }) => state !== 'withdrawn')
  if (!enabled && showing.length === 0) return
  const errors = showing.map(({ slug, state }) => ({
    loc: ['regions', slug],
    msg: `is ${state} there`,
    type: 'still_announced',
    ctx: { region: slug, state },
  }))
  throw enabled
    ? fail('still_announced', 'enabled', { errors })
    : fail('still_announced', 'regions', { regions: showing.map(({ slug }) => slug) }, { errors })
}

/** Returns the announcement as GET does. An announcement that is not deleted stays unchanged. */
export async function restoreAnnouncement(
  deps: DeleteDeps,
  operation: Operation,
  id: number,
  query: AnnouncementIncludeQuery = {},
): Promise<ChangeAnswer<Wire>> {
  const { teamId } = operation.actor
  return runChange(deps.postgres, operation, async (trx) => {
    const deleted = await lockDeleted(trx, teamId, id)
    if (deleted) await restore(deps, trx, operation, deleted)
    const locked = await lockAnnouncement(trx, teamId, id)
    if (!locked) throw notFound('announcement')
    const { announcement } = locked
    const context = {
      checks: await readChecksIn(trx, teamId, id),
      visibility: (await readVisibilityIn(trx, teamId, [id]))(announcement),
      now: deps.now(),
    }
    const body = presentAnnouncement(announcement, parseInclude(query.include), context)
    return { body, ...(deleted ? {} : { before: body }), etag: shownEtag(announcement, body) }
  })
}

async function restore(
  { quota }: DeleteDeps,
  trx: Trx,
  operation: Operation,
  deleted: Announcement,
): Promise<void> {
  const { teamId } = operation.actor
  if ((await countTeamAnnouncements(trx, teamId)) >= quota)
    throw fail('quota_exceeded', 'announcements', { limit: quota, count: quota })
  const [claims] = await readClaims(trx, teamId, [deleted.prefix])
  if (claims?.own) throw fail('conflict', 'announcementOverlap', { prefix: claims.own.prefix })
  if (claims?.taken && (await wasAuthorized(trx, deleted)))
    throw fail('prefix_claimed', 'byOther', { prefix: deleted.prefix })
  await markRestored(trx, teamId, deleted.id)
  await note(trx, operation, deleted, 'restored', 'announcement.restore')
  await wake(trx, 'validations')
}

/**
 * A team without a proof must not learn that the prefix belongs to another team; the check `overlap` waits for its
 * proof.
 */
async function wasAuthorized(trx: Trx, { teamId, id, claimed }: Announcement): Promise<boolean> {
  if (claimed !== null) return true
  const { loa, rpki, asn } = completeChecks(await readChecksIn(trx, teamId, id))
  return isAuthorized({ loa: loa.state, rpki: rpki.state, asn: asn.state })
}

async function note(
  trx: Trx,
  operation: Operation,
  { id, teamId, prefix, originAsn, regions }: Announcement,
  kind: 'deleted' | 'restored',
  action: string,
): Promise<void> {
  await writeHistory(trx, { announcementId: id, teamId, kind, actor: actorName(operation.actor) })
  const [before, after] =
    kind === 'deleted'
      ? [{ cidr: prefix, origin_asn: originAsn }, { desired: undesiredIn(regions) }]
      : [null, { cidr: prefix }]
  await writeAudit(trx, { ...auditOf(operation), action, target: `announcement:${id}`, before, after })
}
