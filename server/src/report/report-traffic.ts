// The traffic of a month, from flow records. A store that is missing or down is a state of the report, not its failure.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { ReportShare, ReportTraffic } from '@pharos/contract/messages/report'
import type { Series } from '@pharos/contract/timeseries'
import { getFlowTimeseries } from '../flow/flow-timeseries.ts'
import type { FlowDeps } from '../flow/read-flows.ts'
import type { ReadingActor } from '../operation/operation.ts'
import { Failure } from '../runtime/error.ts'
import type { ReportWindow } from './report.store.ts'

const hourSeconds = 3600
const sharesMax = 6

export async function readTraffic(
  deps: FlowDeps,
  reader: ReadingActor,
  window: ReportWindow,
  timezone: string,
): Promise<ReportTraffic> {
  const [start, end] = [window.start.toISOString(), window.end.toISOString()]
  const sharesBy = async (key: FlowKey): Promise<ReportShare[]> => {
    const { series } = await getFlowTimeseries(deps, reader, {
      start,
      end,
      timezone,
      interval: 24 * hourSeconds,
      metric: 'bytes',
      group_by: [key],
      limit: sharesMax,
    })
    return series
      .filter((one) => one.key[key] !== null)
      .map(({ label, values }) => ({ label, bytes: Math.round(sum(values)) }))
      .filter(({ bytes }) => bytes > 0)
      .toSorted((a, b) => b.bytes - a.bytes)
  }
  try {
    const hours = await getFlowTimeseries(deps, reader, {
      start,
      end,
      timezone,
      interval: hourSeconds,
      metric: 'bps',
      group_by: ['direction'],
    })
    if (hours.series.every(({ max }) => (max ?? 0) === 0)) return none('no_flows')
    return {
      state: 'measured',
      hours,
      bytes_in: bytesOf(hours.series, 'in', hours.interval),
      bytes_out: bytesOf(hours.series, 'out', hours.interval),
      protocols: await sharesBy('protocol'),
      applications: await sharesBy('service_port'),
      networks: await sharesBy('remote_asn'),
    }
  } catch (error) {
    if (error instanceof Failure && (error.code === 'unavailable' || error.code === 'query_too_expensive'))
      return none('unavailable')
    throw error
  }
}

const none = (state: 'no_flows' | 'unavailable'): ReportTraffic => ({
  state,
  hours: null,
  bytes_in: null,
  bytes_out: null,
  protocols: [],
  applications: [],
  networks: [],
})

const sum = (values: Series['values']): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

const bytesOf = (series: readonly Series[], direction: 'in' | 'out', seconds: number): number => {
  const found = series.find(({ key }) => key['direction'] === direction)
  return Math.round((sum(found?.values ?? []) * seconds) / 8)
}
