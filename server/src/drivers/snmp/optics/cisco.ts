// CISCO-ENTITY-SENSOR-MIB: entSensorValueTable, in dBm or, on IOS-XR, in watts, and entSensorThresholdTable by sensor and number, in the units
// of the value.
import type { OpticLimits } from '../../../inventory/collect/device-source.ts'
import type { OpticFamily, OpticTables } from './family.ts'
import { decodeSensors, measuredColumns, sensorColumns, type SensorTable } from './sensors.ts'
import { type Conversion, integerAt, limitOf, limitsFrom } from './values.ts'

const entry = '1.3.6.1.4.1.9.9.91.1.1.1.1'
const threshold = '1.3.6.1.4.1.9.9.91.1.2.1.1'
const limitColumn = {
  severity: `${threshold}.2`,
  relation: `${threshold}.3`,
  value: `${threshold}.4`,
} as const
/** entSensorThresholdSeverity; major is 20, critical 30. */
const minor = 10
/** entSensorThresholdRelation: less than, less than or equal; greater than, greater than or equal. */
const [low, high] = [new Set([1, 2]), new Set([3, 4])]

const table: SensorTable = { entry, limitsOf }

export const ciscoEntitySensor: OpticFamily = {
  name: 'CISCO-ENTITY-SENSOR-MIB',
  probe: `${entry}.4`,
  columns: [...sensorColumns(table), ...Object.values(limitColumn)],
  measured: measuredColumns(table),
  decode: (tables) => ({ transceivers: [], readings: decodeSensors(tables, table) }),
}

type Threshold = { readonly value: number; readonly severity: number; readonly relation: number | null }

function limitsOf(tables: OpticTables, sensor: string, convert: Conversion): OpticLimits | undefined {
  const thresholds = thresholdsOf(tables, sensor, convert)
  const [alarmLow, warnLow] = alarmAndWarning(thresholds, low, (a, b) => a - b)
  const [alarmHigh, warnHigh] = alarmAndWarning(thresholds, high, (a, b) => b - a)
  return limitsFrom(alarmLow, warnLow, warnHigh, alarmHigh)
}

/**
 * The threshold with the lowest severity is the warning, and the threshold with the highest the alarm: systems use
 * different severities. On IOS-XR, which has three, the highest is 0 if it is unset: then the next one is the alarm.
 */
function alarmAndWarning(
  thresholds: readonly Threshold[],
  relations: ReadonlySet<number>,
  outerFirst: (a: number, b: number) => number,
): [alarm: number | null, warning: number | null] {
  const [warning, ...others] = thresholds
    .filter(({ relation }) => relations.has(relation ?? 0))
    .sort((a, b) => a.severity - b.severity || outerFirst(b.value, a.value))
  if (!warning) return [null, null]
  const alarm =
    others.findLast(({ value }) => value !== 0 || outerFirst(value, warning.value) < 0) ?? others[0]
  if (alarm) return [alarm.value, warning.value]
  return warning.severity === minor ? [null, warning.value] : [warning.value, null]
}

/** Rows are few for each sensor and numbered from 1, without gaps. */
function thresholdsOf(tables: OpticTables, sensor: string, convert: Conversion): Threshold[] {
  const found: Threshold[] = []
  for (let number = 1; ; number++) {
    const row = `${sensor}.${number}`
    if (!tables.get(limitColumn.value)?.has(row)) return found
    const value = limitOf(convert, integerAt(tables, limitColumn.value, row))
    const relation = integerAt(tables, limitColumn.relation, row)
    const severity = integerAt(tables, limitColumn.severity, row) ?? minor
    if (value !== null) found.push({ value, relation, severity })
  }
}
