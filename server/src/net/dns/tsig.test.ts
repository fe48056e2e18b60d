import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeMessage } from './message-writer.ts'
import { decodeMessage, emptyMessage } from './message.ts'
import { parseName } from './name.ts'
import {
  TsigFailure,
  TsigSigner,
  TsigVerifier,
  tsigAlgorithms,
  tsigLength,
  verifyTsig,
  type TsigKey,
} from './tsig.ts'

const now = 1_763_800_000
const key: TsigKey = { name: parseName('key.example.'), algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 7) }
const question = { name: parseName('example.'), type: 6, class: 1 }
const query = encodeMessage({ ...emptyMessage, id: 4711, questions: [question] })
const find = (name: string): TsigKey | undefined => (name === key.name ? key : undefined)

const verdictOf = (wire: Uint8Array, at = now) => verifyTsig(wire, decodeMessage(wire), find, at)

describe('TSIG', () => {
  it('accepts its own signature with every algorithm, and adds the announced length', () => {
    for (const algorithm of tsigAlgorithms) {
      const other = { ...key, algorithm }
      const signed = new TsigSigner(other).sign(query, now)
      assert.equal(signed.length - query.length, tsigLength(other))
      assert.ok(verifyTsig(signed, decodeMessage(signed), () => other, now).ok)
    }
  })

  it('refuses another secret, an unknown key, a changed octet, a short MAC and a wrong time', () => {
    const signed = new TsigSigner(key).sign(query, now)
    const forged = new TsigSigner({ ...key, secret: Buffer.alloc(32, 8) }).sign(query, now)
    assert.equal(errorOf(verdictOf(forged)), 'BADSIG')
    const unknown = new TsigSigner({ ...key, name: parseName('other.example.') }).sign(query, now)
    assert.equal(errorOf(verdictOf(unknown)), 'BADKEY')
    const sha512 = new TsigSigner({ ...key, algorithm: 'hmac-sha512' }).sign(query, now)
    assert.equal(errorOf(verdictOf(sha512)), 'BADKEY')
    for (let at = 2; at < query.length; at++) {
      const changed = signed.slice()
      changed[at]! ^= 0x20
      assert.ok(isRefused(changed), `octet ${at}`)
    }
    assert.equal(errorOf(verdictOf(signed, now + 301)), 'BADTIME')
    assert.equal(errorOf(verdictOf(signed, now - 301)), 'BADTIME')
    assert.ok(verdictOf(signed, now + 299).ok)
  })

  it('accepts a request whose id a forwarder has changed', () => {
    const signed = new TsigSigner(key).sign(query, now)
    signed[0]! ^= 0xff
    assert.ok(verdictOf(signed).ok)
  })

  it('signs every message of a sequence, each covering the one before', () => {
    const signer = new TsigSigner(key)
    signer.sign(query, now)
    const answers = new TsigSigner(key, signer.mac)
    const verifier = new TsigVerifier(key, signer.mac)
    const messages = [1, 2, 3].map((n) => answers.sign(encodeMessage({ ...emptyMessage, qr: true, id: n }), now))
    for (const wire of messages) {
      verifier.verify(wire, decodeMessage(wire), now)
      assert.ok(verifier.isComplete)
    }
    const swapped = new TsigVerifier(key, signer.mac)
    swapped.verify(messages[0]!, decodeMessage(messages[0]!), now)
    assert.throws(() => swapped.verify(messages[2]!, decodeMessage(messages[2]!), now), TsigFailure)
  })

  it('does not accept an unsigned answer, nor a sequence that ends unsigned', () => {
    const signer = new TsigSigner(key)
    signer.sign(query, now)
    const plain = encodeMessage({ ...emptyMessage, qr: true })
    assert.throws(() => new TsigVerifier(key, signer.mac).verify(plain, decodeMessage(plain), now), {
      reason: 'unsigned',
    })
    const verifier = new TsigVerifier(key, signer.mac)
    const first = new TsigSigner(key, signer.mac).sign(plain, now)
    verifier.verify(first, decodeMessage(first), now)
    verifier.verify(plain, decodeMessage(plain), now)
    assert.equal(verifier.isComplete, false)
  })

  it('answers a wrong time with a signed time, and a wrong key without a MAC', () => {
    const signer = new TsigSigner(key)
    const signed = signer.sign(query, now)
    const refused = verdictOf(signed, now + 1000)
    assert.ok(!refused.ok)
    const plain = encodeMessage({ ...emptyMessage, qr: true, id: 4711, rcode: 9 })
    const answer = refused.answer(plain, now + 1000)
    const verifier = new TsigVerifier(key, signer.mac)
    assert.throws(() => verifier.verify(answer, decodeMessage(answer), now), { reason: 'BADTIME' })
    const unknown = verifyTsig(signed, decodeMessage(signed), () => undefined, now)
    assert.ok(!unknown.ok)
    const without = unknown.answer(plain, now)
    assert.throws(() => new TsigVerifier(key, signer.mac).verify(without, decodeMessage(without), now), {
      reason: 'BADKEY',
    })
  })
})

const errorOf = (verdict: ReturnType<typeof verdictOf>): string | undefined =>
  verdict.ok ? undefined : verdict.error

function isRefused(wire: Uint8Array): boolean {
  try {
    return !verdictOf(wire).ok
  } catch {
    return true
  }
}
