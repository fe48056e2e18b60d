// Changes that a reading of a BGP session makes to its known state. Pure.
import type { SeenBgpSession } from '../collect/device-source.ts'

/** A stored session. Times in ms since 1970. */
export type Session = Omit<SeenBgpSession, 'establishedSeconds' | 'error'> & {
  readonly establishedMs: number | null
  readonly seenMs: number
  readonly reset: {
    readonly atMs: number
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
 * Returns the session after a reading, and the change between established and not established if there is one. The first reading of a
 * session is no change.
 */
export function advanceSession(
  before: Session | undefined,
  { establishedSeconds, error, ...seen }: SeenBgpSession,
  nowMs: number,
): { readonly session: Session; readonly change?: SessionChange } {
  const reported = establishedSeconds === null ? null : nowMs - establishedSeconds * 1000
  const known = before?.establishedMs ?? null
  const isSteady = reported !== null && known !== null && Math.abs(reported - known) <= jitterMs
  const establishedMs = isSteady ? known : reported
  const [was, is] = [before?.state === 'established', seen.state === 'established']
  const cameBack = was && is && establishedMs !== null && establishedMs > (before?.seenMs ?? 0)
  const hasEnded = was && seen.state !== 'unknown' && (!is || cameBack)
  const reset = hasEnded
    ? {
        atMs: cameBack ? establishedMs : nowMs,
        code: error?.code ?? 0,
        subcode: error?.subcode ?? 0,
        text: error?.text ?? '',
      }
    : (before?.reset ?? null)
  const session = { ...seen, establishedMs, seenMs: nowMs, reset }
  const isKnown = before !== undefined && before.state !== 'unknown' && seen.state !== 'unknown'
  if (!isKnown || (was === is && !cameBack)) return { session }
  const { peer, peerAsn, instance, state: after } = seen
  return {
    session,
    change: { peer, peerAsn, instance, before: before.state, after, reset: hasEnded ? reset : null },
  }
}
