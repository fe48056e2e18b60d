// Reverse DNS over the API: batches over several zones, who may write which address, templates, and PTR records of forward records.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { seedAnnouncement } from '../src/byoip/announcement/testing.ts'
import { createTestApi, type TestApi } from './api.ts'
import { addDnsTeam, addPrefix, versionOf, type Answered, type DnsTeam } from './support/dns.ts'

let api: TestApi
let red: DnsTeam
let blue: DnsTeam
before(async () => {
  api = await createTestApi()
  red = await addDnsTeam(api, 'red')
  blue = await addDnsTeam(api, 'blue')
  await addPrefix(api, red, '203.0.112.0/22')
  await addPrefix(api, red, '2001:db8:1ed::/48')
  await addPrefix(api, blue, '203.0.113.64/28')
  await addPrefix(api, blue, '198.51.100.16/28')
})
after(() => api[Symbol.asyncDispose]())

const batch = (team: DnsTeam, records: object[], more: object = {}, query = '') =>
  team.call('POST', `/ptr/batch${query}`, { records, ...more })
const shown = ({ body }: { readonly body: Answered }) =>
  body.results.map(({ ip, ptrdname, previous, status, zone }: Answered) => [
    ip,
    ptrdname,
    previous,
    status,
    zone,
  ])

