// Connects the families of optics tables, which are pure, with a session.
import type { Varbind } from 'net-snmp'
import type { OpticValue, OpticTables } from './optics/family.ts'
import type { OpticWalk } from './optics/index.ts'
import { TooBigError, type SnmpSession } from './session.ts'
import { isAbsent, toCounter } from './value.ts'
import { indexBelow, walkColumns, withProtocol } from './walk.ts'

export const opticWalk =
  (session: SnmpSession, signal: AbortSignal): OpticWalk =>
  async (columns, part) => {
    if (part === 'first') return readFirst(session, columns, signal)
    const found = await walkColumns(session, columns, signal)
    return new Map([...found].map(([column, values]) => [column, opticValues(values)]))
  }

/** Columns in one request. */
const columnsMax = 40

async function readFirst(
  session: SnmpSession,
  columns: readonly string[],
  signal: AbortSignal,
): Promise<OpticTables> {
  const found = new Map<string, ReadonlyMap<string, OpticValue>>()
  let size = columnsMax
  for (let at = 0; at < columns.length;) {
    const some = columns.slice(at, at + size)
    const answer = await session
      .getBulk(some, some.length, 1, signal)
      .catch((error: unknown) => (error instanceof TooBigError && size > 1 ? undefined : rethrow(error)))
    if (answer === undefined) {
      size = size >> 1
      continue
    }
    const { value } = answer
    at += some.length
    some.forEach((column, position) => {
      const one = value.scalars[position]
      const index = one && !isAbsent(one) ? indexBelow(column, one.oid) : undefined
      found.set(column, opticValues(index === undefined ? [] : [[index, one!]]))
    })
  }
  return found
}

function rethrow(error: unknown): never {
  throw withProtocol(error)
}

function opticValues(values: Iterable<readonly [string, Varbind]>): Map<string, OpticValue> {
  return new Map(
    [...values].flatMap(([index, one]) => {
      const value = toCounter(one) ?? one.value
      return value === null || typeof value === 'boolean' ? [] : [[index, value] as const]
    }),
  )
}
