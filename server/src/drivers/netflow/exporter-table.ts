// The exporters by address, found without an object or a text per datagram. Their number is bounded: datagrams have forged senders, and
// an exporter of the platform file must find a place all the same.
import { formatWords, parseWords } from './address-words.ts'
import type { Domain } from './domain.ts'

/** The state of one exporter. */
export type Exporter = {
  readonly index: number
  readonly address: string
  readonly words: Uint32Array
  /** Named in the platform file: its place is not given away. */
  isConfigured: boolean
  /** The sampling rate of the platform file; 0 for none. */
  override: number
  lastMs: number
  /** By version and domain. */
  readonly domains: Map<number, Domain>
  /** The rate of all its domains, for those that know none: some exporters announce it in one of them only. 0: none, or several. */
  onlyRate: number
  /** Rates of samplers that a domain does not know itself, as far as they were looked up (`samplerRateOf`). */
  readonly foreignRates: Map<number, number>
  /** Octets and sets that wait for their template. */
  heldOctets: number
  held: HeldSet[]
  /** Sequences of v5 and sFlow, by engine or sub-agent. */
  readonly sequences: Map<number, Sequence>
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

export class ExporterTable {
  readonly addresses: string[] = []
  readonly #exporters: Exporter[] = []
  readonly #slots: Int32Array
  readonly #max: number
  #last: Exporter | undefined

  constructor(max: number) {
    this.#max = max
    // At most a quarter full, so that probes stay short.
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(max * 4))).fill(-1)
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
    while (this.#slots[place]! >= 0 && !isSame(this.#exporters[this.#slots[place]!]!.words, words, at)) {
      place = (place + 1) & mask
    }
    return place
  }

  #insert(words: Uint32Array, timeMs: number): Exporter | undefined {
    const index = this.#exporters.length < this.#max ? this.#exporters.length : this.#idle(timeMs)
    if (index === undefined) return undefined
    const [w0, w1, w2, w3] = words as unknown as [number, number, number, number]
    const address = formatWords([w0, w1, w2, w3])
    const exporter: Exporter = {
      index,
      address,
      words,
      isConfigured: false,
      override: 0,
      lastMs: timeMs,
      domains: new Map(),
      onlyRate: 0,
      foreignRates: new Map(),
      heldOctets: 0,
      held: [],
      sequences: new Map(),
    }
    const isReused = index < this.#exporters.length
    this.#exporters[index] = exporter
    this.addresses[index] = address
    if (isReused) this.#rehash()
    else this.#slots[this.#place(words, 0)] = index
    return exporter
  }

  /** Returns the place of the exporter that was silent the longest, for an hour at least. */
  #idle(timeMs: number): number | undefined {
    let oldest: Exporter | undefined
    for (const exporter of this.#exporters) {
      if (exporter.isConfigured || timeMs - exporter.lastMs < idleMs) continue
      if (!oldest || exporter.lastMs < oldest.lastMs) oldest = exporter
    }
    return oldest?.index
  }

  #rehash(): void {
    this.#last = undefined
    this.#slots.fill(-1)
    for (const { words, index } of this.#exporters) this.#slots[this.#place(words, 0)] = index
  }
}

const isSame = (a: Uint32Array, words: Uint32Array, at: number): boolean =>
  a[3] === words[at + 3] && a[2] === words[at + 2] && a[1] === words[at + 1] && a[0] === words[at]

function hash(words: Uint32Array, at: number): number {
  let value = 0
  for (let i = 0; i < 4; i++) value = Math.imul(value ^ words[at + i]!, 0x9e_37_79_b1)
  return value ^ (value >>> 15)
}
