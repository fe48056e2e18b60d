// The exporters by address, found without an object or a text per datagram. Their number is bounded: datagrams have forged senders, and
// an exporter of the platform file must find a place all the same.
import { formatWords, parseWords } from './address-words.ts'
import { createCommonRates, type CommonRates } from './common-rates.ts'
import type { Domain } from './domain.ts'
import type { ImplausibleRecord } from '../../analysis/flow/flow-decoder.ts'
import { durationMinMs, octetsPerMsMax } from './speed-limits.ts'
import { createRecentDatagrams, type RecentDatagrams } from './repeated.ts'
import { createUsage, type Quota, type Usage } from './quota.ts'

/** The state of one exporter. */
export type Exporter = {
  readonly index: number
  readonly address: string
  readonly words: Uint32Array
  /** Named in the platform file: its place is not given away. */
  isConfigured: boolean
  /** The sampling rate of the platform file; 0 for none. */
  override: number
  /** Its interfaces towards other exporters; undefined for none. */
  internal: 'all' | ReadonlySet<number> | undefined
  /** Limits of its interfaces: octets per millisecond. */
  speeds: ReadonlyMap<number, number>
  /** Octets that each of its interfaces can send in a minute. */
  smallOctets: number
  /** The last of each, since they were reported. */
  implausible: ImplausibleRecord | undefined
  ambiguousRates: readonly [number, number] | undefined
  lastMs: number
  readonly recent: RecentDatagrams
  /** Unix seconds. */
  firstSeen: number
  /** By version and domain. */
  readonly domains: Map<number, Domain>
  /** Rates for domains that know none: some exporters announce them in one domain only. */
  readonly common: CommonRates
  /** Sets that wait for their template, and whether one of these templates is known since. */
  held: HeldSet[]
  isReleaseDue: boolean
  /** Sequences of v5 and sFlow, by engine or sub-agent. */
  readonly sequences: Map<number, Sequence>
  readonly used: Usage
}

export type HeldSet = {
  readonly domain: Domain
  readonly id: number
  readonly octets: Uint8Array
  readonly timeMs: number
}

/** The next expected number; undefined if it cannot be known. */
export type Sequence = { next: number | undefined }

const idleMs = 3_600_000
const searchMs = 1_000

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

  constructor(max: number, quota: Quota) {
    this.#max = max
    this.#quota = quota
    // At most a quarter full, so that probes stay short.
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(max * 4))).fill(free)
  }

  get all(): readonly Exporter[] {
    return this.#exporters
  }

  /** Returns the exporter with the address in `words[at, at + 4)`, a new one if there is a place; undefined if all are in use. */
  find(words: Uint32Array, at: number, timeMs: number): Exporter | undefined {
    const last = this.#last
    if (last && isSame(last.words, words, at)) return last
    const place = this.#place(words, at)
    const index = this.#slots[place]!
    const exporter =
      index >= 0 ? this.#exporters[index] : this.#insert(Uint32Array.from(words.subarray(at, at + 4)), timeMs)
    if (exporter) this.#last = exporter
    return exporter
  }

  /** As `find`, for a text. Throws PrefixError. */
  findAddress(address: string, timeMs: number): Exporter | undefined {
    return this.find(Uint32Array.from(parseWords(address)), 0, timeMs)
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
    const exporter: Exporter = {
      index,
      address,
      words,
      isConfigured: false,
      override: 0,
      internal: undefined,
      speeds: new Map(),
      smallOctets: octetsPerMsMax * durationMinMs,
      implausible: undefined,
      ambiguousRates: undefined,
      lastMs: timeMs,
      recent: createRecentDatagrams(),
      firstSeen: Math.floor(timeMs / 1000),
      domains: new Map(),
      common: createCommonRates(),
      held: [],
      isReleaseDue: false,
      sequences: new Map(),
      used: createUsage(),
    }
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

  #remove(exporter: Exporter): void {
    this.#quota.giveBackAll(exporter)
    exporter.held = []
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

/** Values of slots without an exporter. A probe does not end at a removed one. */
const free = -1
const removed = -2

const isIdle = ({ isConfigured, lastMs }: Exporter, timeMs: number): boolean =>
  !isConfigured && timeMs - lastMs >= idleMs

const isSame = (a: Uint32Array, words: Uint32Array, at: number): boolean =>
  a[3] === words[at + 3] && a[2] === words[at + 2] && a[1] === words[at + 1] && a[0] === words[at]

function hash(words: Uint32Array, at: number): number {
  let value = 0
  for (let i = 0; i < 4; i++) value = Math.imul(value ^ words[at + i]!, 0x9e_37_79_b1)
  return value ^ (value >>> 15)
}
