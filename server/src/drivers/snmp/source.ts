// A device that is read by SNMP. It caches one session, the names of interfaces and entities, and the tables of modules
// that do not change between surveys, so that a poll reads only changing values. It neither stores nor evaluates the
// values.
import { isIP } from 'node:net'
import type {
  CounterReading,
  DeviceSource,
  HealthReading,
  ReadPart,
} from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { findBgpDialects, readBgpSessions, type BgpDialect } from './bgp.ts'
import { CounterReader } from './counters.ts'
import { findCredentialProblem, type SnmpCredential } from './credential.ts'
import { readDeviceHealth, readEntityNames } from './health.ts'
import { readDeviceIdentity } from './identify.ts'
import type { InterfaceNames } from './interface-names.ts'
import { readInterfaces } from './interfaces.ts'
import {
  listTransceivers,
  readKnownOptics,
  readOptics,
  type KnownOptics,
  type OpticWalk,
} from './optics/index.ts'
import { SnmpSession } from './session.ts'
import { VendorInterfaces } from './vendor-interfaces.ts'
import { type WalkedColumns, walkColumns } from './walk.ts'
import type { Varbind } from 'net-snmp'
import { readFirst } from './columns.ts'
import type { OpticValue } from './optics/family.ts'
import { toCounter } from './value.ts'

export type SnmpSourceOptions = {
  /** An IP address: names would be resolved for every datagram. */
  readonly address: string
  readonly port?: number
  readonly credential: SnmpCredential
  /** Timeout of one try; there are 3 tries by default. */
  readonly timeoutMs?: number
  readonly tries?: number
  /** Of one call, such as the list of interfaces. Silence ends it earlier, after the tries of one request. */
  readonly deadlineMs?: number
  /** For devices that answer from another address: any host can then answer. */
  readonly acceptsAnySource?: boolean
}

/** Opens no socket before the first call. */
export function createSnmpSource(options: SnmpSourceOptions): DeviceSource {
  const { address, port = 161, credential, deadlineMs = 900_000 } = options
  const { timeoutMs = 2_000, tries = 3, acceptsAnySource = false } = options
  const session = new SnmpSession({ address, port, credential, timeoutMs, tries, acceptsAnySource })
  const device: Device = {
    session,
    counters: new CounterReader(session),
    vendor: new VendorInterfaces(session),
    kept: {},
  }
  const { kept } = device
  const closed = new AbortController()
  const problem = isIP(address) === 0 ? 'The address is no IP address.' : findCredentialProblem(credential)

  const call = async <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (problem !== undefined) throw new DriverError('refused', problem)
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(lateError(address, deadlineMs)), deadlineMs)
    const ended = AbortSignal.any([signal, closed.signal, deadline.signal])
    try {
      ended.throwIfAborted()
      return await work(ended)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    answers: () => session.answers,
    probe: (signal, readPart) =>
      call(signal, (ended) => readDeviceIdentity(session, ended, partsWithin(ended, readPart))),
    listInterfaces: (signal, readPart) =>
      call(signal, (ended) => listAllInterfaces(device, ended, partsWithin(ended, readPart))),
    listTransceivers: (signal) =>
      call(signal, async (ended) => {
        const { keys } = await keptFor(device, ended)
        kept.optics = await readKnownOptics(opticWalk(session, ended))
        return listTransceivers(kept.optics, keys)
      }),
    readCounters: (keys, signal) => call(signal, (ended) => readAllCounters(device, keys, ended)),
    readOptics: (signal) =>
      call(signal, async (ended) => {
        const { keys } = await keptFor(device, ended)
        const walk = opticWalk(session, ended)
        kept.optics ??= await readKnownOptics(walk)
        return readOptics(walk, keys, kept.optics)
      }),
    readBgpSessions: (signal) =>
      call(signal, async (ended) => {
        await keptFor(device, ended)
        kept.bgp ??= await findBgpDialects(session, ended)
        return readBgpSessions(session, kept.bgp, ended)
      }),
    readHealth: (signal, readPart) =>
      call(signal, async (ended) => [
        ...(await readDeviceHealth(session, partsWithin(ended, readPart), async (ending) => {
          await keptFor(device, ending)
          return (kept.entityNames ??= await readEntityNames(session, ending))
        })),
        ...figures(session),
      ]),
    close: async () => {
      closed.abort(new DriverError('unreachable', 'The device source is closed.'))
      session.close()
    },
  }
}

