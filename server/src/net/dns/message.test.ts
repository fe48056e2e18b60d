// Messages: they decode to the values that were encoded, in the sizes that compression allows, and every malformed message is refused with MessageError.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { MessageError, decodeHeader, decodeMessage, emptyMessage, rcode } from './message.ts'
import type { Message } from './message.ts'
import { MessageWriter, encodeMessage } from './message-writer.ts'
import { nameToWire, parseName } from './name.ts'
import type { ResourceRecord } from './record.ts'
import { domainName } from './testing.ts'
import { recordType } from './type.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const octets = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength })

function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

const rdataOf: fc.Arbitrary<{ type: number; rdata: Uint8Array }> = fc.oneof(
  domainName.map((name) => ({ type: recordType.NS, rdata: nameToWire(name) })),
  fc.tuple(domainName, domainName).map(([m, r]) => ({
    type: recordType.SOA,
    rdata: join(nameToWire(m), nameToWire(r), new Uint8Array(20)),
  })),
  domainName.map((name) => ({ type: recordType.MX, rdata: join(Uint8Array.of(0, 10), nameToWire(name)) })),
  domainName.map((name) => ({ type: recordType.SRV, rdata: join(new Uint8Array(6), nameToWire(name)) })),
  octets(300).map((rdata) => ({ type: 65_400, rdata })),
)

const record: fc.Arbitrary<ResourceRecord> = fc
  .tuple(domainName, rdataOf, fc.nat(0xffff_ffff))
  .map(([name, { type, rdata }, ttl]) => ({ name, type, class: 1, ttl, rdata }))

/** Objects that `deepEqual` accepts as equal to the decoder's. */
const plain = { noNullPrototype: true }
const edns = fc.record(
  {
    udpSize: fc.nat(0xffff),
    version: fc.nat(255),
    do: fc.boolean(),
    options: fc.array(fc.record({ code: fc.nat(0xffff), data: octets(20) }, plain), { maxLength: 3 }),
  },
  plain,
)

const message: fc.Arbitrary<Message> = fc
  .record(
    {
      id: fc.nat(0xffff),
      qr: fc.boolean(),
      opcode: fc.nat(15),
      aa: fc.boolean(),
      tc: fc.boolean(),
      rd: fc.boolean(),
      ra: fc.boolean(),
      ad: fc.boolean(),
      cd: fc.boolean(),
      rcode: fc.nat(15),
      questions: fc.array(
        fc.record({ name: domainName, type: fc.nat(0xffff), class: fc.nat(0xffff) }, plain),
        { maxLength: 2 },
      ),
      answers: fc.array(record, { maxLength: 8 }),
      authorities: fc.array(record, { maxLength: 4 }),
      additionals: fc.array(record, { maxLength: 4 }),
      edns: fc.option(edns, { nil: undefined }),
    },
    plain,
  )
  .map(({ edns, ...rest }) => (edns ? { ...rest, edns } : rest))

