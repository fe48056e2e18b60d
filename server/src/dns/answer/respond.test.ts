// Responses that do not depend on a zone's content: EDNS, classes, malformed queries, sizes. Answers from zones are compared with other
// servers in peers.test.ts.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  decodeMessage,
  emptyMessage,
  opcode,
  rcode,
  udpLengthMax,
  type Message,
} from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { parseName, parseZoneName, type ZoneName } from '../../net/dns/name.ts'
import { recordClass, recordType, typeName } from '../../net/dns/type.ts'
import { signZone } from '../sign/sign-zone.ts'
import { signingOf } from '../sign/testing.ts'
import { keySets } from '../sign/key-sets.ts'
import { rrsetsOf } from '../testing.ts'
import { MemoryZone } from './memory-zone.ts'
import type { ServedZone } from './zones.ts'
import { respond, type Responder } from './respond.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const zone = parseZoneName('example.test.')
const signing = signingOf(zone)
const dnskeys = signing.keys.map(({ dnskey }) => dnskey)
const content = [
  ...rrsetsOf(
    zone,
    `@    3600 SOA ns1 hostmaster 1 3600 900 1209600 300
     @    3600 NS  ns1
     ns1  3600 A   192.0.2.1
     *    60   TXT "any"
     sub  3600 NS  ${'n'.repeat(63)}.${'s'.repeat(63)}.sub
     ${Array.from({ length: 30 }, (_, i) => `${'n'.repeat(63)}.${'s'.repeat(63)}.sub 60 AAAA 2001:db8::${i}`).join('\n')}
     big  60   TXT ${`"${'x'.repeat(200)}" `.repeat(20)}`,
  ),
  ...keySets(zone, dnskeys, { request: 'none' }, 3600),
]
const responder: Responder = {
  zones: new Map<ZoneName, ServedZone>([
    [zone, new MemoryZone(zone, signZone(zone, content, signing))],
    [parseZoneName('expired.test.'), 'expired'],
  ]),
  version: 'Pharos',
  id: 'ns1',
}

type Asked = { name?: string; type?: number; class?: number } & Partial<Message>

function ask(
  { name = 'ns1.example.test.', type = recordType.A, class: recordClass = 1, ...rest }: Asked,
  transport: 'udp' | 'tcp' = 'udp',
): Message {
  const questions = [{ name: parseName(name), type, class: recordClass }]
  const query = encodeMessage({ ...emptyMessage, id: 7, questions, ...rest })
  return decodeMessage(respond(responder, query, transport)!)
}

const edns = (udpSize: number, isDo = false, version = 0) => ({
  edns: { udpSize, version, do: isDo, options: [] },
})

