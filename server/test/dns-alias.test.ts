// ALIAS records over the operations of zones, zone files and the PowerDNS-compatible API, on a real PostgreSQL.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'
import { addDnsTeam, type Answered, type DnsTeam } from './support/dns.ts'

let api: TestApi
let red: DnsTeam
let blue: DnsTeam
let key: string
before(async () => {
  api = await createTestApi()
  red = await addDnsTeam(api, 'red')
  blue = await addDnsTeam(api, 'blue')
  key = await addApiToken(api, red.teamId, { scopes: ['dns:read', 'dns:write'], isAdmin: true })
})
after(() => api[Symbol.asyncDispose]())

async function addZone(name: string, ...recordsets: object[]): Promise<number> {
  const created = await red.call('POST', '/zones', { name, dnssec: false, recordsets })
  assert.equal(created.status, 201, created.text)
  return created.body.id
}
const put = (zone: string, id: string, ...records: string[]) =>
  red.call('PUT', `/zones/${zone}/recordsets/${id}`, { records })
const problemsOf = ({ body }: { readonly body: Answered }) =>
  body.errors?.map(({ loc, type }: Answered) => [type, loc.at(-1)])
const alias = (name: string, target: string) => ({ name, type: 'ALIAS', records: [target] })

async function powerdns(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
  const answer = await api.server.inject({
    method,
    url: `/api/v1/servers/localhost/zones${path}`,
    headers: { 'x-api-key': key },
    ...(body ? { payload: JSON.stringify(body) } : {}),
  })
  return { status: answer.statusCode, text: answer.body, json: (): Answered => answer.json() }
}

