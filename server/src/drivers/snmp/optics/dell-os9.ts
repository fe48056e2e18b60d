// DELL-NETWORKING-IF-EXTENSION-MIB of OS9 (2014-08-12): dellNetIfTransceiverDataTable by ifIndex. Values are texts in dBm, mA, degrees and V,
// empty without a measurement. It has no limits.
import { byIfIndex, type OpticCell, plainFamily } from './plain-table.ts'
import { decibels, integerAt, scaledTo } from './values.ts'

const entry = '1.3.6.1.4.1.6027.3.11.1.3.1.1'
const present = `${entry}.3`
const cell = (column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const [power, bias] = [decibels(1), scaledTo('bias', 1)]

export const dellOs9 = plainFamily({
  name: 'DELL-NETWORKING-IF-EXTENSION-MIB',
  probe: present,
  isPresent: (tables, index) => integerAt(tables, present, index) === 1,
  portOf: byIfIndex,
  facts: { type: `${entry}.4`, vendor: `${entry}.5`, part: `${entry}.6`, serial: `${entry}.7` },
  temperature: cell(16, scaledTo('temperature', 1)),
  voltage: cell(17, scaledTo('voltage', 1)),
  lanes: [0, 1, 2, 3].map((lane) => ({
    tx: cell(8 + lane, power),
    rx: cell(12 + lane, power),
    bias: cell(18 + lane, bias),
  })),
})
