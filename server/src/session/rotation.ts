// Decides on a presented refresh token. Pure: it depends on the counter and the rotation times of the session, and for
// a late repeat on the network and the user agent. The rule and its reasons: decision 006.
//
// A session's tokens are numbered. `counter` is the newest issued one; only presenting that one issues a new one. A
// rotated token gets its own successor again for 30 s: several tabs may present it at nearly the same time. After that
// only the newest token's parent is accepted, as after a lost answer: for 10 minutes, and only from the network or user
// agent of the last refresh. Every other token ends the session.
//
// An accepted repeat of the parent restarts its 30 s, within the 10 minutes: tabs that wake after a lost answer all
// have the parent, and the first of them has already continued with the successor. The same applies if the newest token
// is issued without its parent being presented, for example when switching the team.
import { maskHostBits, type Prefix } from '../net/prefix.ts'
import { plainAddress } from '../runtime/client-address.ts'

export const gracePeriodMs = 30_000
export const lateRepeatMs = 600_000
/**
 * If many tabs present a parent at the same time, one renews the grace period; for the others it is shorter by at most
 * this.
 */
const renewedForMs = 1_000

export type Client = { readonly address: string; readonly userAgent: string }

export type Rotation = {
  readonly counter: number
  /** Times of the rotations, oldest first; the last is the rotation of token `counter - 1`. */
  readonly rotations: readonly Date[]
  /** The end of the renewed grace period of each of these tokens; null if it was not renewed. */
  readonly renewedUntil: readonly (Date | null)[]
  /** The client of the last refresh or of the sign-in; null if unknown. */
  readonly lastAddress: string | null
  readonly lastUserAgent: string | null
}

export type RotationVerdict =
  | { readonly kind: 'rotate' }
  | {
      readonly kind: 'repeat'
      readonly successor: number
      /** Whether to renew the token's grace period. */
      readonly renew: boolean
      /** More than 30 s after its rotation: the repeat is audited. */
      readonly late: boolean
    }
  | { readonly kind: 'reuse' }

/** Returns the verdict on token number `presented`. A number that was never issued also counts as reuse: it implies a stolen key. */
export function judgeRefresh(
  session: Rotation,
  presented: number,
  client: Client,
  now: Date,
): RotationVerdict {
  const age = session.counter - presented
  if (age === 0) return { kind: 'rotate' }
  if (age < 0) return { kind: 'reuse' }
  const nowMs = now.getTime()
  const rotatedMs = session.rotations.at(-age)?.getTime() ?? -Infinity
  const renewedUntilMs = session.renewedUntil.at(-age)?.getTime() ?? -Infinity
  const graceEndsMs = Math.max(rotatedMs + gracePeriodMs, renewedUntilMs)
  const late = nowMs > rotatedMs + gracePeriodMs
  // The parent: had its successor been presented, the counter would be higher.
  const isParent = age === 1 && nowMs <= rotatedMs + lateRepeatMs
  if (nowMs > graceEndsMs && !isParent) return { kind: 'reuse' }
  if (late && !isKnownClient(session, client)) return { kind: 'reuse' }
  const renewableMs = Math.min(nowMs + gracePeriodMs, rotatedMs + lateRepeatMs) - graceEndsMs
  return { kind: 'repeat', successor: presented + 1, renew: isParent && renewableMs > renewedForMs, late }
}

/** An empty user agent identifies no client. */
function isKnownClient({ lastAddress, lastUserAgent }: Rotation, { address, userAgent }: Client): boolean {
  if (userAgent !== '' && userAgent === lastUserAgent) return true
  return lastAddress !== null && isSameNetwork(lastAddress, address)
}

/**
 * Returns whether both are in one /24 (IPv4) or one /48 (IPv6): the largest networks that one site usually has. Wider than the
 * networks of sign-in attempts (backoff.store.ts), since carriers change a customer's address within a pool between requests.
 */
export function isSameNetwork(one: string, other: string): boolean {
  const [a, b] = [networkOf(one), networkOf(other)]
  return a !== undefined && a === b
}

function networkOf(address: string): Prefix | undefined {
  const plain = plainAddress(address)
  try {
    return maskHostBits(`${plain}/${plain.includes(':') ? 48 : 24}`)
  } catch {
    return undefined
  }
}