type Device = {
  readonly session: SnmpSession
  readonly counters: CounterReader
  readonly vendor: VendorInterfaces
  readonly kept: Kept
}

/** Interfaces that have other numbers than before make new names: then entities and modules are read again as well. */
async function keptFor({ counters, vendor, kept }: Device, ended: AbortSignal) {
  const names = await counters.names(ended)
  if (kept.names !== names)
    Object.assign(kept, { names, optics: undefined, entityNames: undefined, bgp: undefined })
  const others = await vendor.withModules(names, ended)
  // Interfaces of vendor tables have no number of IF-MIB.
  return {
    keys: new Map([
      ...[...names.byIndex].map(([index, { key }]) => [index, key] as const),
      ...others.map((key, at) => [-1 - at, key] as const),
    ]),
  }
}

/** Interfaces of IF-MIB and of the vendor's tables. */
async function listAllInterfaces(
  { session, counters, vendor }: Device,
  ended: AbortSignal,
  readPart: ReadPart,
) {
  const { seen, names } = await readInterfaces(session, ended, readPart)
  counters.setNames(names)
  const ofVendor = await vendor.list(names, ended)
  // Flows refer to interfaces by number: a number that IF-MIB also has belongs to IF-MIB.
  const more = ofVendor
    .filter(({ key }) => !names.indexOf.has(key))
    .map((one) => (names.byIndex.has(one.index) ? { ...one, index: -1 } : one))
  return more.length === 0 ? seen : [...seen, ...more].toSorted((one, other) => one.index - other.index)
}

/** A failure of the vendor's tables leaves the counters of IF-MIB, as a partial reading. */
async function readAllCounters(
  { counters, vendor }: Device,
  keys: Parameters<DeviceSource['readCounters']>[0],
  ended: AbortSignal,
): Promise<CounterReading> {
  const isOfVendor = await vendor.has(await counters.names(ended), ended)
  const ofVendor = keys === 'all' ? keys : keys.filter(isOfVendor)
  const others = keys === 'all' ? keys : keys.filter((key) => !isOfVendor(key))
  const reading = await counters.read(others, ended)
  if (reading.isPartial || ofVendor.length === 0) return reading
  try {
    return joined(reading, await vendor.read(ofVendor, await counters.names(ended), ended))
  } catch (error) {
    if (reading.rows.length === 0 || !(error instanceof DriverError) || error.kind === 'refused') throw error
    return { ...reading, isPartial: true }
  }
}

const joined = (one: CounterReading, other: CounterReading): CounterReading => ({
  rows: [...one.rows, ...other.rows],
  failed: [...one.failed, ...other.failed],
  isPartial: false,
})

/** Valid until the interfaces get other names. */
type Kept = {
  names?: InterfaceNames | undefined
  optics?: KnownOptics | undefined
  entityNames?: WalkedColumns | undefined
  bgp?: readonly BgpDialect[] | undefined
}

const partsWithin =
  (ended: AbortSignal, readPart: ReadPart | undefined): ReadPart =>
  (part, read) =>
    readPart ? readPart(part, (signal) => read(AbortSignal.any([ended, signal]))) : read(ended)

const lateError = (address: string, deadlineMs: number): DriverError =>
  new DriverError('unreachable', `${address} did not answer everything within ${deadlineMs} ms.`)

function figures(session: SnmpSession): HealthReading[] {
  const { latencyMs, lossPercent } = session.takeFigures()
  const latency = latencyMs === null ? [] : [{ metric: 'latency' as const, part: '', value: latencyMs }]
  const loss = lossPercent === null ? [] : [{ metric: 'loss' as const, part: '', value: lossPercent }]
  return [...latency, ...loss]
}

/** Connects the families of optics tables, which are pure, with the session. */
const opticWalk =
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