describe('a response', () => {
  it('repeats id, RD and the question in its case, and has neither AD nor CD', () => {
    const query = encodeMessage({
      ...emptyMessage,
      id: 7,
      rd: true,
      cd: true,
      ad: true,
      questions: [
        {
          name: parseName('ns1.example.test.'),
          type: 1,
          class: 1,
          spelled: Buffer.from('\u0003Ns1\u0007eXample\u0004tesT\u0000', 'latin1'),
        },
      ],
    })
    const response = respond(responder, query, 'udp')!
    assert.ok(Buffer.from(response).includes('eXample'))
    const { id, rd, ra, aa, ad, cd } = decodeMessage(response)
    assert.deepEqual(
      { id, rd, ra, aa, ad, cd },
      { id: 7, rd: true, ra: false, aa: true, ad: false, cd: false },
    )
  })

  it('has an RCODE for what is not answered', () => {
    const codes = [
      ask({ name: 'elsewhere.' }).rcode,
      ask({ name: 'www.expired.test.' }).rcode,
      ask({ class: recordClass.HS }).rcode,
      ask({ opcode: opcode.STATUS }).rcode,
      ask({ questions: [] }).rcode,
      ask({ type: recordType.MAILA }).rcode,
      ask({ type: recordType.AXFR }).rcode,
    ]
    assert.deepEqual(codes, [
      rcode.REFUSED,
      rcode.SERVFAIL,
      rcode.REFUSED,
      rcode.NOTIMP,
      rcode.FORMERR,
      rcode.NOTIMP,
      rcode.REFUSED,
    ])
  })

  it('is FORMERR to a malformed query, and nothing to a response or to less than a header', () => {
    const query = encodeMessage({ ...emptyMessage, id: 9, questions: [{ name: zone, type: 1, class: 1 }] })
    const { id, rcode: code } = decodeMessage(respond(responder, query.subarray(0, -1), 'udp')!)
    assert.deepEqual([id, code], [9, rcode.FORMERR])
    assert.equal(respond(responder, encodeMessage({ ...emptyMessage, qr: true }), 'udp'), undefined)
    assert.equal(respond(responder, query.subarray(0, 11), 'udp'), undefined)
  })

  it('is BADVERS to another EDNS version, with ours', () => {
    const response = ask(edns(1232, false, 1))
    assert.deepEqual([response.rcode, response.edns?.version, response.answers.length], [rcode.BADVERS, 0, 0])
  })

  it('has OPT only if the query has, and repeats DO', () => {
    assert.equal(ask({}).edns, undefined)
    assert.deepEqual([ask(edns(4096, true)).edns?.do, ask(edns(4096)).edns?.do], [true, false])
  })

  it('is as long as EDNS and the limit of 1232 octets allow over UDP, and whole over TCP', () => {
    const big = { name: 'big.example.test.', type: recordType.TXT }
    for (const size of [0, 512, 1232, 4096]) {
      const query = encodeMessage({
        ...emptyMessage,
        questions: [{ name: parseName(big.name), type: big.type, class: 1 }],
        ...edns(size),
      })
      const response = respond(responder, query, 'udp')!
      assert.ok(response.length <= Math.max(512, Math.min(size, udpLengthMax)))
      assert.equal(decodeMessage(response).tc, true)
    }
    const { tc, answers } = ask(big, 'tcp')
    assert.deepEqual([tc, answers.length], [false, 1])
  })

  it('is truncated if the glue of a referral does not fit (RFC 9471)', () => {
    assert.equal(ask({ name: 'www.sub.example.test.' }).tc, true)
    const { tc, aa, authorities, additionals } = ask({ name: 'www.sub.example.test.' }, 'tcp')
    assert.deepEqual([tc, aa, authorities.length, additionals.length], [false, false, 1, 30])
  })

  it('puts the proof of a wildcard into the authority section, after the answer', () => {
    const { answers, authorities } = ask({
      name: 'x.example.test.',
      type: recordType.TXT,
      ...edns(1232, true),
    })
    assert.deepEqual(
      answers.map(({ type }) => typeName(type)),
      ['TXT', 'RRSIG'],
    )
    assert.deepEqual(
      authorities.map(({ type }) => typeName(type)),
      ['NSEC', 'RRSIG'],
    )
  })

  it('has one set for ANY (RFC 8482)', () => {
    const { answers } = ask({ name: 'example.test.', type: recordType.ANY })
    assert.equal(new Set(answers.map(({ type }) => type)).size, 1)
  })

  it('tells version and id of the server in class CH, and NSID', () => {
    const texts = ['version.bind.', 'id.server.', 'hostname.bind.'].map((name) => {
      const { answers } = ask({ name, type: recordType.TXT, class: recordClass.CH })
      return Buffer.from(answers[0]!.rdata.subarray(1)).toString()
    })
    assert.deepEqual(texts, ['Pharos', 'ns1', 'ns1'])
    assert.equal(ask({ name: 'other.', type: recordType.TXT, class: recordClass.CH }).rcode, rcode.REFUSED)
    const options = [{ code: 3, data: new Uint8Array() }]
    const { edns: answered } = ask({ edns: { udpSize: 1232, version: 0, do: false, options } })
    assert.equal(Buffer.from(answered!.options[0]!.data).toString(), 'ns1')
  })

  it('is made for any octets without an exception', () => {
    const query = encodeMessage({
      ...emptyMessage,
      questions: [{ name: parseName('a.b.example.test.'), type: 1, class: 1 }],
      ...edns(600, true),
    })
    const mutated = fc
      .array(fc.tuple(fc.nat(query.length - 1), fc.nat(255)), { maxLength: 6 })
      .map((changes) => {
        const octets = query.slice()
        for (const [at, value] of changes) octets[at] = value
        return octets
      })
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 80 })), (octets) => {
        const response = respond(responder, octets, 'udp')
        if (response) decodeMessage(response)
      }),
      { numRuns: scaled(3_000) },
    )
  })
})
