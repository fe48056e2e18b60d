// JUNIPER-DOM-MIB (2014-03-20): jnxDomCurrentTable by ifIndex, jnxDomModuleLaneTable by ifIndex and lane from 0. Powers in 0.01 dBm,
// bias in uA, voltage in mV.
import { type LaneValues, opticModuleOf, type ModuleValues, readingsOf } from './assemble.ts'
import type { OpticFamily, OpticTables } from './family.ts'
import { decibels, indexesIn, integerAt, limitsAt, scaledTo } from './values.ts'

const current = '1.3.6.1.4.1.2636.3.60.1.1.1.1'
const laneEntry = '1.3.6.1.4.1.2636.3.60.1.2.1.1'
const power = decibels(0.01)
const bias = scaledTo('bias', 0.001)

/** Columns of the module that have values: receive, bias, transmit, temperature, limits, voltage, lanes. */
const moduleColumns = Array.from({ length: 26 }, (_, at) => `${current}.${at + 5}`)
const laneColumns = [6, 7, 8].map((column) => `${laneEntry}.${column}`)

export const juniperDom: OpticFamily = {
  name: 'JUNIPER-DOM-MIB',
  probe: `${current}.5`,
  columns: [...moduleColumns, ...laneColumns],
  measured: [...[5, 6, 7, 8, 25].map((column) => `${current}.${column}`), ...laneColumns],
  decode(tables) {
    const modules = indexesIn(tables, moduleColumns).map((index) => moduleAt(tables, index))
    return {
      transceivers: modules.map((one) =>
        opticModuleOf(one.port, { lanes: Math.max(1, one.lanes.length), hasDdm: readingsOf(one).length > 0 }),
      ),
      readings: modules.flatMap(readingsOf),
    }
  },
}

function moduleAt(tables: OpticTables, index: string): ModuleValues {
  const limits =
    (...columns: [number, number, number, number]) =>
    (convert: typeof power) =>
      limitsAt(tables, current, columns, index, convert)
  return {
    port: { kind: 'interface', index: Number(index) },
    temperatureC: scaledTo('temperature', 1)(integerAt(tables, `${current}.8`, index)),
    voltageV: scaledTo('voltage', 0.001)(integerAt(tables, `${current}.25`, index)),
    limits: {
      rx_power: limits(10, 12, 11, 9)(power),
      bias: limits(14, 16, 15, 13)(bias),
      tx_power: limits(18, 20, 19, 17)(power),
      temperature: limits(22, 24, 23, 21)(scaledTo('temperature', 1)),
      voltage: limits(27, 29, 28, 26)(scaledTo('voltage', 0.001)),
    },
    lanes: lanesAt(tables, index),
  }
}

/** The row of a module with several lanes has zeros instead of powers: then only the rows of the lanes count. */
function lanesAt(tables: OpticTables, index: string): LaneValues[] {
  const lanes = indexesIn(tables, laneColumns).filter((lane) => lane.startsWith(`${index}.`))
  if (lanes.length > 1) return lanes.map((lane) => laneAt(tables, laneEntry, [6, 8, 7], lane, laneOf(lane)))
  const count = integerAt(tables, `${current}.30`, index) ?? 1
  return count > 1 ? [] : [laneAt(tables, current, [5, 7, 6], index, 1)]
}

const laneOf = (index: string): number => Number(index.slice(index.indexOf('.') + 1)) + 1

function laneAt(
  tables: OpticTables,
  entry: string,
  [rx, tx, current]: readonly [number, number, number],
  index: string,
  lane: number,
): LaneValues {
  const biasMa = bias(integerAt(tables, `${entry}.${current}`, index))
  // 0 is 0.00 dBm of a laser that is on; otherwise the value is absent.
  const powerAt = (column: number): number | null => {
    const value = integerAt(tables, `${entry}.${column}`, index)
    return value === 0 && !biasMa ? null : power(value)
  }
  const [rxDbm, txDbm] = [powerAt(rx), powerAt(tx)]
  return { lane, rxDbm, txDbm, biasMa: rxDbm === null && txDbm === null && biasMa === 0 ? null : biasMa }
}
