// tmnxCohOptPortStatsTable of TIMETRA-PORT-MIB: coherent ports of SR OS by chassis and port (its ifIndex). Powers in 0.01 dBm; the bit error
// rate before FEC is a number of IEEE 754 in four octets. It has no limits.
import { type OpticCell, plainFamily } from './plain-table.ts'
import { bitErrorRate, decibels } from './values.ts'

const entry = '1.3.6.1.4.1.6527.3.1.2.2.12.8.1'

const rateOf: OpticCell['convert'] = (_value, _text, cell) => {
  if (!(cell instanceof Uint8Array) || cell.length !== 4) return null
  return bitErrorRate(new DataView(cell.buffer, cell.byteOffset, 4).getFloat32(0))
}

export const nokiaCoherent = plainFamily({
  name: 'TIMETRA-PORT-MIB, coherent ports',
  probe: `${entry}.26`,
  portOf: (index) => ({ kind: 'interface', index: Number(index.split('.').at(-1)) }),
  lanes: [
    {
      rx: { column: `${entry}.26`, convert: decibels(0.01) },
      tx: { column: `${entry}.30`, convert: decibels(0.01) },
      preFecBer: { column: `${entry}.2`, convert: rateOf },
    },
  ],
})
