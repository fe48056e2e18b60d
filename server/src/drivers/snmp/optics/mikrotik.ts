// MIKROTIK-MIB: mtxrOpticalTable, whose rows name their interface. Powers in 0.001 dBm, voltage in mV, bias in mA, wavelength in 0.01 nm.
// It has no limits and no lanes.
import { opticModuleOf, type ModuleValues, positiveUpTo, readingsOf } from './assemble.ts'
import type { DecodedModule, OpticFamily, OpticTables } from './family.ts'
import { decibels, indexesIn, integerAt, scaledTo, textAt } from './values.ts'

const entry = '1.3.6.1.4.1.14988.1.1.19.1.1'
const column = {
  name: `${entry}.2`,
  rxLoss: `${entry}.3`,
  wavelength: `${entry}.5`,
  temperature: `${entry}.6`,
  voltage: `${entry}.7`,
  bias: `${entry}.8`,
  tx: `${entry}.9`,
  rx: `${entry}.10`,
  vendor: `${entry}.11`,
  serial: `${entry}.12`,
} as const

export const mikrotik: OpticFamily = {
  name: 'MIKROTIK-MIB',
  probe: column.name,
  columns: Object.values(column),
  measured: [column.rxLoss, column.temperature, column.voltage, column.bias, column.tx, column.rx],
  decode(tables) {
    const modules = indexesIn(tables, [column.name]).map((index) => ({
      identity: identify(tables, index),
      values: valuesAt(tables, index),
    }))
    // Every cage has a row, which is empty without a module.
    const present = modules.filter(
      ({ identity }) => identity.hasDdm || identity.vendor !== null || identity.serial !== null,
    )
    return {
      transceivers: present.map(({ identity }) => identity),
      readings: present.flatMap(({ identity, values }) => (identity.hasDdm ? readingsOf(values) : [])),
    }
  },
}

const portOf = (tables: OpticTables, index: string) =>
  ({ kind: 'name', name: textAt(tables, column.name, index) ?? '' }) as const

function identify(tables: OpticTables, index: string): DecodedModule {
  const measured = [column.temperature, column.voltage, column.bias, column.tx, column.rx]
  return opticModuleOf(portOf(tables, index), {
    vendor: textAt(tables, column.vendor, index),
    serial: textAt(tables, column.serial, index),
    wavelengthNm: positiveUpTo(2_000, integerAt(tables, column.wavelength, index), 0.01),
    lanes: 1,
    hasDdm: measured.some((one) => Boolean(integerAt(tables, one, index))),
  })
}

function valuesAt(tables: OpticTables, index: string): ModuleValues {
  const number = (oid: string) => integerAt(tables, oid, index)
  const power = decibels(0.001)
  const hasLoss = number(column.rxLoss) === 1
  return {
    port: portOf(tables, index),
    temperatureC: scaledTo('temperature', 1)(number(column.temperature)),
    voltageV: scaledTo('voltage', 0.001)(number(column.voltage)),
    limits: {},
    lanes: [
      {
        lane: 1,
        rxDbm: hasLoss ? -40 : power(number(column.rx)),
        txDbm: power(number(column.tx)),
        biasMa: scaledTo('bias', 1)(number(column.bias)),
      },
    ],
  }
}
