// API tokens that are limited to resources: readable and writable zones, prefixes, ports and services, and how a limit
// is created and ends.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { routes } from '@pharos/contract/document/routes'
import type { Resources } from '@pharos/contract/resource-limit'
import { sql } from 'kysely'
import { uncheckedParameters } from '../src/limit/visible.ts'
import { until } from '../../lab/src/wait.ts'
import { createTestApi, type TestApi } from './api.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { openSession } from './support/credentials.ts'

let api: TestApi
let fixtures: Fixtures
let bearer: string
let blueBearer: string
before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { people, red, blue } = fixtures
  bearer = `Bearer ${(await openSession(api, people.admin.userId, red.teamId)).access}`
  blueBearer = `Bearer ${(await openSession(api, people.blue.userId, blue.teamId)).access}`
  for (const name of ['acme.example', 'other.example']) await addZone(name)
  await addZone('2.0.192.in-addr.arpa').catch(() => undefined)
})
after(() => api[Symbol.asyncDispose]())

type Answer = { readonly status: number; readonly body: any } // oxlint-disable-line typescript/no-explicit-any -- each test knows the answer

async function call(method: string, url: string, authorization: string, payload?: object): Promise<Answer> {
  const answer = await api.server.inject({
    method: method as 'GET',
    url,
    headers: url.startsWith('/api/') ? { 'x-api-key': authorization.slice(6) } : { authorization },
    ...(payload ? { payload } : {}),
  })
  return { status: answer.statusCode, body: answer.body === '' ? null : JSON.parse(answer.body) }
}

async function ok(
  method: string,
  url: string,
  authorization = bearer,
  payload?: object,
): Promise<Answer['body']> {
  const { status, body } = await call(method, url, authorization, payload)
  assert.ok(status < 300, `${method} ${url}: ${status} ${JSON.stringify(body)}`)
  return body
}

async function refused(code: string, method: string, url: string, authorization: string, payload?: object) {
  const { status, body } = await call(method, url, authorization, payload)
  assert.equal(body?.code ?? body?.error, code, `${method} ${url}: ${status} ${JSON.stringify(body)}`)
  return body
}

const addZone = (name: string, authorization = bearer) =>
  ok('POST', '/v3/dns/zones', authorization, { name, nameservers: ['ns1.example.net'] })

const dnsScopes = ['dns:read', 'dns:write']
const newToken = (resources: Resources | undefined, scopes: readonly string[], rest: object = {}) => ({
  name: 'limited',
  scopes,
  ...(resources ? { resources } : {}),
  ...rest,
})

async function tokenFor(resources: Resources, scopes: readonly string[], rest: object = {}): Promise<string> {
  return `Token ${(await ok('POST', '/v3/tokens', bearer, newToken(resources, scopes, rest))).token}`
}

const acme: Resources = {
  zones: [{ zone: 'acme.example', names: ['_ACME-challenge', '*.dyn'], types: ['txt'] }],
}
const sets = '/v3/dns/zones/acme.example/recordsets'
const txt = (name: string, text = 'x') => ({ name, type: 'TXT', ttl: 300, records: [`"${text}"`] })