describe('messages', () => {
  it('decode to what was encoded', () => {
    fc.assert(
      fc.property(message, (message) => {
        const decoded = decodeMessage(encodeMessage(message))
        const questions = decoded.questions.map(({ name, type, class: recordClass }) => ({
          name,
          type,
          class: recordClass,
        }))
        assert.deepEqual({ ...decoded, questions }, message)
      }),
      { numRuns: scaled(2_000) },
    )
  })

  it('repeat the question in the case of the request', () => {
    const name = parseName('www.example.com')
    const spelled = Buffer.from('\x03wWw\x07ExAmPlE\x03com\0', 'latin1')
    const answers = [{ name, type: 1, class: 1, ttl: 60, rdata: Uint8Array.of(192, 0, 2, 1) }]
    const wire = encodeMessage({
      ...emptyMessage,
      questions: [{ name, type: 1, class: 1, spelled }],
      answers,
    })
    assert.equal(Buffer.compare(wire.subarray(12, 12 + spelled.length), spelled), 0)
    assert.equal(wire.length, 12 + spelled.length + 4 + 2 + 10 + 4)
    assert.equal(decodeMessage(wire).answers[0]!.name, name)
  })

  it('keep the case of names in record data', () => {
    const owner = parseName('example.com')
    const target = Buffer.from('\x02NS\x07eXample\x03com\0', 'latin1')
    const ns = { name: owner, type: recordType.NS, class: 1, ttl: 60 }
    const rdata = [target, Buffer.from('\x02ns\x07eXample\x03com\0', 'latin1')].map(
      (wire) => new Uint8Array(wire),
    )
    const wire = encodeMessage({ ...emptyMessage, answers: rdata.map((rdata) => ({ ...ns, rdata })) })
    assert.deepEqual(
      decodeMessage(wire).answers.map(({ rdata }) => rdata),
      rdata,
    )
  })

  it('are truncated at a record set, with TC and OPT', () => {
    const a = (name: string, last: number): ResourceRecord => ({
      name: parseName(name),
      type: 1,
      class: 1,
      ttl: 60,
      rdata: Uint8Array.of(192, 0, 2, last),
    })
    const answers = ['a', 'b'].flatMap((name) =>
      Array.from({ length: 20 }, (_, at) => a(`${name}.example`, at)),
    )
    const edns = { udpSize: 1232, version: 0, do: true, options: [] }
    const decoded = decodeMessage(encodeMessage({ ...emptyMessage, answers, edns }, { limit: 512 }))
    assert.deepEqual([decoded.tc, decoded.answers.length, decoded.edns], [true, 20, edns])
    const extra = decodeMessage(
      encodeMessage({ ...emptyMessage, additionals: answers, edns }, { limit: 512 }),
    )
    assert.deepEqual([extra.tc, extra.additionals.length], [false, 20])
    const glue = decodeMessage(
      encodeMessage({ ...emptyMessage, additionals: answers }, { limit: 512, glue: 40 }),
    )
    assert.deepEqual([glue.tc, glue.additionals.length], [true, 20])
  })

  it('carry an RCODE of 12 bits only with EDNS', () => {
    const edns = { udpSize: 1232, version: 0, do: false, options: [] }
    assert.equal(decodeMessage(encodeMessage({ ...emptyMessage, rcode: rcode.BADVERS, edns })).rcode, 16)
    assert.throws(() => encodeMessage({ ...emptyMessage, rcode: rcode.BADVERS }), MessageError)
  })

  it('fill up to 64 kB, record by record', () => {
    const writer = new MessageWriter()
    writer.start(65_535)
    let count = 0
    const add = (): boolean =>
      writer.addRecord('answer', parseName(`n${count}.example.com`), 1, 1, 60, Uint8Array.of(192, 0, 2, 1))
    while (add()) count++
    const decoded = decodeMessage(writer.finish(emptyMessage))
    assert.equal(decoded.answers.length, count)
    assert.equal(decoded.answers[count - 1]!.name, `n${count - 1}.example.com.`)
    assert.ok(count > 2_500)
  })
})

describe('malformed messages', () => {
  const runs = scaled(10_000)

  it(`are decoded or refused with MessageError, in ${runs} mutations`, () => {
    const edit = fc.tuple(fc.nat(0xffff), fc.oneof(fc.nat(255), fc.constantFrom(0, 192, 255)))
    fc.assert(
      fc.property(
        message,
        fc.array(edit, { minLength: 1, maxLength: 6 }),
        fc.nat(40),
        (message, edits, cut) => {
          const wire = encodeMessage(message)
          for (const [at, octet] of edits) wire[at % wire.length] = octet
          attempt(wire.subarray(0, cut < 20 ? wire.length : Math.max(0, wire.length - cut)))
        },
      ),
      { numRuns: runs },
    )
  })

  it('with pointer loops, forward pointers and false counts are refused', () => {
    const header = (questions: number): number[] => [0, 1, 0, 0, 0, questions, 0, 0, 0, 0, 0, 0]
    for (const wire of [
      [...header(1), 0xc0, 12, 0, 1, 0, 1],
      [...header(1), 0xc0, 14, 0, 1, 0, 1],
      [...header(1), 1, 97, 0xc0, 12, 0, 1, 0, 1],
      [...header(0xffff), 0, 0, 1, 0, 1],
      [...header(1), 0x40, 0, 0, 1, 0, 1],
      [...header(1), 0, 0, 1, 0, 1, 0],
      [...header(1), 63],
      [1, 2, 3],
    ])
      assert.throws(() => decodeMessage(Uint8Array.from(wire)), MessageError)
    assert.equal(decodeHeader(Uint8Array.from(header(1))).id, 1)
  })
})

function attempt(wire: Uint8Array): void {
  try {
    decodeMessage(wire)
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
  }
}
