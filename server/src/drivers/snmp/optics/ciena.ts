// WWP-LEOS-PORT-XCVR-MIB of Ciena SAOS 6: wwpLeosPortXcvrTable by the number of the port, which is the name of its interface. Powers and their
// alarms in 0.0001 dBm.
import { type Cell, plainFamily } from './plain-table.ts'
import { decibels } from './values.ts'

const entry = '1.3.6.1.4.1.6141.2.60.4.1.1.1.1'
const power = decibels(0.0001)
/** 0 without a measurement. */
const level: Cell['convert'] = (value) => (value === 0 ? null : power(value))

export const cienaSaos = plainFamily({
  name: 'WWP-LEOS-PORT-XCVR-MIB',
  probe: `${entry}.7`,
  portOf: (index) => ({ kind: 'name', name: index }),
  facts: { vendor: `${entry}.7`, part: `${entry}.9`, serial: `${entry}.11` },
  lanes: [{ rx: { column: `${entry}.105`, convert: level }, tx: { column: `${entry}.106`, convert: level } }],
  limits: {
    entry,
    of: { tx_power: [[108, null, null, 107], power], rx_power: [[110, null, null, 109], power] },
  },
})
