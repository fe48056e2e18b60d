// The metrics of a device as a team sees them.
import {
  deviceMetrics,
  type DeviceMetric,
  type getDeviceMetricsRoute,
} from '@pharos/contract/inventory/device'
import type { QueryOf } from '@pharos/contract/route'
import type { Series, Timeseries } from '@pharos/contract/timeseries'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import { seriesFiguresOf, windowOf } from '../../timeseries/buckets.ts'
import { listPoints, type GaugePoint } from '../gauge/gauge.store.ts'
import { gaugeBucketsOf, gaugeSeries, type GaugeNames } from '../gauge/gauge-series.ts'
import { findDevice } from './device.store.ts'
import { gaugesOfDevice, listDeviceMetrics, listTraffic, type TrafficPoint } from './device-metrics.store.ts'

export type DeviceMetricsDeps = { readonly postgres: Postgres; readonly now: () => Date }

const trafficMetrics = ['bps_in', 'bps_out'] as const
type TrafficMetric = (typeof trafficMetrics)[number]
const isTraffic = (metric: DeviceMetric): metric is TrafficMetric =>
  (trafficMetrics as readonly string[]).includes(metric)

/** Throws `not_found` if the team may not see the device, and `invalid` for a metric that it does not report. */
export async function getDeviceMetrics(
  deps: DeviceMetricsDeps,
  operation: Operation,
  deviceId: number,
  query: QueryOf<typeof getDeviceMetricsRoute>,
): Promise<Timeseries> {
  const { teamId } = operation.actor
  if (!(await findDevice(deps.postgres, teamId, deviceId))) throw notFound('device')
  const reported = await listDeviceMetrics(deps.postgres, teamId, deviceId)
  const has = deviceMetrics.filter((one) => isTraffic(one) || reported.includes(one))
  const missing = query.metric?.find((one) => !has.includes(one))
  if (missing !== undefined)
    throw invalid(['query', 'metric'], 'deviceMetric', { metric: missing, allowed: has })
  const wanted = query.metric ? has.filter((one) => query.metric!.includes(one)) : has
  const { start, end, interval, points, timezone, statistic } = query
  const buckets = gaugeBucketsOf({ ...windowOf(start, end), interval, points, timezone }, deps.now())
  const { borders } = buckets
  const found = await listPoints(deps.postgres, teamId, gaugesOfDevice(teamId, deviceId, wanted), buckets)
  const ordered = found.toSorted(
    (a, b) => rankOf(a.metric) - rankOf(b.metric) || a.part.localeCompare(b.part, 'en', { numeric: true }),
  )
  const traffic = wanted.some(isTraffic) ? await listTraffic(deps.postgres, teamId, deviceId, borders) : []
  return {
    start: borders[0]!.toISOString(),
    end: borders.at(-1)!.toISOString(),
    interval: buckets.seconds,
    timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
    series: [
      ...gaugeSeries(ordered, borders, statistic, namesOf),
      ...wanted.filter(isTraffic).map((metric) => trafficSeries(metric, traffic, borders)),
    ],
  }
}

const rankOf = (metric: string): number => deviceMetrics.indexOf(metric as DeviceMetric)

const names: Readonly<Record<DeviceMetric, readonly [label: string, unit: string]>> = {
  cpu: ['CPU', 'percent'],
  memory: ['Memory', 'percent'],
  temperature: ['Temperature', 'Cel'],
  fan: ['Fan', 'rpm'],
  power: ['Power', 'W'],
  uptime: ['Uptime', 's'],
  bps_in: ['In', 'bps'],
  bps_out: ['Out', 'bps'],
  latency: ['Latency', 'ms'],
  loss: ['Loss', 'percent'],
}

function namesOf({ metric, part }: GaugePoint): GaugeNames {
  const [label, unit] = names[metric as DeviceMetric]
  return {
    key: { metric, part },
    label: part === '' || part.startsWith(label) ? part || label : `${label}, ${part}`,
    unit,
  }
}

/** The customer receives what the device sends. */
function trafficSeries(
  metric: TrafficMetric,
  points: readonly TrafficPoint[],
  borders: readonly Date[],
): Series {
  const values: (number | null)[] = Array.from({ length: borders.length - 1 }, () => null)
  for (const point of points) values[point.bucket - 1] = metric === 'bps_in' ? point.out_bps : point.in_bps
  const [label, unit] = names[metric]
  return { key: { metric, part: '' }, label, unit, values, ...seriesFiguresOf(values) }
}
