// Reads announcements: one, or a page with filters.
import {
  announcementStatuses,
  type Announcement as Wire,
  type AnnouncementCounts,
  type AnnouncementStatus,
  type listAnnouncementsOfTeamRoute,
} from '@pharos/contract/byoip/announcement'
import type { QueryOf } from '@pharos/contract/route'
import type { Db, Postgres } from '../../db/postgres.ts'
import { etagOf } from '../../operation/etag.ts'
import { notFound, parsePrefixAt } from '../../runtime/error.ts'
import type { Limits } from '../../operation/limits.ts'
import type { Operation } from '../../operation/operation.ts'
import {
  countAnnouncementRows,
  findAnnouncement,
  listAnnouncementRows,
  teamExists,
  type AnnouncementListQuery,
  type WithChecks,
} from './announcement.store.ts'
import { requireRegions } from './region.ts'
import { listTeamRegionSlugs } from './region.store.ts'
import { readVisibility, type VisibilityReader } from '../visibility/present-visibility.ts'
import {
  needsChecks,
  needsVisibility,
  parseInclude,
  presentAnnouncement,
  shownEtag,
  type EvidenceReader,
  type IncludedParts,
  type AnnouncementIncludeQuery,
} from './present-announcement.ts'

export type ReadAnnouncementDeps = { readonly postgres: Postgres; readonly now: () => Date }
/** For staff, who also see how far a route gets. */
export type ReadEvidenceDeps = ReadAnnouncementDeps & {
  readonly readEvidence: (db: Db) => Promise<EvidenceReader>
}

/** Returns one announcement of the actor's team with its ETag; throws `not_found` for any other. */
export async function getAnnouncement(
  deps: ReadAnnouncementDeps,
  { actor }: Operation,
  id: number,
  query: AnnouncementIncludeQuery = {},
): Promise<{ body: Wire; etag: string }> {
  const include = parseInclude(query.include)
  const found = await findAnnouncement(deps.postgres, actor.teamId, id, needsChecks(include))
  if (!found) throw notFound('announcement')
  const body = presentFound(deps, found, include, await visibilityOf(deps, actor.teamId, [found], include))
  return { body, etag: shownEtag(found.announcement, body) }
}

function presentFound(
  { now }: ReadAnnouncementDeps,
  { announcement, checks }: WithChecks,
  include: IncludedParts,
  visibility: VisibilityReader | null,
  evidence: EvidenceReader | null = null,
): Wire {
  return presentAnnouncement(announcement, include, {
    checks,
    visibility: visibility && visibility(announcement),
    evidence,
    now: now(),
  })
}

async function visibilityOf(
  { postgres }: ReadAnnouncementDeps,
  teamId: number,
  page: readonly WithChecks[],
  include: IncludedParts,
): Promise<VisibilityReader | null> {
  if (!needsVisibility(include)) return null
  const ids = page.map(({ announcement }) => announcement.id)
  return readVisibility(postgres, teamId, ids)
}

/** Returns a page of the actor's team and the exact count, from one snapshot. */
export const listAnnouncements = (
  deps: ReadAnnouncementDeps,
  { actor }: Operation,
  query: AnnouncementListQuery,
): Promise<{ results: Wire[]; count: number }> => listIn(deps, actor.teamId, query, actor.limits)

/** Returns the same for any team; throws `not_found` if it does not exist. */
export async function listAnnouncementsOfTeam(
  deps: ReadEvidenceDeps,
  _operation: unknown,
  teamId: number,
  query: QueryOf<typeof listAnnouncementsOfTeamRoute>,
): Promise<{ results: Wire[]; count: number }> {
  if (!(await teamExists(deps.postgres.front, teamId))) throw notFound('team')
  return listIn(deps, teamId, query, null)
}

async function listIn(
  deps: ReadAnnouncementDeps & Partial<ReadEvidenceDeps>,
  teamId: number,
  query: AnnouncementListQuery,
  limits: Limits | null,
): Promise<{ results: Wire[]; count: number }> {
  const include = parseInclude(query.include)
  const overlapped = query.cidr?.map((text) => parsePrefixAt(['query', 'cidr'], text))
  if (query.region) requireRegions(query.region, await listTeamRegionSlugs(deps.postgres, teamId))
  const { page, count } = await listAnnouncementRows(
    deps.postgres,
    teamId,
    query,
    overlapped,
    needsChecks(include),
    limits,
  )
  const visibility = await visibilityOf(deps, teamId, page, include)
  const evidence = (include.evidence && (await deps.readEvidence?.(deps.postgres.owner))) || null
  return { results: page.map((found) => presentFound(deps, found, include, visibility, evidence)), count }
}

/** Counts the announcements of the actor's team by condition and status. */
export async function countAnnouncements(
  { postgres }: Pick<ReadAnnouncementDeps, 'postgres'>,
  { actor }: Operation,
): Promise<{ body: AnnouncementCounts; etag: string }> {
  const none = Object.fromEntries(announcementStatuses.map((status) => [status, 0]))
  const statuses = none as Record<AnnouncementStatus, number>
  const conditions = { in_sync: 0, out_of_sync: 0, off: 0, blocked: 0 }
  let total = 0
  for (const { status, condition, count } of await countAnnouncementRows(
    postgres,
    actor.teamId,
    actor.limits,
  )) {
    statuses[status] += count
    conditions[condition] += count
    total += count
  }
  const body = { total, ...conditions, statuses }
  return { body, etag: etagOf(body) }
}
