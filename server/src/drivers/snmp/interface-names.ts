// The keys of a device's interfaces: their names, made unique. Names are neither unique nor always there, and the numbers change with
// restarts.
import type { InterfaceKey } from '../../inventory/collect/device-source.ts'
import { cell, indexesOf } from './columns.ts'
import { ifTable, ifXTable } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toCounter, toText } from './value.ts'
import { walkColumns, type WalkedColumns } from './walk.ts'

export type InterfaceNames = {
  /** By index. `name` is null if the device has no name. */
  readonly byIndex: ReadonlyMap<number, { readonly key: InterfaceKey; readonly name: string | null }>
  readonly indexOf: ReadonlyMap<InterfaceKey, number>
  /** The octet counters of the interfaces: 64 bits, 32 bits, or both. */
  readonly counters: '64' | '32' | 'both'
}

export const nameColumns = [ifXTable.name, ifTable.descr, ifXTable.hcInOctets, ifTable.inOctets]

export async function readInterfaceNames(session: SnmpSession, signal: AbortSignal): Promise<InterfaceNames> {
  return interfaceNames(await walkColumns(session, nameColumns, signal))
}

/** Returns the names in columns that include `nameColumns`. */
export function interfaceNames(found: WalkedColumns): InterfaceNames {
  const keys = interfaceKeys(found)
  const byIndex = new Map(
    [...keys].map(([index, key]) => [
      index,
      { key, name: cell(found, ifXTable.name, String(index), toText) },
    ]),
  )
  return {
    byIndex,
    indexOf: new Map([...keys].map(([index, key]) => [key, index])),
    counters: counterSizes(found),
  }
}

/** Returns the key of each interface by its index, in order. An interface has a name, a description or a type. */
function interfaceKeys(found: WalkedColumns): Map<number, InterfaceKey> {
  const indexes = [...indexesOf(found, ifXTable.name, ifTable.descr, ifTable.type)]
    .filter((index) => /^\d{1,10}$/.test(index) && Number(index) < 2 ** 31)
    .map(Number)
    .sort((one, other) => one - other)
  const names = new Map(indexes.map((index) => [index, nameOf(found, index)]))
  const uses = new Map<string, number>()
  for (const name of names.values()) uses.set(name, (uses.get(name) ?? 0) + 1)
  return new Map(
    [...names].map(([index, name]) => [
      index,
      uses.get(name) === 1 && name !== '' ? name : `${name}#${index}`,
    ]),
  )
}

/** Returns the name, else the description; empty if the device has neither. */
export function nameOf(found: WalkedColumns, index: number): string {
  const text = (column: string) => cell(found, column, String(index), toText)
  return text(ifXTable.name) ?? text(ifTable.descr) ?? ''
}

function counterSizes(found: WalkedColumns): InterfaceNames['counters'] {
  const has = (column: string, index: string) => cell(found, column, index, toCounter) !== null
  const counted = [...indexesOf(found, ifXTable.hcInOctets, ifTable.inOctets)]
  const large = counted.filter((index) => has(ifXTable.hcInOctets, index)).length
  if (large === counted.length) return '64'
  return large === 0 ? '32' : 'both'
}
