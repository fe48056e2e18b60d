// FS-FIBER-MIB: fsFiberTable by ifIndex. Powers in 0.01 dBm, -10000 without a measurement; bias in uA, voltage in mV.
// The columns of the module are empty for modules with several lanes.
import { byIfIndex, type OpticCell, type LaneCells, plainFamily } from './plain-table.ts'
import { type Conversion, decibels, integerAt, scaledTo, textAt } from './values.ts'

const entry = '1.3.6.1.4.1.52642.1.1.10.2.105.1.1.1'
const monitors = `${entry}.15`
const cell = (column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const none = -10_000
const power: Conversion = (value) => (value === none ? null : decibels(0.01)(value))
/** 0 also where the column does not apply. */
const bias: Conversion = (value) => (value === 0 ? null : scaledTo('bias', 0.001)(value))
const lane = (rx: number, tx: number, current: number): LaneCells => ({
  rx: cell(rx, power),
  tx: cell(tx, power),
  bias: cell(current, bias),
})

/** Columns of the module, then of channels 1 to 4. */
const module = lane(76, 81, 21)
const channels = [lane(77, 82, 23), lane(78, 83, 25), lane(79, 84, 27), lane(80, 85, 29)]

export const fsFiber = plainFamily({
  name: 'FS-FIBER-MIB',
  probe: `${entry}.16`,
  isPresent: (tables, index) => textAt(tables, `${entry}.16`, index) !== null,
  measures: (tables, index) => integerAt(tables, monitors, index) === 1,
  others: [monitors],
  portOf: byIfIndex,
  facts: { serial: `${entry}.16` },
  wavelength: { column: `${entry}.5`, factor: 1 },
  temperature: cell(17, scaledTo('temperature', 1)),
  voltage: cell(19, scaledTo('voltage', 0.001)),
  moduleLane: module,
  lanes: channels,
  limits: { entry, of: { rx_power: [[93, 91, 92, 94], power], tx_power: [[97, 95, 96, 98], power] } },
})