describe('a batch of PTR records', () => {
  it('creates the zones that it needs, one version each, and answers in its order', async () => {
    const answer = await batch(red, [
      { ip: '203.0.113.2', ptrdname: 'b.example.net' },
      { ip: '203.0.112.1', ptrdname: 'a.example.net.', ttl: 600 },
      { ip: '2001:db8:1ed::1', ptrdname: 'six.example.net' },
      { ip: '203.0.113.1', ptrdname: 'A.Example.net' },
    ])
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(shown(answer), [
      ['203.0.113.2', 'b.example.net.', null, 'created', '113.0.203.in-addr.arpa'],
      ['203.0.112.1', 'a.example.net.', null, 'created', '112.0.203.in-addr.arpa'],
      ['2001:db8:1ed::1', 'six.example.net.', null, 'created', 'd.e.1.0.8.b.d.0.1.0.0.2.ip6.arpa'],
      ['203.0.113.1', 'a.example.net.', null, 'created', '113.0.203.in-addr.arpa'],
    ])
    assert.equal(await versionOf(api, '113.0.203.in-addr.arpa.'), 2)
    const again = await batch(red, [
      { ip: '203.0.113.1', ptrdname: 'a.example.net' },
      { ip: '203.0.113.2', ptrdname: null },
      { ip: '203.0.113.3', ptrdname: null },
      { ip: '203.0.112.1', ptrdname: 'c.example.net' },
    ])
    assert.deepEqual(
      shown(again).map(([ip, ptrdname, previous, status]: Answered) => [ip, ptrdname, previous, status]),
      [
        ['203.0.113.1', 'a.example.net.', 'a.example.net.', 'unchanged'],
        ['203.0.113.2', null, 'b.example.net.', 'deleted'],
        ['203.0.113.3', null, null, 'unchanged'],
        ['203.0.112.1', 'c.example.net.', 'a.example.net.', 'updated'],
      ],
    )
    assert.equal(await versionOf(api, '113.0.203.in-addr.arpa.'), 3)
    const list = await red.call('GET', '/ptr?cidr=203.0.112.0/22')
    assert.deepEqual(
      list.body.results.map(({ ip, ttl }: Answered) => [ip, ttl]),
      [
        ['203.0.112.1', 600],
        ['203.0.113.1', 3600],
      ],
    )
  })

  it('changes nothing if it repeats what is stored', async () => {
    const before = await versionOf(api, '113.0.203.in-addr.arpa.')
    const { body } = await batch(red, [{ ip: '203.0.113.1', ptrdname: 'A.EXAMPLE.NET.' }])
    assert.equal(body.results[0].status, 'unchanged')
    assert.equal(await versionOf(api, '113.0.203.in-addr.arpa.'), before)
  })

  it('rejects every address that is not that of the team, and applies nothing', async () => {
    const before = await versionOf(api, '113.0.203.in-addr.arpa.')
    const answer = await batch(red, [
      { ip: '203.0.113.9', ptrdname: 'x.example.net' },
      { ip: '192.0.2.1', ptrdname: 'x.example.net' },
      // In the prefix of red, and in the smaller prefix of blue.
      { ip: '203.0.113.65', ptrdname: 'x.example.net' },
    ])
    assert.equal(answer.status, 422)
    assert.deepEqual(
      answer.body.errors.map(({ loc, type }: Answered) => [loc.join('.'), type]),
      [
        ['body.records.1.ip', 'not_your_address'],
        ['body.records.2.ip', 'not_your_address'],
      ],
    )
    assert.equal(await versionOf(api, '113.0.203.in-addr.arpa.'), before)
  })

  it('rejects bad input with the index', async () => {
    const answer = await batch(red, [
      { ip: '203.0.113.999', ptrdname: 'x.example.net' },
      { ip: '203.0.113.1', ptrdname: 'localhost' },
      { ip: '203.0.113.2', ptrdname: 'a..b' },
      { ip: '203.0.113.3', ptrdname: 'a.example.net' },
      { ip: '203.0.113.3', ptrdname: 'b.example.net' },
    ])
    assert.deepEqual(
      answer.body.errors.map(({ loc, type }: Answered) => [loc.join('.'), type]),
      [
        ['body.records.0.ip', 'syntax'],
        ['body.records.1.ptrdname', 'domain'],
        ['body.records.2.ptrdname', 'empty'],
        ['body.records.4.ip', 'repeated'],
      ],
    )
    assert.equal((await batch(red, [])).status, 422)
  })

  it('of a network smaller than a /24 is written to the zone of the provider', async () => {
    const answer = await batch(blue, [{ ip: '198.51.100.17', ptrdname: 'small.example.net' }])
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.results[0].zone, '100.51.198.in-addr.arpa')
    const { rows } = await sql<{ team_id: number | null }>`
      select team_id from dns_zones where name = '100.51.198.in-addr.arpa.'`.execute(
      api.database.postgres.owner,
    )
    assert.equal(rows[0]!.team_id, null)
    assert.equal((await blue.call('GET', '/zones/100.51.198.in-addr.arpa')).status, 404)
    const list = await blue.call('GET', '/ptr?cidr=198.51.100.16/28')
    assert.deepEqual(
      list.body.results.map(({ ip }: Answered) => ip),
      ['198.51.100.17'],
    )
    assert.equal((await red.call('GET', '/ptr?cidr=198.51.100.16/28')).status, 422)
  })

  it('is a plan with dry_run', async () => {
    const plan = await batch(red, [{ ip: '203.0.115.1', ptrdname: 'x.example.net' }], {}, '?dry_run=true')
    assert.equal(plan.body.result.results[0].status, 'created')
    assert.equal((await red.call('GET', '/zones/115.0.203.in-addr.arpa')).status, 404)
  })

  it('checks names against the zones of the team', async () => {
    await red.call('POST', '/zones', {
      name: 'forward.example',
      dnssec: false,
      recordsets: [{ name: 'www', type: 'A', records: ['203.0.113.80'] }],
    })
    const { body } = await batch(
      red,
      [
        { ip: '203.0.113.80', ptrdname: 'www.forward.example' },
        { ip: '203.0.113.81', ptrdname: 'www.forward.example' },
        { ip: '203.0.113.82', ptrdname: 'elsewhere.example.net' },
      ],
      { check_forward: true },
    )
    assert.deepEqual(
      body.results.map(({ forward_ok }: Answered) => forward_ok),
      [true, false, null],
    )
  })

  it('of 4,096 addresses over 17 zones is one transaction', async () => {
    const big = await addDnsTeam(api, 'big')
    await addPrefix(api, big, '10.0.0.0/19')
    const records = Array.from({ length: 4_096 }, (_, at) => ({
      ip: `10.0.${Math.floor(at / 241)}.${at % 241}`,
      ptrdname: `h${at}.example.net`,
    }))
    const first = await batch(big, records)
    assert.equal(first.status, 200, first.text)
    assert.equal(new Set(first.body.results.map(({ zone }: Answered) => zone)).size, 17)
    const second = await batch(big, records)
    assert.ok(second.body.results.every(({ status }: Answered) => status === 'unchanged'))
  })
})

