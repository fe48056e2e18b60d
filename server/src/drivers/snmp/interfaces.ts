// The interfaces of a device, from ifTable, ifXTable and the tables of addresses and LAGs.
import type {
  InterfaceKey,
  InterfaceState,
  ReadPart,
  SeenInterface,
} from '../../inventory/collect/device-source.ts'
import { readInterfaceAddresses } from './addresses.ts'
import { cell, indexesOf } from './columns.ts'
import { interfaceNames, nameColumns, nameOf, type InterfaceNames } from './interface-names.ts'
import { ifTable, ifXTable, lag } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toNumber, toOctets, toText } from './value.ts'
import { walkColumns, type WalkedColumns } from './walk.ts'

const columns = [
  ...nameColumns,
  ifTable.type,
  ifTable.mtu,
  ifTable.speed,
  ifTable.physAddress,
  ifTable.adminStatus,
  ifTable.operStatus,
  ifXTable.highSpeed,
  ifXTable.alias,
]

/** Returns the interfaces, and their names for the readings until the next list. */
export async function readInterfaces(
  session: SnmpSession,
  signal: AbortSignal,
  readPart: ReadPart,
): Promise<{ readonly seen: readonly SeenInterface[]; readonly names: InterfaceNames }> {
  const found = await walkColumns(session, columns, signal)
  const lags = await readPart('lags', async (ended) => {
    const stack = await walkColumns(session, [lag.ifStackStatus, lag.attachedAggId], ended)
    return lagsOf(stack, (index) => numberAt(found, ifTable.type, index))
  })
  const addresses = await readPart('addresses', (ended) => readInterfaceAddresses(session, ended))
  const names = interfaceNames(found)
  const seen = [...names.byIndex].map(([index, { key }]) => ({
    ...seenInterface(found, index, key),
    lagKey: lags && (names.byIndex.get(lags.get(index) ?? -1)?.key ?? null),
    addresses: addresses && (addresses.get(index) ?? []),
  }))
  return { seen, names }
}

function seenInterface(
  found: WalkedColumns,
  index: number,
  key: InterfaceKey,
): Omit<SeenInterface, 'lagKey' | 'addresses'> {
  const number = (column: string) => numberAt(found, column, index)
  return {
    key,
    index,
    name: nameOf(found, index) || key,
    alias: cell(found, ifXTable.alias, String(index), toText) ?? '',
    type: positive(number(ifTable.type)) ?? 1,
    mtu: positive(number(ifTable.mtu)),
    mac: macOf(cell(found, ifTable.physAddress, String(index), toOctets)),
    admin: adminState(number(ifTable.adminStatus)),
    oper: operState(number(ifTable.operStatus)),
    speedBps: speedBps(number(ifTable.speed), number(ifXTable.highSpeed)),
  }
}

const numberAt = (found: WalkedColumns, column: string, index: number): number | null =>
  cell(found, column, String(index), toNumber)

/** ifMtu is an Integer32. */
export const positive = (value: number | null): number | null =>
  value !== null && value > 0 && value < 2 ** 31 ? value : null

function macOf(octets: Uint8Array | null): string | null {
  if (octets?.length !== 6 || octets.every((octet) => octet === 0)) return null
  return [...octets].map((octet) => octet.toString(16).padStart(2, '0')).join(':')
}

/** ifAdminStatus: up(1), down(2), testing(3). */
export function adminState(value: number | null): InterfaceState {
  return (['up', 'down', 'testing'] as const)[(value ?? 0) - 1] ?? 'unknown'
}

const operStates = ['up', 'down', 'testing', 'unknown', 'dormant', 'not_present', 'lower_layer_down'] as const

/** ifOperStatus: up(1) to lowerLayerDown(7). */
export function operState(value: number | null): InterfaceState {
  return operStates[(value ?? 0) - 1] ?? 'unknown'
}

const speedUnknown = 4_294_967_295

/**
 * ifSpeed is exact below 4.29 Gbit/s, and wraps on some devices above it; ifHighSpeed is rounded to 1 Mbit/s, and 0 on many
 * devices and below 500 kbit/s. Returns null if both are unknown.
 */
export function speedBps(speed: number | null, highSpeed: number | null): number | null {
  const exact = speed !== null && speed > 0 && speed !== speedUnknown ? speed : null
  if (highSpeed === null || highSpeed <= 0) return exact
  const rounded = highSpeed * 1_000_000
  return exact !== null && Math.abs(exact - rounded) < 1_000_000 ? exact : rounded
}

const lagType = 161

/** Returns the LAG of each member by index: the interface of that type above it in the stack, else its aggregator. */
function lagsOf(stack: WalkedColumns, typeOf: (index: number) => number | null): Map<number, number> {
  const found = new Map<number, number>()
  for (const member of indexesOf(stack, lag.attachedAggId)) {
    const aggregator = cell(stack, lag.attachedAggId, member, toNumber)
    if (aggregator !== null && aggregator > 0 && aggregator !== Number(member))
      found.set(Number(member), aggregator)
  }
  for (const index of indexesOf(stack, lag.ifStackStatus)) {
    const [higher = 0, lower = 0] = index.split('.').map(Number)
    if (higher > 0 && lower > 0 && typeOf(higher) === lagType && typeOf(lower) !== lagType)
      found.set(lower, higher)
  }
  return found
}
