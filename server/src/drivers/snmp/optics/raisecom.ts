// RAISECOM-OPTICAL-TRANSCEIVER-MIB (2010-05-19) and ROSMGMT-OPTICAL-TRANSCEIVER-MIB, which have the same tables at two places: a row for each
// ifIndex and parameter: temperature (1), bias (2), transmit (3) and receive power (4), supply voltage (7), each in thousandths.
import { byIfIndex, type OpticCell, type LimitCells, plainFamily } from './plain-table.ts'
import { type Conversion, decibels, integerAt, scaledTo } from './values.ts'

const parameter = { temperature: '1', bias: '2', tx: '3', rx: '4', voltage: '7' } as const
const valid = 1

function family(name: string, root: string) {
  const [info, entry] = [`${root}.1.1.1`, `${root}.2.1.1`]
  const cell = (of: keyof typeof parameter, convert: OpticCell['convert']): OpticCell => ({
    column: `${entry}.2`,
    suffix: parameter[of],
    convert,
  })
  const limits = (of: keyof typeof parameter, convert: Conversion): LimitCells => [
    [5, 6, 4, 3],
    convert,
    parameter[of],
  ]
  const [power, bias] = [decibels(0.001), scaledTo('bias', 0.001)]
  const [temperature, voltage] = [scaledTo('temperature', 0.001), scaledTo('voltage', 0.001)]
  return plainFamily({
    name,
    probe: `${entry}.2`,
    isPresent: (tables, index) =>
      Object.values(parameter).some((one) => integerAt(tables, `${entry}.12`, `${index}.${one}`) === valid),
    others: [`${entry}.12`],
    portOf: byIfIndex,
    facts: { vendor: `${info}.3`, part: `${info}.4`, serial: `${info}.5` },
    wavelength: { column: `${info}.16`, factor: 0.001 },
    temperature: cell('temperature', temperature),
    voltage: cell('voltage', voltage),
    lanes: [{ rx: cell('rx', power), tx: cell('tx', power), bias: cell('bias', bias) }],
    limits: {
      entry,
      of: {
        temperature: limits('temperature', temperature),
        voltage: limits('voltage', voltage),
        bias: limits('bias', bias),
        tx_power: limits('tx', power),
        rx_power: limits('rx', power),
      },
    },
  })
}

export const raisecom = family('RAISECOM-OPTICAL-TRANSCEIVER-MIB', '1.3.6.1.4.1.8886.1.18.2')
export const raisecomRos = family('ROSMGMT-OPTICAL-TRANSCEIVER-MIB', '1.3.6.1.4.1.8886.60.18.1.2')
