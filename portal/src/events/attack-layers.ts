// The figures of one attack as layers of one chart: measured by the detector, by flow records, dropped and passed. Pure.
import type { EventTraffic } from '@pharos/contract/events/event-traffic'
import type { FlowTimeseries } from '@pharos/contract/flow/flow'
import type { ChartSeries, ChartValues } from '../charts/chart-props.ts'
import { mergeTimes, type Measured } from '../charts/merge-times.ts'
import { droppedParts } from '../traffic/dropped-parts.ts'
import type { Rates } from './timeline.ts'
import { words } from './words.ts'

const { traffic: texts } = words

export type LayerMetric = 'bps' | 'pps'

type Flows = Pick<FlowTimeseries, 'timestamps' | 'series'>
type Traffic = Pick<EventTraffic, 'timestamps' | 'series'>

export type Layers = {
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  /** Dropped and passed traffic are drawn as a stack. */
  readonly isStack: boolean
  /** Flow records measured the attack. */
  readonly hasFlows: boolean
}

/** A layer that was not measured is left out; `until` is the end of a single measurement of the detector. */
export function layersOf(metric: LayerMetric, { detector, flows, traffic, until }: LayerSources): Layers {
  const parts = traffic ? droppedParts(traffic) : []
  const isStack = parts.length > 0
  const total = flows ? totalOf(flows) : { times: [], values: [] }
  const candidates: (Measured & Omit<ChartSeries, 'unit' | 'values'>)[] = [
    ...parts,
    { label: texts.byFlows, color: isStack ? 3 : 1, ...total, isLine: isStack },
    { label: texts.byDetector, color: 2, ...heldUntil(detector, metric, until), isLine: true },
  ]
  const layers = candidates.filter(({ values }) => values.some((value) => typeof value === 'number'))
  const { times, columns } = mergeTimes(layers)
  const series = layers.map(({ label, color, isLine = false }, at): ChartSeries => ({
    label,
    color,
    isLine,
    unit: metric,
    values: columns[at]!,
  }))
  return { times, series, isStack, hasFlows: total.values.length > 0 }
}

type LayerSources = {
  readonly detector: Rates
  readonly flows: Flows | undefined
  readonly traffic: Traffic | undefined
  readonly until: number
}

const timesOf = ({ timestamps }: { readonly timestamps: readonly string[] }): readonly number[] =>
  timestamps.map((at) => Date.parse(at))

/** Part of the buckets below which flow records are no course: a few minutes would be points far from each other. */
const knownMin = 0.25

/** Flow records without traffic, or of a small part of the time, are no measurement of the attack. */
function totalOf(flows: Flows): Measured {
  const values = flows.series[0]?.values ?? []
  const known = values.filter((value) => value !== null)
  const isCourse = known.length >= knownMin * values.length && known.some((value) => value > 0)
  return { times: timesOf(flows), values: isCourse ? values : [] }
}

/** A detector measures when it reports, so values are joined; a single measurement is a level. */
function heldUntil(detector: Rates, metric: LayerMetric, until: number): Measured {
  const values: ChartValues = detector[metric].map((value) => value ?? undefined)
  const [only] = detector.times
  if (detector.times.length !== 1 || values[0] === undefined) return { times: detector.times, values }
  return { times: [only!, Math.max(until, only! + 1)], values: [values[0], values[0]] }
}
