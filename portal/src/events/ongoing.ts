// What goes on now, as a question to the API.

const minuteMs = 60_000

/**
 * Events that are not over overlap every later window, and those that are over none that begins after their end. The
 * window begins with this minute, so that the question stays the same while it is asked again and again.
 */
export function ongoingNow(now = Date.now()) {
  return {
    start: new Date(Math.floor(now / minuteMs) * minuteMs).toISOString(),
    ordering: '-affected_bps',
    limit: 100,
  }
}
