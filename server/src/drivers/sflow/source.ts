// A device that sends its counters by sFlow: it sends no queries and reads the newest samples from the collector's
// table. It provides states, speeds and counters of interfaces, but no modules, LAGs or addresses.
import type {
  CounterReading,
  CounterRow,
  DeviceIdentity,
  DeviceSource,
  HealthReading,
  InterfaceKey,
  OpticReading,
  SeenBgpSession,
  SeenInterface,
  SeenTransceiver,
} from '../../inventory/collect/device-source.ts'
import type { SampledInterface } from '../../inventory/collect/next-sample.ts'
import { unlessAborted } from '../../runtime/abort.ts'
import { DriverError } from '../../runtime/driver-error.ts'

/** Agents send counters every 20 to 60 seconds. */
const silentMs = 300_000

export type SflowSourceOptions = {
  readonly name: string
  readonly readSamples: () => Promise<readonly SampledInterface[]>
  readonly now: () => Date
}

type Named = SampledInterface & { readonly key: InterfaceKey }

export class SflowSource implements DeviceSource {
  readonly #options: SflowSourceOptions
  #isClosed = false
  #answers = 0

  constructor(options: SflowSourceOptions) {
    this.#options = options
  }

  answers(): number {
    return this.#answers
  }

  async probe(signal: AbortSignal): Promise<DeviceIdentity> {
    const samples = await this.#read(signal)
    const uptimeMs = Math.max(...samples.map((sample) => sample.uptimeMs))
    return { name: null, vendor: null, model: null, serial: null, software: null, uptimeMs }
  }

  async listInterfaces(signal: AbortSignal): Promise<readonly SeenInterface[]> {
    return (await this.#read(signal)).map((sample) => ({
      key: sample.key,
      index: sample.ifIndex,
      name: sample.key,
      alias: '',
      type: sample.type,
      mtu: null,
      mac: null,
      ...statesOf(sample),
      speedBps: sample.speedBps || null,
      lagKey: null,
      addresses: [],
    }))
  }

  async listTransceivers(signal: AbortSignal): Promise<readonly SeenTransceiver[]> {
    await this.#read(signal)
    return []
  }

  async readCounters(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading> {
    const samples = await this.#read(signal)
    const wanted = keys === 'all' ? samples : samples.filter(({ key }) => keys.includes(key))
    const found = new Set(wanted.map(({ key }) => key))
    const failed = keys === 'all' ? [] : keys.filter((key) => !found.has(key))
    return {
      rows: wanted.map(counterRow),
      failed: failed.map((key) => ({ key, reason: 'missing' as const })),
      isPartial: false,
    }
  }

  async readBgpSessions(signal: AbortSignal): Promise<readonly SeenBgpSession[]> {
    await this.#read(signal)
    return []
  }

  async readOptics(signal: AbortSignal): Promise<readonly OpticReading[]> {
    await this.#read(signal)
    return []
  }

  async readHealth(signal: AbortSignal): Promise<readonly HealthReading[]> {
    await this.#read(signal)
    return []
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  async #read(signal: AbortSignal): Promise<readonly Named[]> {
    const { name, readSamples, now } = this.#options
    signal.throwIfAborted()
    if (this.#isClosed) throw new DriverError('unreachable', `${name}: the source is closed`)
    const oldest = now().getTime() - silentMs
    const samples = (await unlessAborted(signal, readSamples())).filter(({ at }) => at >= oldest)
    if (samples.length === 0)
      throw new DriverError('unreachable', `${name}: no counter sample of sFlow for five minutes`)
    this.#answers++
    return withKeys(samples)
  }
}

/** The key of an interface without a unique name contains its number. */
function withKeys(samples: readonly SampledInterface[]): Named[] {
  const count = Map.groupBy(samples, ({ name }) => name)
  return samples.map((sample) => {
    const isUnique = sample.name !== '' && count.get(sample.name)!.length === 1
    return { ...sample, key: isUnique ? sample.name : `${sample.name}#${sample.ifIndex}` }
  })
}

const statesOf = ({ isAdminUp, isOperUp }: SampledInterface) =>
  ({ admin: isAdminUp ? 'up' : 'down', oper: isOperUp ? 'up' : 'down' }) as const

function counterRow(sample: Named): CounterRow {
  const { key, at, uptimeMs, counters } = sample
  return {
    key,
    at,
    uptimeCs: Math.floor(uptimeMs / 10) % 2 ** 32,
    discontinuity: null,
    ...statesOf(sample),
    octetsIn: counters.inOctets,
    octetsOut: counters.outOctets,
    packetsIn: sumOf(counters.inUnicast, counters.inMulticast, counters.inBroadcast),
    packetsOut: sumOf(counters.outUnicast, counters.outMulticast, counters.outBroadcast),
    errorsIn: counters.inErrors,
    errorsOut: counters.outErrors,
    discardsIn: counters.inDiscards,
    discardsOut: counters.outDiscards,
    bits: 64,
  }
}

/** Agents that do not count multicast and broadcast separately send all packets as unicast. */
const sumOf = (unicast: bigint | null, ...others: readonly (bigint | null)[]): bigint | null =>
  unicast === null ? null : others.reduce<bigint>((sum, other) => sum + (other ?? 0n), unicast)
