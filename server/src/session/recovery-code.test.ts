import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import {
  createRecoveryCodes,
  matchRecoveryCode,
  parseRecoveryCode,
  recoveryCodeMac,
} from './recovery-code.ts'
import { scaled } from '../runtime/testing-scale.ts'

const ring = createKeyRing(['r'.repeat(40)])

describe('recovery codes', () => {
  it('are ten different codes in the documented format', () => {
    const codes = Array.from({ length: 100 }, createRecoveryCodes).flat()
    assert.equal(codes.length, 1_000)
    assert.equal(new Set(codes).size, 1_000)
    for (const code of codes) assert.match(code, /^[a-z2-7]{5}-[a-z2-7]{5}$/)
  })

  it('are parsed in any case, with or without dash and spaces', () => {
    for (const text of ['abcde-fgh27', 'ABCDE-FGH27', 'abcdefgh27', ' abcde fgh27 ', 'aBcDe--fGh27'])
      assert.equal(parseRecoveryCode(text), 'abcdefgh27', text)
    for (const text of [
      '',
      '123456',
      'abcde-fgh2',
      'abcde-fgh277',
      'abcde-fgh20',
      'abcde_fgh27',
      'äbcde-fgh27',
    ])
      assert.equal(parseRecoveryCode(text), undefined, text)
  })

  it('are parsed to the canonical format or rejected, for any text', () => {
    const numRuns = scaled(10_000)
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 30 }), (text) => {
        const code = parseRecoveryCode(text)
        assert.ok(code === undefined || /^[a-z2-7]{10}$/.test(code))
      }),
      { numRuns },
    )
  })

  it('match their stored MAC, for their user only, and under every key of the ring', () => {
    const stored = ['aaaaa-aaaaa', 'abcde-fgh27', 'zzzzz-zzzzz'].map((code, id) => ({
      id,
      codeMac: recoveryCodeMac(ring, 7, code),
    }))
    assert.equal(matchRecoveryCode(ring, 7, 'ABCDEFGH27', stored)?.id, 1)
    assert.equal(matchRecoveryCode(ring, 8, 'abcde-fgh27', stored), undefined)
    assert.equal(matchRecoveryCode(ring, 7, 'abcde-fgh22', stored), undefined)
    assert.equal(matchRecoveryCode(ring, 7, '123456', stored), undefined)
    const rotated = createKeyRing(['n'.repeat(40), 'r'.repeat(40)])
    assert.equal(matchRecoveryCode(rotated, 7, 'abcde-fgh27', stored)?.id, 1)
  })
})
