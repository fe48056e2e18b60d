import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../runtime/error.ts'
import { parseJsonBody } from './strict-json.ts'
import { scaled } from '../runtime/testing-scale.ts'

const codeOf = (bytes: Buffer): string => {
  try {
    parseJsonBody(bytes)
    return 'read'
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
    return error.code
  }
}

describe('a JSON body', () => {
  const cases: [string, string | Buffer, string][] = [
    ['is read', '{"enabled":true}', 'read'],
    ['may not be empty', '', 'malformed'],
    ['may not be blank', ' \n', 'malformed'],
    ['must be JSON', '{"enabled":tru}', 'malformed'],
    ['must be one value', '{} {}', 'malformed'],
    ['must be UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'malformed'],
    ['may not repeat a key', '{"enabled":true,"enabled":true}', 'invalid'],
    ['may not repeat a key in another spelling', '{"enabled":true,"\\u0065nabled":false}', 'invalid'],
    ['may not repeat a key at any depth', '{"a":[{"b":1,"b":1}]}', 'invalid'],
    ['may not repeat __proto__', '{"__proto__":1,"__proto__":2}', 'invalid'],
    ['may not contain NUL', '{"a":"\\u0000"}', 'invalid'],
    ['may not contain a lone high surrogate', '{"a":["\\ud800"]}', 'invalid'],
    ['may not contain a lone low surrogate', '{"\\uDFFF":1}', 'invalid'],
    ['may contain a surrogate pair', '{"a":"\\ud83e\\udd86"}', 'read'],
    ['may contain an escaped backslash before a surrogate-like text', '{"a":"\\\\ud800"}', 'read'],
    ['may not be nested too deeply', '['.repeat(400_000) + ']'.repeat(400_000), 'malformed'],
  ]
  for (const [name, body, code] of cases) {
    it(name, () => assert.equal(codeOf(Buffer.from(body as string)), code))
  }

  it('keeps __proto__ as a field, so that a strict schema rejects it', () => {
    assert.deepEqual(Object.keys(parseJsonBody(Buffer.from('{"__proto__":{"enabled":true}}')) as object), [
      '__proto__',
    ])
  })

  it('without repeated keys is parsed as by JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        if (!text.includes('\\u0000')) assert.deepEqual(parseJsonBody(Buffer.from(text)), JSON.parse(text))
      }),
      { numRuns: scaled(20_000) },
    )
  })

  it('is parsed or rejected for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void codeOf(Buffer.from(bytes))),
      { numRuns: scaled(100_000) },
    )
  })
})
