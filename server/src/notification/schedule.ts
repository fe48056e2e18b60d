// Decides when the next mail of notifications is sent. Pure.
import { mailPauseMinutes, type Digest } from '@pharos/contract/messages/notification'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** 07:00 UTC. */
const dailyMs = 7 * hourMs

/** Returns when to mail a notification of `now`; `last` is when the last mail was queued. */
export function nextMailAt(digest: Digest, now: Date, last: Date | null): Date {
  const at = now.getTime()
  if (digest === 'immediate')
    return new Date(Math.max(at, last === null ? at : last.getTime() + mailPauseMinutes * minuteMs))
  const [period, offset] = digest === 'hourly' ? [hourMs, 0] : [dayMs, dailyMs]
  return new Date((Math.floor((at - offset) / period) + 1) * period + offset)
}
