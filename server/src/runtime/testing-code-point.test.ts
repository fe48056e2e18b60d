import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { codePoint } from './testing-code-point.ts'

const root = join(import.meta.dirname, '../../..')

describe('the code points of property tests', () => {
  it('are those of every plane, and no surrogate', () => {
    const planes = new Set<number>()
    const property = fc.property(codePoint, (character) => {
      const code = character.codePointAt(0)!
      assert.equal(character, String.fromCodePoint(code))
      assert.ok(character.isWellFormed())
      planes.add(code >> 16)
    })
    fc.assert(property, { numRuns: 2_000 })
    assert.equal(planes.size, 17)
  })

  it('can be shrunk from a text, as dangerous texts must be', () => {
    const text = fc.string({ unit: codePoint })
    for (const one of ['__proto__', '\u{10ffff}', '\ud7ff\ue000'])
      assert.ok(text.canShrinkWithoutContext(one), one)
    assert.ok(!text.canShrinkWithoutContext('\ud800'))
  })

  it('are never those of the table of fast-check', () => {
    const files = globSync('{bench,contract,lab,portal,server}/**/*.ts', {
      cwd: root,
      exclude: ['**/node_modules/**'],
    })
    const found = files.filter((file) => /\bunit: '(?:binary)'/.test(readFileSync(join(root, file), 'utf8')))
    assert.deepEqual(found, [])
  })
})
