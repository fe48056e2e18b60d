// Interfaces in vendor tables, beside IF-MIB: router interfaces and SAPs of Nokia SR OS, ports of Infinera Groove.
import type {
  CounterReading,
  CounterRow,
  InterfaceKey,
  SeenInterface,
} from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { indexesOf, readFirst } from './columns.ts'
import { getRows, type RawRow } from './counter-rows.ts'
import type { InterfaceNames } from './interface-names.ts'
import { vendorTables, type Known, type VendorTable } from './vendor-tables.ts'
import type { SnmpSession } from './session.ts'
import { toText } from './value.ts'
import { walkColumns } from './walk.ts'

/** Interfaces of one device; keeps their indexes between readings. */
export class VendorInterfaces {
  readonly #session: SnmpSession
  #known: ReadonlyMap<InterfaceKey, Known & { readonly table: VendorTable }> | undefined

  constructor(session: SnmpSession) {
    this.#session = session
  }

  /**
   * Empty, after one request, on other devices: a device that cannot answer it has no such table. `names`: of the ports
   * of SAPs.
   */
  async list(names: InterfaceNames, signal: AbortSignal): Promise<readonly SeenInterface[]> {
    const probes = vendorTables.map(({ probe }) => probe)
    const first = await readFirst(this.#session, probes, signal).catch((error: unknown) => {
      if (error instanceof DriverError && error.kind === 'protocol') return undefined
      throw error
    })
    const tables = vendorTables.filter(({ probe }) => (first?.get(probe)?.size ?? 0) > 0)
    const columns = tables.flatMap((table) => table.columns)
    const found = await walkColumns(this.#session, columns, signal)
    const known = tables.flatMap((table) =>
      [...indexesOf(found, table.probe)].flatMap((index) => {
        const one = table.nameOf(found, index, names)
        return one ? [{ ...one, table }] : []
      }),
    )
    this.#known = new Map(known.map((one) => [one.key, one]))
    return [...this.#known.values()].map(({ key, index, table }) => ({
      key,
      name: key,
      type: table.type,
      mac: null,
      speedBps: null,
      lagKey: null,
      addresses: [],
      ...table.seenOf(found, index),
    }))
  }

  /** Returns the keys of interfaces with modules, in any order. */
  async withModules(names: InterfaceNames, signal: AbortSignal): Promise<readonly InterfaceKey[]> {
    if (!this.#known) await this.list(names, signal)
    return [...this.#known!.values()].flatMap(({ key, table }) => (table.hasModules ? [key] : []))
  }

  async has(names: InterfaceNames, signal: AbortSignal): Promise<(key: InterfaceKey) => boolean> {
    if (!this.#known) await this.list(names, signal)
    return (key) => this.#known!.has(key)
  }

  async read(
    keys: readonly InterfaceKey[] | 'all',
    names: InterfaceNames,
    signal: AbortSignal,
  ): Promise<CounterReading> {
    if (!this.#known) await this.list(names, signal)
    const first = await this.#readRows(keys, signal)
    if (first.failed.every(({ reason }) => reason !== 'missing')) return first
    await this.list(names, signal)
    return await this.#readRows(keys, signal)
  }

  async #readRows(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading> {
    const asked = keys === 'all' ? [...this.#known!.keys()] : keys
    const known = asked.flatMap((key) => this.#known!.get(key) ?? [])
    const rows = new Map<InterfaceKey, CounterRow | undefined>()
    for (const table of vendorTables) {
      const byIndex = new Map(known.flatMap((one) => (one.table === table ? [[one.index, one]] : [])))
      await getRows(this.#session, table.counters, [...byIndex.keys()], signal, (row) => {
        const { key, name } = byIndex.get(row.index)!
        const [nameNow] = row.values
        if (name === null || (nameNow && toText(nameNow) === name)) rows.set(key, toRow(table, key, row))
      })
    }
    return {
      rows: [...rows.values()].filter((row) => row !== undefined),
      failed: asked
        .filter((key) => rows.get(key) === undefined)
        .map((key) => ({ key, reason: rows.has(key) ? 'invalid' : 'missing' })),
      isPartial: false,
    }
  }
}

/** Returns undefined if an octet counter has a type that is no counter. */
function toRow(
  table: VendorTable,
  key: InterfaceKey,
  { at, uptimeCs, values }: RawRow<string>,
): CounterRow | undefined {
  const { octetsIn, octetsOut, ...states } = table.readingOf(values)
  if (octetsIn === undefined || octetsOut === undefined) return undefined
  return {
    key,
    at,
    uptimeCs,
    ...states,
    octetsIn,
    octetsOut,
    // The MIBs count packets of IPv4 only, or of single queues.
    packetsIn: null,
    packetsOut: null,
    errorsIn: null,
    errorsOut: null,
    discardsIn: null,
    discardsOut: null,
    bits: 64,
  }
}
