import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { apiDocument } from './document.ts'
import { openapi30 } from './openapi-30.ts'

type Json = Record<string, unknown>

const components = {
  User: { type: 'object', properties: { name: { type: 'string' } } },
  Either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
}

const documentWith = (schema: object, rest: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'API', license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
  paths: { '/one': { get: { parameters: [{ name: 'one', schema, example: { const: 1 } }] } } },
  components: { schemas: components },
  ...rest,
})

/** The schema of the parameter of the converted document. */
function converted(schema: object): unknown {
  const { paths } = openapi30(documentWith(schema)) as {
    paths: { '/one': { get: { parameters: readonly { schema: unknown }[] } } }
  }
  return paths['/one'].get.parameters[0]!.schema
}

const user = { $ref: '#/components/schemas/User' }

describe('a schema in OpenAPI 3.0', () => {
  const conversions: readonly (readonly [object, object])[] = [
    [
      { type: ['string', 'null'], maxLength: 5 },
      { type: 'string', nullable: true, maxLength: 5 },
    ],
    [{ type: 'null' }, { type: 'object', nullable: true, enum: [null] }],
    [
      { anyOf: [user, { type: 'null' }], description: 'the sender' },
      { type: 'object', nullable: true, allOf: [user], description: 'the sender' },
    ],
    [{ anyOf: [user, { type: 'integer' }] }, { anyOf: [user, { type: 'integer' }] }],
    [
      { type: 'boolean', const: true },
      { type: 'boolean', enum: [true] },
    ],
    [user, user],
    [
      { ...user, description: 'the sender' },
      { allOf: [user], description: 'the sender' },
    ],
    [
      { type: 'string', examples: ['a', 'b'] },
      { type: 'string', example: 'a' },
    ],
    [
      { type: 'object', patternProperties: { '^.*$': { type: ['integer', 'null'] } } },
      { type: 'object', additionalProperties: { type: 'integer', nullable: true } },
    ],
    [
      { type: 'array', items: { type: 'object', properties: { const: { const: 1 } } } },
      { type: 'array', items: { type: 'object', properties: { const: { enum: [1] } } } },
    ],
  ]
  for (const [given, expected] of conversions)
    it(`is ${JSON.stringify(expected)} for ${JSON.stringify(given)}`, () =>
      assert.deepEqual(converted(given), expected))

  const refused: readonly (readonly [object, RegExp])[] = [
    [{ prefixItems: [] }, /the keyword prefixItems has no conversion/],
    [{ exclusiveMinimum: 3 }, /the keyword exclusiveMinimum/],
    [{ type: ['string', 'integer'] }, /type \["string","integer"\]/],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] }, /anyOf/],
    [{ anyOf: [{ $ref: '#/components/schemas/Either' }, { type: 'null' }] }, /null or .*Either/],
    [{ type: 'object', patternProperties: { '^a': {} } }, /patternProperties/],
  ]
  for (const [given, message] of refused)
    it(`is refused for ${JSON.stringify(given)}`, () => assert.throws(() => converted(given), message))
})

describe('the document in OpenAPI 3.0', () => {
  it('has the license by its URL, the webhooks as an extension, and examples as they are', () => {
    const message = { post: { requestBody: { content: { json: { schema: { const: 'a' } } } } } }
    const document = openapi30(documentWith(user, { webhooks: { message } })) as Json
    assert.equal(document['openapi'], '3.0.3')
    assert.deepEqual(document['info'], {
      title: 'API',
      license: { name: 'Apache 2.0', url: 'https://spdx.org/licenses/Apache-2.0.html' },
    })
    assert.deepEqual(document['x-webhooks'], {
      message: { post: { requestBody: { content: { json: { schema: { enum: ['a'] } } } } } },
    })
    assert.match(JSON.stringify(document['paths']), /"example":\{"const":1\}/)
  })

  it('lists no scopes of API keys', () => {
    const document = documentWith(user, { security: [{ token: ['ipam:read'] }, {}] })
    assert.deepEqual((openapi30(document) as Json)['security'], [{ token: [] }, {}])
  })

  it('is refused for an unknown part or version', () => {
    assert.throws(() => openapi30(documentWith(user, { jsonSchemaDialect: '' })), /jsonSchemaDialect/)
    assert.throws(() => openapi30(documentWith(user, { openapi: '3.2.0' })), /openapi 3\.2\.0/)
  })

  it('has every operation, message and type of the API', () => {
    const whole = apiDocument('1') as Record<string, Record<string, Json>>
    const document = openapi30(whole) as Record<string, Record<string, Json>>
    const names = ({ paths, components: { schemas } = {} }: typeof document) => [
      Object.entries(paths!).flatMap(([path, methods]) =>
        Object.keys(methods).map((one) => `${one} ${path}`),
      ),
      Object.keys(schemas!),
    ]
    assert.deepEqual(names(document), names(whole))
    assert.deepEqual(Object.keys(document['x-webhooks']!), Object.keys(whole['webhooks']!))
  })
})
