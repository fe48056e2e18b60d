import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createApiToken, formatApiToken, parseApiToken } from './api-token-format.ts'
import { scaled } from '../runtime/testing-scale.ts'

test('a token has the documented format and can be parsed', () => {
  for (const [holder, form] of [
    ['team', /^phs_[a-z2-7]{12}_[0-9A-Za-z]{49}$/],
    ['staff', /^phstaff_[a-z2-7]{12}_[0-9A-Za-z]{49}$/],
  ] as const) {
    for (let times = 0; times < 200; times++) {
      const token = createApiToken(holder)
      const text = formatApiToken(token)
      assert.match(text, form)
      assert.deepEqual(parseApiToken(text), token)
    }
  }
})

test('the checksum is CRC-32 in base62, so that a scanner can compute it', () => {
  const token = { holder: 'team', id: 'abcdefghijkl', secret: 'x'.repeat(43) } as const
  // crc32('phs_abcdefghijkl_' + 'x' * 43) = 4155513419, computed with Python's zlib
  assert.equal(formatApiToken(token), `phs_abcdefghijkl_${'x'.repeat(43)}4XE6rz`)
})

test('no two tokens are the same', () => {
  const texts = new Set(Array.from({ length: 1000 }, () => formatApiToken(createApiToken())))
  assert.equal(texts.size, 1000)
})

test('every single mistyped character is detected', () => {
  const text = formatApiToken(createApiToken())
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
      const mistyped = text.slice(0, at) + character + text.slice(at + 1)
      assert.equal(parseApiToken(mistyped) === undefined, mistyped !== text)
    }),
    { numRuns: scaled(500) },
  )
})

test('text that is not a token is rejected', () => {
  const text = formatApiToken(createApiToken())
  const others = [
    '',
    'phs_',
    `${text}\n`,
    ` ${text}`,
    text.toUpperCase(),
    text.slice(1),
    `${text}0`,
    'eyJ.x.y',
  ]
  for (const other of others) assert.equal(parseApiToken(other), undefined, JSON.stringify(other))
})
