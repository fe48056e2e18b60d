// The exporters by address, found without an object or a text per datagram. Their number is bounded: datagrams have forged senders, and
// an exporter of the platform file must find a place all the same. Several exporters behind one address have a state for each source port
// (RFC 7011, section 8.4); all others are found by their address alone, since exporters change their port when they restart.
import { formatWords, parseWords } from '../datagram/address-words.ts'
import { createCommonRates, type CommonRates } from './common-rates.ts'
import type { ObservationDomain } from './domain.ts'
import type { ImplausibleRecord } from '../../flow/flow-decoder.ts'
import { durationMinMs, octetsPerMsMax } from './speed-limits.ts'
import { createRecentDatagrams, type RecentDatagrams } from './repeated.ts'
import { createUsage, type Quota, type Usage } from './quota.ts'

/** The state of one exporter, or of one source port of an address with several exporters. */
export type Exporter = {
  readonly index: number
  readonly address: string
  readonly words: Uint32Array
  /** 0: all of them. */
  readonly port: number
  /** Index of its connections (`connections.ts`), which have their own numbers. */
  readonly connections: number
  readonly shared: SharedState
  lastMs: number
  readonly recent: RecentDatagrams
  /** By version and domain. */
  readonly domains: Map<number, ObservationDomain>
  /** Rates for domains without rates: some exporters announce them in only one domain. */
  readonly common: CommonRates
  /** Sets that wait for their template, and whether a template has arrived since. */
  held: HeldSet[]
  isReleaseDue: boolean
  /** Sequences of v5 and sFlow, by engine or sub-agent. */
  readonly sequences: Map<number, Sequence>
  readonly used: Usage
}

/** The common state of all ports of an address. */
export type SharedState = {
  /** By source port, once several exporters were found behind the address. */
  ports: Map<number, Exporter> | undefined
  /** Whether a template has shown that, and whether it is to be reported. */
  isDivided: boolean
  isNewlyByPort: boolean
  /** Named in the platform file: its place is not given away. */
  isConfigured: boolean
  /** The sampling rate of the platform file; 0 if not set. */
  override: number
  /** Its interfaces towards other exporters; undefined if not set. */
  internal: 'all' | ReadonlySet<number> | undefined
  /** Limits of its interfaces: octets per millisecond. */
  speeds: ReadonlyMap<number, number>
  /** Octets that each of its interfaces can send in a minute. */
  smallOctets: number
  /** The last of each, since they were reported. */
  implausible: ImplausibleRecord | undefined
  ambiguousRates: readonly [number, number] | undefined
  /** Unix seconds. */
  firstSeen: number
}

export type HeldSet = {
  readonly domain: ObservationDomain
  readonly id: number
  readonly octets: Uint8Array
  readonly timeMs: number
}

/** The next expected number; undefined if it cannot be known. */
export type Sequence = { next: number | undefined }

const idleMs = 3_600_000
const searchMs = 1_000
/** Limit per address. */
const portsMax = 32

export class ExporterTable {
  readonly addresses: string[] = []
  readonly #exporters: Exporter[] = []
  readonly #slots: Int32Array
  readonly #max: number
  readonly #quota: Quota
  #last: Exporter | undefined
  /** Exporters that were silent for an hour, the longest silent last, when all places were last searched. */
  #idle: Exporter[] = []
  #searchedMs = -Infinity
  /** Slots of exporters that gave their place away, since the last time that all slots were filled again. */
  #removed = 0
  /** Created so far. */
  #ports = 0
  /** Addresses with several exporters. */
  readonly #byPort = new Set<string>()

