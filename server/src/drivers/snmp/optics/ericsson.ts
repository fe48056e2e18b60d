// ERICSSON-ROUTER-OPTICAL-TRANSCEIVER-MIB of IPOS: a row for each value of a module by ifIndex, and for each value of a lane. All values have
// three decimals: dBm, degrees Celsius, mA, V.
import { byIfIndex, type LaneCells, plainFamily } from './plain-table.ts'
import { decibels, scaledTo } from './values.ts'

const port = '1.3.6.1.4.1.193.218.2.50.1.1.1'
const value = '1.3.6.1.4.1.193.218.2.50.1.2.1'
const lane = '1.3.6.1.4.1.193.218.2.50.1.3.1.3'
const power = decibels(0.001)
const current = scaledTo('bias', 0.001)

/** EriRouterOpticalTransceiverParamType: the end of the index. Lanes and modules use the same numbers. */
const [tx, rx, temperature, bias, vcc] = ['1', '2', '3', '4', '6'] as const

const cells = (column: string, of: (type: string) => string): LaneCells => ({
  rx: { column, suffix: of(rx), convert: power },
  tx: { column, suffix: of(tx), convert: power },
  bias: { column, suffix: of(bias), convert: current },
})

export const ericssonTransceiver = plainFamily({
  name: 'ERICSSON-ROUTER-OPTICAL-TRANSCEIVER-MIB',
  probe: `${value}.3`,
  portOf: byIfIndex,
  facts: { type: `${port}.3`, serial: `${port}.8` },
  wavelength: { column: `${port}.10`, factor: 0.01 },
  temperature: { column: `${value}.3`, suffix: temperature, convert: scaledTo('temperature', 0.001) },
  voltage: { column: `${value}.3`, suffix: vcc, convert: scaledTo('voltage', 0.001) },
  moduleLane: cells(`${value}.3`, (type) => type),
  lanes: Array.from({ length: 16 }, (_, at) => cells(lane, (type) => `${type}.${at + 1}`)),
  limits: {
    entry: value,
    of: {
      rx_power: [[6, 7, 5, 4], power, rx],
      tx_power: [[6, 7, 5, 4], power, tx],
      bias: [[6, 7, 5, 4], current, bias],
      temperature: [[6, 7, 5, 4], scaledTo('temperature', 0.001), temperature],
      voltage: [[6, 7, 5, 4], scaledTo('voltage', 0.001), vcc],
    },
  },
})