describe('ALIAS records', () => {
  it('are one record set with their target, at the zone itself and below, under either word', async () => {
    await addZone('shop.example')
    for (const [id, type] of [
      ['@/ALIAS', 'ALIAS'],
      ['www/aname', 'ALIAS'],
      ['*.shop/TYPE65401', 'ALIAS'],
    ] as const) {
      const { status, body, text } = await put('shop.example', id, 'LB.example.net.')
      assert.equal(status, 201, text)
      assert.deepEqual(
        [body.type, body.records, body.managed],
        [type, ['LB.example.net.'.toLowerCase()], false],
      )
    }
    const { body } = await red.call('GET', '/zones/shop.example/recordsets?type=ALIAS&include=alias')
    const pending = { status: 'pending', addresses: [], resolved: null, checked: null, message: null }
    assert.deepEqual(
      body.results.map((set: Answered) => [set.id, set.alias]),
      [
        ['@/ALIAS', pending],
        ['*.shop/ALIAS', pending],
        ['www/ALIAS', pending],
      ],
    )
    const plain = await red.call('GET', '/zones/shop.example/recordsets/@/ALIAS')
    assert.ok(!('alias' in plain.body))
  })

  it('show what is published of them, and why the last attempt failed', async () => {
    const id = await addZone('state.example', alias('@', 'lb.example.net.'))
    await sql`
      insert into dns_aliases (zone_id, name_key, target, a, aaaa, resolved, checked, due, reason)
      select zone_id, name_key, rdata[1], array['\\xc0000201'::bytea], '{}', '2026-01-01Z', '2026-01-02Z', now(), 'unreachable'
      from dns_recordsets where zone_id = ${id} and type = 65401`.execute(api.database.postgres.owner)
    const path = '/zones/state.example/recordsets/@/ALIAS?include=alias,source'
    const { body } = await red.call('GET', path)
    const expected = {
      status: 'failing',
      addresses: ['192.0.2.1'],
      resolved: '2026-01-01T00:00:00.000Z',
      checked: '2026-01-02T00:00:00.000Z',
      message: 'The resolver did not answer in time. The last known addresses stay published.',
    }
    assert.deepEqual([body.alias, body.source], [expected, 'user'])
    assert.equal((await blue.call('GET', path)).status, 404)
    const { body: zone } = await red.call('GET', '/zones/state.example?include=state_messages')
    const message = zone.state_messages.find(({ tag }: Answered) => tag === 'zone_aliases_failing')
    assert.equal(
      message.message,
      'The targets of ALIAS records are not resolved: state.example. (last resolved 2026-01-01T00:00:00Z). The last known addresses stay published.',
    )
    assert.equal(message.severity, 'warning')
  })

  it('without any published address are an error of the zone', async () => {
    const id = await addZone(
      'unserved.example',
      alias('@', 'lb.example.net.'),
      alias('www', 'lb.example.net.'),
    )
    await sql`
      insert into dns_aliases (zone_id, name_key, target, checked, due, reason, is_unserved, a, aaaa)
      select zone_id, name_key, rdata[1], now(), now(), 'no_addresses', true, '{}', '{}'
      from dns_recordsets where zone_id = ${id} and type = 65401`.execute(api.database.postgres.owner)
    const { body } = await red.call('GET', '/zones/unserved.example?include=state_messages')
    const message = body.state_messages.find(({ tag }: Answered) => tag === 'zone_aliases_unserved')
    assert.deepEqual([body.status, message.severity], ['error', 'error'])
    assert.equal(
      message.message,
      'The targets of ALIAS records have never been resolved: unserved.example., www.unserved.example.. No addresses are published for these names. Check that the targets have addresses.',
    )
    const listed = await red.call('GET', '/zones?status=error&name=unserved.example')
    assert.equal(listed.body.count, 1)
  })

  const refused: readonly [
    what: string,
    first: object[],
    id: string,
    records: string[],
    problems: string[][],
  ][] = [
    [
      'addresses at the same name',
      [alias('@', 'lb.example.net.')],
      '@/A',
      ['192.0.2.1'],
      [['alias_and_address', 'type']],
    ],
    [
      'a record at a name with addresses',
      [{ name: 'www', type: 'AAAA', records: ['2001:db8::1'] }],
      'www/ALIAS',
      ['lb.example.net.'],
      [['alias_and_address', 'type']],
    ],
    [
      'a record beside CNAME',
      [{ name: 'www', type: 'CNAME', records: ['a.example.net.'] }],
      'www/ALIAS',
      ['lb.example.net.'],
      [['cname_and_other', 'type']],
    ],
    ['two targets', [], '@/ALIAS', ['a.example.net.', 'b.example.net.'], [['several_in_set', 'records']]],
    ['a loop of one', [], 'www/ALIAS', ['www'], [['cname_loop', 'records']]],
    ['a loop over the zone itself', [alias('www', '@')], '@/ALIAS', ['www'], [['cname_loop', 'records']]],
    [
      'a loop over CNAME and ALIAS',
      [alias('a', 'b'), { name: 'b', type: 'CNAME', records: ['c'] }],
      'c/ALIAS',
      ['a'],
      [['cname_loop', 'records']],
    ],
    ['an address as target', [], '@/ALIAS', ['192.0.2.1'], [['trailing_dot', '0']]],
  ]
  for (const [at, [what, first, id, records, problems]] of refused.entries())
    it(`refuse ${what}`, async () => {
      const zone = `refused${at}.example`
      await addZone(zone, ...first)
      const answer = await put(zone, id, ...records)
      assert.equal(answer.status, 422, answer.text)
      const expected = problems.map(([type, loc]) => [type, loc === '0' ? 0 : loc])
      assert.deepEqual(problemsOf(answer), expected, answer.text)
    })

  it('may be beside all other records of the zone itself', async () => {
    const others = [
      { name: '@', type: 'MX', records: ['10 mx.example.net.'] },
      { name: '@', type: 'TXT', records: ['v=spf1 -all'] },
      { name: '@', type: 'CAA', records: ['0 issue ";"'] },
    ]
    await addZone('beside.example', alias('@', 'lb.example.net.'), ...others)
    const replaced = await red.call('PATCH', '/zones/beside.example/recordsets', {
      recordsets: [
        { name: '@', type: 'ALIAS', records: [] },
        { name: '@', type: 'A', records: ['192.0.2.1'] },
      ],
    })
    assert.equal(replaced.status, 200, replaced.text)
  })

  it('are limited for each zone', async () => {
    const many = Array.from({ length: 50 }, (_, at) => alias(`n${at}`, 'lb.example.net.'))
    await addZone('many.example', ...many)
    const one = await put('many.example', 'more/ALIAS', 'lb.example.net.')
    assert.deepEqual([one.status, one.body.code], [403, 'quota_exceeded'], one.text)
    assert.equal((await put('many.example', 'n1/ALIAS', 'other.example.net.')).status, 200)
    assert.equal((await red.call('DELETE', '/zones/many.example/recordsets/n2/ALIAS')).status, 204)
    assert.equal((await put('many.example', 'more/ALIAS', 'lb.example.net.')).status, 201)
  })

  it('have the limit of the platform file, which leaves those that exist', async () => {
    const db = api.database.postgres.owner
    await addZone('few.example', alias('n1', 'lb.example.net.'), alias('n2', 'lb.example.net.'))
    await db
      .insertInto('dns_defaults')
      .values({ key: 'dns', hostmaster: 'hostmaster.example.', aliases_max: 1 })
      .execute()
    try {
      assert.equal((await put('few.example', 'n1/ALIAS', 'other.example.net.')).status, 200)
      const { status, body, text } = await put('few.example', 'n3/ALIAS', 'lb.example.net.')
      assert.deepEqual([status, body.code], [403, 'quota_exceeded'], text)
    } finally {
      await db.deleteFrom('dns_defaults').execute()
    }
  })

  it('are read from zone files and printed in them as PowerDNS does', async () => {
    const zonefile = '@ 300 IN ALIAS lb.example.net.\nwww 300 IN ANAME lb\n'
    const imported = await red.call('POST', '/zones/import', {
      name: 'file.example',
      zonefile,
      mode: 'create',
    })
    assert.equal(imported.status, 201, imported.text)
    assert.deepEqual([imported.body.ignored, imported.body.added_count], [[], 2])
    const { text } = await red.call('GET', '/zones/file.example/export')
    assert.match(text, /^file\.example\.\s+300\s+IN\s+ALIAS\s+lb\.example\.net\.$/m)
    assert.match(text, /^www\.file\.example\.\s+300\s+IN\s+ALIAS\s+lb\.file\.example\.$/m)
    const again = await red.call('POST', '/zones/import', {
      name: 'file.example',
      zonefile: text,
      mode: 'replace',
    })
    assert.deepEqual(
      [again.status, again.body.added_count, again.body.removed_count],
      [200, 0, 0],
      again.text,
    )
    const bad = await red.call('POST', '/zones/import', {
      name: 'bad.example',
      zonefile: '@ 300 IN A 192.0.2.1\n@ 300 IN ALIAS lb.example.net.\n',
      mode: 'create',
    })
    assert.deepEqual([bad.status, problemsOf(bad)[0][0]], [422, 'alias_and_address'])
  })

  it('are ALIAS for clients of PowerDNS, without the addresses', async () => {
    const zone = 'pdns.example.'
    const set = {
      name: zone,
      type: 'ALIAS',
      ttl: 600,
      records: [{ content: 'lb.example.net.', disabled: false }],
    }
    const created = await powerdns('POST', '', { name: zone, kind: 'Native', rrsets: [set] })
    assert.equal(created.status, 201, created.text)
    const typesOf = async () =>
      (await powerdns('GET', `/${zone}`))
        .json()
        .rrsets.map(({ type }: { type: string }) => type)
        .toSorted()
    assert.deepEqual(await typesOf(), ['ALIAS', 'NS', 'SOA'])
    const changed = await powerdns('PATCH', `/${zone}`, {
      rrsets: [
        { ...set, changetype: 'DELETE' },
        { ...set, type: 'A', records: [{ content: '192.0.2.1', disabled: false }], changetype: 'REPLACE' },
      ],
    })
    assert.equal(changed.status, 204, changed.text)
    assert.deepEqual(await typesOf(), ['A', 'NS', 'SOA'])
    const both = await powerdns('PATCH', `/${zone}`, { rrsets: [{ ...set, changetype: 'REPLACE' }] })
    assert.equal(both.status, 422, both.text)
    assert.match(both.json().error, /ALIAS/)
    const file = await powerdns('GET', `/${zone}/export`)
    assert.equal(file.status, 200)
  })
})
