// What a series of a device or port says of now. Pure.
import type { Series, Timeseries } from '@pharos/contract/timeseries'

/** Lists know no rate of a port whose last bucket of 5 minutes began earlier. */
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
