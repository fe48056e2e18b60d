// Reading announcements: one, or a page with filters. It changes nothing.
import type { Announcement as Wire } from '@pharos/contract/byoip'
import type { Postgres } from '../../db/postgres.ts'
import { parsePrefixOrAddress, type Prefix } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { notFound, failWith, prefixErrorAt } from '../../runtime/error.ts'
import type { Operation } from '../../runtime/operation.ts'
import type { Announcement, AnnouncementStatus } from './announcement.ts'
import {
  findAnnouncement,
  listAnnouncementRows,
  type AnnouncementFilter,
  type OrderingKey,
  type WithChecks,
} from './announcement.store.ts'
import { etagOf } from '../../runtime/etag.ts'
import { parseOrdering } from '../../runtime/ordering.ts'
import { shownAnnouncement } from './shown-announcement.ts'
import { needsChecks, parseInclude, present, type Include } from './present-announcement.ts'

export type ReadDeps = { readonly postgres: Postgres; readonly now: () => Date }

/** The query of listAnnouncements, as the contract read it. */
export type ListQuery = {
  readonly cidr?: readonly string[]
  readonly origin_asn?: readonly number[]
  readonly region?: readonly string[]
  readonly status?: readonly AnnouncementStatus[]
  readonly enabled?: boolean
  readonly family?: '4' | '6'
  readonly deleted?: boolean
  readonly include?: string
  readonly ordering: string
  readonly limit: number
  readonly offset: number
}

/** One announcement of the actor's team with its ETag; `not_found` otherwise. */
export async function getAnnouncement(
  deps: ReadDeps,
  { actor }: Operation,
  id: number,
  include: Include = {},
): Promise<{ body: Wire; etag: string }> {
  const found = await findAnnouncement(deps.postgres, actor.teamId, id, needsChecks(include))
  if (!found) throw notFound('announcement')
  const body = presentFound(deps, found, include)
  return { body, etag: etagOf(found.announcement.version, besideVersion(found.announcement, include, body)) }
}

/** What the answer shows that raises no version: checks, and that a router cannot be read. */
function besideVersion(stored: Announcement, include: Include, body: Wire): unknown {
  const shown = shownAnnouncement(stored)
  if (shown === stored && !needsChecks(include)) return undefined
  return [body.validations, body.state_messages, ...(shown === stored ? [] : [shown.regions])]
}

function presentFound({ now }: ReadDeps, { announcement, checks }: WithChecks, include: Include): Wire {
  return present(announcement, include, { checks, now: now() })
}

/** A page of the actor's team and the exact count, from one snapshot. */
export async function listAnnouncements(
  deps: ReadDeps,
  { actor }: Operation,
  query: ListQuery,
): Promise<{ results: Wire[]; count: number }> {
  const order = parseOrdering<OrderingKey>(query.ordering)
  const include = parseInclude(query.include)
  const { page, count } = await listAnnouncementRows(
    deps.postgres,
    actor.teamId,
    filterOf(query),
    order,
    query,
    needsChecks(include),
  )
  return { results: page.map((found) => presentFound(deps, found, include)), count }
}

function filterOf({
  cidr,
  origin_asn,
  region,
  status,
  enabled,
  family,
  deleted,
}: ListQuery): AnnouncementFilter {
  return {
    ...(cidr ? { overlaps: cidr.map(parseCidr) } : {}),
    ...(origin_asn ? { originAsns: origin_asn } : {}),
    ...(region ? { regions: region } : {}),
    ...(status ? { statuses: status } : {}),
    ...(enabled === undefined ? {} : { enabled }),
    ...(deleted ? { deleted } : {}),
    ...(family ? { family: family === '4' ? 4 : 6 } : {}),
  }
}

function parseCidr(text: string): Prefix {
  try {
    return parsePrefixOrAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [prefixErrorAt(['query', 'cidr'], error)])
  }
}
