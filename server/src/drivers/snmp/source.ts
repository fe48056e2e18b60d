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
import { opticWalk } from './optic-walk.ts'
import { listTransceivers, readKnownOptics, readOptics, type KnownOptics } from './optics/index.ts'
import { SnmpSession } from './session.ts'
import { VendorInterfaces } from './vendor-interfaces.ts'
import type { WalkedColumns } from './walk.ts'

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
  const counters = new CounterReader(session)
  const vendor = new VendorInterfaces(session)
  const kept: Kept = {}
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

  /** Interfaces that have other numbers than before make new names: then entities and modules are read again as well. */
  const keptFor = async (ended: AbortSignal) => {
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

  return {
    answers: () => session.answers,
    probe: (signal, readPart) =>
      call(signal, (ended) => readDeviceIdentity(session, ended, partsWithin(ended, readPart))),
    listInterfaces: (signal, readPart) =>
      call(signal, async (ended) => {
        const { seen, names } = await readInterfaces(session, ended, partsWithin(ended, readPart))
        counters.setNames(names)
        const ofVendor = await vendor.list(names, ended)
        // Flows refer to interfaces by number: a number that IF-MIB also has belongs to IF-MIB.
        const more = ofVendor
          .filter(({ key }) => !names.indexOf.has(key))
          .map((one) => (names.byIndex.has(one.index) ? { ...one, index: -1 } : one))
        return more.length === 0 ? seen : [...seen, ...more].toSorted((one, other) => one.index - other.index)
      }),
    listTransceivers: (signal) =>
      call(signal, async (ended) => {
        const { keys } = await keptFor(ended)
        kept.optics = await readKnownOptics(opticWalk(session, ended))
        return listTransceivers(kept.optics, keys)
      }),
    readCounters: (keys, signal) =>
      call(signal, async (ended) => {
        const isOfVendor = await vendor.has(await counters.names(ended), ended)
        const ofVendor = keys === 'all' ? keys : keys.filter(isOfVendor)
        const others = keys === 'all' ? keys : keys.filter((key) => !isOfVendor(key))
        const reading = await counters.read(others, ended)
        if (reading.isPartial || ofVendor.length === 0) return reading
        try {
          return joined(reading, await vendor.read(ofVendor, await counters.names(ended), ended))
        } catch (error) {
          if (reading.rows.length === 0 || !(error instanceof DriverError) || error.kind === 'refused')
            throw error
          return { ...reading, isPartial: true }
        }
      }),
    readOptics: (signal) =>
      call(signal, async (ended) => {
        const { keys } = await keptFor(ended)
        const walk = opticWalk(session, ended)
        kept.optics ??= await readKnownOptics(walk)
        return readOptics(walk, keys, kept.optics)
      }),
    readBgpSessions: (signal) =>
      call(signal, async (ended) => {
        await keptFor(ended)
        kept.bgp ??= await findBgpDialects(session, ended)
        return readBgpSessions(session, kept.bgp, ended)
      }),
    readHealth: (signal, readPart) =>
      call(signal, async (ended) => [
        ...(await readDeviceHealth(session, partsWithin(ended, readPart), async (ending) => {
          await keptFor(ending)
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
