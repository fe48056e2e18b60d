import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { isHeaderText, parseMailbox } from './mailbox.ts'
import { scaled } from '../runtime/testing-scale.ts'

test('a sender is an address, with or without a name', () => {
  const address = 'noreply@net.example'
  assert.deepEqual(parseMailbox(address), { name: '', address })
  for (const text of [
    'Example Net, Zürich <noreply@net.example>',
    '"Example Net, Zürich" <noreply@net.example>',
  ])
    assert.deepEqual(parseMailbox(text), { name: 'Example Net, Zürich', address })
  for (const text of ['noreply', 'a@b@c', '<>', 'a <b', 'A\nB <a@b.example>', 'a@b.example, c@d.example'])
    assert.throws(() => parseMailbox(text), /must be like/, text)
})

test('a header text has no line end and no hidden character', () => {
  for (const text of ['', 'Example Net', 'Zürich 日本 🚀', `"quoted" <a@b>`])
    assert.ok(isHeaderText(text), text)
  for (const text of ['a\nb', 'a\rb', 'a\0b', 'a\u2028b', 'a\u202eb', 'a\u200bb', 'a\ud800b'])
    assert.ok(!isHeaderText(text), JSON.stringify(text))
})

test('a parsed sender contains no line end and no separator', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 40 }), (text) => {
      for (const tried of [text, `a <${text}>`, `${text} <a@b.example>`, `${text}@b.example`]) {
        try {
          const { name, address } = parseMailbox(tried)
          assert.doesNotMatch(name, /[\p{Cc}\u2028\u2029<>"]/u)
          assert.doesNotMatch(address, /[\s\p{C}<>(),:;"[\]\\]/u)
        } catch (error) {
          assert.match((error as Error).message, /^must be like/)
        }
      }
    }),
    { numRuns: scaled(2_000) },
  )
})
