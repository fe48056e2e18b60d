// Requests all checks of an announcement. Stores only the request; the validator queries the registries.
import type { Announcement as Wire } from '@pharos/contract/byoip/announcement'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import type { Postgres } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { notFound } from '../../runtime/error.ts'
import type { Operation } from '../../operation/operation.ts'
import type { RateLimiter } from '../../runtime/rate-limit.ts'
import { lockAnnouncement, requestChecks } from './announcement.store.ts'
import {
  parseInclude,
  presentAnnouncement,
  shownEtag,
  type AnnouncementIncludeQuery,
} from './present-announcement.ts'
import { readVisibilityIn } from '../visibility/present-visibility.ts'
import { readChecksIn } from '../validation/validation.store.ts'

export type RequestDeps = {
  readonly postgres: Postgres
  /** Per team: each request queries registries of other organisations. */
  readonly checkRequests: RateLimiter
  readonly now: () => Date
}

/** Returns the current checks. Throws `not_found` for another team's announcement, and `rate_limited`. */
export async function requestValidation(
  { postgres, checkRequests, now }: RequestDeps,
  operation: Operation,
  id: number,
  query: AnnouncementIncludeQuery = {},
): Promise<ChangeAnswer<Wire>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    const locked = await lockAnnouncement(trx, teamId, id)
    if (!locked) throw notFound('announcement')
    // A dry run queries no registry, and does not count.
    if (!operation.dryRun) checkRequests.take(`team:${teamId}`)
    const requested = await requestChecks(trx, teamId, id)
    await wake(trx, 'validations')
    const checks = await readChecksIn(trx, teamId, id)
    const visibility = (await readVisibilityIn(trx, teamId, [id]))(locked.announcement)
    const body = presentAnnouncement(locked.announcement, parseInclude(query.include), {
      checks,
      visibility,
      now: now(),
    })
    return { body, before: body, beside: requested, etag: shownEtag(locked.announcement, body) }
  })
}
