// Review of letters of authorization by the provider's staff: list, read and decide. A decision is final; after a rejection
// the team uploads another letter.
import type {
  LetterStatus,
  listLettersToReviewRoute,
  ReviewedLetter as Wire,
} from '@pharos/contract/byoip/letter'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import { actorName, type StaffOperation } from '../../operation/operation.ts'
import { parseTime } from '../../text/time.ts'
import { writeHistory } from '../announcement/history.store.ts'
import type { Inspector } from './inspect-letter.ts'
import { presentLetter, requireFuture } from './letter.ts'
import {
  findLetterFileToReview,
  findLetterToReview,
  listLettersToReview,
  lockLetters,
  saveLetterDecision,
  type LetterDecision,
  type StoredLetterFile,
  type ReviewedLetterRow,
} from './letter.store.ts'

export type ReviewLetterDeps = { readonly db: Db; readonly inspector: Inspector; readonly now: () => Date }

/** Returns a page of all teams' letters, and the exact count. */
export async function listForReview(
  { db }: Pick<ReviewLetterDeps, 'db'>,
  _operation: unknown,
  query: QueryOf<typeof listLettersToReviewRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listLettersToReview(db, query)
  return { results: page.map(presentReviewed), count }
}

export async function getForReview({ db }: ReviewLetterDeps, _operation: unknown, id: number): Promise<Wire> {
  return presentReviewed(await get(db, id))
}

export async function getFileForReview(
  { db }: ReviewLetterDeps,
  _operation: unknown,
  id: number,
): Promise<StoredLetterFile> {
  const file = await findLetterFileToReview(db, id)
  if (!file) throw notFound('letter')
  return file
}

/** Returns one page as a PNG. Throws `not_found`, `conflict` if it cannot be rendered, and `unavailable`. */
export async function getPageForReview(
  deps: ReviewLetterDeps,
  operation: StaffOperation,
  id: number,
  page: number,
): Promise<LetterPage> {
  const bytes = await deps.inspector.render(await getFileForReview(deps, operation, id), page)
  if (!bytes) throw notFound('page')
  return { filename: `letter-${id}-page-${page}.png`, mediaType: 'image/png', bytes }
}

type LetterPage = { readonly filename: string; readonly mediaType: 'image/png'; readonly bytes: Buffer }

/** Accepts a pending letter until the given date, by default the date set by the team. Repeating it has no effect. */
export function acceptLetter(
  deps: ReviewLetterDeps,
  operation: StaffOperation,
  id: number,
  { valid_until }: { readonly valid_until?: string },
): Promise<ChangeAnswer<Wire>> {
  const given = valid_until === undefined ? undefined : parseTime(valid_until)
  if (valid_until !== undefined && !given) throw invalid(['body', 'valid_until'], 'time')
  return decide(deps, operation, id, (letter) => {
    const validUntil = given ?? letter.valid_until
    if (validUntil) requireFuture(validUntil, deps.now())
    return { status: 'accepted', validUntil }
  })
}

/**
 * Rejects a pending letter; the team gets the reason. Repeating it has no effect; another decision throws `conflict`.
 */
export function rejectLetter(
  deps: ReviewLetterDeps,
  operation: StaffOperation,
  id: number,
  { reason }: { readonly reason: string },
): Promise<ChangeAnswer<Wire>> {
  return decide(deps, operation, id, () => ({ status: 'rejected', reason }), 'rejected')
}

function decide(
  { db }: ReviewLetterDeps,
  operation: StaffOperation,
  id: number,
  decisionOn: (letter: ReviewedLetterRow) => LetterDecision,
  same: LetterStatus = 'accepted',
): Promise<ChangeAnswer<Wire>> {
  return runOwnerChange(db, operation, async (trx) => {
    await lockLetters(trx, (await get(trx, id)).team_id)
    const before = await get(trx, id)
    const shown = { body: presentReviewed(before), before: presentReviewed(before) }
    if (before.status === same) return shown
    if (before.status !== 'pending_review') throw fail('conflict', 'letterDecided', { status: before.status })
    const decision = decisionOn(before)
    await saveLetterDecision(trx, id, decision, actorName(operation.actor))
    const after = await get(trx, id)
    await recordReview(trx, operation, before, after)
    return { ...shown, body: presentReviewed(after) }
  })
}

/** The audit entry names the staff user; the team's history names only the provider. */
async function recordReview(
  trx: Trx,
  operation: StaffOperation,
  before: ReviewedLetterRow,
  after: ReviewedLetterRow,
): Promise<void> {
  const { id, team_id: teamId, status, reason, announcement_ids } = after
  await writeAudit(trx, {
    ...auditOf(operation),
    teamId,
    action: status === 'accepted' ? 'letter.accept' : 'letter.reject',
    target: `letter:${id}`,
    before: reviewOf(before),
    after: reviewOf(after),
  })
  const detail =
    status === 'accepted' ? { letter_id: id, valid_until: after.valid_until } : { letter_id: id, reason }
  const kind = status === 'accepted' ? 'letter_accepted' : 'letter_rejected'
  const line = { teamId, kind, actor: 'operator', detail } as const
  await writeHistory(trx, ...announcement_ids.map((announcementId) => ({ ...line, announcementId })))
  await wake(trx, 'validations')
}

const reviewOf = ({ status, reason, valid_until, announcement_ids }: ReviewedLetterRow) => ({
  status,
  reason,
  valid_until,
  announcement_ids,
})

async function get(db: Db | Trx, id: number): Promise<ReviewedLetterRow> {
  const letter = await findLetterToReview(db, id)
  if (!letter) throw notFound('letter')
  return letter
}

function presentReviewed(letter: ReviewedLetterRow): Wire {
  return {
    ...presentLetter(letter),
    content_type: letter.media_type,
    pages: letter.pages,
    team: { id: letter.team_id, name: letter.team_name },
    uploaded_by: letter.uploaded_by,
    uploaded_by_name: letter.uploaded_by_name,
    reviewed_by: letter.reviewed_by,
    announcements: letter.announcements,
  }
}
