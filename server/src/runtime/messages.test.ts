import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { problems } from '@pharos/contract/problem'
import { failureTexts, invalidTexts, textOf } from './messages.ts'

const root = join(import.meta.dirname, '../../..')
const sources = ['server/src', 'demo/src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|runtime\/messages\.ts$/.test(file))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const),
)

/** Attributes that are readable in any sentence: numbers, texts and lists. */
const attrs = new Proxy(
  {},
  {
    get: (_, name) =>
      /s$|^known$|^allowed$|^accepted$|^valid$|^missing$|^open$|^uncompared$/.test(String(name))
        ? [`<${String(name)}>`]
        : `<${String(name)}>`,
  },
)

type Text = string | ((attrs: never) => string)
const failures = Object.entries(failureTexts as Record<string, Record<string, Text>>).flatMap(
  ([code, texts]) =>
    Object.entries(texts).map(([condition, text]) => ({ code, condition, text: textOf(text, attrs) })),
)
const errors = Object.entries(invalidTexts).map(([condition, [, text]]) => ({
  code: 'invalid',
  condition,
  text: textOf(text as Text, attrs),
}))

describe('the catalogue of messages', () => {
  it('has messages for every problem code but `invalid`, whose errors have messages of their own', () => {
    assert.deepEqual(
      Object.keys(problems).filter((code) => !(code in failureTexts)),
      ['invalid'],
    )
  })

  it('has no message that nothing uses', () => {
    const unused = [...failures, ...errors].filter(
      ({ condition }) => !sources.some(([, text]) => text.includes(`'${condition}'`)),
    )
    assert.deepEqual(unused, [])
  })

  it('has each text once', () => {
    const texts = [...failures, ...errors].map(({ code, text }) => `${code}: ${text}`)
    // Several places may expect the same; their public types differ.
    const repeated = texts.filter((text, at) => texts.indexOf(text) !== at)
    assert.deepEqual(repeated, [])
  })

  it('has sentences for failures, and predicates for errors at a place', () => {
    for (const { text, condition } of failures) {
      assert.match(text, /^[A-Z<].*\.$/, condition)
      assert.doesNotMatch(text, /undefined|\[object/, condition)
    }
    for (const { text, condition } of errors)
      assert.match(text, /^(must|is|was|has|overlaps) .*[^.]$/, condition)
  })

  it('is the only source of failures', () => {
    const others = sources.filter(
      ([file, text]) => text.includes('new Failure(') && file !== 'server/src/runtime/error.ts',
    )
    assert.deepEqual(
      others.map(([file]) => file),
      [],
    )
  })
})
