// Connects the families of optics tables, which are pure, with a session.
import type { InterfaceKey } from '../../inventory/collect/device-source.ts'
import { interfaceKeys } from './interface-names.ts'
import { ifTable, ifXTable } from './oids.ts'
import type { OpticWalk } from './optics/index.ts'
import type { SnmpSession } from './session.ts'
import { toCounter } from './value.ts'
import { walkColumns, type Column } from './walk.ts'

export type Optics<T> = (walk: OpticWalk, keys: ReadonlyMap<number, InterfaceKey>) => Promise<T>

/** Runs `read` with the current keys of the interfaces: their numbers may have changed since the last call. */
export async function withOptics<T>(session: SnmpSession, signal: AbortSignal, read: Optics<T>): Promise<T> {
  const keys = interfaceKeys(await walkColumns(session, [ifXTable.name, ifTable.descr], signal))
  const walk: OpticWalk = async (columns) => {
    const found = await walkColumns(session, columns, signal)
    return new Map([...found].map(([column, values]) => [column, opticValues(values)]))
  }
  return read(walk, keys)
}

type OpticValue = number | bigint | string | Uint8Array

function opticValues(values: Column): Map<string, OpticValue> {
  return new Map(
    [...values].flatMap(([index, one]) => {
      const value = toCounter(one) ?? one.value
      return value === null || typeof value === 'boolean' ? [] : [[index, value] as const]
    }),
  )
}
