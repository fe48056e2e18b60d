// HH3C-TRANSCEIVER-INFO-MIB (2022-05-12): hh3cTransceiverInfoTable by ifIndex, hh3cTransceiverChannelTable by ifIndex and channel. Values in
// 0.01 dBm, 0.01 mA and 0.01 V; their limits in other units.
import {
  ethernetTypeIn,
  type LaneValues,
  opticModuleOf,
  type ModuleValues,
  positiveUpTo,
  readingsOf,
} from './assemble.ts'
import type { OpticFamily, OpticTables } from './family.ts'
import { decibels, indexesIn, integerAt, limitsAt, scaledTo, textAt, watts } from './values.ts'

const entry = '1.3.6.1.4.1.25506.2.70.1.1.1'
const channelEntry = '1.3.6.1.4.1.25506.2.70.1.2.1'
const infoColumns = [2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 49].map((column) => `${entry}.${column}`)
const limitColumns = [...range(18, 37), ...range(52, 59)].map((column) => `${entry}.${column}`)
const channelColumns = [2, 3, 5].map((column) => `${channelEntry}.${column}`)

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

export const h3cTransceiver: OpticFamily = {
  name: 'HH3C-TRANSCEIVER-INFO-MIB',
  probe: `${entry}.2`,
  columns: [...infoColumns, ...limitColumns, ...channelColumns],
  measured: [...[9, 12, 15, 16, 17].map((column) => `${entry}.${column}`), ...channelColumns],
  decode(tables) {
    const indexes = indexesIn(tables, [`${entry}.2`, `${entry}.5`]).filter((index) =>
      isPresent(tables, index),
    )
    const modules = indexes.map((index) => moduleAt(tables, index))
    return {
      transceivers: modules.map((one, at) => identify(tables, indexes[at]!, one)),
      readings: modules.flatMap(readingsOf),
    }
  },
}

const isPresent = (tables: OpticTables, index: string): boolean =>
  textAt(tables, `${entry}.5`, index) !== null || textAt(tables, `${entry}.4`, index) !== null

function identify(tables: OpticTables, index: string, values: ModuleValues) {
  const text = (column: number) => textAt(tables, `${entry}.${column}`, index)
  const number = (column: number) => integerAt(tables, `${entry}.${column}`, index)
  return opticModuleOf(values.port, {
    vendor: text(4),
    part: text(49),
    serial: text(5),
    type: ethernetTypeIn(text(2)) ?? text(2),
    wavelengthNm: positiveUpTo(2_000, number(3)),
    reachM: positiveUpTo(1_000_000, number(7)),
    lanes: Math.max(1, values.lanes.length),
    hasDdm: readingsOf(values).length > 0,
  })
}

function moduleAt(tables: OpticTables, index: string): ModuleValues {
  const number = (column: number) => integerAt(tables, `${entry}.${column}`, index)
  /** The columns are high alarm, low alarm, high warning, low warning. */
  const limits = (first: number, convert: ReturnType<typeof watts>) =>
    limitsAt(tables, entry, [first + 1, first + 3, first + 2, first], index, convert)
  // Without diagnosis (2) the values are 0.
  const isMonitored = number(8) !== 2
  return {
    port: { kind: 'interface', index: Number(index) },
    temperatureC: isMonitored ? scaledTo('temperature', 1)(number(15)) : null,
    voltageV: isMonitored ? scaledTo('voltage', 0.01)(number(16)) : null,
    limits: {
      temperature: limits(18, scaledTo('temperature', 0.001)),
      voltage: limits(22, scaledTo('voltage', 0.0001)),
      bias: limits(26, scaledTo('bias', 0.001)),
      // Newer releases have the limits in 0.01 dBm too, all have them in 0.1 uW.
      tx_power: limits(52, decibels(0.01)) ?? limits(30, watts(0.0001)),
      rx_power: limits(56, decibels(0.01)) ?? limits(34, watts(0.0001)),
    },
    lanes: isMonitored ? lanesAt(tables, index) : [],
  }
}

function lanesAt(tables: OpticTables, index: string): LaneValues[] {
  const rows = indexesIn(tables, channelColumns).filter((row) => row.startsWith(`${index}.`))
  const lanes = rows.map((row) => laneAt(tables, channelEntry, [3, 2, 5], row, Number(row.split('.')[1])))
  return lanes.length > 0 ? lanes : [laneAt(tables, entry, [12, 9, 17], index, 1)]
}

function laneAt(
  tables: OpticTables,
  table: string,
  [rx, tx, bias]: readonly [number, number, number],
  index: string,
  lane: number,
): LaneValues {
  const number = (column: number) => integerAt(tables, `${table}.${column}`, index)
  const power = decibels(0.01)
  return {
    lane,
    rxDbm: power(number(rx)),
    txDbm: power(number(tx)),
    biasMa: scaledTo('bias', 0.01)(number(bias)),
  }
}
