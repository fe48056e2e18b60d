// Changes a team's review of an event, and applies it to the team's lists.
import {
  eventCommentsMax,
  type RelatedEventDetail,
  type reviewEventRoute,
} from '@pharos/contract/events/event'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { actorName, type Actor, type Operation } from '../../operation/operation.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { lockReported } from '../event/event.store.ts'
import { renderDetail, type DetailDeps } from './list-events.ts'
import { findDetail } from './list-events.store.ts'
import { noReview } from './review.ts'
import {
  countComments,
  findReview,
  insertComment,
  saveReview,
  type StoredReview,
} from '../relate/review.store.ts'
import { showEvents } from '../relate/show-event.ts'
import { lockTeams } from '../relate/team-event.store.ts'

export type ReviewEventDeps = DetailDeps & { readonly now: () => Date }

type Patch = BodyOf<typeof reviewEventRoute>

/**
 * Changes the named parts of the team's review and adds the comment. Throws `not_found` unless the event concerns the team. Locks the event,
 * then the team's list, as the ingest loop does.
 */
export function reviewEvent(
  deps: ReviewEventDeps,
  operation: Operation,
  eventId: string,
  patch: Patch,
  query: QueryOf<typeof reviewEventRoute>,
): Promise<ChangeAnswer<RelatedEventDetail>> {
  const { actor } = operation
  const { teamId } = actor
  const { postgres, now } = deps
  return runOwnerChange(postgres.front, operation, async (trx) => {
    const [locked] = await lockReported(trx, [eventId])
    await lockTeams(trx, [teamId])
    const found = await findDetail(trx, teamId, eventId)
    if (!locked || !found) throw notFound('event')
    requireMatch(operation.ifMatch, etagOf(found.review))
    const before = (await findReview(trx, teamId, eventId)) ?? noReview
    const after = reviewAfter(before, patch, actor, now())
    if (after !== before) {
      await saveReview(trx, teamId, eventId, after)
      await showEvents(trx, teamId, [locked])
    }
    if (patch.comment !== undefined) await addComment(trx, actor, eventId, patch.comment)
    if (after !== before || patch.comment !== undefined) {
      await writeAudit(trx, {
        ...auditOf(operation),
        action: 'event.review',
        target: `event:${eventId}`,
        before: auditedOf(before),
        after: { ...auditedOf(after), ...(patch.comment === undefined ? {} : { comment: patch.comment }) },
      })
    }
    const changed = (await findDetail(trx, teamId, eventId))!
    const { body, etag } = await renderDetail(deps, trx, actor, changed, query)
    return { body: JSON.parse(body.raw) as RelatedEventDetail, etag }
  })
}

/** Returns the same object without a change. */
function reviewAfter(before: StoredReview, patch: Patch, actor: Actor, now: Date): StoredReview {
  const verdict = patch.verdict === undefined ? before.verdict : patch.verdict
  const isAcknowledged = patch.acknowledged ?? before.acknowledged !== null
  if (verdict === before.verdict && isAcknowledged === (before.acknowledged !== null)) return before
  const version = before.version + 1
  if (!isAcknowledged) return { verdict, acknowledged: null, acknowledgedBy: null, byStaff: false, version }
  if (before.acknowledged !== null) return { ...before, verdict, version }
  return { verdict, acknowledged: now, acknowledgedBy: actorName(actor), byStaff: actor.isStaff, version }
}

const auditedOf = ({ verdict, acknowledged }: StoredReview) => ({
  verdict,
  acknowledged: acknowledged !== null,
})

async function addComment(trx: Trx, actor: Actor, eventId: string, text: string): Promise<void> {
  if ((await countComments(trx, actor.teamId, eventId)) >= eventCommentsMax)
    throw fail('quota_exceeded', 'eventComments', { limit: eventCommentsMax })
  await insertComment(trx, {
    teamId: actor.teamId,
    eventId,
    text,
    author: actorName(actor),
    byStaff: actor.isStaff,
  })
}
