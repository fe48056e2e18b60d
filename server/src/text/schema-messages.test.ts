// Every schema with a pattern, a format or an expectation in the parameters and bodies of all routes: a wrong value
// gives a message that contains no regular expression, and an example or a clear rule of the allowed values.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { routes } from '@pharos/contract/document/routes'
import type { TObject, TSchema } from 'typebox'
import { Failure } from '../runtime/error.ts'
import { createPathReader, createQueryReader } from '../http/query.ts'
import { createSchemaCheck } from './schema-error.ts'

type Part = TSchema & {
  readonly type?: string
  readonly pattern?: string
  readonly format?: string
  readonly expects?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Part
  readonly anyOf?: readonly Part[]
  readonly properties?: Readonly<Record<string, Part>>
}

/** A scalar schema with its place, such as `addMember body.email`. */
type Place = { readonly name: string; readonly part: 'path' | 'query' | 'body'; readonly schema: Part }

function scalarsOf(schema: Part, name: string, part: Place['part']): Place[] {
  const { items, anyOf, properties } = schema
  if (properties)
    return Object.entries(properties).flatMap(([key, one]) => scalarsOf(one, `${name}.${key}`, part))
  if (items) return scalarsOf(items, `${name}[]`, part)
  if (anyOf) return anyOf.flatMap((one) => scalarsOf(one, name, part))
  return schema.type === 'null' ? [] : [{ name, part, schema }]
}

const places = routes.flatMap((route) => [
  ...scalarsOf(route.params as Part, `${route.name} path`, 'path'),
  ...scalarsOf(route.query as Part, `${route.name} query`, 'query'),
  ...(route.body ? scalarsOf(route.body as Part, `${route.name} body`, 'body') : []),
  ...(route.upload ? scalarsOf(route.upload.fields as Part, `${route.name} form`, 'query') : []),
])

const ruled = places.filter(
  ({ schema }) =>
    schema.pattern ?? schema.format ?? schema.expects ?? schema.enum ?? schema.type === 'integer',
)

const wrongValues = [
  '',
  ' ',
  '!',
  'a/b c',
  'x'.repeat(2_000),
  'AS64496',
  '12 34',
  '\u202e',
  5,
  -1,
  1.5,
  1e16,
  true,
  null,
  [],
  {},
]

/** Returns the messages of wrong values for one schema: as a body, or as text in a query or path. */
function messagesOf({ schema, part }: Place): string[] {
  if (part === 'body') {
    const check = createSchemaCheck(schema)
    return wrongValues.flatMap((value) => check(value).map(({ message, ctx }) => textOf(message, ctx)))
  }
  const object = {
    type: 'object',
    properties: { name: schema },
    additionalProperties: false,
  } as unknown as TObject
  const texts = wrongValues.map(String)
  const read =
    part === 'path'
      ? (
          (reader) => (text: string) =>
            reader({ name: text })
        )(createPathReader(object))
      : (
          (reader) => (text: string) =>
            reader(`name=${encodeURIComponent(text)}`)
        )(createQueryReader(object))
  return texts.flatMap((text) => {
    try {
      read(text)
      return []
    } catch (error) {
      assert.ok(error instanceof Failure, String(error))
      return error.errors ? error.errors.map(({ msg, ctx }) => textOf(msg, ctx)) : [error.message]
    }
  })
}

const textOf = (message: string, ctx: unknown): string => `${message} ${ctx ? JSON.stringify(ctx) : ''}`

const regularExpression = /\\[dwsSbp]|\(\?|\[\^?[a-zA-Z0-9]-|[\])][+*{?]|\{\d+(,\d*)?\}|^\^|\$$|"pattern"/

/** A value, a list of values, a range, or a literal rule. */
const helpful =
  /such as|one of|from -?\d+ to \d+|true or false|at (most|least) \d|an array|an object|must be a string|must be null|must not be empty|U\+[0-9A-F]{4}|NUL|must be [A-Za-z0-9"_]+ (\{|$)|digits|UUID|comma-separated|not blank|does not begin|There is no such object|team, or current|API token, its 12/

describe('the message of a wrong value', () => {
  it('is tested for every route with parameters or a body', () => {
    const tested = new Set(ruled.map(({ name }) => name.split(' ')[0]))
    assert.ok(tested.size > 50 && ruled.length > 150, `${tested.size} routes, ${ruled.length} schemas`)
    for (const kind of ['pattern', 'format', 'expects'] as const)
      assert.ok(
        ruled.some(({ schema }) => schema[kind] !== undefined),
        kind,
      )
  })

  for (const place of ruled) {
    it(`of ${place.name} contains what is allowed, and no pattern`, () => {
      const messages = [...new Set(messagesOf(place))]
      assert.ok(messages.length > 0, 'nothing is wrong here')
      for (const message of messages) {
        assert.doesNotMatch(message, regularExpression)
        if (place.schema.pattern !== undefined) assert.ok(!message.includes(place.schema.pattern), message)
        assert.match(message, helpful)
      }
    })
  }

  it('with a pattern contains its expectation', () => {
    for (const { name, schema } of places)
      if (schema.pattern !== undefined) assert.ok(schema.expects, `${name} has a pattern without expects`)
  })
})
