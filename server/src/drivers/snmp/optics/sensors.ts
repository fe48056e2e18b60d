// Sensors of ENTITY-SENSOR-MIB (RFC 3433) and of CISCO-ENTITY-SENSOR-MIB, which have the same columns. The metric of
// a sensor and its lane are only in the name of its entity.
import type { OpticLimits } from '../../../inventory/collect/device-source.ts'
import { type LaneValues, type ModuleLimits, type ModuleValues, readingsOf } from './assemble.ts'
import { opticEntPhysical } from './entity-oids.ts'
import type { DecodedReading, OpticTables } from './family.ts'
import {
  type Conversion,
  darkDbm,
  decibels,
  integerAt,
  lightMaxDbm,
  round,
  scaledTo,
  textAt,
  watts,
} from './values.ts'

export type SensorTable = {
  readonly entry: string
  /** Returns the limits of a sensor; the conversion takes numbers as its value has them. */
  readonly limitsOf: (tables: OpticTables, index: string, convert: Conversion) => OpticLimits | undefined
}

/** Numbers of the columns. */
const column = { type: 1, scale: 2, precision: 3, value: 4, status: 5 } as const
/** EntitySensorDataType, and dBm (14) of SensorDataType. */
const type = { other: 1, voltsAc: 3, voltsDc: 4, amperes: 5, watts: 6, celsius: 8, dbm: 14 } as const
const sysObjectId = '1.3.6.1.2.1.1.2'
const extremeNetworks = '1.3.6.1.4.1.1916.'
/** EntitySensorDataScale: units. Each step is a factor of 1,000. */
const unitScale = 9

export const sensorColumns = (table: SensorTable): string[] => [
  sysObjectId,
  `${table.entry}.${column.type}`,
  ...measuredColumns(table),
]

/** Some devices choose the scale by the value. */
export const measuredColumns = ({ entry }: SensorTable): string[] =>
  [column.scale, column.precision, column.value, column.status].map((number) => `${entry}.${number}`)

type Metric = 'rx' | 'tx' | 'bias' | 'temperature' | 'voltage'

type Sensor = {
  readonly index: string
  readonly metric: Metric
  /** From its name or the name of the entity around it, from 0 or from 1; null if neither has a lane. */
  readonly lane: number | null
  /** The entity that contains it, lanes aside, and the rest of its name. */
  readonly place: string
  readonly value: number | null
  readonly limits: OpticLimits | undefined
}

/** Returns the readings of sensors of modules, which measure light or the current of a laser. */
export function decodeSensors(tables: OpticTables, table: SensorTable): DecodedReading[] {
  const indexes = [...(tables.get(`${table.entry}.${column.value}`)?.keys() ?? [])]
  const sensors = indexes.flatMap((index) => sensorAt(tables, table, index) ?? [])
  const isTenfold = isExtremeXos(tables) && sensors.some(isTooBright)
  const isFromZero = sensors.some(({ lane }) => lane === 0)
  const numbered = sensors.map((sensor) => ({
    ...sensor,
    value: isTenfold ? tenthOf(sensor) : sensor.value,
    lane: sensor.lane === null ? null : sensor.lane + (isFromZero ? 1 : 0),
  }))
  return [...groupsOf(numbered)].flatMap((group) => readingsOf(moduleFrom(group)))
}

/** Some releases of ExtremeXOS have tenths of a microwatt where they state microwatts: their modules send more light than any module can. */
const isExtremeXos = (tables: OpticTables): boolean =>
  String(tables.get(sysObjectId)?.get('0')).startsWith(extremeNetworks)

const isTooBright = ({ metric, value }: Sensor): boolean =>
  metric === 'tx' && value !== null && value > lightMaxDbm

function tenthOf({ metric, value }: Sensor): number | null {
  const isLight = metric === 'rx' || metric === 'tx'
  return isLight && value !== null && value > darkDbm ? round(value - 10, 2) : value
}

/** One group for each module. `ethernet49/2` is lane 2 if there is `ethernet49` beside it. */
function groupsOf(sensors: readonly Sensor[]): Iterable<Sensor[]> {
  const places = new Set(sensors.map(({ place }) => place))
  const ofModules = sensors.map((sensor) => {
    const [, place = '', lane] = /^(.*[a-z].*)\/(\d{1,2})$/.exec(sensor.place) ?? []
    return places.has(place) ? { ...sensor, place, lane: sensor.lane ?? Number(lane) } : sensor
  })
  return Map.groupBy(ofModules, ({ place }) => place).values()
}

function moduleFrom(sensors: readonly Sensor[]): ModuleValues {
  const ofLanes = sensors.filter(({ metric }) => metric === 'rx' || metric === 'tx' || metric === 'bias')
  const numbers = [...new Set(ofLanes.map(({ lane }) => lane))].filter((lane) => lane !== null)
  // A sensor without a lane beside sensors with lanes is the sum of the lanes.
  const lanes = numbers.length > 0 ? numbers : ofLanes.length > 0 ? [null] : []
  const temperature = sensors.find(({ metric }) => metric === 'temperature')
  const voltage = sensors.find(({ metric }) => metric === 'voltage')
  const hasLanes = lanes.length > 0
  return {
    port: { kind: 'entity', index: Number((temperature ?? voltage ?? ofLanes[0] ?? sensors[0])!.index) },
    temperatureC: hasLanes ? (temperature?.value ?? null) : null,
    voltageV: hasLanes ? (voltage?.value ?? null) : null,
    limits: { temperature: temperature?.limits, voltage: voltage?.limits },
    lanes: lanes.map((lane) =>
      laneFrom(
        ofLanes.filter((sensor) => sensor.lane === lane),
        lane ?? 1,
      ),
    ),
  }
}

