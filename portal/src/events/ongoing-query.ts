// The query for ongoing events.

const minuteMs = 60_000

/**
 * Returns a query that starts with the current minute: an event without an end overlaps any later range, and one that has
 * ended does not. In whole minutes, so that the query stays the same between refreshes.
 */
export function ongoingQuery(now = Date.now()) {
  return {
    start: new Date(Math.floor(now / minuteMs) * minuteMs).toISOString(),
    ordering: '-affected_bps',
    limit: 100,
  }
}
