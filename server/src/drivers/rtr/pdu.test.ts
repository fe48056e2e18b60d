import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parsePrefix } from '../../net/prefix.ts'
import { vrpBits } from '../../registry/objects/vrp.ts'
import {
  decodePdu,
  encodeErrorReport,
  encodeResetQuery,
  encodeSerialQuery,
  pduLengthMax,
  RtrError,
} from './pdu.ts'
import type { RtrPdu } from './pdu.ts'
import { RtrSession } from './session.ts'
import { cachePdu, slow } from './testing.ts'
import { fastestOfThree } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

describe('the PDUs of RTR', () => {
  it('are decoded as in RFC 8210 section 5', () => {
    assert.deepEqual(pduOf('00 00 0007 0000000c 0000002a'), { type: 'serial_notify', session: 7, serial: 42 })
    assert.deepEqual(pduOf('01 03 ffff 00000008'), { type: 'cache_response', session: 65_535 })
    assert.deepEqual(pduOf('01 04 0000 00000014 01 18 1a 00 c0000200 0000fbf4'), {
      type: 'prefix',
      announced: true,
      vrp: vrpBits({ prefix: parsePrefix('192.0.2.0/24'), maxLength: 26, asn: 64_500 }),
    })
    assert.deepEqual(pduOf('01 06 0000 00000020 00 20 30 00 20010db8 00000000 00000000 00000000 ffffffff'), {
      type: 'prefix',
      announced: false,
      vrp: vrpBits({ prefix: parsePrefix('2001:db8::/32'), maxLength: 48, asn: 4_294_967_295 }),
    })
    assert.deepEqual(pduOf('01 07 0007 00000018 ffffffff 00000e10 00000258 00001c20'), {
      type: 'end_of_data',
      session: 7,
      serial: 4_294_967_295,
      intervals: slow,
    })
    assert.deepEqual(pduOf('00 07 0007 0000000c 00000001'), { type: 'end_of_data', session: 7, serial: 1 })
    assert.deepEqual(pduOf('01 08 0000 00000008'), { type: 'cache_reset' })
    assert.deepEqual(pduOf(`01 09 0100 00000024 ${'ab'.repeat(20)} 0000fbf4 00000000`), {
      type: 'router_key',
      announced: true,
      asn: 64_500,
    })
    assert.deepEqual(pduOf('01 0a 0002 00000018 00000004 01020000 00000004 6e6f7065'), {
      type: 'error_report',
      code: 2,
      text: 'nope',
    })
  })

  it('are equal after encoding and decoding', () => {
    assert.deepEqual(decoded(encodeResetQuery(1)), { type: 'reset_query' })
    assert.deepEqual(decoded(encodeSerialQuery(0, 7, 42)), { type: 'serial_query', session: 7, serial: 42 })
    const long = new RtrError(7, 'ü'.repeat(5_000), new Uint8Array(5_000))
    const report = decoded(encodeErrorReport(1, long))
    assert.ok(report.type === 'error_report' && report.code === 7 && /^ü{200}$/.test(report.text))
  })

  it('are rejected before they are complete if the header is invalid', () => {
    const refused: readonly [header: string, code: number][] = [
      ['01 04 0000 ffffffff', 0],
      ['01 04 0000 00000015', 0],
      ['01 09 0000 00010000', 0],
      ['01 0a 0000 00000008', 0],
      ['01 05 0000 00000008', 5],
      ['00 09 0000 00000024', 5],
      ['02 03 0000 00000008', 4],
    ]
    for (const [header, code] of refused) {
      assert.throws(
        () => decodePdu(octetsOf(header), 0),
        (error) => error instanceof RtrError && error.code === code,
      )
    }
    assert.equal(decodePdu(octetsOf('01 04 0000 000000'), 0), undefined)
    assert.equal(
      decodePdu(octetsOf(`01 09 0000 ${pduLengthMax.toString(16).padStart(8, '0')}`), 0),
      undefined,
    )
  })

  it('are rejected with an invalid prefix', () => {
    for (const body of [
      '01 18 17 00 c0000200',
      '01 18 21 00 c0000200',
      '01 21 21 00 c0000200',
      '01 18 18 00 c0000201',
    ]) {
      assert.throws(() => pduOf(`01 04 0000 00000014 ${body} 00000001`), RtrError)
    }
  })

  it('are logged without control characters', () => {
    const report = decoded(cachePdu.error(1, `\u001b[2J\n\u202e${'x'.repeat(1_000)}`))
    assert.ok(report.type === 'error_report')
    assert.match(report.text, /^\[2J {2}x{150,200}$/)
  })
})

/** The PDUs of a valid session, before the mutations. */
const session = [
  cachePdu.notify(7, 1),
  cachePdu.response(7),
  cachePdu.announce('192.0.2.0/24-26 AS64500'),
  cachePdu.announce('2001:db8::/32-48 AS64501'),
  cachePdu.routerKey(),
  cachePdu.end(7, 1),
  cachePdu.notify(7, 2),
  cachePdu.response(7),
  cachePdu.withdraw('192.0.2.0/24-26 AS64500'),
  cachePdu.announce('198.51.100.0/24 AS0'),
  cachePdu.end(7, 2),
  cachePdu.reset(),
  cachePdu.error(2, 'no data'),
  cachePdu.error(0, 'mismatch'),
  cachePdu.response(7, 0),
  cachePdu.end0(7, 3),
]

const piece = fc.record({
  which: fc.nat(session.length - 1),
  at: fc.nat(40),
  value: fc.nat(255),
  how: fc.nat(9),
})

/** Half of the PDUs are unchanged, so that the session proceeds; in the others an octet is changed, removed or repeated. */
function mutate({
  which,
  at,
  value,
  how,
}: {
  which: number
  at: number
  value: number
  how: number
}): Buffer {
  const octets = Buffer.from(session[which]!)
  if (how > 4) return octets
  if (how > 1) octets[at % octets.length] = value
  if (how === 1) return octets.subarray(0, at % octets.length)
  return how === 0 ? Buffer.concat([octets, octets.subarray(at % octets.length)]) : octets
}

const runs = scaled(100_000)

describe('input of a cache', () => {
  it(`ends each of ${runs} mutated sessions with an RtrError or accepts it`, () => {
    const seen = { set: 0, delta: 0, refused: 0 }
    let slowestMs = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom(0, 6, 8, 11), (pieces, untouched) => {
        const octets = Buffer.concat([...session.slice(0, untouched), ...pieces.map(mutate)])
        slowestMs = Math.max(
          slowestMs,
          fastestOfThree(20, () => converse(octets, seen)),
        )
      }),
      { numRuns: runs },
    )
    assert.ok(
      seen.set > runs / 100 && seen.delta > runs / 10 && seen.refused > runs / 10,
      JSON.stringify(seen),
    )
    assert.ok(slowestMs < 1_000, `${slowestMs} ms`)
  })
})

function converse(octets: Uint8Array, seen: { set: number; delta: number; refused: number }): void {
  const session = new RtrSession({ version: 1, vrpsMax: 3, send: () => {} })
  session.query()
  try {
    let at = 0
    for (let next = decodePdu(octets, at); next; next = decodePdu(octets, at)) {
      assert.ok(next.octets.length >= 8 && next.octets.length <= pduLengthMax)
      at += next.octets.length
      const outcome = session.receive(next)
      if (outcome?.kind === 'set' || outcome?.kind === 'delta') seen[outcome.kind]++
      if (outcome?.kind === 'ended' || outcome?.kind === 'other_version') return
    }
    assert.ok(octets.length - at < pduLengthMax)
  } catch (error) {
    if (!(error instanceof RtrError)) throw error
    assert.ok(error.message.length < 200 && error.code <= 8 && error.octets.length <= pduLengthMax)
    seen.refused++
  }
}

function octetsOf(hex: string): Uint8Array {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

function pduOf(hex: string): RtrPdu {
  return decoded(octetsOf(hex))
}

function decoded(octets: Uint8Array): RtrPdu {
  const one = decodePdu(octets, 0)
  assert.equal(one?.octets.length, octets.length)
  return one!.pdu
}