describe('a token for names and types of a zone', () => {
  let token: string
  before(async () => {
    token = await tokenFor(acme, dnsScopes, { is_admin: true })
    await ok('POST', sets, bearer, [
      txt('www', 'secret'),
      { ...txt('_acme-challenge'), type: 'A', records: ['192.0.2.1'] },
    ])
  })

  it('creates, reads, replaces and deletes its record sets, whatever the case of their names', async () => {
    await ok('POST', sets, token, txt('_acme-challenge', 'one'))
    await ok('PUT', `${sets}/_Acme-Challenge/TXT`, token, { records: ['"two"'] })
    await ok('PATCH', sets, token, { recordsets: [txt('a.b.dyn')] })
    const { results, count } = await ok('GET', sets, token)
    assert.deepEqual(
      results.map((one: { id: string }) => one.id),
      ['_acme-challenge/TXT', 'a.b.dyn/TXT'],
    )
    assert.equal(count, 2)
    assert.equal((await ok('GET', `${sets}?type=TXT&search=secret`, token)).count, 0)
    await ok('DELETE', `${sets}/a.b.dyn/TXT`, token)
  })

  it('gets 403 with what is allowed for another name or type in a body', async () => {
    for (const payload of [
      txt('www'),
      txt('dyn'),
      txt('x._acme-challenge'),
      { ...txt('_acme-challenge'), type: 'AAAA', records: ['2001:db8::1'] },
    ]) {
      const { errors } = await refused('resource_limited', 'POST', sets, token, payload)
      assert.deepEqual(errors[0].ctx.allowed, ['zone acme.example (_acme-challenge, *.dyn; TXT)'])
      await refused('resource_limited', 'PATCH', sets, token, { recordsets: [txt('ok.dyn'), payload] })
    }
    await refused('resource_limited', 'PUT', `${sets}/www/TXT`, token, { records: ['"theirs"'] })
    assert.equal((await ok('GET', `${sets}/www/TXT`)).records[0], '"secret"')
  })

  it('does not see other record sets, which look as if they did not exist', async () => {
    await refused('not_found', 'GET', `${sets}/www/TXT`, token)
    await refused('not_found', 'DELETE', `${sets}/www/TXT`, token)
    await refused('not_found', 'GET', `${sets}/_acme-challenge/A`, token)
  })

  it('sees its zone only', async () => {
    const { results, count } = await ok('GET', '/v3/dns/zones', token)
    assert.deepEqual([results.map((one: { name: string }) => one.name), count], [['acme.example'], 1])
    await ok('GET', '/v3/dns/zones/acme.example', token)
    await ok('GET', `/v3/dns/zones/${results[0].id}`, token)
    for (const path of [
      '/v3/dns/zones/other.example',
      '/v3/dns/zones/other.example/recordsets',
      '/v3/dns/zones/nowhere.example',
    ])
      assert.deepEqual(
        (await refused('not_found', 'GET', path, token)).detail,
        (await refused('not_found', 'GET', '/v3/dns/zones/missing.example', token)).detail,
      )
  })

  it('gets 403 for the zone as a whole, although it has is_admin', async () => {
    const zone = '/v3/dns/zones/acme.example'
    for (const [method, path, payload] of [
      ['GET', `${zone}/settings`],
      ['PUT', `${zone}/settings`, {}],
      ['GET', `${zone}/dnssec`],
      ['POST', `${zone}/dnssec`, {}],
      ['GET', `${zone}/export`],
      ['GET', `${zone}/versions`],
      ['POST', `${zone}/versions/1/rollback`, {}],
      ['DELETE', `${zone}?confirm=acme.example`],
      [
        'POST',
        '/v3/dns/zones/import',
        { name: 'acme.example', zonefile: '@ 60 A 192.0.2.1', mode: 'replace' },
      ],
    ] as const)
      await refused('resource_limited', method, path, token, payload)
  })

  it('is refused by operations that are about no resource', async () => {
    for (const path of ['/v3/dns/tsig-keys', '/v3/search?q=acme', '/v3/ipam/announcements'])
      assert.equal((await call('GET', path, token)).status, 403)
    await refused('resource_limited', 'POST', '/v3/dns/zones', token, { name: 'new.example' })
    const { token: own } = await ok('GET', '/v3/session/token', token)
    assert.deepEqual(own.resources, {
      zones: [{ zone: 'acme.example', names: ['_acme-challenge', '*.dyn'], types: ['TXT'] }],
    })
  })

  it('has the same limits in the PowerDNS-compatible API', async () => {
    const base = '/api/v1/servers/localhost/zones'
    assert.deepEqual(
      (await ok('GET', base, token)).map((one: { name: string }) => one.name),
      ['acme.example.'],
    )
    const { rrsets } = await ok('GET', `${base}/acme.example.`, token)
    assert.deepEqual(
      rrsets.map((one: { name: string; type: string }) => `${one.name} ${one.type}`),
      ['_acme-challenge.acme.example. TXT'],
    )
    const change = (name: string, type = 'TXT', content = '"z"') => ({
      rrsets: [{ name, type, ttl: 300, changetype: 'REPLACE', records: [{ content, disabled: false }] }],
    })
    await ok('PATCH', `${base}/acme.example.`, token, change('_acme-challenge.acme.example.'))
    for (const wrong of [
      change('www.acme.example.'),
      change('_acme-challenge.acme.example.', 'A', '192.0.2.9'),
    ])
      assert.equal((await call('PATCH', `${base}/acme.example.`, token, wrong)).status, 403)
    assert.equal((await call('GET', `${base}/other.example.`, token)).status, 404)
    for (const path of ['metadata', 'cryptokeys', 'export'])
      assert.equal((await call('GET', `${base}/acme.example./${path}`, token)).status, 403, path)
    assert.equal((await call('GET', '/api/v1/servers/localhost/search-data?q=*', token)).status, 403)
  })
})