function laneFrom(sensors: readonly Sensor[], lane: number): LaneValues {
  const find = (metric: Metric) => sensors.find((sensor) => sensor.metric === metric)
  const [rx, tx, bias] = [find('rx'), find('tx'), find('bias')]
  const limits: ModuleLimits = { rx_power: rx?.limits, tx_power: tx?.limits, bias: bias?.limits }
  return {
    lane,
    // Lanes of a divided port belong to separate interfaces.
    port: { kind: 'entity', index: Number((rx ?? tx ?? bias)!.index) },
    rxDbm: rx?.value ?? null,
    txDbm: tx?.value ?? null,
    biasMa: bias?.value ?? null,
    limits,
  }
}

function sensorAt(tables: OpticTables, table: SensorTable, index: string): Sensor | undefined {
  const number = (of: keyof typeof column) => integerAt(tables, `${table.entry}.${column[of]}`, index)
  const [name, descr] = namesOf(tables, index)
  const label = `${name} ${descr}`
  const metric = metricOf(label, number('type'))
  if (!metric) return undefined
  const convert = conversionOf(metric, number('type')!, factorOf(number('scale'), number('precision')))
  const isWorking = (number('status') ?? 1) === 1
  const around = containerOf(tables, index)
  return {
    index,
    metric,
    lane: laneIn(label) ?? around.lane,
    // Sensors of several ports may be in one entity, such as a card: then the rest of their names differs.
    place: `${around.entity} ${portWordsOf(name || descr)}`,
    value: isWorking ? convert(number('value')) : null,
    limits: table.limitsOf(tables, index, convert),
  }
}

function namesOf(tables: OpticTables, index: string): [name: string, descr: string] {
  const text = (oid: string) => (textAt(tables, oid, index) ?? '').replaceAll(/[_-]+/g, ' ')
  return [text(opticEntPhysical.name), text(opticEntPhysical.descr)]
}

/**
 * Returns the entity that contains a sensor. A lane entity, such as `Lane 0 for Xcvr for Ethernet49`, is contained in
 * the module.
 */
function containerOf(tables: OpticTables, index: string): { entity: number | null; lane: number | null } {
  const entity = integerAt(tables, opticEntPhysical.containedIn, index)
  if (entity === null) return { entity, lane: null }
  const label = namesOf(tables, String(entity)).join(' ').trim()
  if (!/^lane \d/i.test(label)) return { entity, lane: null }
  return { entity: integerAt(tables, opticEntPhysical.containedIn, String(entity)), lane: laneIn(label) }
}

const received = /\b(?:rx|receive[dr]?|receiver)\b/i
const sent = /\b(?:tx|transmit(?:ted|ter)?)\b/i
const ofPowerSupply = /\bpsu|\bpem\b|power ?supply|\bfan\b/i

function metricOf(label: string, unit: number | null): Metric | undefined {
  if (ofPowerSupply.test(label)) return undefined
  if (unit === type.celsius) return 'temperature'
  if (unit === type.voltsAc || unit === type.voltsDc) return 'voltage'
  if (unit === type.amperes) return /bias|laser|\btx\b/i.test(label) ? 'bias' : undefined
  // Some releases of IOS-XE have the type `other` for dBm.
  const isPower = unit === type.watts || unit === type.dbm || (unit === type.other && /power/i.test(label))
  if (!isPower) return undefined
  if (received.test(label)) return 'rx'
  return sent.test(label) ? 'tx' : undefined
}

function laneIn(label: string): number | null {
  const match = /\b(?:lane|channel) ?#?(\d{1,3})\b/i.exec(label)
  return match ? Number(match[1]) : null
}

const words =
  /\b(?:(?:lane|channel) ?#?\d*|rx|receive[dr]?|receiver|tx|transmit(?:ted|ter)?|power|bias|current|temp(?:erature)?|volt(?:age)?|supply|sensor|laser|optical|light|level|dom|for|module|transceiver|total|average|dbm|mw|vcc|internal)\b|[().]/gi

/** Returns the name without the words of the measurement, such as `ethernet1/1`. */
const portWordsOf = (label: string): string =>
  label.replaceAll(words, ' ').replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** value * 1000^(scale - 9) / 10^precision (RFC 3433). Precisions such as 1615384784 are an error of some releases. */
function factorOf(scale: number | null, precision: number | null): number {
  const isPrecision = precision !== null && precision >= -8 && precision <= 9
  return 10 ** (3 * ((scale ?? unitScale) - unitScale) - (isPrecision ? precision : 0))
}

/** -32768 and values from 10^9 on mean that the value is missing. */
const isAbsent = (value: number): boolean => value === -32_768 || Math.abs(value) >= 1e9

function conversionOf(metric: Metric, unit: number, factor: number): Conversion {
  const convert = metricConversion(metric, unit, factor)
  return (value) => (value === null || isAbsent(value) ? null : convert(value))
}

function metricConversion(metric: Metric, unit: number, factor: number): Conversion {
  if (metric === 'bias') return scaledTo('bias', 1_000 * factor)
  if (metric === 'temperature' || metric === 'voltage') return scaledTo(metric, factor)
  return unit === type.watts ? watts(1_000 * factor) : decibels(factor)
}
