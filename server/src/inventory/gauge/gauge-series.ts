// The history of gauges as time series. Pure.
import { gaugeStatistics, type GaugeStatistic } from '@pharos/contract/inventory/gauge'
import type { Series } from '@pharos/contract/timeseries'
import { seriesFiguresOf, keptBucketsOf, type BucketParameters } from '../../timeseries/buckets.ts'
import { type GaugePoint, valueDays } from './gauge.store.ts'

const daySeconds = 86_400
const slotSeconds = 300

/** Buckets of a history: multiples of 5 minutes, or of days if only daily values are stored. */
export function gaugeBucketsOf(window: BucketParameters, now: Date) {
  const buckets = keptBucketsOf(window, now, ({ borders }) =>
    now.getTime() - borders[0]!.getTime() > valueDays * daySeconds * 1000 ? daySeconds : slotSeconds,
  )
  return { ...buckets, isDaily: buckets.seconds >= daySeconds }
}

/** Devices measure no more exactly. */
const round = (value: number): number => Math.round(value * 1000) / 1000

/** Name and unit of a gauge. */
export type GaugeNames = {
  readonly key: Readonly<Record<string, string>>
  readonly label: string
  readonly unit: string
}

/** Returns a series for each gauge and statistic, the gauges in the order of the points. */
export function gaugeSeries(
  points: readonly GaugePoint[],
  borders: readonly Date[],
  statistics: readonly GaugeStatistic[] = ['median'],
  namesOf: (point: GaugePoint) => GaugeNames,
): Series[] {
  const gauges = Map.groupBy(points, ({ metric, lane, part }) => JSON.stringify([metric, lane, part]))
  return [...gauges.values()].flatMap((own) => {
    const { key, label, unit } = namesOf(own[0]!)
    return gaugeStatistics
      .filter((one) => statistics.includes(one))
      .map((statistic) => {
        const values: (number | null)[] = Array.from({ length: borders.length - 1 }, () => null)
        for (const point of own) values[point.bucket - 1] = round(point[statistic])
        return { key: { ...key, statistic }, label, unit, values, ...seriesFiguresOf(values) }
      })
  })
}
