import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type, type TObject } from 'typebox'
import { Deprecated, deprecationsIn, deprecationsUsed } from './deprecation.ts'
import { openapi } from './document/openapi.ts'
import { openapi30 } from './document/openapi-30.ts'
import { route, type Route } from './route.ts'
import { routes } from './document/routes.ts'
import { Component, Optional, Strict } from './scalar.ts'

const since = { since: '2027-01-31', sunset: '2028-01-31', use: 'regions' }
const Place = Component('Place', { name: Type.String() }, { description: 'a place' })

const declared = {
  name: 'createRoute',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/routes',
  summary: '',
  description: 'Creates a route.',
  permission: { credential: 'none' },
  success: 204,
  keyless: 'no_caller',
  deprecated: { ...since, use: 'createAnnouncements' },
  query: Strict({ fast: Optional(Deprecated(Type.Boolean({ description: 'soon' }), since)) }),
  body: Component('NewRoute', {
    regions: Type.Array(Type.String()),
    region: Optional(Deprecated(Type.String(), since)),
    place: Optional(Deprecated(Place, since)),
    hops: Optional(
      Type.Array(Strict({ mtu: Optional(Deprecated(Type.Integer(), since)) }, { title: 'Hop' })),
    ),
  }),
} as const

const createRouteRoute = route(declared) as unknown as Route
const updateRouteRoute = route({ ...declared, name: 'updateRoute', method: 'PATCH', deprecated: null })

const text = 'deprecated since 2027-01-31, works until 2028-01-31: use `regions`'

describe('something deprecated in the document', () => {
  type Document = {
    paths: { '/v3/routes': { post: Operation } }
    components: { schemas: Record<string, { properties: Record<string, object> }>; headers: object }
  }
  type Operation = {
    deprecated: boolean
    description: string
    parameters: { deprecated?: boolean; description: string }[]
    responses: Record<string, { headers: object }>
  }
  const document = openapi([createRouteRoute], { version: '1' }) as unknown as Document
  const { post } = document.paths['/v3/routes']

  it('is marked, with its days and its replacement, as an operation', () => {
    assert.equal(post.deprecated, true)
    assert.match(post.description, /^This operation is deprecated since 2027-01-31, .*`createAnnouncements`/)
    const { headers } = post.responses['204']!
    for (const name of ['Deprecation', 'Sunset', 'Link']) {
      assert.ok(name in headers, name)
      assert.ok(name in document.components.headers, name)
    }
  })

  it('is marked as a parameter, and as a field with or without a name of its type', () => {
    assert.deepEqual(
      post.parameters.map(({ deprecated, description }) => [deprecated, description]),
      [[true, `soon; ${text}`]],
    )
    const { NewRoute, Hop, Place: place } = document.components.schemas
    assert.deepEqual(NewRoute!.properties['region'], { type: 'string', description: text, deprecated: true })
    assert.deepEqual(NewRoute!.properties['place'], {
      $ref: '#/components/schemas/Place',
      description: `a place; ${text}`,
      deprecated: true,
    })
    assert.equal((Hop!.properties['mtu'] as { deprecated: boolean }).deprecated, true)
    assert.ok(!('deprecated' in place!))
  })

  it('is marked in OpenAPI 3.0 too', () => {
    const older = openapi30(document as never) as unknown as Document
    assert.equal(older.paths['/v3/routes'].post.deprecated, true)
    assert.deepEqual(older.components.schemas['NewRoute']!.properties['place'], {
      allOf: [{ $ref: '#/components/schemas/Place' }],
      description: `a place; ${text}`,
      deprecated: true,
    })
  })

  it('declares no headers where nothing is deprecated', () => {
    const used = openapi([{ ...createRouteRoute, deprecated: null, body: null, query: Strict({}) }], {
      version: '1',
    }) as unknown as Document
    assert.ok(!('Deprecation' in used.components.headers))
  })
})

describe('a deprecation', () => {
  it('lasts at least twelve months, for operations and fields', () => {
    for (const [from, sunset, isLongEnough] of [
      ['2027-01-31', '2028-01-31', true],
      ['2027-01-31', '2028-01-30', false],
      ['2028-02-29', '2029-03-01', true],
      ['2028-02-29', '2029-02-28', false],
      ['2027-01-31', '2026-01-31', false],
      ['2027-13-01', '2029-01-31', false],
      ['2027-01-31', 'never', false],
    ] as const)
      for (const declare of [
        () => route({ ...declared, deprecated: { since: from, sunset, use: 'x' } }),
        () => Deprecated(Type.String(), { since: from, sunset, use: 'x' }),
      ])
        if (isLongEnough) declare()
        else assert.throws(declare, /12 months/, `${from} ${sunset}`)
  })

  it('is found in fields at any depth, and in those that a value has', () => {
    const body = updateRouteRoute.body as unknown as TObject
    assert.equal(deprecationsIn(body).length, 3)
    const used = (value: unknown) => deprecationsUsed(body, value).length
    assert.equal(used({ regions: ['ams'] }), 0)
    assert.equal(used({ region: 'ams', hops: [{ mtu: 9000 }, {}] }), 2)
    const either = Type.Union([body, Type.Array(body)])
    assert.equal(deprecationsUsed(either, [{ region: 'ams' }, {}]).length, 1)
  })

  it('names what the contract has', () => {
    const names = new Set(routes.map(({ name }) => name))
    const replaced = routes.flatMap(({ deprecated }) => (deprecated ? [deprecated.use] : []))
    assert.deepEqual(
      replaced.filter((name) => !names.has(name)),
      [],
    )
  })
})