describe('patterns of names', () => {
  const cases: readonly [pattern: string, admitted: readonly string[], others: readonly string[]][] = [
    ['@', ['@'], ['www']],
    ['*', ['www', 'a.b', '_acme-challenge'], ['@']],
    [
      '_acme-challenge.*',
      ['_acme-challenge', '_acme-challenge.www', '_acme-challenge.a.b'],
      ['www', 'x._acme-challenge'],
    ],
    ['\\*.wild', ['*.wild'], ['a.wild', 'wild']],
    ['a\\.b', ['a\\.b'], ['a.b', 'b']],
  ]
  for (const [pattern, admitted, others] of cases)
    it(`${pattern} admits ${admitted.join(', ')}`, async () => {
      const token = await tokenFor({ zones: [{ zone: 'other.example', names: [pattern] }] }, dnsScopes)
      const path = '/v3/dns/zones/other.example/recordsets'
      await ok('PATCH', path, bearer, { recordsets: others.map((name) => txt(name)) })
      for (const name of admitted) {
        await ok('PATCH', path, token, { recordsets: [txt(name)] })
        await ok('GET', `${path}/${encodeURIComponent(name)}/TXT`, token)
      }
      for (const name of others)
        await refused('resource_limited', 'PATCH', path, token, { recordsets: [txt(name)] })
      const { results } = await ok('GET', `${path}?type=TXT`, token)
      assert.deepEqual(results.map((one: { name: string }) => one.name).toSorted(), admitted.toSorted())
      await ok('PATCH', path, bearer, {
        recordsets: [...admitted, ...others].map((name) => ({ ...txt(name), records: [] })),
      })
    })
})

describe('a token for prefixes', () => {
  it('sees and changes announcements, prefixes and letters within them', async () => {
    const { red } = fixtures
    const token = await tokenFor(
      { prefixes: ['203.0.113.0/24'] },
      ['ipam:read', 'ipam:write', 'inventory:read'],
      { is_admin: true },
    )
    const { results, count } = await ok('GET', '/v3/ipam/announcements', token)
    assert.deepEqual([results.map((one: { cidr: string }) => one.cidr), count], [['203.0.113.0/24'], 1])
    assert.equal((await ok('GET', '/v3/ipam/announcements/summary', token)).total, 1)
    assert.equal((await ok('GET', '/v3/inventory/prefixes', token)).count, 1)
    assert.equal((await ok('GET', '/v3/ipam/letters', token)).count, 0)
    await ok('GET', `/v3/ipam/announcements/${red.announcements.off}`, token)
    await refused('not_found', 'GET', `/v3/ipam/announcements/${red.announcements.on}`, token)
    await refused('not_found', 'PATCH', `/v3/ipam/announcements/${red.announcements.on}`, token, {
      enabled: false,
    })
    await refused('not_found', 'GET', `/v3/ipam/letters/${red.letterId}`, token)
    const outside = { cidr: '198.51.100.0/24', origin_asn: red.asn }
    const { errors } = await refused('resource_limited', 'POST', '/v3/ipam/announcements', token, outside)
    assert.deepEqual(errors[0].ctx.allowed, ['203.0.113.0/24'])
    assert.equal((await call('GET', '/v3/inventory/ports', token)).body.count, 0)
  })

  it('writes PTR records of its addresses, and no others', async () => {
    const token = await tokenFor({ prefixes: ['203.0.113.0/25'] }, dnsScopes)
    const batch = (ip: string) => ({ records: [{ ip, ptrdname: 'host.example.com' }] })
    await ok('POST', '/v3/dns/ptr/batch', token, batch('203.0.113.7'))
    await refused('resource_limited', 'POST', '/v3/dns/ptr/batch', token, batch('203.0.113.200'))
    assert.equal((await ok('GET', '/v3/dns/ptr?cidr=203.0.113.0/25', token)).count, 1)
    await refused('resource_limited', 'GET', '/v3/dns/ptr?cidr=203.0.113.0/24', token)
    const template = { templates: [{ cidr: '203.0.113.192/26', pattern: 'h-{ip-dashed}.example.com' }] }
    await refused('resource_limited', 'POST', '/v3/dns/ptr/batch', token, template)
  })
})

