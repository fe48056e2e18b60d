// Modules as customers see them: the levels of the last poll beside the limits of the module. Pure.
import {
  type OpticMetric,
  type OpticQuantity,
  type OpticStatus,
  type Transceiver,
  type TransceiverReading,
  type TransceiverThresholds,
} from '@pharos/contract/inventory/transceiver'
import type { OpticLimits } from '../collect/device-source.ts'
import { marginOf } from './margin.ts'
import type { GaugeNow, TransceiverRow } from './transceiver.store.ts'

const darkDbm = -40

export const presentTransceiver = (row: TransceiverRow): Transceiver => ({
  vendor: row.vendor,
  part: row.part,
  serial: row.serial,
  type: row.type,
  wavelength_nm: row.wavelength_nm,
  reach_m: row.reach_m,
  connector: row.connector,
  lanes: row.lanes,
  inserted: row.inserted.toISOString(),
})

/** The gauges of the last poll, without lanes that are no longer reported. */
export function presentReading(gauges: readonly GaugeNow[]): TransceiverReading | null {
  const last = Math.max(...gauges.map(({ at }) => Date.parse(at)))
  const read = gauges.filter(({ at }) => Date.parse(at) === last)
  if (read.length === 0) return null
  const valueOf = (metric: OpticMetric): number | null =>
    read.find((one) => one.metric === metric)?.value ?? null
  const lanes = Map.groupBy(
    read.filter(({ metric }) => metric !== 'temperature' && metric !== 'voltage'),
    ({ lane }) => lane,
  )
  return {
    timestamp: new Date(last).toISOString(),
    temperature_c: valueOf('temperature'),
    voltage_v: valueOf('voltage'),
    lanes: [...lanes].sort(([a], [b]) => a - b).map(([lane, own]) => presentLane(lane, own)),
  }
}

function presentLane(lane: number, gauges: readonly GaugeNow[]): TransceiverReading['lanes'][number] {
  const of = (metric: OpticMetric) => gauges.find((one) => one.metric === metric)
  const [rx, tx] = [of('rx_power'), of('tx_power')]
  const margin = rx?.limits && rx.value > darkDbm ? marginOf(rx.value, rx.limits) : undefined
  return {
    lane,
    rx_power_dbm: rx?.value ?? null,
    tx_power_dbm: tx?.value ?? null,
    bias_ma: of('bias')?.value ?? null,
    pre_fec_ber: of('pre_fec_ber')?.value ?? null,
    rx_status: statusOf(rx),
    tx_status: statusOf(tx),
    margin_db: margin?.marginDb ?? null,
  }
}

function statusOf(gauge: GaugeNow | undefined): OpticStatus {
  if (!gauge) return 'unknown'
  const { value, limits } = gauge
  if (value <= darkDbm) return 'no_light'
  if (!limits || Object.values(limits).every((limit) => limit === null)) return 'unknown'
  const isOutside = (low: number | null, high: number | null): boolean =>
    (low !== null && value < low) || (high !== null && value > high)
  if (isOutside(limits.alarmLow, limits.alarmHigh)) return 'alarm'
  return isOutside(limits.warnLow, limits.warnHigh) ? 'warning' : 'ok'
}

/** Quantities with limits. */
const quantities: Readonly<Record<Exclude<OpticMetric, 'pre_fec_ber'>, OpticQuantity>> = {
  rx_power: 'rx_power_dbm',
  tx_power: 'tx_power_dbm',
  bias: 'bias_ma',
  temperature: 'temperature_c',
  voltage: 'voltage_v',
}

export function presentThresholds(gauges: readonly GaugeNow[]): TransceiverThresholds {
  const limitsOf = (metric: string): OpticLimits | null =>
    gauges.find((one) => one.metric === metric && one.limits !== null)?.limits ?? null
  const entries = Object.entries(quantities).map(([metric, quantity]) => {
    const limits = limitsOf(metric)
    const named = {
      alarm_low: limits?.alarmLow ?? null,
      warn_low: limits?.warnLow ?? null,
      warn_high: limits?.warnHigh ?? null,
      alarm_high: limits?.alarmHigh ?? null,
    }
    return [quantity, named] as const
  })
  return Object.fromEntries(entries) as TransceiverThresholds
}