describe('a template', () => {
  it('fills a network, leaves records of users alone, and is deleted with its records', async () => {
    await batch(red, [{ ip: '203.0.114.5', ptrdname: 'own.example.net' }])
    const answer = await batch(red, [{ ip: '203.0.114.6', ptrdname: 'six.example.net' }], {
      templates: [{ cidr: '203.0.114.0/29', pattern: '{ip-dashed}.cust.example.net' }],
    })
    assert.equal(answer.status, 200, answer.text)
    const [{ template, ...counts }] = answer.body.templates
    assert.deepEqual(counts, { created: 6, updated: 0, unchanged: 0, kept: 1 })
    assert.equal(answer.body.count, 1)
    const list = await red.call('GET', '/ptr?cidr=203.0.114.0/29')
    assert.deepEqual(
      list.body.results.slice(4, 7).map(({ ip, ptrdname, source }: Answered) => [ip, ptrdname, source]),
      [
        ['203.0.114.4', '203-0-114-4.cust.example.net.', 'generated'],
        ['203.0.114.5', 'own.example.net.', 'user'],
        ['203.0.114.6', 'six.example.net.', 'user'],
      ],
    )
    const { body } = await red.call('GET', '/ptr/templates')
    assert.deepEqual([body.count, body.results[0].cidr], [1, '203.0.114.0/29'])
    assert.equal((await blue.call('DELETE', `/ptr/templates/${template.id}`)).status, 404)
    assert.equal((await red.call('DELETE', `/ptr/templates/${template.id}`)).status, 204)
    const left = await red.call('GET', '/ptr?cidr=203.0.114.0/29')
    assert.deepEqual(
      left.body.results.map(({ ip }: Answered) => ip),
      ['203.0.114.5', '203.0.114.6'],
    )
  })

  it('is deleted without the records of another template, and those of the next holder of the network', async () => {
    await addPrefix(api, red, '198.51.100.32/28')
    const filled = async (team: DnsTeam, cidr: string, pattern: string) =>
      (await batch(team, [], { templates: [{ cidr, pattern }] })).body.templates[0].template.id
    const names = async (team: DnsTeam, cidr: string) => {
      const { body } = await team.call('GET', `/ptr?cidr=${cidr}`)
      return body.results.map(({ ptrdname }: Answered) => ptrdname)
    }
    const wide = await filled(red, '203.0.112.128/29', '{ip-dashed}.a.example.net')
    await filled(red, '203.0.112.128/31', 'host{n}.b.example.net')
    assert.equal((await red.call('DELETE', `/ptr/templates/${wide}`)).status, 204)
    const left = await names(red, '203.0.112.128/29')
    assert.deepEqual(left, ['host0.b.example.net.', 'host1.b.example.net.'])

    const pattern = '{ip-dashed}.cust.example.net'
    const former = await filled(red, '198.51.100.32/28', pattern)
    await sql`delete from prefixes where prefix = '198.51.100.32/28'`.execute(api.database.postgres.owner)
    await addPrefix(api, blue, '198.51.100.32/28')
    await filled(blue, '198.51.100.32/29', 'b{n}.example.net')
    const own = await filled(blue, '198.51.100.40/29', pattern)
    assert.equal((await red.call('DELETE', `/ptr/templates/${former}`)).status, 204)
    assert.equal((await names(blue, '198.51.100.32/28')).length, 16)
    assert.equal((await blue.call('DELETE', `/ptr/templates/${own}`)).status, 204)
    assert.equal((await names(blue, '198.51.100.32/28')).length, 8)
  })

  it('has its records again after a rollback: they are deleted with it', async () => {
    const template = { cidr: '203.0.112.64/30', pattern: 'host{n}.example.net' }
    const answer = await batch(red, [], { templates: [template] })
    const zone = '112.0.203.in-addr.arpa'
    const { version } = (await red.call('GET', `/zones/${zone}?include=details`)).body.details
    await batch(red, [
      { ip: '203.0.112.65', ptrdname: null },
      { ip: '203.0.112.66', ptrdname: 'own.example.net' },
    ])
    const rolled = await red.call('POST', `/zones/${zone}/versions/${version}/rollback`)
    assert.deepEqual([rolled.status, rolled.body.added_count, rolled.body.changed_count], [200, 1, 1])
    const sources = async () => {
      const { body } = await red.call('GET', '/ptr?cidr=203.0.112.64/30')
      return body.results.map(({ ptrdname, source }: Answered) => `${ptrdname} ${source}`)
    }
    assert.deepEqual(
      await sources(),
      [0, 1, 2, 3].map((n) => `host${n}.example.net. generated`),
    )
    await red.call('DELETE', `/ptr/templates/${answer.body.templates[0].template.id}`)
    assert.deepEqual(await sources(), [])
  })

  it('of a wide IPv6 network is one wildcard, and cannot have placeholders', async () => {
    const wide = (pattern: string) => batch(red, [], { templates: [{ cidr: '2001:db8:1ed::/48', pattern }] })
    const fixed = await wide('customer.example.net')
    assert.equal(fixed.status, 200, fixed.text)
    assert.equal(fixed.body.templates[0].created, 1)
    const wildcards = async () => {
      const { rows } = await sql<{ content: string }>`
        select content from dns_recordsets where name = '*.d.e.1.0.8.b.d.0.1.0.0.2.ip6.arpa.'`.execute(
        api.database.postgres.owner,
      )
      return rows.map(({ content }) => content)
    }
    assert.deepEqual(await wildcards(), ['customer.example.net.'])
    const variable = await wide('{ip-dashed}.example.net')
    assert.deepEqual([variable.status, variable.body.errors[0].type], [422, 'template_too_wide'])
    assert.deepEqual((await wide('{a}.example.net')).body.errors[0].type, 'pattern')
    await red.call('DELETE', `/ptr/templates/${fixed.body.templates[0].template.id}`)
    assert.deepEqual(await wildcards(), [])
  })

  it('of a network that another team holds in part is rejected', async () => {
    const answer = await batch(red, [], {
      templates: [{ cidr: '203.0.113.0/24', pattern: '{d}.example.net' }],
    })
    assert.equal(answer.body.errors[0].type, 'not_your_address')
  })
})

