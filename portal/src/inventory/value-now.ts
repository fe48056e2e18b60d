// The current value of a series of a device or port. Pure.
import type { Series, Timeseries } from '@pharos/contract/timeseries'

/** Age limit of the last bucket: lists have no rate of a port with older data. */
const freshMs = 12 * 60_000
const bucketMs = 5 * 60_000

/** Returns the last value; null if it was measured too long before the end of the answer. */
export function valueNow(
  { timestamps, end }: Pick<Timeseries, 'timestamps' | 'end'>,
  { last, values }: Pick<Series, 'last' | 'values'>,
): number | null {
  const times = timestamps.map((at) => Date.parse(at))
  const at = times[values.findLastIndex((value) => value !== null)]
  if (at === undefined) return null
  const stepMs = times.length > 1 ? times[1]! - times[0]! : bucketMs
  return Date.parse(end) - at <= freshMs + Math.max(0, stepMs - bucketMs) ? last : null
}
