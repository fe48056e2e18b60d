// Decides whether the letters of one announcement authorize it, and if not, why. Pure.
import type { LetterStatus } from '@pharos/contract/byoip/letter'
import { noLetter, type LetterVerdict } from '../validation/check-rules.ts'
import { explain, type Explanation } from '../validation/validation.ts'

/** A letter for the announcement that was not replaced by another. */
export type LetterOfAnnouncement = {
  readonly id: number
  readonly status: LetterStatus
  readonly reason: string | null
  readonly validUntil: Date | null
  /** Whether `validUntil` is in the past. */
  readonly past: boolean
}

/**
 * A current accepted letter makes the check valid, whatever else was uploaded; if there are several, the last to expire
 * counts. Otherwise a letter that waits for review makes it pending, an expired one expired, and a rejected one
 * invalid. Among letters with the same status the newest counts.
 */
export function verdictOf(letters: readonly LetterOfAnnouncement[]): LetterVerdict {
  const newestFirst = letters.toSorted((a, b) => b.id - a.id)
  const accepted = newestFirst.filter(({ status }) => status === 'accepted')
  const valid = accepted.filter(({ past }) => !past).sort((a, b) => endOf(b) - endOf(a) || b.id - a.id)[0]
  if (valid) return verdict('valid', valid, explain('letter_accepted'))
  const pending = newestFirst.find(({ status }) => status === 'pending_review')
  if (pending) return verdict('pending', pending, explain('letter_pending'))
  const ended = accepted[0]
  if (ended) return verdict('expired', ended, explain('letter_expired'))
  const rejected = newestFirst[0]
  if (rejected) return verdict('invalid', rejected, explain('letter_rejected', { reason: rejected.reason }))
  return noLetter
}

/** `Infinity - Infinity` is NaN, and a letter without an end date does not expire. */
const endOf = ({ validUntil }: LetterOfAnnouncement): number =>
  validUntil?.getTime() ?? Number.MAX_SAFE_INTEGER

function verdict(
  state: LetterVerdict['state'],
  letter: LetterOfAnnouncement,
  reason: Explanation,
): LetterVerdict {
  return { state, ...reason, validUntil: letter.validUntil, letterId: letter.id }
}
