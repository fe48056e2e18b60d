// Carries out the decisions about routes and black holes when a restore is closed. `apply` approves exactly the listed withdrawals and changes,
// as any other approval does; `adopt` makes announcements as the routers show them.
import type { Trx } from '../../db/postgres.ts'
import { writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Prefix } from '../../net/prefix.ts'
import { fail } from '../../runtime/error.ts'
import { isDesired, withIntent, type Announcement } from '../status/announcement.ts'
import { lockAnnouncement, saveAnnouncement } from '../announcement/announcement.store.ts'
import { writeHistory } from '../announcement/history.store.ts'
import { evidenceOf, type StoredItem } from '../../approval/coverage.ts'
import { addApproved } from '../../approval/plan-approvals.ts'
import { routeApprovals } from './approval-area.ts'
import { withdrawalOf } from './guard.ts'
import { endBlackholes, forgetAnnounced, listRegionIds } from './settle-routes.store.ts'

/** A decided difference, as restore/settle.ts has it. */
type DecidedRoute = {
  /** Slug of the region. */
  readonly source: string
  /** The prefix. */
  readonly subject: string
  readonly kind: string
  readonly team_id: number | null
  readonly database: Readonly<Record<string, unknown>> | null
  readonly network: Readonly<Record<string, unknown>> | null
  readonly decision: string
}

type Author = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

export async function settleRoutes(
  trx: Trx,
  by: Author,
  now: Date,
  items: readonly DecidedRoute[],
): Promise<void> {
  const regions = await listRegionIds(trx)
  const { apply = [], adopt = [] } = Object.groupBy(items, ({ decision }) => decision as 'apply' | 'adopt')
  for (const [region, ofRegion] of Map.groupBy(apply, ({ source }) => source)) {
    const regionId = regions.get(region)
    if (regionId !== undefined) await approve(trx, by, regionId, ofRegion)
  }
  for (const [id, ofAnnouncement] of Map.groupBy(adopt, announcementOf))
    await adoptAnnouncement(trx, by, now, id, ofAnnouncement, regions)
}

export async function settleBlackholes(trx: Trx, by: Author, items: readonly DecidedRoute[]): Promise<void> {
  const ids = items
    .filter(({ decision }) => decision === 'adopt')
    .map(({ database }) => Number(database?.['blackhole_id']))
  const ended = await endBlackholes(trx, ids)
  await writeAudit(
    trx,
    ...ended.map(({ id, teamId, host }) => ({
      ...by,
      teamId,
      action: 'blackhole.end',
      target: `blackhole:${id}`,
      before: { host },
      after: { reason: 'restore' },
    })),
  )
}

async function approve(
  trx: Trx,
  { actor }: Author,
  regionId: number,
  items: readonly DecidedRoute[],
): Promise<void> {
  const withdrawals = items.filter(({ kind }) => kind === 'remove')
  const changes = items.filter(({ kind }) => kind === 'change')
  const covered = [
    ...withdrawals.map(({ subject }) => withdrawalOf(subject as Prefix)),
    ...changes.flatMap(replacementsOf),
  ]
  if (covered.length === 0) return
  const findings = [{ reason: 'restored' as const, attrs: { routes: covered.length } }]
  const evidence = evidenceOf('routes', 'restored', covered)
  await addApproved(
    trx,
    routeApprovals,
    { kind: 'changes', regionId, findings, items: covered, evidence },
    actor,
  )
}

function replacementsOf({ subject, database, network }: DecidedRoute): StoredItem[] {
  const to = String(database?.['route'])
  const routes = (network?.['routes'] ?? {}) as Readonly<Record<string, string>>
  return Object.entries(routes).map(([router, from]) => ({
    change: 'replace',
    value: subject,
    router,
    from,
    to,
  }))
}

const announcementOf = ({ database }: DecidedRoute): number => Number(database?.['announcement_id'])

async function adoptAnnouncement(
  trx: Trx,
  by: Author,
  now: Date,
  id: number,
  items: readonly DecidedRoute[],
  regions: ReadonlyMap<string, number>,
): Promise<void> {
  const subjects = items.map(({ subject }) => subject)
  const teamId = items[0]!.team_id
  const locked = teamId === null ? undefined : await lockAnnouncement(trx, teamId, id)
  if (!locked || locked.announcement.suspended || locked.announcement.claimed === null)
    throw fail('conflict', 'notAdoptable', { subjects })
  const { announcement: before, open } = locked
  const announced = new Set(
    before.regions.filter((region) => isDesired(before, region)).map(({ regionId }) => regionId),
  )
  for (const { kind, source } of items) {
    const regionId = regions.get(source)
    if (regionId !== undefined && kind === 'add') announced.delete(regionId)
    if (regionId !== undefined && kind === 'remove') announced.add(regionId)
  }
  const enabled = announced.size > 0
  const configured = enabled ? announced : configuredOf(before)
  const after = withIntent(before, { enabled, suspended: false, configured }, open, now)
  await saveAnnouncement(trx, before, after)
  const absent = items.filter(({ kind }) => kind === 'add').flatMap(({ source }) => regions.get(source) ?? [])
  await forgetAnnounced(trx, id, absent)
  const kind = before.enabled === enabled ? 'updated' : enabled ? 'enabled' : 'disabled'
  await writeHistory(trx, {
    announcementId: id,
    teamId: teamId!,
    kind,
    actor: by.actor,
    detail: { by: 'restore' },
  })
  await writeAudit(trx, {
    ...by,
    teamId,
    action: 'announcement.update',
    target: `announcement:${id}`,
    before: intentOf(before),
    after: intentOf(after),
  })
}

const configuredOf = ({ regions }: Announcement): Set<number> =>
  new Set(regions.filter((region) => region.configured).map(({ regionId }) => regionId))

const intentOf = ({ enabled, regions }: Announcement) => ({
  enabled,
  regions: regions.filter(({ configured }) => configured).map(({ slug }) => slug),
})
