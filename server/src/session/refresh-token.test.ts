import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { formatRefreshToken, parseRefreshToken } from './refresh-token.ts'
import { scaled } from '../runtime/testing-scale.ts'

const ring = createKeyRing(['k'.repeat(40)])
const token = { sessionId: '8d47b489-fa88-4b4d-9f26-dfb524385522', counter: 7 }
const text = formatRefreshToken(ring, token)

describe('a refresh token', () => {
  it('is a function of the session and the number', () => {
    assert.equal(formatRefreshToken(ring, token), text)
    assert.deepEqual(parseRefreshToken(ring, text), token)
    assert.notEqual(formatRefreshToken(ring, { ...token, counter: 8 }), text)
  })

  it('created under an older key of the ring is valid, under another ring it is not', () => {
    assert.deepEqual(parseRefreshToken(createKeyRing(['n'.repeat(40), 'k'.repeat(40)]), text), token)
    assert.equal(parseRefreshToken(createKeyRing(['n'.repeat(40)]), text), undefined)
  })

  it('with any character changed is invalid', () => {
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === 'a' ? 'b' : 'a'
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      const parsed = parseRefreshToken(ring, changed)
      // The last base64url character of 32 bytes contains four unused bits; all other bits are significant.
      if (at < text.length - 1) assert.equal(parsed, undefined, changed)
    }
  })

  it('of any text is valid or not, never an error', () => {
    const near = fc
      .tuple(fc.nat(text.length), fc.string({ unit: codePoint, maxLength: 5 }))
      .map(([at, noise]) => text.slice(0, at) + noise + text.slice(at + noise.length))
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: codePoint })), (some) => {
        const parsed = parseRefreshToken(ring, some)
        assert.ok(parsed === undefined || some.slice(0, -1) === text.slice(0, -1))
      }),
      { numRuns: scaled(100_000) },
    )
  })
})
