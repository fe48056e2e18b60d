import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { createTotpSecret, totpSecretText, totpStepOf, totpUri } from './totp.ts'
import { scaled } from '../runtime/testing-scale.ts'

/** RFC 6238, appendix B, for SHA-1: the last six of its eight digits. */
const vectors: readonly (readonly [seconds: number, code: string])[] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]
const secret = Buffer.from('12345678901234567890')
const at = (seconds: number) => new Date(seconds * 1000)

describe('a code of an authenticator', () => {
  for (const [seconds, code] of vectors) {
    it(`is that of the RFC at ${seconds} s, accepted one step before and one after`, () => {
      const step = Math.floor(seconds / 30)
      const steps = [-60, -30, 0, 30, 60].map((away) => totpStepOf(secret, code, at(seconds + away)))
      assert.deepEqual(steps, [undefined, step, step, step, undefined])
    })
  }

  it('is six digits of ASCII: any other text is rejected without an error', () => {
    for (const text of [
      '',
      '28708',
      '2870820',
      ' 287082',
      '28708２',
      '٢٨٧٠٨٢',
      'ääääää',
      '\u{1F600}'.repeat(3),
    ])
      assert.equal(totpStepOf(secret, text, at(59)), undefined, text)
    const numRuns = scaled(10_000)
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 12 }), (text) => {
        const step = totpStepOf(secret, text, at(59))
        assert.ok(step === undefined || /^\d{6}$/.test(text))
      }),
      { numRuns },
    )
  })

  it('of another secret is rejected', () => {
    assert.equal(totpStepOf(Buffer.from('22345678901234567890'), '287082', at(59)), undefined)
  })
})

describe('a secret', () => {
  it('has 20 random bytes, in base32 without padding', () => {
    const secrets = Array.from({ length: 100 }, createTotpSecret)
    assert.ok(secrets.every(({ length }) => length === 20))
    assert.equal(new Set(secrets.map((one) => one.toString('hex'))).size, 100)
    assert.equal(totpSecretText(secret), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  })

  it('is shown to an authenticator with issuer, account and parameters', () => {
    assert.equal(
      totpUri(secret, 'Networks: & Co', 'anna+x@red.example'),
      'otpauth://totp/Networks%20%20%26%20Co:anna%2Bx%40red.example?issuer=Networks%20%20%26%20Co' +
        '&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&period=30',
    )
  })
})
