// The intervals that a cache requests (RFC 8210 section 6). Values outside the RFC's limits are clamped: a cache must not make
// its clients query continuously, or keep expired data.
import type { RtrIntervals } from './pdu.ts'

/** The defaults of RFC 8210 section 6, also for version 0, which has no intervals (RFC 6810 section 6 recommends the like). */
export const unknownIntervals: RtrIntervals = { refresh: 3_600, retry: 600, expire: 7_200 }

/** Returns the intervals in seconds, clamped to the limits; `expire` is at least as long as the others. */
export function intervalsWithin(asked: RtrIntervals | undefined): RtrIntervals {
  if (!asked) return unknownIntervals
  const refresh = clamp(asked.refresh, 1, 86_400)
  const retry = clamp(asked.retry, 1, 7_200)
  return { refresh, retry, expire: Math.max(clamp(asked.expire, 600, 172_800), refresh, retry) }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
