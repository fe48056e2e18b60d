// FOUNDRY-SN-SWITCH-GROUP-MIB of Brocade CER, MLX and Ruckus ICX: snIfOpticalMonitoringInfoTable and snIfMediaInfoTable by ifIndex, lanes by
// ifIndex and lane. Values are texts with a unit and a state, such as `-002.2345 dBm: Normal` or `566.4 uWatts Normal`. It has no limits.
import { byIfIndex, type OpticCell, plainFamily } from './plain-table.ts'
import { decibels, scaledTo, textAt, watts } from './values.ts'

const info = '1.3.6.1.4.1.1991.1.1.3.3.6.1'
const media = '1.3.6.1.4.1.1991.1.1.3.3.9.1'
const lane = '1.3.6.1.4.1.1991.1.1.3.3.10.1'
const cell = (entry: string, column: number, convert: OpticCell['convert']): OpticCell => ({
  column: `${entry}.${column}`,
  convert,
})
const [dbm, microwatts, bias] = [decibels(1), watts(0.001), scaledTo('bias', 1)]
const power: OpticCell['convert'] = (value, text) => (/uw/i.test(text) ? microwatts(value) : dbm(value))

export const brocadeIp = plainFamily({
  name: 'FOUNDRY-SN-SWITCH-GROUP-MIB',
  probe: `${media}.1`,
  isPresent: (tables, index) => textAt(tables, `${media}.5`, index) !== null,
  portOf: byIfIndex,
  facts: { type: `${media}.1`, part: `${media}.4`, serial: `${media}.5` },
  temperature: cell(info, 1, scaledTo('temperature', 1)),
  lanes: [{ tx: cell(info, 2, power), rx: cell(info, 3, power), bias: cell(info, 4, bias) }],
  laneRows: { tx: cell(lane, 3, power), rx: cell(lane, 4, power) },
})
