// Answers over UDP by the octets of their questions. Most questions repeat those of the last seconds, and finding an answer costs less than
// decoding the question. An answer depends on the content of one zone and on which zones there are, and is kept only as long as both stay.
import { recordClass, recordType } from '../../net/dns/type.ts'
import { opcode, type Message } from '../../net/dns/message.ts'
import type { Serial } from '../../net/dns/serial.ts'
import { findServedZone } from '../answer/zones.ts'
import type { LoadedZone, ServedZones } from './served-zones.ts'

export type CachedZones = Pick<ServedZones, 'isLoaded' | 'generation' | 'contents' | 'get'>

type Kept = {
  readonly answer: Uint8Array
  readonly zone: LoadedZone
  readonly serial: Serial
  readonly generation: number
}

/** Octets of the ID, which differs in each question. */
const idOctets = 2
/** Longer questions have options that do not repeat. */
const questionOctetsMax = 512
/** Memory of an entry beside its octets, about. */
const entryOctets = 200

/** Two halves: once the recent one is full, the other is dropped, so that names that are asked for at random do not stay. */
export class RepeatedAnswers {
  readonly #zones: CachedZones
  readonly #now: () => Date
  readonly #octetsMax: number
  #recent = new Map<string, Kept>()
  #former = new Map<string, Kept>()
  #octets = 0

  constructor(zones: CachedZones, now: () => Date, octetsMax = 64 * 1024 * 1024) {
    this.#zones = zones
    this.#now = now
    this.#octetsMax = octetsMax
  }

  /** Returns the answer to a question with these octets, under its ID. */
  find(wire: Uint8Array): Uint8Array | undefined {
    if (wire.length > questionOctetsMax) return undefined
    const key = keyOf(wire)
    const kept = this.#recent.get(key) ?? this.#renew(key)
    if (!kept || !this.#isCurrent(kept)) return undefined
    const answer = kept.answer.slice()
    answer[0] = wire[0]!
    answer[1] = wire[1]!
    return answer
  }

  /** Keeps the answer to a question without a signature, unless it comes from no zone or may depend on more than a zone. */
  keep(wire: Uint8Array, query: Message, answer: Uint8Array): void {
    const [question] = query.questions
    if (!this.#zones.isLoaded || wire.length > questionOctetsMax) return
    if (query.opcode !== opcode.QUERY || !question) return
    const { name, type } = question
    if (question.class !== recordClass.IN || type === recordType.AXFR || type === recordType.IXFR) return
    const served = findServedZone(this.#zones.contents, name, type)
    const zone = served === undefined || served === 'expired' ? undefined : this.#zones.get(served.name)
    if (!zone) return
    const { serial } = zone
    this.#put(keyOf(wire), { answer, zone, serial, generation: this.#zones.generation })
  }

  #isCurrent({ zone, serial, generation }: Kept): boolean {
    if (zone.serial !== serial || this.#zones.generation !== generation) return false
    return zone.expires === null || zone.expires >= this.#now()
  }

  #renew(key: string): Kept | undefined {
    const kept = this.#former.get(key)
    if (kept && this.#isCurrent(kept)) this.#put(key, kept)
    return kept
  }

  #put(key: string, kept: Kept): void {
    this.#octets += key.length + kept.answer.length + entryOctets
    if (this.#octets > this.#octetsMax / 2) {
      this.#former = this.#recent
      this.#recent = new Map()
      this.#octets = key.length + kept.answer.length + entryOctets
    }
    this.#recent.set(key, kept)
  }
}

const keyOf = (wire: Uint8Array): string =>
  Buffer.from(wire.buffer, wire.byteOffset, wire.length).toString('latin1', idOctets)
