// The messages of zone transfers: AXFR (RFC 5936) and IXFR (RFC 1995). Each is as full as the limit permits; a name is
// compressed within its message. It reads only as fast as the consumer.
import type { Transfer, TransferView, ZoneSnapshot } from '../../dns/answer/zone-source.ts'
import { MessageWriter } from '../../net/dns/message-writer.ts'
import { emptyMessage, type Message } from '../../net/dns/message.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'

/** Octets of a message, without the signature. Compression pointers reach 16 kB; larger messages need fewer signatures. */
const messageLength = 32_000

/** Longest message, for a record that does not fit into `messageLength`; the rest is reserved for a signature. */
const longMessageLength = 65_535 - 500

/** Types that a follower which signs by itself must not get. */
const signerTypes: ReadonlySet<number> = new Set([
  recordType.RRSIG,
  recordType.NSEC,
  recordType.NSEC3,
  recordType.NSEC3PARAM,
  recordType.DNSKEY,
  recordType.CDS,
  recordType.CDNSKEY,
])

/** Yields the messages of the whole zone: the SOA first and last. */
export async function* axfrMessages(
  query: Message,
  { soa, sets }: ZoneSnapshot,
  view: TransferView,
): AsyncGenerator<Uint8Array> {
  const filler = new MessageFiller(query)
  yield* filler.add(inView(withSignatures(soa), view))
  for await (const set of sets) {
    if (set.type !== recordType.SOA) yield* filler.add(inView(withSignatures(set), view))
  }
  yield* filler.add([soa])
  yield filler.finish()
}

/** Yields the messages of a difference: the current SOA, then the steps, then the SOA again. */
export async function* ixfrMessages(
  query: Message,
  soa: Rrset,
  steps: readonly Transfer[],
  view: TransferView,
): AsyncGenerator<Uint8Array> {
  const filler = new MessageFiller(query)
  yield* filler.add([soa])
  for (const step of steps) {
    yield* filler.add(inView(step.removed.flatMap(withSignatures), view))
    yield* filler.add(inView(step.added.flatMap(withSignatures), view))
  }
  yield* filler.add([soa])
  yield filler.finish()
}

function withSignatures(set: SignedRrset): Rrset[] {
  if (set.rrsig.length === 0) return [set]
  return [set, { name: set.name, type: recordType.RRSIG, ttl: set.ttl, rdata: set.rrsig }]
}

const inView = (sets: readonly Rrset[], view: TransferView): readonly Rrset[] =>
  view === 'signed' ? sets : sets.filter(({ type }) => !signerTypes.has(type))

/** Fills message after message with records. Only the first message has the question (RFC 5936 section 2.2.1). */
class MessageFiller {
  readonly #writer = new MessageWriter()
  readonly #query: Message

  constructor(query: Message) {
    this.#query = query
    this.#writer.start(messageLength)
    for (const question of query.questions) this.#writer.addQuestion(question)
  }

  /** Adds records, and yields each message that is full. */
  *add(sets: readonly Rrset[]): Generator<Uint8Array> {
    const writer = this.#writer
    for (const { name, type, ttl, rdata } of sets) {
      for (const octets of rdata) {
        if (writer.addRecord('answer', name, type, recordClass.IN, ttl, octets)) continue
        yield this.finish()
        writer.start(messageLength)
        if (writer.addRecord('answer', name, type, recordClass.IN, ttl, octets)) continue
        writer.start(longMessageLength)
        if (!writer.addRecord('answer', name, type, recordClass.IN, ttl, octets))
          throw new RangeError('the record does not fit into a message')
      }
    }
  }

  finish(): Uint8Array {
    const { id, opcode, rd } = this.#query
    return this.#writer.finish({ ...emptyMessage, id, opcode, rd, qr: true, aa: true })
  }
}
