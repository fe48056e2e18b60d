// NAG-MIB of SNR switches: ddmTranscDiagnosisTable by ifIndex. Values are texts in degrees, V, mA and dBm, with a mark such as `(W+)` beyond a
// limit, and `NULL` without a module.
import { byIfIndex, type OpticCell, numberAt, plainFamily } from './plain-table.ts'
import { decibels, scaledTo } from './values.ts'

const entry = '1.3.6.1.4.1.40418.7.100.30.1.1'
const cell = (column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const power = decibels(1)

export const snr = plainFamily({
  name: 'NAG-MIB',
  probe: `${entry}.17`,
  isPresent: (tables, index) => numberAt(tables, `${entry}.17`, index) !== null,
  portOf: byIfIndex,
  temperature: cell(2, scaledTo('temperature', 1)),
  voltage: cell(7, scaledTo('voltage', 1)),
  lanes: [{ bias: cell(12, scaledTo('bias', 1)), rx: cell(17, power), tx: cell(22, power) }],
})
