// What becomes of a presented refresh token. Pure: the counter and the rotation times of the session decide.
//
// A session's tokens are numbered. `counter` is the newest that was handed out; only presenting that one makes a new
// one. The one before (its "parent") may come again when its answer was lost, as long as nobody has presented the
// newest: both sides then hold the same successor. Several tabs may present one token at nearly the same time and then
// go on from its successor, while another tab is already further: for 30 s after a token was rotated it still gives its
// own successor. Whatever is older than that can only be a copy: the session ends.
//
// A parent that comes again is as good as rotated now: the tabs that wake after a lost answer all hold it, and the first
// to go on from its successor must not make a copy of what the others have just sent. The same holds when the newest token
// is handed out without its parent being presented: by a switch of the team, or with a new password.

export const gracePeriodMs = 30_000
/** Of many tabs that present a parent at once, one notes it; the others' grace is shorter by no more than this. */
const renewedForMs = 1_000

export type Rotation = {
  readonly counter: number
  /** When tokens were rotated, oldest first; the last is the rotation of token `counter - 1`. */
  readonly rotations: readonly Date[]
}

export type Verdict =
  | { readonly kind: 'rotate' }
  | { readonly kind: 'repeat'; readonly successor: number; readonly renew: boolean }
  | { readonly kind: 'reuse' }

/**
 * The verdict on token number `presented`. A number that was never handed out is a reuse too: only a key
 * thief makes one. `renew`: the rotation of the token is to count from now.
 */
export function judgeRefresh(session: Rotation, presented: number, now: Date): Verdict {
  const age = session.counter - presented
  if (age === 0) return { kind: 'rotate' }
  if (age < 0) return { kind: 'reuse' }
  // The parent: had its successor been presented, the counter would be further.
  const rotatedAt = session.rotations.at(-age)
  const sinceMs = rotatedAt ? now.getTime() - rotatedAt.getTime() : Infinity
  if (age === 1) return { kind: 'repeat', successor: session.counter, renew: sinceMs > renewedForMs }
  if (sinceMs <= gracePeriodMs) return { kind: 'repeat', successor: presented + 1, renew: false }
  return { kind: 'reuse' }
}
