// How the flow records of an attack differ from the peak that its detector reported, and why. Pure.
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import type { FlowTimeseries } from '@pharos/contract/flow/flow'
import { formatDuration } from '../ui/time-text.ts'
import { formatRate } from '../ui/rate.ts'
import { words } from './words.ts'

const { flows: texts } = words

type Event = Pick<RelatedEventDetail, 'start' | 'end' | 'affected_bps'>
type Flows = Pick<
  FlowTimeseries,
  'series' | 'timestamps' | 'interval' | 'partial' | 'sampling_rate' | 'sampled'
>

/** Ratio from which the difference is explained. */
const differenceMin = 0.05
/** Below this number of sampled packets in a bucket, the sampling error is usually larger than that ratio. */
const samplesMin = 400
/** Means of longer buckets are lower than the peak of seconds. */
const finestSeconds = 60

/** Returns the highest sum of the series in one bucket; null without values. */
function peakOf({ series, timestamps }: Flows): number | null {
  const sums = timestamps.map((_, at) => {
    const known = series.flatMap(({ values }) => values[at] ?? [])
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  })
  return sums.reduce<number | null>(
    (most, sum) => (sum === null || (most !== null && most >= sum) ? most : sum),
    null,
  )
}

/** Codes that explain a difference of the two figures, the most important first. */
export function reasonsOf(
  { start, end, affected_bps: bps }: Event,
  flows: Flows,
): (keyof typeof texts.reasons)[] {
  const peak = peakOf(flows)
  if (peak === null || bps === 0 || Math.abs(peak / bps - 1) <= differenceMin) return []
  const { interval, partial, sampled, sampling_rate: rate } = flows
  const lastedMs = (end === null ? Date.now() : Date.parse(end)) - Date.parse(start)
  const packets = rate === null ? undefined : (peak * interval) / 8 / 1500 / rate
  const known: readonly (readonly [keyof typeof texts.reasons, boolean])[] = [
    ['partial', partial],
    ['sampled', sampled && packets !== undefined && packets < samplesMin],
    ['short', peak < bps && lastedMs < 2 * interval * 1000],
    ['averages', peak < bps && interval > finestSeconds],
  ]
  const reasons = known.flatMap(([reason, applies]) => (applies ? [reason] : []))
  return reasons.length > 0 ? reasons : ['elsewhere']
}

/** Returns the peak of the flow records beside the peak of the detector. */
export function flowsNote(event: Event, flows: Flows | undefined): string {
  const peak = flows && peakOf(flows)
  if (flows === undefined || peak === null || peak === undefined || event.affected_bps === 0)
    return texts.note
  const reasons = reasonsOf(event, flows).map((reason) => texts.reasons[reason])
  return [
    texts.note,
    texts.peaks(
      formatRate(peak, 'bps'),
      formatDuration(flows.interval * 1000),
      Math.round((100 * peak) / event.affected_bps),
      formatRate(event.affected_bps, 'bps'),
    ),
    ...reasons,
  ].join(' ')
}
