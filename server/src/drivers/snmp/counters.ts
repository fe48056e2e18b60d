// The counters of interfaces. It reads the name with each row: a number that belongs to another interface than before is noticed.
import type { Varbind } from 'net-snmp'
import type { CounterReading, CounterRow, InterfaceKey } from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { getRows, walkRows, type RawRow } from './counter-rows.ts'
import { readInterfaceNames, type InterfaceNames } from './interface-names.ts'
import { adminState, operState } from './interfaces.ts'
import { ifTable, ifXTable } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toCounter, toNumber, toText } from './value.ts'

const commonColumns = [
  ifXTable.name,
  ifTable.adminStatus,
  ifTable.operStatus,
  ifXTable.counterDiscontinuityTime,
  ifTable.inErrors,
  ifTable.outErrors,
  ifTable.inDiscards,
  ifTable.outDiscards,
]
const columns64 = [ifXTable.hcInOctets, ifXTable.hcOutOctets, ifXTable.hcInUcastPkts, ifXTable.hcOutUcastPkts]
const columns32 = [ifTable.inOctets, ifTable.outOctets, ifTable.inUcastPkts, ifTable.outUcastPkts]
export const columnsOf = {
  64: [...commonColumns, ...columns64],
  32: [...commonColumns, ...columns32],
  both: [...commonColumns, ...columns64, ...columns32],
}

/** sysUpTime wraps after 497 days: a value near its end before is no restart. */
const nearWrapCs = 2 ** 32 - 60 * 60 * 100

/** Reads one device; keeps the names of its interfaces between readings. */
export class CounterReader {
  readonly #session: SnmpSession
  #names: InterfaceNames | undefined
  /** Keys that were missing when the names were read: they are not searched for again. */
  #missing: ReadonlySet<InterfaceKey> = new Set()
  #uptimeCs = 0

  constructor(session: SnmpSession) {
    this.#session = session
  }

  /** From the last list of interfaces, or from a reading after which another interface had a number. */
  async names(signal: AbortSignal): Promise<InterfaceNames> {
    return (this.#names ??= await readInterfaceNames(this.#session, signal))
  }

  setNames(names: InterfaceNames): void {
    this.#names = names
  }

  async read(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading> {
    const names = await this.names(signal)
    const first = await this.#readRows(keys, names, signal)
    if (!this.#areNamesOld(keys, first.rows)) return toReading(keys, names, first)
    this.#names = await readInterfaceNames(this.#session, signal)
    const { indexOf } = this.#names
    this.#missing = new Set(keys === 'all' ? [] : keys.filter((key) => !indexOf.has(key)))
    return toReading(keys, this.#names, await this.#readRows(keys, this.#names, signal))
  }

  async #readRows(
    keys: readonly InterfaceKey[] | 'all',
    names: InterfaceNames,
    signal: AbortSignal,
  ): Promise<RawReading> {
    const [rows, columns] = [[] as RawRow[], columnsOf[names.counters]]
    const onRow = (row: RawRow) => void rows.push(row)
    // A walk reads several rows per message at the same cost each: worthwhile from half of the interfaces on.
    const indexes = keys === 'all' ? [] : keys.flatMap((key) => names.indexOf.get(key) ?? [])
    const walks = keys === 'all' || indexes.length * 2 > names.indexOf.size
    try {
      if (walks) await walkRows(this.#session, columns, signal, onRow)
      else await getRows(this.#session, columns, indexes, signal, onRow)
    } catch (error) {
      if (rows.length === 0 || !(error instanceof DriverError) || error.kind === 'refused') throw error
      return { rows, isPartial: true }
    }
    return { rows, isPartial: false }
  }

  /** After a restart, or if the index of a row belongs to another interface. */
  #areNamesOld(keys: readonly InterfaceKey[] | 'all', rows: readonly RawRow[]): boolean {
    const uptimeBefore = this.#uptimeCs
    this.#uptimeCs = rows.at(-1)?.uptimeCs ?? uptimeBefore
    const hasRestarted = this.#uptimeCs < uptimeBefore && uptimeBefore < nearWrapCs
    const { byIndex } = this.#names!
    const indexes = new Set(rows.map(({ index }) => index))
    const isMissing = (key: InterfaceKey) =>
      !this.#missing.has(key) && !indexes.has(this.#names!.indexOf.get(key) ?? -1)
    return (
      hasRestarted ||
      rows.some((row) => byIndex.get(row.index)?.name !== nameIn(row)) ||
      (keys !== 'all' && keys.some(isMissing))
    )
  }
}

type RawReading = { readonly rows: readonly RawRow[]; readonly isPartial: boolean }

function nameIn({ values: [name] }: RawRow): string | null {
  return name === undefined ? null : toText(name)
}

function toReading(
  keys: readonly InterfaceKey[] | 'all',
  names: InterfaceNames,
  { rows: raw, isPartial }: RawReading,
): CounterReading {
  const asked = keys === 'all' ? undefined : new Set(keys)
  const rows: CounterRow[] = []
  const failed: { key: InterfaceKey; reason: 'missing' | 'invalid' }[] = []
  const seen = new Set<InterfaceKey>()
  for (const one of raw) {
    const known = names.byIndex.get(one.index)
    // Not in the names, or renamed since they were read: the next reading includes it.
    if (known === undefined || known.name !== nameIn(one) || asked?.has(known.key) === false) continue
    seen.add(known.key)
    const row = toRow(known.key, one, names.counters)
    if (row) rows.push(row)
    else failed.push({ key: known.key, reason: 'invalid' })
  }
  for (const key of asked ?? []) if (!seen.has(key)) failed.push({ key, reason: 'missing' })
  return { rows, failed, isPartial }
}

/** Returns undefined if an octet counter has a type that is no counter. */
function toRow(
  key: InterfaceKey,
  { at, uptimeCs, values }: RawRow,
  size: InterfaceNames['counters'],
): CounterRow | undefined {
  const [, admin, oper, discontinuity, errorsIn, errorsOut, discardsIn, discardsOut] = values
  const large = size === '32' ? [] : values.slice(8, 12)
  const small = size === '64' ? [] : values.slice(-4)
  const has64 = large[0] !== undefined || large[1] !== undefined
  const [octetsIn, octetsOut, packetsIn, packetsOut] = has64 || size === '64' ? large : small
  if (isInvalid(octetsIn) || isInvalid(octetsOut)) return undefined
  return {
    key,
    at,
    uptimeCs,
    discontinuity: numberIn(discontinuity),
    admin: adminState(numberIn(admin)),
    oper: operState(numberIn(oper)),
    octetsIn: counterIn(octetsIn),
    octetsOut: counterIn(octetsOut),
    packetsIn: counterIn(packetsIn),
    packetsOut: counterIn(packetsOut),
    errorsIn: counterIn(errorsIn),
    errorsOut: counterIn(errorsOut),
    discardsIn: counterIn(discardsIn),
    discardsOut: counterIn(discardsOut),
    bits: has64 || size === '64' ? 64 : 32,
  }
}

const isInvalid = (value: Varbind | undefined): boolean => value !== undefined && toCounter(value) === null
const counterIn = (value: Varbind | undefined): bigint | null =>
  value === undefined ? null : toCounter(value)
const numberIn = (value: Varbind | undefined): number | null => (value === undefined ? null : toNumber(value))