describe('PTR records of forward records', () => {
  before(() => red.call('POST', '/zones', { name: 'hosts.example', dnssec: false }))

  it('are written in the same transaction, and deleted with them', async () => {
    const created = await red.call('PUT', '/zones/hosts.example/recordsets/web/A', {
      records: ['203.0.113.90', '203.0.113.91'],
      ptr: true,
    })
    assert.equal(created.status, 201, created.text)
    const list = await red.call('GET', '/ptr?cidr=203.0.113.90')
    assert.equal(list.body.results[0].ptrdname, 'web.hosts.example.')
    await batch(red, [{ ip: '203.0.113.91', ptrdname: 'other.example.net' }])
    assert.equal((await red.call('DELETE', '/zones/hosts.example/recordsets/web/A?ptr=true')).status, 204)
    assert.equal((await red.call('GET', '/ptr?cidr=203.0.113.90')).body.count, 0)
    assert.equal((await red.call('GET', '/ptr?cidr=203.0.113.91')).body.count, 1)
  })

  it('are deleted where they exist: addresses of others, and without a zone, are no error', async () => {
    const records = ['192.0.2.1', '203.0.115.200']
    await red.call('PUT', '/zones/hosts.example/recordsets/mixed/A', { records })
    const { status, text } = await red.call('DELETE', '/zones/hosts.example/recordsets/mixed/A?ptr=true')
    assert.equal(status, 204, text)
    assert.equal((await red.call('GET', '/zones/115.0.203.in-addr.arpa')).status, 404)
  })

  it('of an address of somebody else are rejected, and the record is not stored', async () => {
    const answer = await red.call('PUT', '/zones/hosts.example/recordsets/far/A', {
      records: ['192.0.2.1'],
      ptr: true,
    })
    assert.deepEqual([answer.status, answer.body.errors[0].loc], [422, ['body', 'records', 0]])
    assert.equal((await red.call('GET', '/zones/hosts.example/recordsets/far/A')).status, 404)
    const mx = await red.call('PUT', '/zones/hosts.example/recordsets/far/MX', {
      records: ['10 web'],
      ptr: true,
    })
    assert.equal(mx.status, 422)
  })
})

describe('a zone of reverse DNS', () => {
  it('can be created for a network of the team only', async () => {
    const answer = await red.call('POST', '/zones', { name: '115.0.203.in-addr.arpa', dnssec: false })
    assert.equal(answer.status, 201, answer.text)
    assert.equal(
      (await blue.call('POST', '/zones', { name: '0.203.in-addr.arpa', dnssec: false })).status,
      422,
    )
    const list = await red.call('GET', '/zones?reverse=true&name=115.0.203.in-addr.arpa')
    assert.equal(list.body.count, 1)
  })

  it('prevents the deletion of the announcement that it depends on', async () => {
    const green = await addDnsTeam(api, 'green')
    const id = await seedAnnouncement(api.database.postgres, { teamId: green.teamId, prefix: '192.0.2.0/24' })
    const created = await batch(green, [{ ip: '192.0.2.1', ptrdname: 'a.example.net' }])
    assert.equal(created.status, 200, created.text)
    const answer = await green.call('DELETE', `/v3/ipam/announcements/${id}`)
    assert.deepEqual([answer.status, answer.body.code], [409, 'in_use'])
    assert.deepEqual(answer.body.errors[0].ctx, { zone: '2.0.192.in-addr.arpa' })
    assert.equal((await green.call('DELETE', `/v3/ipam/announcements/${id}?force=true`)).status, 204)
  })
})
