// Changes that a reading of a BGP session makes to its known state. Pure.
import type { BgpState } from '@pharos/contract/inventory/bgp-session'
import type { SeenBgpSession } from './seen-session.ts'

/** A stored session. Times in ms since 1970. */
export type Session = Omit<SeenBgpSession, 'establishedSeconds' | 'error'> & {
  readonly establishedMs: number | null
  readonly seenMs: number
  /** The last state that the device has named, and when; null if it never has. */
  readonly known: { readonly state: BgpState; readonly atMs: number } | null
  readonly reset: {
    /** If it is not exact: when the session was last known to be established. */
    readonly atMs: number
    readonly isExact: boolean
    readonly code: number
    readonly subcode: number
    readonly text: string
  } | null
}

/** `established` in both: it was reset and established again between two readings. */
export type SessionChange = Pick<Session, 'peer' | 'peerAsn' | 'instance'> & {
  readonly before: Session['state']
  readonly after: Session['state']
  /** Null: it was established. */
  readonly reset: Session['reset']
}

/** Clocks of devices count whole seconds, and an answer takes its time. */
const jitterMs = 90_000

/**
 * Returns the session after a reading, and the change between established and not established, if any. The first
 * reading of a session is no change. An unknown state is no change either: the next known state is compared with the
 * last known one.
 */
export function advanceSession(
  before: Session | undefined,
  { establishedSeconds, error, ...seen }: SeenBgpSession,
  nowMs: number,
): { readonly session: Session; readonly change?: SessionChange } {
  const known = before?.known ?? null
  const reported = establishedSeconds === null ? null : nowMs - establishedSeconds * 1000
  const established = before?.establishedMs ?? null
  const isSteady = reported !== null && established !== null && Math.abs(reported - established) <= jitterMs
  const isNamed = seen.state !== 'unknown'
  const establishedMs = isSteady || (!isNamed && reported === null) ? established : reported
  const [was, is] = [known?.state === 'established', seen.state === 'established']
  const cameBack = was && is && establishedMs !== null && establishedMs > known!.atMs
  const hasEnded = isNamed && was && (!is || cameBack)
  const reset = hasEnded
    ? {
        ...endOf(before!, { establishedMs, cameBack, nowMs }),
        code: error?.code ?? 0,
        subcode: error?.subcode ?? 0,
        text: error?.text ?? '',
      }
    : (before?.reset ?? null)
  const knownNow = isNamed ? { state: seen.state, atMs: nowMs } : known
  const session = { ...seen, establishedMs, seenMs: nowMs, known: knownNow, reset }
  if (!isNamed || known === null || (was === is && !cameBack)) return { session }
  const { peer, peerAsn, instance, state: after } = seen
  return {
    session,
    change: { peer, peerAsn, instance, before: known.state, after, reset: hasEnded ? reset : null },
  }
}

/**
 * Returns when the session ended: before it was established again, or at the time of this reading. If earlier readings
 * lack its state, the time comes from the device's time since the last establishment; otherwise it is the time of the
 * last known state, which is not exact.
 */
function endOf(
  { state, known }: Session,
  seen: { readonly establishedMs: number | null; readonly cameBack: boolean; readonly nowMs: number },
): { readonly atMs: number; readonly isExact: boolean } {
  const { establishedMs, cameBack, nowMs } = seen
  if (cameBack) return { atMs: establishedMs!, isExact: true }
  if (state !== 'unknown') return { atMs: nowMs, isExact: true }
  const isTold = establishedMs !== null && establishedMs > known!.atMs
  return { atMs: isTold ? establishedMs : known!.atMs, isExact: isTold }
}
