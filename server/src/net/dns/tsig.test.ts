// TSIG: signatures of requests, answers and streams, and the errors of RFC 8945 section 5.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MessageError, decodeMessage, emptyMessage } from './message.ts'
import { encodeMessage } from './message-writer.ts'
import { parseName } from './name.ts'
import {
  TsigError,
  TsigSigner,
  TsigVerifier,
  signErrorAnswer,
  signRequest,
  tsigAlgorithms,
  tsigLength,
  verifyRequest,
} from './tsig.ts'
import type { TsigErrorName, TsigKey } from './tsig.ts'
import { decodeTsig } from './tsig-record.ts'

const now = 1_795_000_000
const key: TsigKey = {
  name: parseName('transfer.example'),
  algorithm: 'hmac-sha256',
  secret: Buffer.alloc(32, 7),
}
const query = encodeMessage({
  ...emptyMessage,
  id: 4_711,
  questions: [{ name: parseName('example.com'), type: 252, class: 1 }],
})
const answer = encodeMessage({ ...emptyMessage, id: 4_711, qr: true, aa: true })
const find = (name: string): TsigKey | undefined => (name === key.name ? key : undefined)

function reasonOf(work: () => unknown): TsigErrorName | 'malformed' | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof MessageError) return 'malformed'
    assert.ok(error instanceof TsigError)
    return error.reason
  }
}

const verify = (wire: Uint8Array, at = now): ReturnType<typeof verifyRequest> =>
  verifyRequest(wire, decodeMessage(wire), find, at)

describe('a signed request', () => {
  for (const algorithm of tsigAlgorithms) {
    it(`is verified with ${algorithm}`, () => {
      const other = { ...key, algorithm }
      const { wire } = signRequest(query, other, now)
      assert.equal(wire.length, query.length + tsigLength(other))
      assert.equal(verifyRequest(wire, decodeMessage(wire), () => other, now)?.key, other)
    })
  }

  it('is verified after its id was changed on the way', () => {
    const { wire } = signRequest(query, key, now)
    wire[0] = 99
    assert.equal(verify(wire)?.key, key)
  })

  it('is refused if anything else was changed', () => {
    const { wire } = signRequest(query, key, now)
    for (let at = 2; at < query.length; at++) {
      const changed = wire.slice()
      changed[at]! ^= 1
      assert.throws(() => verify(changed), `octet ${at}`)
    }
  })

  it('is refused with the code of what is wrong', () => {
    const { wire } = signRequest(query, key, now)
    assert.equal(verify(query), undefined)
    assert.equal(
      reasonOf(() => verify(signRequest(query, { ...key, name: parseName('other') }, now).wire)),
      'BADKEY',
    )
    assert.equal(
      reasonOf(() => verify(signRequest(query, { ...key, algorithm: 'hmac-sha512' }, now).wire)),
      'BADKEY',
    )
    assert.equal(
      reasonOf(() => verify(signRequest(query, { ...key, secret: Buffer.alloc(32, 8) }, now).wire)),
      'BADSIG',
    )
    assert.equal(
      reasonOf(() => verify(wire, now + 300)),
      undefined,
    )
    assert.equal(
      reasonOf(() => verify(wire, now + 301)),
      'BADTIME',
    )
    assert.equal(
      reasonOf(() => verify(wire, now - 400)),
      'BADTIME',
    )
  })

  it('with a truncated MAC is refused', () => {
    const { wire } = signRequest(query, key, now)
    const truncated = (length: number): Uint8Array => {
      const cut = 32 - length
      const macEnd = wire.length - 6
      const short = Buffer.concat([wire.subarray(0, macEnd - cut), wire.subarray(macEnd)])
      const macSizeAt = macEnd - 32 - 2
      short[macSizeAt + 1] = length
      const rdataAt = query.length + 18 + 8
      short.writeUInt16BE(short.readUInt16BE(rdataAt) - cut, rdataAt)
      return short
    }
    assert.equal(
      reasonOf(() => verify(truncated(16))),
      'BADTRUNC',
    )
    assert.equal(
      reasonOf(() => verify(truncated(8))),
      'malformed',
    )
    assert.equal(
      reasonOf(() => verify(truncated(0))),
      'malformed',
    )
  })
})

describe('a signed answer', () => {
  it('is verified with the MAC of its request', () => {
    const { wire, mac } = signRequest(query, key, now)
    const signed = new TsigSigner(verify(wire)!).sign(answer, now)
    new TsigVerifier({ key, mac }).verify(signed, decodeMessage(signed), now)
    const other = new TsigVerifier({ key, mac: Buffer.alloc(32) })
    assert.equal(
      reasonOf(() => other.verify(signed, decodeMessage(signed), now)),
      'BADSIG',
    )
  })

  it('of an error is unsigned for BADKEY and BADSIG, and has the time for BADTIME', () => {
    const { wire, mac } = signRequest(query, key, now)
    const failing = (work: () => unknown): TsigError => {
      try {
        work()
      } catch (error) {
        if (error instanceof TsigError) return error
      }
      throw new Error('no TsigError')
    }
    const late = failing(() => verify(wire, now + 400))
    const signed = signErrorAnswer(answer, late, now + 400)
    const tsig = decodeTsig(decodeMessage(signed).tsig!.rdata)
    assert.deepEqual([tsig.error, Buffer.from(tsig.other).readUIntBE(0, 6), tsig.time], [18, now + 400, now])
    assert.equal(
      reasonOf(() => new TsigVerifier({ key, mac }).verify(signed, decodeMessage(signed), now)),
      'BADTIME',
    )
    const forged = failing(() =>
      verify(signRequest(query, { ...key, secret: Buffer.alloc(32, 8) }, now).wire),
    )
    const unsigned = signErrorAnswer(answer, forged, now)
    assert.equal(decodeTsig(decodeMessage(unsigned).tsig!.rdata).mac.length, 0)
    assert.equal(
      reasonOf(() => new TsigVerifier({ key, mac }).verify(unsigned, decodeMessage(unsigned), now)),
      'BADSIG',
    )
  })
})

describe('a signed stream', () => {
  const stream = (count: number): { messages: Uint8Array[]; mac: Uint8Array } => {
    const { wire, mac } = signRequest(query, key, now)
    const signer = new TsigSigner(verify(wire)!)
    return { messages: Array.from({ length: count }, () => signer.sign(answer, now)), mac }
  }

  it('is verified message by message', () => {
    const { messages, mac } = stream(5)
    const verifier = new TsigVerifier({ key, mac })
    for (const wire of messages) verifier.verify(wire, decodeMessage(wire), now)
    verifier.finish()
  })

  it('is refused if a message is missing, repeated or swapped, or the first or last is unsigned', () => {
    const { messages, mac } = stream(4)
    const check = (order: readonly (number | 'unsigned')[]): TsigErrorName | 'malformed' | undefined =>
      reasonOf(() => {
        const verifier = new TsigVerifier({ key, mac })
        for (const at of order) {
          const wire = at === 'unsigned' ? answer : messages[at]!
          verifier.verify(wire, decodeMessage(wire), now)
        }
        verifier.finish()
      })
    assert.equal(check([0, 1, 2, 3]), undefined)
    assert.equal(check([0, 2, 3]), 'BADSIG')
    assert.equal(check([0, 0, 1]), 'BADSIG')
    assert.equal(check([1, 0]), 'BADSIG')
    assert.equal(check(['unsigned', 0]), 'BADSIG')
    assert.equal(check([0, 'unsigned']), 'BADSIG')
    assert.equal(check([]), 'BADSIG')
  })
})
