// Reads announcements: one, or a page with filters. Changes nothing.
import type { Announcement as Wire } from '@pharos/contract/byoip'
import type { Postgres } from '../../db/postgres.ts'
import { parsePrefixOrAddress, type Prefix } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { notFound, failWith, prefixErrorAt } from '../../runtime/error.ts'
import type { Operation } from '../../operation/operation.ts'
import type { Announcement } from './announcement.ts'
import {
  findAnnouncement,
  listAnnouncementRows,
  type ListQuery,
  type WithChecks,
} from './announcement.store.ts'
import { etagOf } from '../../operation/etag.ts'
import { requireRegions } from './region.ts'
import { listTeamSlugs } from './region.store.ts'
import { shownAnnouncement } from './shown-announcement.ts'
import {
  needsChecks,
  parseInclude,
  present,
  type Include,
  type IncludeQuery,
} from './present-announcement.ts'

export type ReadDeps = { readonly postgres: Postgres; readonly now: () => Date }

/** Returns one announcement of the actor's team with its ETag; throws `not_found` for any other. */
export async function getAnnouncement(
  deps: ReadDeps,
  { actor }: Operation,
  id: number,
  query: IncludeQuery = {},
): Promise<{ body: Wire; etag: string }> {
  const include = parseInclude(query.include)
  const found = await findAnnouncement(deps.postgres, actor.teamId, id, needsChecks(include))
  if (!found) throw notFound('announcement')
  const body = presentFound(deps, found, include)
  return {
    body,
    etag: etagOf(found.announcement.version, unversionedParts(found.announcement, include, body)),
  }
}

/** Returns the parts of the response that change without a new version: checks, and unreadable routers. */
function unversionedParts(stored: Announcement, include: Include, body: Wire): unknown {
  const shown = shownAnnouncement(stored)
  if (shown === stored && !needsChecks(include)) return undefined
  return [body.validations, body.state_messages, ...(shown === stored ? [] : [shown.regions])]
}

function presentFound({ now }: ReadDeps, { announcement, checks }: WithChecks, include: Include): Wire {
  return present(announcement, include, { checks, now: now() })
}

/** Returns a page of the actor's team and the exact count, from one snapshot. */
export async function listAnnouncements(
  deps: ReadDeps,
  { actor }: Operation,
  query: ListQuery,
): Promise<{ results: Wire[]; count: number }> {
  const include = parseInclude(query.include)
  const overlapped = query.cidr?.map(parseCidr)
  if (query.region) requireRegions(query.region, await listTeamSlugs(deps.postgres, actor.teamId))
  const { page, count } = await listAnnouncementRows(
    deps.postgres,
    actor.teamId,
    query,
    overlapped,
    needsChecks(include),
  )
  return { results: page.map((found) => presentFound(deps, found, include)), count }
}

function parseCidr(text: string): Prefix {
  try {
    return parsePrefixOrAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [prefixErrorAt(['query', 'cidr'], error)])
  }
}
