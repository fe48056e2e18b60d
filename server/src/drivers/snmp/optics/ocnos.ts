// IPI-CMM-CHASSIS-MIB of OcNOS: cmmTransEEPROMTable by unit and module, cmmTransDDMTable by unit, module and channel. Powers in 0.001 dBm,
// bias in uA, voltage in mV, temperature in 0.01 degrees. -100001 and -100002 are absent values.
import { type LaneValues, opticModuleOf, type ModuleValues, positiveUpTo, readingsOf } from './assemble.ts'
import type { OpticFamily, OpticTables } from './family.ts'
import { type Conversion, decibels, indexesIn, integerAt, limitsAt, scaledTo, textAt } from './values.ts'

const eeprom = '1.3.6.1.4.1.36673.100.1.2.2.1'
const ddm = '1.3.6.1.4.1.36673.100.1.2.3.1'
/** Channels, connector, reach in km, vendor, part, serial, presence (1), number on the panel, wavelength in pm. */
const identity = {
  channels: 3,
  connector: 7,
  reach: 20,
  vendor: 26,
  part: 28,
  serial: 35,
  presence: 41,
  panel: 42,
  wavelength: 55,
} as const
const ddmColumns = Array.from({ length: 27 }, (_, at) => `${ddm}.${at + 2}`)

export const ocnosChassis: OpticFamily = {
  name: 'IPI-CMM-CHASSIS-MIB',
  probe: `${eeprom}.${identity.presence}`,
  columns: [...Object.values(identity).map((column) => `${eeprom}.${column}`), ...ddmColumns],
  measured: [2, 7, 12, 17, 22].map((column) => `${ddm}.${column}`),
  decode(tables) {
    const indexes = indexesIn(tables, [`${eeprom}.${identity.presence}`]).filter(
      (index) => integerAt(tables, `${eeprom}.${identity.presence}`, index) === 1,
    )
    const modules = indexes.map((index) => moduleAt(tables, index))
    return {
      transceivers: modules.flatMap((one, at) => {
        const identity = identify(tables, indexes[at]!, one)
        const ports = [one.port, ...one.lanes.flatMap(({ port }) => port ?? [])]
        return ports.map((port) => ({ ...identity, port }))
      }),
      readings: modules.flatMap(readingsOf),
    }
  },
}

function identify(tables: OpticTables, index: string, values: ModuleValues) {
  const text = (column: number) => textAt(tables, `${eeprom}.${column}`, index)
  const number = (column: number) => integerAt(tables, `${eeprom}.${column}`, index)
  return opticModuleOf(values.port, {
    vendor: text(identity.vendor),
    part: text(identity.part),
    serial: text(identity.serial),
    wavelengthNm: positiveUpTo(2_000, number(identity.wavelength), 0.001),
    reachM: positiveUpTo(1_000_000, number(identity.reach), 1_000),
    connector: number(identity.connector) === 8 ? 'LC' : null,
    lanes: positiveUpTo(16, number(identity.channels)) ?? Math.max(1, values.lanes.length),
    hasDdm: readingsOf(values).length > 0,
  })
}

function moduleAt(tables: OpticTables, index: string): ModuleValues {
  const panel = integerAt(tables, `${eeprom}.${identity.panel}`, index)
  const number = panel !== null && panel >= 0 ? panel : Number(index.split('.')[1])
  const rows = indexesIn(tables, ddmColumns).filter((row) => row.startsWith(`${index}.`))
  const first = rows[0] ?? ''
  const limits = limitsOf(tables, first)
  return {
    port: { kind: 'panel', number, lane: 1 },
    temperatureC: temperature(integerAt(tables, `${ddm}.2`, first)),
    voltageV: voltage(integerAt(tables, `${ddm}.7`, first)),
    limits: { temperature: limits(2, temperature), voltage: limits(7, voltage) },
    lanes: rows.map((row) => laneAt(tables, row, number)),
  }
}

const present =
  (convert: Conversion): Conversion =>
  (value) =>
    value === null || value < -100_000 ? null : convert(value)
const power = present(decibels(0.001))
const bias = present(scaledTo('bias', 0.001))
const voltage = present(scaledTo('voltage', 0.001))
const temperature = present(scaledTo('temperature', 0.01))

function laneAt(tables: OpticTables, row: string, number: number): LaneValues {
  const lane = Number(row.split('.')[2])
  const limits = limitsOf(tables, row)
  const cell = (column: number) => integerAt(tables, `${ddm}.${column}`, row)
  /** `supported` is 1; a device without these columns supports both. */
  const powerAt = (column: number, supported: number) =>
    (cell(supported) ?? 1) === 1 ? power(cell(column)) : null
  return {
    lane,
    port: { kind: 'panel', number, lane },
    rxDbm: powerAt(22, 28),
    txDbm: powerAt(17, 27),
    biasMa: bias(cell(12)),
    limits: { bias: limits(12, bias), tx_power: limits(17, power), rx_power: limits(22, power) },
  }
}

/** Each value is followed by the critical minimum and maximum, then the warning limits. */
function limitsOf(tables: OpticTables, row: string) {
  return (column: number, convert: Conversion) =>
    limitsAt(tables, ddm, [column + 1, column + 3, column + 4, column + 2], row, convert)
}