  constructor(max: number, quota: Quota) {
    this.#max = max
    this.#quota = quota
    // At most a quarter full, so that probes stay short.
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(max * 4))).fill(free)
  }

  /** One entry per address, by index. */
  get all(): readonly Exporter[] {
    return this.#exporters
  }

  /** Like `all`, with one entry per source port. */
  get states(): readonly Exporter[] {
    return this.#exporters.flatMap((one) => [...(one.shared.ports?.values() ?? [one])])
  }

  /**
   * Returns the exporter with the address in `words[at, at + 4)`, and of several behind it the exporter with this
   * source port; a new one if there is space, otherwise undefined.
   */
  find(words: Uint32Array, at: number, port: number, timeMs: number): Exporter | undefined {
    const exporter = this.#find(words, at, timeMs)
    return exporter?.shared.ports ? this.#ofPort(exporter, port, timeMs) : exporter
  }

  /** As `find`, for a text. Throws PrefixError. */
  findAddress(address: string, port: number, timeMs: number): Exporter | undefined {
    return this.find(Uint32Array.from(parseWords(address)), 0, port, timeMs)
  }

  /** The common state of all ports of the address. Throws PrefixError. */
  findShared(address: string, timeMs: number): SharedState | undefined {
    return this.#find(Uint32Array.from(parseWords(address)), 0, timeMs)?.shared
  }

  /**
   * From now on the exporters behind this address, known or not yet, are found by their source port as well. Their former state ends. Returns
   * the number of sets that waited for a template, of which the port is not known.
   */
  divide(address: string): number {
    this.#byPort.add(address)
    const exporter = this.#exporters[this.addresses.indexOf(address)]
    if (!exporter || exporter.shared.ports) return 0
    const sets = exporter.held.length
    this.#clear(exporter)
    exporter.shared.ports = new Map()
    return sets
  }

  #find(words: Uint32Array, at: number, timeMs: number): Exporter | undefined {
    const last = this.#last
    if (last && isSame(last.words, words, at)) return last
    const place = this.#place(words, at)
    const index = this.#slots[place]!
    const exporter =
      index >= 0 ? this.#exporters[index] : this.#insert(Uint32Array.from(words.subarray(at, at + 4)), timeMs)
    if (exporter) this.#last = exporter
    return exporter
  }

  /** A port that was silent for an hour gives way: an exporter may have another one since its restart. */
  #ofPort(exporter: Exporter, port: number, timeMs: number): Exporter | undefined {
    exporter.lastMs = timeMs
    const ports = exporter.shared.ports!
    const known = ports.get(port)
    if (known) return known
    if (ports.size >= portsMax) {
      const oldest = [...ports.values()].reduce((a, b) => (b.lastMs < a.lastMs ? b : a))
      if (timeMs - oldest.lastMs < idleMs) return undefined
      this.#clear(oldest)
      ports.delete(oldest.port)
    }
    const created = createExporter(exporter, port, this.#nextConnections(), timeMs)
    ports.set(port, created)
    return created
  }

  /** The number of a connection has 32 bits, which leaves 21. */
  #nextConnections(): number {
    return this.#max + (this.#ports++ % (2 ** 21 - this.#max))
  }

  #place(words: Uint32Array, at: number): number {
    const mask = this.#slots.length - 1
    let place = hash(words, at) & mask
    for (;;) {
      const index = this.#slots[place]!
      if (index === free || (index >= 0 && isSame(this.#exporters[index]!.words, words, at))) return place
      place = (place + 1) & mask
    }
  }

  #insert(words: Uint32Array, timeMs: number): Exporter | undefined {
    const index = this.#exporters.length < this.#max ? this.#exporters.length : this.#vacate(timeMs)
    if (index === undefined) return undefined
    const [w0, w1, w2, w3] = words as unknown as [number, number, number, number]
    const address = formatWords([w0, w1, w2, w3])
    const shared = createSharedState(timeMs)
    if (this.#byPort.has(address)) shared.ports = new Map()
    const exporter = createExporter({ index, address, words, shared }, 0, index, timeMs)
    this.#exporters[index] = exporter
    this.addresses[index] = address
    this.#slots[this.#place(words, 0)] = index
    return exporter
  }

  /** Returns the place of the exporter that was silent the longest, for an hour at least. All are searched once a second at most. */
  #vacate(timeMs: number): number | undefined {
    if (this.#idle.length === 0 && Math.abs(timeMs - this.#searchedMs) >= searchMs) {
      this.#searchedMs = timeMs
      this.#idle = this.#exporters
        .filter((exporter) => isIdle(exporter, timeMs))
        .sort((a, b) => b.lastMs - a.lastMs)
    }
    for (let oldest = this.#idle.pop(); oldest; oldest = this.#idle.pop()) {
      if (!isIdle(oldest, timeMs)) continue
      this.#remove(oldest)
      return oldest.index
    }
    return undefined
  }

  #clear(exporter: Exporter): void {
    this.#quota.giveBackAll(exporter)
    exporter.held = []
    exporter.domains.clear()
    exporter.sequences.clear()
    Object.assign(exporter.common, createCommonRates())
  }

  #remove(exporter: Exporter): void {
    this.#clear(exporter)
    for (const one of exporter.shared.ports?.values() ?? []) this.#clear(one)
    this.#last = undefined
    this.#slots[this.#place(exporter.words, 0)] = removed
    if (++this.#removed < this.#slots.length / 4) return
    // Removed slots make probes longer.
    this.#removed = 0
    this.#slots.fill(free)
    for (const { words, index } of this.#exporters)
      if (index !== exporter.index) this.#slots[this.#place(words, 0)] = index
  }
}

function createExporter(
  { index, address, words, shared }: Pick<Exporter, 'index' | 'address' | 'words' | 'shared'>,
  port: number,
  connections: number,
  timeMs: number,
): Exporter {
  return {
    index,
    address,
    words,
    port,
    connections,
    shared,
    lastMs: timeMs,
    recent: createRecentDatagrams(),
    domains: new Map(),
    common: createCommonRates(),
    held: [],
    isReleaseDue: false,
    sequences: new Map(),
    used: createUsage(),
  }
}

const createSharedState = (timeMs: number): SharedState => ({
  ports: undefined,
  isDivided: false,
  isNewlyByPort: false,
  isConfigured: false,
  override: 0,
  internal: undefined,
  speeds: new Map(),
  smallOctets: octetsPerMsMax * durationMinMs,
  implausible: undefined,
  ambiguousRates: undefined,
  firstSeen: Math.floor(timeMs / 1000),
})

/** Values of slots without an exporter. A probe does not end at a removed one. */
const free = -1
const removed = -2

const isIdle = ({ shared, lastMs }: Exporter, timeMs: number): boolean =>
  !shared.isConfigured && timeMs - lastMs >= idleMs

const isSame = (a: Uint32Array, words: Uint32Array, at: number): boolean =>
  a[3] === words[at + 3] && a[2] === words[at + 2] && a[1] === words[at + 1] && a[0] === words[at]

function hash(words: Uint32Array, at: number): number {
  let value = 0
  for (let i = 0; i < 4; i++) value = Math.imul(value ^ words[at + i]!, 0x9e_37_79_b1)
  return value ^ (value >>> 15)
}
