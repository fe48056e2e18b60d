// FA-EXT-MIB of Brocade's Fibre Channel switches: swSfpStatTable, by the WWN of the switch (16 octets with their number) and the port from 1. The
// ifIndex of a port is that number and 0x3fffffff. Values are texts in degrees, mV, mA and dBm, `NA` without a
// module. It has no limits.
import { type OpticCell, numberAt, plainFamily } from './plain-table.ts'
import { decibels, scaledTo } from './values.ts'

const entry = '1.3.6.1.4.1.1588.2.1.1.1.28.1.1'
const firstIndex = 0x3f_ff_ff_ff
const cell = (column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const power = decibels(1)

export const brocadeFc = plainFamily({
  name: 'FA-EXT-MIB',
  probe: `${entry}.1`,
  isPresent: (tables, index) => numberAt(tables, `${entry}.1`, index) !== null,
  portOf: (index) => ({ kind: 'interface', index: firstIndex + Number(index.split('.').at(-1)) }),
  temperature: cell(1, scaledTo('temperature', 1)),
  voltage: cell(2, scaledTo('voltage', 0.001)),
  lanes: [{ bias: cell(3, scaledTo('bias', 1)), rx: cell(4, power), tx: cell(5, power) }],
})
