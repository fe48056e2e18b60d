// JUNIPER-IFOPTICS-MIB: jnxOpticsPMCurrentTable of coherent modules by ifIndex. Powers in 0.01 dBm, bias in 0.1 mA, -32768 without a value. It has no
// limits, and releases state its temperature in different units.
import { byIfIndex, plainFamily } from './plain-table.ts'
import { decibels, scaledTo } from './values.ts'

const entry = '1.3.6.1.4.1.2636.3.71.1.2.1.1'
const power = decibels(0.01)

export const juniperCoherent = plainFamily({
  name: 'JUNIPER-IFOPTICS-MIB',
  probe: `${entry}.8`,
  portOf: byIfIndex,
  lanes: [
    {
      tx: { column: `${entry}.7`, convert: power },
      rx: { column: `${entry}.8`, convert: power },
      bias: { column: `${entry}.35`, convert: scaledTo('bias', 0.1) },
    },
  ],
})
