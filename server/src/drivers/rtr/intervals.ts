// The timing that a cache asks for (RFC 8210 section 6). Values outside of the RFC's limits are drawn to them: a cache must
// not make its routers ask without a pause, nor keep old data for ever.
import type { RtrIntervals } from './pdu.ts'

/** The defaults of RFC 8210 section 6, also for version 0, which has no intervals (RFC 6810 section 6 recommends the like). */
export const unknownIntervals: RtrIntervals = { refresh: 3_600, retry: 600, expire: 7_200 }

/** Seconds within the limits; `expire` is at least as long as the others. */
export function intervalsWithin(asked: RtrIntervals | undefined): RtrIntervals {
  if (!asked) return unknownIntervals
  const refresh = clamp(asked.refresh, 1, 86_400)
  const retry = clamp(asked.retry, 1, 7_200)
  return { refresh, retry, expire: Math.max(clamp(asked.expire, 600, 172_800), refresh, retry) }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
