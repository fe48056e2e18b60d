// Dropped and passed traffic as the series of a chart: a stack that is as high as all traffic, the same on every page. Pure.
import type { Timeseries } from '@pharos/contract/timeseries'
import type { ChartColor } from '../charts/chart-props.ts'
import type { Measured } from '../charts/merge-times.ts'
import { words } from './words.ts'

const { parts: texts } = words

export type Part = Measured & { readonly label: string; readonly color: ChartColor }
type Parts = Pick<Timeseries, 'timestamps' | 'series'>

/** Returns both parts, the passed one first; none without dropped traffic. */
export function droppedParts(traffic: Parts): readonly Part[] {
  const dropped = partOf(traffic, 'dropped')
  if (!dropped.values.some((value) => (value ?? 0) > 0)) return []
  return [
    { label: texts.passed, color: 1, ...partOf(traffic, 'passed') },
    { label: texts.dropped, color: 'idle', ...dropped },
  ]
}

/** Returns all traffic. */
export const totalPart = (traffic: Parts): Part => ({
  label: texts.total,
  color: 1,
  ...partOf(traffic, 'total'),
})

const partOf = ({ timestamps, series }: Parts, part: string): Measured => ({
  times: timestamps.map((at) => Date.parse(at)),
  values: series.find(({ key }) => key['part'] === part)?.values ?? [],
})
