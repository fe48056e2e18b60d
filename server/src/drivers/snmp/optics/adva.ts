// Optical performance of ADVA: CM-PERFORMANCE-MIB of FSP 150, network and access ports, in whole dBm, and ADVA-FSPR7-PM-MIB of FSP 3000R7,
// whose facilities are named as the interfaces, in 0.1 dBm. Neither has limits.
import { type OpticCell, plainFamily } from './plain-table.ts'
import { decibels, integerAt, textAt } from './values.ts'

const fsp150 = '1.3.6.1.4.1.2544.1.12'
/** Values since the start, of the intervals that the device counts. */
const rollover = '3'

function ethernetPorts(kind: string, facility: string, performance: string) {
  const cell = (column: number): OpticCell => ({
    column: `${performance}.${column}`,
    suffix: rollover,
    convert: decibels(1),
  })
  return plainFamily({
    name: `CM-PERFORMANCE-MIB, ${kind} ports`,
    probe: `${performance}.34`,
    rowNumbers: 1,
    portOf: (index, tables) => ({
      kind: 'interface',
      index: integerAt(tables, `${facility}.2`, index) ?? -1,
    }),
    lanes: [{ rx: cell(34), tx: cell(33) }],
    others: [`${facility}.2`],
  })
}

export const advaNetworkPorts = ethernetPorts('network', `${fsp150}.4.1.7.1`, `${fsp150}.5.1.5.1`)
export const advaAccessPorts = ethernetPorts('access', `${fsp150}.4.1.1.1`, `${fsp150}.5.1.1.1`)

const facilityName = '1.3.6.1.4.1.2544.1.11.7.2.7.1.6'
const snapshot = '1.3.6.1.4.1.2544.1.11.7.7.2.3.1'

export const advaFacilities = plainFamily({
  name: 'ADVA-FSPR7-PM-MIB',
  probe: `${snapshot}.2`,
  portOf: (index, tables) => ({ kind: 'name', name: textAt(tables, facilityName, index) ?? '' }),
  lanes: [
    {
      rx: { column: `${snapshot}.2`, convert: decibels(0.1) },
      tx: { column: `${snapshot}.1`, convert: decibels(0.1) },
    },
  ],
  others: [facilityName],
})
