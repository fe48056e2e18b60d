// CORIANT-GROOVE-MIB of Infinera Groove (G30): ports by shelf, slot, slot within it and port. Values are texts in dBm, -99 without one. A port of
// several lanes has their sum beside them. Coherent ports have the bit error rate before FEC in ochOsTable.
import { groovePort, groovePortName } from './groove-port.ts'
import type { OpticTables } from './family.ts'
import { type OpticCell, plainFamily } from './plain-table.ts'
import { bitErrorRate, decibels, integerAt, textAt } from './values.ts'

const channel = '1.3.6.1.4.1.42229.1.2.4.1.19.1.1'
const power: OpticCell['convert'] = (value) => (value === null || value <= -99 ? null : decibels(1)(value))

const lanes = [0, 1, 2, 3].map((at) => ({
  rx: { column: `${groovePort}.${7 + at}`, convert: power },
  tx: { column: `${groovePort}.${11 + at}`, convert: power },
}))
const hasLanes = (tables: OpticTables, index: string): boolean =>
  lanes.some(({ rx }) => tables.get(rx.column)?.has(index) === true)

/** A port without a module has its kind of module, too. */
const hasModule = (tables: OpticTables, index: string): boolean =>
  integerAt(tables, `${groovePort}.3`, index) !== 0 ||
  textAt(tables, `${groovePort}.2`, index) === 'non-pluggable'

const ports = {
  probe: `${groovePort}.2`,
  portOf: (index: string) => ({ kind: 'name', name: groovePortName(index) }) as const,
  facts: { type: `${groovePort}.2` },
}

export const grooveLanes = plainFamily({
  name: 'CORIANT-GROOVE-MIB, ports of several lanes',
  ...ports,
  isPresent: (tables, index) => hasModule(tables, index) && hasLanes(tables, index),
  lanes,
  others: [`${groovePort}.3`],
})

export const groovePorts = plainFamily({
  name: 'CORIANT-GROOVE-MIB',
  ...ports,
  isPresent: (tables, index) => hasModule(tables, index) && !hasLanes(tables, index),
  lanes: [
    {
      rx: { column: `${groovePort}.4`, convert: power },
      tx: { column: `${groovePort}.5`, convert: power },
      preFecBer: { column: `${channel}.26`, convert: bitErrorRate },
    },
  ],
  others: [`${groovePort}.3`, ...lanes.map(({ rx }) => rx.column)],
})
