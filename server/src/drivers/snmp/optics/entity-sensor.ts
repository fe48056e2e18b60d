// ENTITY-SENSOR-MIB (RFC 3433), with the limits of ARISTA-ENTITY-SENSOR-MIB (2014-08-15), which are in the units of the value.
import type { OpticFamily } from './family.ts'
import { decodeSensors, measuredColumns, sensorColumns, type SensorTable } from './sensors.ts'
import { integerAt, limitOf, limitsFrom } from './values.ts'

const entry = '1.3.6.1.2.1.99.1.1.1'
const arista = '1.3.6.1.4.1.30065.3.12.1.1.1'
const limit = {
  warnLow: `${arista}.1`,
  alarmLow: `${arista}.2`,
  warnHigh: `${arista}.3`,
  alarmHigh: `${arista}.4`,
} as const

const table: SensorTable = {
  entry,
  limitsOf(tables, index, convert) {
    const at = (column: string) => limitOf(convert, integerAt(tables, column, index))
    return limitsFrom(at(limit.alarmLow), at(limit.warnLow), at(limit.warnHigh), at(limit.alarmHigh))
  },
}

export const entitySensor: OpticFamily = {
  name: 'ENTITY-SENSOR-MIB',
  probe: `${entry}.4`,
  columns: [...sensorColumns(table), ...Object.values(limit)],
  measured: measuredColumns(table),
  decode: (tables) => ({ transceivers: [], readings: decodeSensors(tables, table) }),
}
