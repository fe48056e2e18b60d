// A team's review of an event: whether it was an attack, its acknowledgement, comments. Deliveries never change it, and
// only the team can read it.
import type { EventReview } from '@pharos/contract/events/event'
import type { Db, Trx } from '../../db/postgres.ts'
import type { ReadingActor } from '../../operation/operation.ts'
import { findReview, listComments, type CommentRow, type StoredReview } from '../relate/review.store.ts'

export const noReview: StoredReview = {
  verdict: null,
  acknowledged: null,
  acknowledgedBy: null,
  byStaff: false,
  version: 0,
}

/** Returns the team's review of the event for `include=review`. */
export async function presentReview(
  db: Db | Trx,
  { teamId, staffRoles }: ReadingActor['actor'],
  eventId: string,
): Promise<EventReview> {
  const review = (await findReview(db, teamId, eventId)) ?? noReview
  const comments = await listComments(db, teamId, eventId)
  const shown = (actor: string, byStaff: boolean) => (byStaff && staffRoles.length === 0 ? 'staff' : actor)
  const { verdict, acknowledged, acknowledgedBy, byStaff } = review
  return {
    verdict,
    acknowledged: acknowledged?.toISOString() ?? null,
    acknowledged_by: acknowledgedBy === null ? null : shown(acknowledgedBy, byStaff),
    comments: comments.map((comment: CommentRow) => ({
      id: comment.id,
      text: comment.text,
      author: shown(comment.author, comment.by_staff),
      created: comment.created.toISOString(),
    })),
  }
}
