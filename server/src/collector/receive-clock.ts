// The clock that stamps flows. A jump of the system clock would put rows into partitions of another day or year, so it
// is followed only after it has lasted; small corrections are followed immediately.

const followedMs = 1_000
const confirmMs = 60_000

export type Clock = { readonly wallMs: () => number; readonly monotonicMs: () => number }

/** Returns Unix milliseconds. A jump of more than a second is ignored until it has lasted for a minute. */
export function createReceiveClock({ wallMs, monotonicMs }: Clock): () => number {
  let offset = wallMs() - monotonicMs()
  let jump: { readonly offset: number; readonly since: number } | undefined
  return () => {
    const monotonic = monotonicMs()
    const observed = wallMs() - monotonic
    if (Math.abs(observed - offset) <= followedMs) {
      offset = observed
      jump = undefined
    } else if (jump === undefined || Math.abs(observed - jump.offset) > followedMs) {
      jump = { offset: observed, since: monotonic }
    } else if (monotonic - jump.since >= confirmMs) {
      offset = observed
      jump = undefined
    }
    return monotonic + offset
  }
}
