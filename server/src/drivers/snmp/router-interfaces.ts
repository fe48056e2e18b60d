// Router interfaces of Nokia SR OS (TIMETRA-VRTR-MIB), of every virtual router: IF-MIB does not count their traffic. Their keys are
// `router/interface`: the device makes a name unique within its router.
import type { Varbind } from 'net-snmp'
import type {
  CounterReading,
  CounterRow,
  InterfaceKey,
  InterfaceState,
  SeenInterface,
} from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { cell, indexesOf, readFirst } from './columns.ts'
import { getRows, type RawRow } from './counter-rows.ts'
import { positive } from './interfaces.ts'
import { vRtr } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toCounter, toNumber, toText } from './value.ts'
import { walkColumns, type Columns } from './walk.ts'

const listColumns = [
  vRtr.name,
  vRtr.ifName,
  vRtr.ifAdminState,
  vRtr.ifOperState,
  vRtr.ifDescription,
  vRtr.ifOperMtu,
  vRtr.ifGlobalIndex,
]
const counterColumns = [vRtr.ifName, vRtr.ifAdminState, vRtr.ifOperState, vRtr.ifRxBytes, vRtr.ifTxBytes]

/** propVirtual of IANAifType-MIB. */
const virtualType = 53

/** Of one device; keeps the indexes of its router interfaces between readings. */
export class RouterInterfaces {
  readonly #session: SnmpSession
  #known: ReadonlyMap<InterfaceKey, Known> | undefined

  constructor(session: SnmpSession) {
    this.#session = session
  }

  /** Empty, after one request, on other devices: one that cannot answer that is none of Nokia. */
  async list(signal: AbortSignal): Promise<readonly SeenInterface[]> {
    const first = await readFirst(this.#session, [vRtr.ifName], signal).catch((error: unknown) => {
      if (error instanceof DriverError && error.kind === 'protocol') return undefined
      throw error
    })
    const hasAny = (first?.get(vRtr.ifName)?.size ?? 0) > 0
    const found = hasAny ? await walkColumns(this.#session, listColumns, signal) : new Map<string, never>()
    const names = [...indexesOf(found, vRtr.ifName)].flatMap((index) => namedIn(found, index) ?? [])
    this.#known = new Map(names.map((one) => [one.key, one]))
    return [...this.#known.values()].map(({ key, index }) => seenInterface(found, key, index))
  }

  async has(signal: AbortSignal): Promise<(key: InterfaceKey) => boolean> {
    if (!this.#known) await this.list(signal)
    return (key) => this.#known!.has(key)
  }

  async read(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading> {
    if (!this.#known) await this.list(signal)
    const first = await this.#readRows(keys, signal)
    if (first.failed.every(({ reason }) => reason !== 'missing')) return first
    await this.list(signal)
    return await this.#readRows(keys, signal)
  }

  async #readRows(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading> {
    const asked = keys === 'all' ? [...this.#known!.keys()] : keys
    const known = asked.flatMap((key) => this.#known!.get(key) ?? [])
    const byIndex = new Map(known.map((one) => [one.index, one]))
    const rows = new Map<InterfaceKey, CounterRow | undefined>()
    await getRows(this.#session, counterColumns, [...byIndex.keys()], signal, (row) => {
      const { key, name } = byIndex.get(row.index)!
      const [nameNow] = row.values
      if (nameNow && toText(nameNow) === name) rows.set(key, toRow(key, row))
    })
    return {
      rows: [...rows.values()].filter((row) => row !== undefined),
      failed: asked
        .filter((key) => rows.get(key) === undefined)
        .map((key) => ({ key, reason: rows.has(key) ? 'invalid' : 'missing' })),
      isPartial: false,
    }
  }
}

/** `index`: of the virtual router and, within it, of the interface. */
type Known = { readonly key: InterfaceKey; readonly name: string; readonly index: string }

function namedIn(found: Columns, index: string): Known | null {
  const [router = ''] = index.split('.')
  const name = cell(found, vRtr.ifName, index, toText)
  if (name === null || name === '') return null
  return { key: `${cell(found, vRtr.name, router, toText) || router}/${name}`, name, index }
}

function seenInterface(found: Columns, key: InterfaceKey, index: string): SeenInterface {
  const number = (column: string) => cell(found, column, index, toNumber)
  return {
    key,
    index: positive(number(vRtr.ifGlobalIndex)) ?? -1,
    name: key,
    alias: cell(found, vRtr.ifDescription, index, toText) ?? '',
    type: virtualType,
    mtu: positive(number(vRtr.ifOperMtu)),
    mac: null,
    admin: stateOf(number(vRtr.ifAdminState)),
    oper: stateOf(number(vRtr.ifOperState)),
    speedBps: null,
    lagKey: null,
    addresses: [],
  }
}

/** TmnxAdminState and TmnxOperState: inService(2), outOfService(3). */
const stateOf = (value: number | null): InterfaceState =>
  value === 2 ? 'up' : value === 3 ? 'down' : 'unknown'

/** Returns undefined if an octet counter has a type that is no counter. */
function toRow(key: InterfaceKey, { at, uptimeCs, values }: RawRow<string>): CounterRow | undefined {
  const [, admin, oper, received, sent] = values
  const [octetsIn, octetsOut] = [counterIn(received), counterIn(sent)]
  if ((received && octetsIn === null) || (sent && octetsOut === null)) return undefined
  return {
    key,
    at,
    uptimeCs,
    discontinuity: null,
    admin: stateOf(admin ? toNumber(admin) : null),
    oper: stateOf(oper ? toNumber(oper) : null),
    octetsIn,
    octetsOut,
    // The packets that the MIB counts are those of IPv4 only.
    packetsIn: null,
    packetsOut: null,
    errorsIn: null,
    errorsOut: null,
    discardsIn: null,
    discardsOut: null,
    bits: 64,
  }
}

const counterIn = (value: Varbind | undefined): bigint | null => (value ? toCounter(value) : null)
