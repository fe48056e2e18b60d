import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import {
  createKeyRing,
  deriveKey,
  equalBytes,
  isSealedUnderNewest,
  mac,
  open,
  seal,
  verifyMac,
} from './secrets.ts'

const first = 'first-secret-of-at-least-thirty-two-bytes'
const second = 'second-secret-of-at-least-thirty-two-bytes'
const old = createKeyRing([first])
const rotated = createKeyRing([second, first])
const later = createKeyRing([second])

test('a ring needs a key, of 32 bytes, each once', () => {
  assert.throws(() => createKeyRing([]), /empty/)
  assert.throws(() => createKeyRing([first, 'x'.repeat(31)]), /key 2 of the ring has 31 bytes/)
  assert.throws(() => createKeyRing([first, first]), /twice/)
})

test('keys differ by purpose and by secret, and stay the same', () => {
  assert.notDeepEqual(deriveKey(old, 'api-token'), deriveKey(old, 'source-secret'))
  assert.notDeepEqual(deriveKey(old, 'api-token'), deriveKey(later, 'api-token'))
  assert.equal(
    deriveKey(old, 'api-token').toString('hex'),
    deriveKey(createKeyRing([first]), 'api-token').toString('hex'),
  )
})

test('a value from before a rotation is recognised until its key is removed from the ring', () => {
  const stored = mac(old, 'api-token', 'value')
  assert.ok(verifyMac(rotated, 'api-token', 'value', stored))
  assert.ok(!verifyMac(later, 'api-token', 'value', stored))
  assert.ok(!verifyMac(rotated, 'source-secret', 'value', stored))
  assert.ok(!verifyMac(rotated, 'api-token', 'Value', stored))
  assert.ok(!verifyMac(rotated, 'api-token', 'value', stored.subarray(1)))
})

test('a sealed value can be opened under any key of the ring, and a missing key is reported', () => {
  const sealed = seal(old, 'signing-key', Buffer.from('private'), 'kid-1')
  assert.equal(open(rotated, 'signing-key', sealed, 'kid-1').toString(), 'private')
  assert.ok(!isSealedUnderNewest(rotated, 'signing-key', sealed))
  assert.ok(isSealedUnderNewest(old, 'signing-key', sealed))
  assert.throws(
    () => open(later, 'signing-key', sealed, 'kid-1'),
    /sealed under key [0-9a-f]{8}, which is not in PHAROS_SECRET/,
  )
  assert.throws(() => open(rotated, 'signing-key', sealed, 'kid-2'))
})

test('sealing twice never gives the same bytes', () => {
  assert.notDeepEqual(seal(old, 'signing-key', Buffer.from('x')), seal(old, 'signing-key', Buffer.from('x')))
})

test('a sealed value can be opened again, and any changed byte is detected', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(), fc.integer({ min: 1, max: 255 }), (plain, at, flip) => {
      const sealed = seal(rotated, 'signing-key', plain)
      assert.deepEqual(open(rotated, 'signing-key', sealed), Buffer.from(plain))
      sealed[at % sealed.length]! ^= flip
      assert.throws(() => open(rotated, 'signing-key', sealed))
      assert.throws(() => open(rotated, 'signing-key', sealed.subarray(0, at % sealed.length)))
    }),
    { numRuns: 200 },
  )
})

test('a ring shows nothing when it is printed or serialised', () => {
  assert.equal(JSON.stringify({ rotated }), '{"rotated":{}}')
  assert.ok(!inspect(rotated, { depth: 9, showHidden: true }).includes('secret'))
})

test('bytes of different lengths are different', () => {
  assert.ok(!equalBytes(Buffer.from('a'), Buffer.from('ab')))
  assert.ok(equalBytes(Buffer.from('ab'), Buffer.from('ab')))
})
