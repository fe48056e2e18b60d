// Enumerates the query parameters of every operation: an empty boolean, number, time or enumeration is never read as absent, unless
// the specification calls the parameter nullable; and every list can be ordered by each of its keys.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { isPage } from '@pharos/contract/scalar'
import type { TSchema } from 'typebox'
import { addAlertRule } from '../src/alert/testing.ts'
import { createTestApi, type TestApi } from './api.ts'
import { addStaffToken, openSession } from './support/credentials.ts'
import { seedZone } from '../src/dns/testing.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { addProvider } from './support/identity.ts'

type Property = TSchema & {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly items?: Property
  readonly anyOf?: readonly Property[]
  readonly minLength?: number
  readonly pattern?: string
  readonly 'x-empty-is-absent'?: boolean
  readonly 'x-comma-list'?: { readonly values: { readonly enum: readonly string[] } }
}

/** Nullable by the specification, on the related list only. */
const nullable = ['flag', 'start', 'end', 'affected_network', 'description']

/** Texts for which empty is a value or has no effect. */
const freeTexts = (property: Property): boolean => {
  const one = valueOf(property)
  return one.type === 'string' && !one.enum && !one.format && !one['x-comma-list']
}

const valueOf = (property: Property): Property => {
  const value = property.anyOf?.find(({ type }) => type !== 'null') ?? property
  return value.items ?? value
}

let api: TestApi
let fixtures: Fixtures
let headers: Record<string, string>

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { access } = await openSession(api, fixtures.people.staff.userId, fixtures.red.teamId)
  headers = { authorization: `Bearer ${access}` }
})
after(() => api[Symbol.asyncDispose]())

const propertiesOf = ({ query }: Route) => Object.entries(query.properties as Record<string, Property>)

/** A value for each path parameter; which object it names does not matter to most of these tests. */
function urlWith(
  route: Route,
  query: string,
  params: Readonly<Record<string, string | number>> = {},
): string {
  const given = Object.entries(route.params.properties as Record<string, Property>).map(
    ([name, { type }]) => [name, params[name] ?? placeholderOf(name, type)],
  )
  return `${urlOf(route, Object.fromEntries(given), {})}?${query}`
}

/** Routes of staff name a team by its id, routes of a team take `current` as well. */
function placeholderOf(name: string, type: string | undefined): string | number {
  if (name === 'team_id') return type === 'integer' ? fixtures.red.teamId : 'current'
  if (name === 'section') return 'locations'
  return type === 'integer' ? 1 : 'abcdefghijkl'
}

const send = (route: Route, url: string) =>
  api.server.inject({
    method: route.method,
    url,
    ...(route.permission.credential === 'source' ? {} : { headers }),
  })

/** Parameters without which an operation returns an empty answer, or none. */
const required: Readonly<Record<string, string>> = {
  listPtrRecords: '&cidr=203.0.113.0/24',
  exportBillsOfAll: '&period=2026-01',
  getShieldTraffic: '&prefix=203.0.113.0/24',
}

describe('an empty query parameter', () => {
  for (const route of routes) {
    for (const [name, property] of propertiesOf(route)) {
      if (freeTexts(property) && !valueOf(property).minLength && !valueOf(property).pattern) continue
      const isNullable = property['x-empty-is-absent'] === true
      it(`of ${route.name}, ${name}, is ${isNullable ? 'absent' : 'rejected'}`, async () => {
        if (isNullable) assert.ok(nullable.includes(name), `${name} is nullable in ${route.name}`)
        const others = required[route.name] ?? ''
        const query = `${name}=${others.startsWith(`&${name}=`) ? '' : others}`
        const { statusCode, body } = await send(route, urlWith(route, query))
        if (isNullable) return assert.equal(statusCode, 200, body)
        assert.equal(statusCode, 422, body)
        assert.deepEqual(JSON.parse(body).errors[0].loc.slice(0, 2), ['query', name], body)
      })
    }
  }
})

describe('every list', () => {
  const lists = routes.filter(({ response, query }) => isPage(response) && 'limit' in query.properties)

  it('is found', () => assert.ok(lists.length > 15))

  for (const route of lists) {
    it(`of ${route.name} can be ordered by each of its keys, in both directions`, async () => {
      const { ordering } = route.query.properties as Record<string, Property>
      const keys = ordering?.['x-comma-list']?.values.enum ?? []
      assert.ok(keys.length > 0, 'no ordering')
      const { announcements } = fixtures.red
      const webhook = await api.database.postgres.owner
        .insertInto('webhooks')
        .values({
          team_id: fixtures.red.teamId,
          url: 'https://hooks.example.net/pharos',
          events: ['event.started'],
          secret_sealed: Buffer.alloc(1),
          created_by: 'operator',
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      const restore = await api.database.postgres.owner
        .insertInto('restores')
        .values({ reason: 'by_hand', evidence: '{}', closed: new Date() })
        .returning('id')
        .executeTakeFirstOrThrow()
      const name = `${route.name.toLowerCase()}.example`
      const zone = await seedZone(api.database.postgres, { teamId: fixtures.red.teamId, name })
      const provider = await addProvider(api, fixtures.red)
      const params = {
        alert_rule_id: await addAlertRule(api.database.postgres.owner, fixtures.red.teamId, {
          portId: fixtures.red.portId,
        }),
        announcement_id: announcements.on,
        webhook_id: webhook.id,
        restore_id: restore.id,
        zone: zone.id,
        event_id: fixtures.red.eventIds[0]!,
        provider_id: provider.id,
      }
      for (const key of keys) {
        const { statusCode, body } = await send(
          route,
          urlWith(route, `ordering=${key}${required[route.name] ?? ''}`, params),
        )
        assert.equal(statusCode, 200, `${key}: ${body}`)
      }
    })
  }
})

it('every operation of staff names the scope of its kind, and takes a staff token with it', async () => {
  const ofStaff = routes.filter(({ permission }) => 'role' in permission && permission.role === 'staff')
  assert.ok(ofStaff.length > 15)
  const reader = { authorization: `Token ${await addStaffToken(api, { scopes: ['admin:read'] })}` }
  for (const route of ofStaff) {
    assert.match(route.path, /^\/v3\/admin\//)
    const scope = route.method === 'GET' ? 'admin:read' : 'admin:write'
    assert.ok('scope' in route.permission)
    assert.equal(route.permission.scope, scope, route.name)
    if (route.method !== 'GET') continue
    const url = urlWith(route, required[route.name] ?? '')
    const { statusCode, body } = await api.server.inject({ url, headers: reader })
    assert.ok([200, 404].includes(statusCode), `${route.name}: ${body}`)
  }
  const under = routes.filter(({ path }) => path.startsWith('/v3/admin/'))
  assert.deepEqual(under, ofStaff)
})
