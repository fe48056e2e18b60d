// Kinds of interfaces, from IANAifType (IANA "Interface Types", ifType of the IF-MIB).
import type { InterfaceType } from '@pharos/contract/inventory/device'
import { sql } from 'kysely'

export const lagType = 161

const numbers: Readonly<Record<Exclude<InterfaceType, 'other'>, readonly number[]>> = {
  ethernet: [6, 7, 26, 62, 69, 117],
  lag: [lagType],
  vlan: [135, 136],
  loopback: [24],
  tunnel: [131],
  virtual: [53],
}

const types = new Map(
  Object.entries(numbers).flatMap(([type, list]) => list.map((number) => [number, type as InterfaceType])),
)

export const interfaceType = (number: number): InterfaceType => types.get(number) ?? 'other'

/** Returns the condition that interface `i` has one of these kinds. */
export function typeNumbers(wanted: readonly InterfaceType[]) {
  const known = wanted.flatMap((type) => (type === 'other' ? [] : numbers[type]))
  const among = sql`i.type = any(${known}::integer[])`
  return wanted.includes('other') ? sql`(${among} or i.type <> all(${[...types.keys()]}::integer[]))` : among
}
