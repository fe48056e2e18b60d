// Rows of tables by the index in the OID, never by position: the columns of one table may have different sets of rows.
import type { Varbind } from 'net-snmp'
import { TooBigError, type SnmpSession } from './session.ts'
import { isAbsentValue } from './value.ts'
import { indexBelow, withProtocol, type WalkedColumns } from './walk.ts'

/** Returns the converted value of a row; null if it is missing or of another type. */
export function cell<T>(
  columns: WalkedColumns,
  column: string,
  index: string,
  convert: (value: Varbind) => T | null,
): T | null {
  const value = columns.get(column)?.get(index)
  return value === undefined ? null : convert(value)
}

/** Returns the indexes that any of the columns has. */
export function indexesOf(columns: WalkedColumns, ...names: readonly string[]): Set<string> {
  return new Set(names.flatMap((name) => [...(columns.get(name)?.keys() ?? [])]))
}

const objectsPerRequest = 40

/** Reads single objects; missing objects are not in the result. Throws DriverError. */
export async function getObjects(
  session: SnmpSession,
  oids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Varbind>> {
  const found = new Map<string, Varbind>()
  let size = objectsPerRequest
  for (let at = 0; at < oids.length;) {
    const some = oids.slice(at, at + size)
    try {
      const { value } = await session.get(some, signal)
      // The value belongs to the OID in the answer, which may differ from the requested one.
      for (const varbind of value) if (!isAbsentValue(varbind)) found.set(varbind.oid, varbind)
      at += some.length
    } catch (error) {
      if (!(error instanceof TooBigError) || size === 1) throw withProtocol(error)
      size = size >> 1
    }
  }
  return found
}

/**
 * Reads the first value of each column, which may belong to different tables; an absent value is empty. Throws
 * DriverError.
 */
export async function readFirst(
  session: SnmpSession,
  columns: readonly string[],
  signal: AbortSignal,
): Promise<WalkedColumns> {
  const found = new Map<string, Map<string, Varbind>>()
  let size = objectsPerRequest
  for (let at = 0; at < columns.length;) {
    const some = columns.slice(at, at + size)
    try {
      const { value } = await session.getBulk(some, some.length, 1, signal)
      some.forEach((column, position) => {
        const one = value.scalars[position]
        const index = one && !isAbsentValue(one) ? indexBelow(column, one.oid) : undefined
        found.set(column, new Map(index === undefined ? [] : [[index, one!]]))
      })
      at += some.length
    } catch (error) {
      if (!(error instanceof TooBigError) || size === 1) throw withProtocol(error)
      size = size >> 1
    }
  }
  return found
}
