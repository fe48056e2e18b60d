// The gauges of a device and its modules as rows: one value each. Pure.
import type { HealthReading, OpticLimits, OpticReading } from './device-source.ts'

/** Slots of 5 minutes. */
export const slotsOfDay = 288

export type GaugeReadings = {
  readonly health: readonly HealthReading[]
  readonly optics: readonly OpticReading[]
  /** Clock of the device. */
  readonly uptimeCs: number | undefined
}

export type GaugeRow = {
  /** Null: a gauge of the device itself. */
  readonly key: string | null
  readonly metric: string
  readonly lane: number
  readonly part: string
  readonly value: number
  readonly limits: OpticLimits | null
}

export function gaugeRows({ health, optics, uptimeCs }: GaugeReadings): GaugeRow[] {
  const uptime = uptimeCs === undefined ? [] : [gaugeOfDevice('uptime', '', Math.floor(uptimeCs / 100))]
  const own = health.map(({ metric, part, value }) => gaugeOfDevice(metric, part, value))
  return [...uptime, ...own, ...optics.flatMap(opticRows)]
    .map((row) => ({ ...row, value: Math.fround(row.value), part: row.part.slice(0, partLengthMax) }))
    .filter(({ value, lane }) => Number.isFinite(value) && lane <= laneMax)
}

/** Lanes are smallint, values are real, and parts are in an index. */
const laneMax = 32_767
const partLengthMax = 200

const gaugeOfDevice = (
  metric: HealthReading['metric'] | 'uptime',
  part: string,
  value: number,
): GaugeRow => ({
  key: null,
  metric,
  lane: 0,
  part,
  value,
  limits: null,
})

function opticRows(reading: OpticReading): GaugeRow[] {
  const { interfaceKey, lane, limits } = reading
  const values = {
    rx_power: reading.rxDbm,
    tx_power: reading.txDbm,
    bias: reading.biasMa,
    temperature: reading.temperatureC,
    voltage: reading.voltageV,
    pre_fec_ber: reading.preFecBer,
  }
  return (Object.keys(values) as (keyof typeof values)[]).flatMap((metric) => {
    const value = values[metric]
    // Temperature and voltage are of the whole module.
    const isOfModule = metric === 'temperature' || metric === 'voltage'
    return value === null
      ? []
      : [
          {
            key: interfaceKey,
            metric,
            lane: isOfModule ? 0 : lane,
            part: '',
            value,
            limits: metric === 'pre_fec_ber' ? null : (limits[metric] ?? null),
          },
        ]
  })
}
