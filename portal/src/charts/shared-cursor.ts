// The time under the pointer, which all charts of a page show that have a similar time range.
import type { TimeRange } from './chart-props.ts'

type Follower = {
  readonly visibleRange: () => TimeRange
  /** Shows the time; undefined: the pointer has left the other chart. */
  readonly follow: (time: number | undefined) => void
}

const followers = new Set<Follower>()

/** The chart follows the others until the returned function is called. */
export function joinCursor(follower: Follower): () => void {
  followers.add(follower)
  return () => void followers.delete(follower)
}

/** Shows the time of a chart in the others. */
export function shareCursor(own: Follower, time: number | undefined): void {
  for (const other of followers) {
    if (other === own) continue
    other.follow(
      time !== undefined && isNear(own.visibleRange(), other.visibleRange(), time) ? time : undefined,
    )
  }
}

/** Longest range beside the shortest: a minute of a day is less than a pixel of a month. */
const ratioMax = 4

/** Reports whether a time of the first range is worth showing in the second. */
export function isNear(own: TimeRange, other: TimeRange, time: number): boolean {
  const [length, otherLength] = [own[1] - own[0], other[1] - other[0]]
  return (
    time >= other[0] &&
    time <= other[1] &&
    Math.max(length, otherLength) <= ratioMax * Math.min(length, otherLength)
  )
}
