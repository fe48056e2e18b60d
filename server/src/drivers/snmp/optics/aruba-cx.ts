// ARUBAWIRED-PM-MIB of AOS-CX: arubaWiredPmXcvrTable and arubaWiredPmXcvrDomTable by ifIndex, arubaWiredPmXcvrLaneDomTable by ifIndex and lane.
// Values are texts: powers in mW, bias in mA.
import { byIfIndex, type OpticCell, plainFamily } from './plain-table.ts'
import { scaledTo, watts } from './values.ts'

const info = '1.3.6.1.4.1.47196.4.1.1.3.27.1.1.1.1'
const dom = '1.3.6.1.4.1.47196.4.1.1.3.27.1.2.1.1'
const lane = '1.3.6.1.4.1.47196.4.1.1.3.27.1.2.2.1'
const cell = (entry: string, column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const [power, bias] = [watts(1), scaledTo('bias', 1)]
const [temperature, voltage] = [scaledTo('temperature', 1), scaledTo('voltage', 1)]

export const arubaCx = plainFamily({
  name: 'ARUBAWIRED-PM-MIB',
  probe: `${info}.5`,
  portOf: byIfIndex,
  facts: { part: `${info}.4`, serial: `${info}.5`, type: `${info}.7` },
  wavelength: { column: `${info}.12`, factor: 1 },
  temperature: cell(dom, 2, temperature),
  voltage: cell(dom, 11, voltage),
  lanes: [],
  laneRows: { bias: cell(lane, 2, bias), tx: cell(lane, 7, power), rx: cell(lane, 12, power) },
  limits: {
    entry: dom,
    of: {
      temperature: [[5, 9, 7, 3], temperature],
      voltage: [[14, 18, 16, 12], voltage],
      bias: [[21, 23, 22, 20], bias],
      tx_power: [[25, 27, 26, 24], power],
      rx_power: [[29, 31, 30, 28], power],
    },
  },
})
