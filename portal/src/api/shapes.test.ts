import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Type as typebox } from 'typebox'
import { Type as shapes } from './shapes.ts'

type Make = (type: typeof typebox) => unknown
const samples: Record<string, Make> = {
  String: (type) => type.String({ minLength: 1, format: 'date-time' }),
  Integer: (type) => type.Integer({ minimum: 1 }),
  Number: (type) => type.Number({ maximum: 1 }),
  Boolean: (type) => type.Boolean({ default: false }),
  Null: (type) => type.Null(),
  Unknown: (type) => type.Unknown(),
  Unsafe: (type) => type.Unsafe({ anyOf: [{ type: 'string' }] }),
  Enum: (type) => type.Enum(['a', 'b']),
  Literal: (type) => type.Union([type.Literal(true), type.Literal('x')]),
  Array: (type) => type.Array(type.String(), { maxItems: 3 }),
  Union: (type) => type.Union([type.String(), type.Null()]),
  Optional: (type) => type.Object({ a: type.Optional(type.String()) }),
  Object: (type) =>
    type.Object({ a: type.Integer(), b: type.Optional(type.Null()) }, { additionalProperties: false }),
  Record: (type) => type.Record(type.String(), type.Integer(), { description: 'counts' }),
}

describe('the shapes that replace typebox in the browser', () => {
  for (const [name, make] of Object.entries(samples))
    it(`build the same schema as typebox for ${name}`, () => {
      const ours = make(shapes as unknown as typeof typebox)
      assert.deepEqual(JSON.parse(JSON.stringify(ours)), JSON.parse(JSON.stringify(make(typebox))))
    })

  it('cover every shape that the contract uses', () => {
    const folder = new URL('../../../contract/src/', import.meta.url)
    const text = readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8'))
      .join('\n')
    const asked = new Set([...text.matchAll(/\bType\.([A-Z]\w+)/g)].map(([, name]) => name!))
    assert.deepEqual(
      [...asked].filter((name) => !Object.hasOwn(shapes, name)),
      [],
    )
    assert.deepEqual(Object.keys(samples).sort(), Object.keys(shapes).sort())
  })
})
