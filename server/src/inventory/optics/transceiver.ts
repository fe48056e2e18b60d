// The module of a port as a team sees it: its last reading beside its limits, early warnings and history.
import type { QueryOf } from '@pharos/contract/route'
import {
  opticMetrics,
  type getTransceiverMetricsRoute,
  type OpticMetric,
  type TransceiverMetrics,
} from '@pharos/contract/inventory/transceiver'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { windowOf } from '../../timeseries/buckets.ts'
import { listPoints, type GaugePoint } from '../gauge/gauge.store.ts'
import { gaugeBucketsOf, gaugeSeries, type GaugeNames } from '../gauge/gauge-series.ts'
import { isPortOf } from '../assignment/assignment.store.ts'
import { presentWarnings } from './lane-warnings.ts'
import { presentReading, presentThresholds, presentTransceiver } from './present-transceiver.ts'
import { gaugesOfPort, listTransceiverRows } from './transceiver.store.ts'

export type TransceiverDeps = { readonly postgres: Postgres; readonly now: () => Date }

/** Throws `not_found` for a port that is not the team's now, and `no_transceiver` for one without a module. */
export async function getTransceiverMetrics(
  deps: TransceiverDeps,
  operation: Operation,
  portId: number,
  query: QueryOf<typeof getTransceiverMetricsRoute>,
): Promise<TransceiverMetrics> {
  const { teamId } = operation.actor
  const row = (await listTransceiverRows(deps.postgres, teamId, [portId])).get(portId)
  if (!row) {
    if (!(await isPortOf(deps.postgres, teamId, portId))) throw notFound('port')
    throw fail('no_transceiver', 'port')
  }
  return {
    transceiver: presentTransceiver(row),
    ddm: row.hasDdm,
    latest: presentReading(row.gauges),
    thresholds: presentThresholds(row.gauges),
    warnings: presentWarnings(row.warnings),
    timeseries: await historyOf(deps, teamId, portId, query),
  }
}

async function historyOf(
  { postgres, now }: TransceiverDeps,
  teamId: number,
  portId: number,
  query: QueryOf<typeof getTransceiverMetricsRoute>,
): Promise<TransceiverMetrics['timeseries']> {
  const { start, end, metric, lane, interval, points, timezone, statistic } = query
  const isWanted = [start, end, metric, interval, points].some((value) => value !== undefined)
  if (!isWanted) return null
  const window = { ...windowOf(start, end), interval, points, timezone }
  const { borders, seconds, isDaily } = gaugeBucketsOf(window, now())
  const gauges = gaugesOfPort(teamId, portId, metric ?? opticMetrics, lane)
  const found = await listPoints(postgres, teamId, gauges, { borders, isDaily })
  const ordered = found.toSorted(
    (a, b) =>
      opticMetrics.indexOf(a.metric as OpticMetric) - opticMetrics.indexOf(b.metric as OpticMetric) ||
      a.lane - b.lane,
  )
  return {
    start: borders[0]!.toISOString(),
    end: borders.at(-1)!.toISOString(),
    interval: seconds,
    timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
    series: gaugeSeries(ordered, borders, statistic, namesOf),
  }
}

const labels: Readonly<Record<OpticMetric, string>> = {
  rx_power: 'Received light',
  tx_power: 'Transmitted light',
  bias: 'Laser current',
  temperature: 'Temperature',
  voltage: 'Supply voltage',
  pre_fec_ber: 'Bit error rate before FEC',
}
const units: Readonly<Record<OpticMetric, string>> = {
  rx_power: 'dBm',
  tx_power: 'dBm',
  bias: 'mA',
  temperature: 'Cel',
  voltage: 'V',
  pre_fec_ber: '1',
}

function namesOf({ metric, lane }: GaugePoint): GaugeNames {
  const label = labels[metric as OpticMetric]
  return {
    key: { metric, lane: String(lane) },
    label: lane === 0 ? label : `${label}, lane ${lane}`,
    unit: units[metric as OpticMetric],
  }
}