describe('PTR records of addresses in a zone', () => {
  it('are refused if the request asks for them, and left out if the zone does', async () => {
    const token = await tokenFor({ zones: [{ zone: 'acme.example' }] }, dnsScopes)
    const address = (name: string, rest: object = {}) => ({
      name,
      type: 'A',
      ttl: 300,
      records: ['203.0.113.9'],
      ...rest,
    })
    await refused('resource_limited', 'POST', sets, token, address('p1', { ptr: true }))
    await ok('PUT', '/v3/dns/zones/acme.example/settings', bearer, { auto_ptr: true })
    const warnings = [
      {
        code: 'ptr_outside_limit',
        message:
          'The PTR record of 203.0.113.9 was not written: the credential is limited to other resources.',
        address: '203.0.113.9',
      },
    ]
    assert.deepEqual((await ok('POST', sets, token, address('p2'))).warnings, warnings)
    const again = { records: ['203.0.113.9', '203.0.113.10'] }
    assert.deepEqual(
      (await ok('PUT', `${sets}/p2/A`, token, again)).warnings.map((one: { address: string }) => one.address),
      ['203.0.113.9', '203.0.113.10'],
    )
    const changes = await ok('PATCH', sets, token, { recordsets: [address('p2')] })
    assert.deepEqual(changes.warnings, warnings)
    assert.equal('warnings' in (await ok('GET', `${sets}/p2/A`, token)), false)
    assert.equal((await ok('GET', '/v3/dns/ptr?cidr=203.0.113.9/32')).count, 0)
    await ok('DELETE', `${sets}/p2/A`, token)
    const both = await tokenFor(
      { zones: [{ zone: 'acme.example' }], prefixes: ['203.0.113.9/32'] },
      dnsScopes,
    )
    assert.equal('warnings' in (await ok('POST', sets, both, address('p3'))), false)
    assert.equal((await ok('GET', '/v3/dns/ptr?cidr=203.0.113.9/32')).count, 1)
    await refused('resource_limited', 'DELETE', `${sets}/p3/A?ptr=true`, token)
    await ok('DELETE', `${sets}/p3/A?ptr=true`, both)
    await ok('PUT', '/v3/dns/zones/acme.example/settings', bearer, { auto_ptr: false })
  })
})

describe('a token for ports and services', () => {
  it('sees them and no others', async () => {
    const { red } = fixtures
    const ports = await tokenFor({ ports: [red.portId] }, ['inventory:read'])
    assert.equal((await ok('GET', '/v3/inventory/ports', ports)).count, 1)
    await ok('GET', `/v3/inventory/ports/${red.portId}/usage`, ports)
    assert.equal((await ok('GET', '/v3/inventory/services', ports)).count, 0)
    await refused('not_found', 'GET', `/v3/inventory/services/${red.serviceId}`, ports)
    await refused('resource_limited', 'GET', '/v3/inventory/devices', ports)
    await refused('resource_limited', 'GET', '/v3/inventory/metrics', ports)
    const services = await tokenFor({ services: [red.serviceId] }, ['inventory:read'])
    await ok('GET', `/v3/inventory/services/${red.serviceId}/billable-ports`, services)
    await refused('not_found', 'GET', `/v3/inventory/ports/${red.portId}`, services)
  })
})

