// Connects the families of optics tables, which are pure, with a session.
import type { Varbind } from 'net-snmp'
import { readFirst } from './columns.ts'
import type { OpticValue } from './optics/family.ts'
import type { OpticWalk } from './optics/index.ts'
import type { SnmpSession } from './session.ts'
import { toCounter } from './value.ts'
import { walkColumns } from './walk.ts'

export const opticWalk =
  (session: SnmpSession, signal: AbortSignal): OpticWalk =>
  async (columns, part) => {
    const found = await (part === 'first' ? readFirst : walkColumns)(session, columns, signal)
    return new Map([...found].map(([column, values]) => [column, opticValues(values)]))
  }

function opticValues(values: Iterable<readonly [string, Varbind]>): Map<string, OpticValue> {
  return new Map(
    [...values].flatMap(([index, one]) => {
      const value = toCounter(one) ?? one.value
      return value === null || typeof value === 'boolean' ? [] : [[index, value] as const]
    }),
  )
}
