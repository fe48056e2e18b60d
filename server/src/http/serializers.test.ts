import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answersOf } from '@pharos/contract/answers'
import { routes } from '@pharos/contract/document/routes'
import { Type } from 'typebox'
import { serializerOf, withoutValidators } from './serializers.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, rest = {}) =>
  Type.Union([type, Type.Null()], rest)

const schema = Type.Object(
  {
    text: nullable(Type.String()),
    time: nullable(Type.String({ format: 'date-time' }), { description: 'a time' }),
    count: nullable(Type.Integer()),
    share: nullable(Type.Number()),
    flag: nullable(Type.Boolean()),
    name: nullable(Type.Enum(['a', 'b'])),
    list: nullable(Type.Array(Type.String())),
    part: nullable(
      Type.Object({ inner: nullable(Type.Integer()), more: Type.Optional(nullable(Type.String())) }),
    ),
  },
  { additionalProperties: false },
)

const values = {
  text: 'a "text"',
  time: '2026-03-01T10:00:00Z',
  count: 0,
  share: 0.5,
  flag: false,
  name: 'b',
  list: ['a'],
  part: { inner: null, more: null },
}

describe('a serializer', () => {
  it('keeps null and the values of nullable fields, and drops unknown fields', () => {
    const serialize = serializerOf(schema)
    const allNull = Object.fromEntries(Object.keys(values).map((name) => [name, null]))
    assert.deepEqual(JSON.parse(serialize(values)), values)
    assert.deepEqual(JSON.parse(serialize(allNull)), allNull)
    const more = { ...values, secret: 1, part: { inner: 7, secret: 1 }, time: new Date(values.time) }
    const expected = { ...values, part: { inner: 7 }, time: '2026-03-01T10:00:00.000Z' }
    assert.deepEqual(JSON.parse(serialize(more)), expected)
  })

  it('keeps nullable fields beside a choice between two types', () => {
    const place = Type.Union([Type.String(), Type.Integer()])
    const serialize = serializerOf(Type.Object({ ...schema.properties, place: Type.Array(place) }))
    const more = { ...values, name: null, place: ['body', 1] }
    assert.deepEqual(JSON.parse(serialize(more)), more)
  })

  it('validates no value of an answer but where alternatives have the same place', () => {
    const withChoice = routes.filter((route) =>
      Object.values(answersOf(route)).some((bodies) =>
        Object.values(bodies).some((body) => withoutValidators(body) === undefined),
      ),
    )
    assert.deepEqual(
      withChoice.map(({ name }) => name),
      [
        'listProviders',
        'getProvider',
        'createProvider',
        'updateProvider',
        'createRecordSets',
        'updateShieldRules',
        'revertShieldList',
        'simulateShield',
        'suggestShieldRules',
        'listAlertRules',
        'getAlertRule',
        'createAlertRule',
        'updateAlertRule',
      ],
    )
  })

  it('is compiled once for all servers of a process', () => {
    for (const route of routes) assert.equal(answersOf(route), answersOf(route), route.name)
  })
})
