// HP-ICF-TRANSCEIVER-MIB of ProCurve and ArubaOS-Switch: hpicfXcvrInfoTable by ifIndex. Temperature in 0.001 degrees, voltage in 0.1 mV, bias in
// uA, powers in 0.001 dBm, -99999999 without light or measurement; the limits of powers in 0.1 uW.
import { byIfIndex, type OpticCell, plainFamily } from './plain-table.ts'
import { decibels, integerAt, scaledTo, watts } from './values.ts'

const entry = '1.3.6.1.4.1.11.2.14.11.5.1.82.1.1.1.1'
/** hpicfXcvrDiagnostics: digital monitoring. */
const [diagnostics, dom] = [`${entry}.9`, 1]
const cell = (column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const [power, limit] = [decibels(0.001), watts(0.0001)]
const [temperature, voltage, bias] = [
  scaledTo('temperature', 0.001),
  scaledTo('voltage', 0.0001),
  scaledTo('bias', 0.001),
]

export const hpeTransceiver = plainFamily({
  name: 'HP-ICF-TRANSCEIVER-MIB',
  probe: `${entry}.3`,
  measures: (tables, index) => integerAt(tables, diagnostics, index) === dom,
  others: [diagnostics],
  portOf: byIfIndex,
  facts: { part: `${entry}.3`, serial: `${entry}.4`, type: `${entry}.5` },
  temperature: cell(11, temperature),
  voltage: cell(12, voltage),
  lanes: [{ bias: cell(13, bias), tx: cell(14, power), rx: cell(15, power) }],
  limits: {
    entry,
    of: {
      temperature: [[19, 21, 20, 18], temperature],
      voltage: [[23, 25, 24, 22], voltage],
      bias: [[27, 29, 28, 26], bias],
      tx_power: [[31, 33, 32, 30], limit],
      rx_power: [[35, 37, 36, 34], limit],
    },
  },
})
