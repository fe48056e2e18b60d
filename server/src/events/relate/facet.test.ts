import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { aroundNetwork, networkMark } from './facet.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const network = '203.0.113.7'
const piece = fc.constantFrom('on ', 'flood', 'd', '7', '.', ':', 'ab', ' ')
const words = fc.array(piece, { maxLength: 4 }).map((list) => list.join(''))

test('every text with a character of the network is found around it', () => {
  fc.assert(
    fc.property(words, words, fc.nat(), fc.nat(), (before, after, from, length) => {
      const description = before + network + after
      const start = from % description.length
      const text = description.slice(start, start + 1 + (length % 12))
      const touches = start < before.length + network.length && start + text.length > before.length
      fc.pre(touches)
      const around = aroundNetwork(text)
      assert.ok(
        around.before.some((one, at) => before.endsWith(one) && after.startsWith(around.after[at]!)),
        JSON.stringify({ description, text }),
      )
    }),
    { numRuns: scaled(2_000) },
  )
})

test('a word outside of the network is not found around it', () => {
  const { before, after } = aroundNetwork('fragment')
  const found = before.some((one, at) => 'ip fragment flood on '.endsWith(one) && ''.startsWith(after[at]!))
  assert.equal(found, false)
})

test('a text with very many ways counts as possible everywhere', () => {
  assert.deepEqual(aroundNetwork('a'.repeat(500)), { before: [''], after: [''] })
  assert.equal(aroundNetwork(networkMark).before.length, 0)
})
