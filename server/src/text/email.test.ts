import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { parseEmail } from './email.ts'
import { scaled } from '../runtime/testing-scale.ts'

describe('an e-mail address', () => {
  const kept: Record<string, string> = {
    'ann@team.example': 'ann@team.example',
    'Ann.B+x@TEAM.Example': 'Ann.B+x@team.example',
    "o'neil@team.example": "o'neil@team.example",
    'root@localhost': 'root@localhost',
    'ann@müller.example': 'ann@xn--mller-kva.example',
    'ann@MU\u0308LLER.example': 'ann@xn--mller-kva.example',
    'ann@xn--mller-kva.example': 'ann@xn--mller-kva.example',
    'rene\u0301@team.example': 'ren\u00e9@team.example',
    '用户@例子.测试': '用户@xn--fsqu00a.xn--0zwm56d',
    'ann@team。example': 'ann@team.example',
  }
  for (const [text, address] of Object.entries(kept)) {
    it(`is parsed from ${text} as ${address}`, () => assert.equal(parseEmail(text), address))
  }

  const refused = [
    '',
    'ann',
    '@team.example',
    'ann@',
    'ann@@team.example',
    'a b@team.example',
    'ann@team.example\r\nBcc: eve@evil.example',
    'ann\n@team.example',
    'ann\u200b@team.example',
    'ann\u202e@team.example',
    'ann\u00a0b@team.example',
    '"ann"@team.example',
    'Ann <ann@team.example>',
    'ann@team.example,eve@evil.example',
    'ann@[192.0.2.1]',
    'ann@192.0.2.1',
    'ann@0x7f.1',
    'ann@-team.example',
    'ann@team..example',
    'ann@team.example.',
    'ann@te%61m.example',
    '.ann@team.example',
    'an..n@team.example',
    `${'a'.repeat(65)}@team.example`,
    `ann@${'a'.repeat(64)}.example`,
    `${'é'.repeat(33)}@team.example`,
    `ann@${`${'a'.repeat(60)}.`.repeat(4)}example`,
  ]
  for (const text of refused) {
    it(`is not ${JSON.stringify(text.slice(0, 60))}`, () => assert.equal(parseEmail(text), undefined))
  }

  it('is in canonical form, and contains no line end and no separator of headers', () => {
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: codePoint, maxLength: 80 })), (text) => {
        const address = parseEmail(text)
        if (address === undefined) return
        assert.equal(parseEmail(address), address)
        assert.match(address, /^[^\s<>,;"]+@[a-z0-9_.-]+$/u)
      }),
      { numRuns: scaled(20_000) },
    )
  })
})