describe('a limit', () => {
  it('is never wider than its resources: the last one deleted closes the token, a zone of the same name is another zone', async () => {
    await addZone('gone.example')
    const token = await tokenFor({ zones: [{ zone: 'gone.example' }] }, dnsScopes, { is_admin: true })
    await ok('DELETE', '/v3/dns/zones/gone.example?confirm=gone.example', token)
    await addZone('gone.example')
    await refused('not_found', 'GET', '/v3/dns/zones/gone.example/recordsets', token)
    assert.deepEqual((await ok('GET', '/v3/dns/zones', token)).results, [])
    await sql`delete from dns_zones where name = 'gone.example.' and deleted is not null`.execute(
      api.database.postgres.owner,
    )
    await until(async () => (await call('GET', '/v3/dns/zones', token)).status === 401)
    const { results } = await ok('GET', '/v3/tokens?active=false')
    assert.ok(results.some((one: { inactive_reason: string }) => one.inactive_reason === 'no_resources'))
  })

  it('is recorded in the audit log', async () => {
    const { id } = await ok('POST', '/v3/tokens', bearer, newToken(acme, dnsScopes))
    const { results } = await ok('GET', `/v3/audit?action=api_token.create&target=api_token:${id}`)
    assert.deepEqual(results[0].after.resources.zones[0].names, ['_acme-challenge', '*.dyn'])
  })

  const invalid: readonly [what: string, resources: unknown, scopes: readonly string[], loc: string][] = [
    ['no resource at all', {}, dnsScopes, 'body.resources'],
    ['a scope that is closed to limited tokens', acme, ['dns:read', 'team:read'], 'body.scopes.1'],
    ['a scope without a resource of its kind', acme, ['dns:read', 'ipam:read'], 'body.scopes.1'],
    [
      'a star in the middle',
      { zones: [{ zone: 'acme.example', names: ['a.*.b'] }] },
      dnsScopes,
      'body.resources.zones.0.names.0',
    ],
    [
      '*.*',
      { zones: [{ zone: 'acme.example', names: ['*.*'] }] },
      dnsScopes,
      'body.resources.zones.0.names.0',
    ],
    [
      'two labels before .*',
      { zones: [{ zone: 'acme.example', names: ['a.b.*'] }] },
      dnsScopes,
      'body.resources.zones.0.names.0',
    ],
    [
      'a name of another zone',
      { zones: [{ zone: 'acme.example', names: ['www.other.example.'] }] },
      dnsScopes,
      'body.resources.zones.0.names.0',
    ],
    [
      'a name of 254 octets',
      { zones: [{ zone: 'acme.example', names: [`${'a.'.repeat(127)}`.slice(0, -1)] }] },
      dnsScopes,
      'body.resources.zones.0.names.0',
    ],
    [
      'an international name',
      { zones: [{ zone: 'acme.example', names: ['bücher'] }] },
      dnsScopes,
      'body.resources.zones.0.names.0',
    ],
    [
      'an unknown type',
      { zones: [{ zone: 'acme.example', types: ['NOPE'] }] },
      dnsScopes,
      'body.resources.zones.0.types.0',
    ],
    [
      'a type of questions',
      { zones: [{ zone: 'acme.example', types: ['ANY'] }] },
      dnsScopes,
      'body.resources.zones.0.types.0',
    ],
    [
      'the same zone twice',
      { zones: [{ zone: 'acme.example' }, { zone: 'ACME.example.' }] },
      dnsScopes,
      'body.resources.zones.1.zone',
    ],
    ['host bits', { prefixes: ['203.0.113.1/24'] }, ['ipam:read'], 'body.resources.prefixes.0'],
    [
      '101 zones',
      { zones: Array.from({ length: 101 }, (_, at) => ({ zone: `z${at}.example` })) },
      dnsScopes,
      'body.resources.zones',
    ],
  ]
  for (const [what, resources, scopes, loc] of invalid)
    it(`is refused with ${what}`, async () => {
      const { errors } = await refused(
        'invalid',
        'POST',
        '/v3/tokens',
        bearer,
        newToken(resources as Resources, scopes),
      )
      assert.deepEqual(
        errors.map((one: { loc: unknown[] }) => one.loc.join('.')),
        [loc],
      )
    })

  it('is 404 with the same text for a resource of another team and for none', async () => {
    await addZone('blue.example', blueBearer)
    const { blue } = fixtures
    const pairs: readonly [Resources, Resources, string][] = [
      [{ zones: [{ zone: 'blue.example' }] }, { zones: [{ zone: 'nobody.example' }] }, 'dns:read'],
      [{ prefixes: ['198.18.7.0/24'] }, { prefixes: ['198.18.99.0/24'] }, 'ipam:read'],
      [{ ports: [blue.portId] }, { ports: [999_999] }, 'inventory:read'],
      [{ services: [blue.serviceId] }, { services: [999_999] }, 'inventory:read'],
    ]
    for (const [foreign, missing, scope] of pairs)
      assert.deepEqual(
        (await refused('not_found', 'POST', '/v3/tokens', bearer, newToken(foreign, [scope]))).detail,
        (await refused('not_found', 'POST', '/v3/tokens', bearer, newToken(missing, [scope]))).detail,
      )
  })

  it('takes a null octet and any case in names, and returns the canonical form', async () => {
    const resources = { zones: [{ zone: 'ACME.example', names: ['A\\000b', 'WWW'], types: ['TYPE16'] }] }
    const made = await ok('POST', '/v3/tokens', bearer, newToken(resources, dnsScopes))
    assert.deepEqual(made.resources, {
      zones: [{ zone: 'acme.example', names: ['a\\000b', 'www'], types: ['TXT'] }],
    })
  })
})

describe('the contract', () => {
  it('has no open operation with a path parameter that is not checked', () => {
    const open = routes.filter(
      ({ permission }) => 'limitedBy' in permission && permission.limitedBy !== undefined,
    )
    assert.ok(open.length > 40)
    assert.deepEqual(
      open.flatMap((route) => uncheckedParameters(route).map((name) => `${route.name} ${name}`)),
      [],
    )
  })
})
