// The traffic of a month, from flow records. A store that is missing or down is a state of the report, not its failure.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { ReportShare, ReportTraffic } from '@pharos/contract/messages/report'
import type { Series } from '@pharos/contract/timeseries'
import { getFlowTimeseries } from '../flow/flow-timeseries.ts'
import type { FlowDeps } from '../flow/read-flows.ts'
import type { ReadingActor } from '../operation/operation.ts'
import { Failure } from '../runtime/error.ts'
import { listDeviceLocations, type ReportWindow } from './report.store.ts'

const hourSeconds = 3600
const sharesMax = 6
/** The most devices of a team whose traffic is summed by facility. */
const devicesMax = 50
/** Traffic through devices that the team does not see. */
const elsewhere = 'Network of the provider'

export async function readTraffic(
  deps: FlowDeps,
  reader: ReadingActor,
  window: ReportWindow,
  timezone: string,
): Promise<ReportTraffic> {
  const [start, end] = [window.start.toISOString(), window.end.toISOString()]
  const sumsBy = async (key: FlowKey, limit: number): Promise<Sum[]> => {
    const { series } = await getFlowTimeseries(deps, reader, {
      start,
      end,
      timezone,
      interval: 24 * hourSeconds,
      metric: 'bytes',
      group_by: [key],
      limit,
    })
    return series
      .filter((one) => one.key[key] !== null)
      .map(({ label, values, key: { [key]: value } }) => ({
        value: value!,
        label,
        bytes: Math.round(sum(values)),
      }))
  }
  const sharesBy = async (key: FlowKey) => largest(await sumsBy(key, sharesMax))
  const facilities = async () => {
    const places = new Map(
      (await listDeviceLocations(deps.db, reader.actor.teamId)).map(({ id, name }) => [String(id), name]),
    )
    const sums = await sumsBy('device', devicesMax)
    const named = sums.map(({ value, bytes }) => ({ label: places.get(value) ?? elsewhere, bytes }))
    return largest(
      [...Map.groupBy(named, ({ label }) => label)].map(([label, list]) => ({
        label,
        bytes: list.reduce((total, { bytes }) => total + bytes, 0),
      })),
    )
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
      families: await sharesBy('family'),
      facilities: await facilities(),
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
  families: [],
  facilities: [],
})

type Sum = ReportShare & { readonly value: string }

const largest = (sums: readonly ReportShare[]): ReportShare[] =>
  sums
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, sharesMax)
    .map(({ label, bytes }) => ({ label, bytes }))

const sum = (values: Series['values']): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

const bytesOf = (series: readonly Series[], direction: 'in' | 'out', seconds: number): number => {
  const found = series.find(({ key }) => key['direction'] === direction)
  return Math.round((sum(found?.values ?? []) * seconds) / 8)
}
