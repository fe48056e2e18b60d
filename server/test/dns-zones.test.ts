// Zones and record sets over the API, on a real PostgreSQL: creating, claims, changes as plan and apply, history, import and deletion.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { addDnsTeam, versionOf, type Answered, type DnsTeam } from './support/dns.ts'

let api: TestApi
let red: DnsTeam
let blue: DnsTeam
before(async () => {
  api = await createTestApi()
  red = await addDnsTeam(api, 'red')
  blue = await addDnsTeam(api, 'blue')
})
after(() => api[Symbol.asyncDispose]())

const zoneOf = async (team: DnsTeam, name: string, more: object = {}) => {
  const created = await team.call('POST', '/zones', { name, dnssec: false, ...more })
  assert.equal(created.status, 201, created.text)
  return created
}
const codesOf = ({ body }: { readonly body: Answered }) =>
  body.errors?.map(({ type }: { type: string }) => type)

describe('the name servers of a zone', () => {
  it('show since when each has its serial, or is in its state', async () => {
    const { body: zone } = await zoneOf(red, 'since.example')
    await sql`with s as (insert into dns_servers (name, kind) values ('a.since.test.', 'sandbox'), ('b.since.test.', 'sandbox') returning id, name)
      insert into dns_server_zones (server_id, zone_id, serial, state, checked, since)
      select id, ${zone.id}, 7, case when name like 'a%' then 'serving' else 'behind' end, '2026-01-02Z', '2026-01-01Z' from s`.execute(
      api.database.postgres.owner,
    )
    const { body } = await red.call('GET', '/zones/since.example?include=servers')
    assert.deepEqual(
      body.servers.map(({ name, state, since }: Answered) => [name, state, since]),
      [
        ['a.since.test.', 'serving', '2026-01-02T00:00:00.000Z'],
        ['b.since.test.', 'behind', '2026-01-01T00:00:00.000Z'],
      ],
    )
    await sql`delete from dns_servers where name like '%.since.test.'`.execute(api.database.postgres.owner)
  })
})

describe('creating a zone', () => {
  it('stores SOA, NS and the given record sets in one version', async () => {
    const { body, headers } = await zoneOf(red, 'Create.Example', {
      recordsets: [{ name: 'www', type: 'a', records: ['192.0.2.1'] }],
    })
    assert.equal(body.name, 'create.example')
    assert.equal(body.record_count, 3)
    assert.equal(body.status, 'updating')
    assert.deepEqual(body.keys, [])
    assert.equal(headers['location'], `/v3/dns/zones/${body.id}`)
    const list = await red.call('GET', '/zones/create.example/recordsets')
    assert.deepEqual(
      list.body.results.map(({ id, managed }: Answered) => [id, managed]),
      [
        ['@/NS', true],
        ['@/SOA', true],
        ['www/A', false],
      ],
    )
    assert.equal(list.body.count, 3)
    assert.equal(await versionOf(api, 'create.example.'), 1)
  })

  it('is found by id and by name with or without the dot, and not by another team', async () => {
    const { body } = await zoneOf(red, 'found.example')
    for (const zone of [body.id, 'found.example', 'FOUND.example.', 'found.example.'])
      assert.equal((await red.call('GET', `/zones/${zone}`)).body.id, body.id, String(zone))
    for (const zone of [body.id, 'found.example']) {
      for (const path of ['', '/recordsets', '/recordsets/@/SOA', '/settings', '/versions', '/export'])
        assert.equal((await blue.call('GET', `/zones/${zone}${path}`)).status, 404, path)
      assert.equal((await blue.call('DELETE', `/zones/${zone}?confirm=found.example`)).status, 404)
    }
  })

  it('converts Unicode to A-labels', async () => {
    const { body } = await zoneOf(red, 'bücher.example')
    assert.equal(body.name, 'xn--bcher-kva.example')
    assert.equal((await red.call('GET', `/zones/${encodeURIComponent('bücher.example')}`)).body.id, body.id)
  })

  const bad: readonly [name: string, type: string][] = [
    ['co.uk', 'public_suffix'],
    ['com', 'public_suffix'],
    ['.', 'zone_name'],
    ['a..example', 'empty'],
    [`${'a'.repeat(64)}.example`, 'label_length'],
    [`${'a.'.repeat(130)}example`, 'name_length'],
    ['../etc/passwd', 'empty'],
    ['host.onion', 'special_use'],
    ['\u0001.example', 'character'],
    // The first a is Cyrillic.
    ['p\u0430ypal.example', 'mixed_scripts'],
    ['xn--zz--zzz.example', 'idna'],
    ['*.wild.example', 'wildcard'],
    ['113.0.203.in-addr.arpa', 'not_your_address'],
    ['x.0.203.in-addr.arpa', 'reverse_zone'],
    ['arpa', 'reverse_zone'],
  ]
  for (const [name, type] of bad)
    it(`rejects ${JSON.stringify(name.slice(0, 30))} as ${type}`, async () => {
      const answer = await red.call('POST', '/zones', { name, dnssec: false })
      assert.equal(answer.status, 422, answer.text)
      assert.deepEqual(codesOf(answer), [type])
      assert.deepEqual(answer.body.errors[0].loc, ['body', 'name'])
    })

  it('rejects a second zone of the name', async () => {
    await zoneOf(red, 'twice.example')
    const answer = await red.call('POST', '/zones', { name: 'twice.example.' })
    assert.deepEqual([answer.status, answer.body.code], [409, 'exists'])
  })

  it('is a plan with dry_run, and stores nothing', async () => {
    const plan = await red.call('POST', '/zones?dry_run=true', { name: 'plan.example', dnssec: false })
    assert.equal(plan.status, 200)
    assert.equal(plan.body.result.name, 'plan.example')
    assert.equal((await red.call('GET', '/zones/plan.example')).status, 404)
  })

  it('returns the first answer for a repeated Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'create-once' }
    const first = await red.call('POST', '/zones', { name: 'once.example', dnssec: false }, key)
    const again = await red.call('POST', '/zones', { name: 'once.example', dnssec: false }, key)
    assert.equal(again.status, 201)
    assert.equal(again.body.id, first.body.id)
    assert.equal(again.headers['idempotency-replayed'], 'true')
  })

  it('is limited by the quota of the platform file', async () => {
    const small = await addDnsTeam(api, 'small')
    await sql`insert into dns_defaults (key, zones_max) values ('dns', 1)`.execute(
      api.database.postgres.owner,
    )
    try {
      await zoneOf(small, 'first.example')
      const second = await small.call('POST', '/zones', { name: 'second.example' })
      assert.deepEqual([second.status, second.body.code], [403, 'quota_exceeded'])
    } finally {
      await sql`delete from dns_defaults`.execute(api.database.postgres.owner)
    }
  })
})

describe('a name that another team has', () => {
  before(() => zoneOf(red, 'held.example'))

  for (const name of ['held.example', 'below.held.example'])
    it(`cannot be used for ${name} without a proof, and the answer has the record to create`, async () => {
      const answer = await blue.call('POST', '/zones', { name })
      assert.deepEqual([answer.status, answer.body.code], [409, 'zone_claimed'])
      assert.equal(answer.body.errors[0].ctx.record_name, `_pharos-challenge.${name}`)
      assert.ok(!answer.text.includes('red'))
    })

  it('cannot be used for a zone above it', async () => {
    await zoneOf(red, 'deep.above.example')
    const answer = await blue.call('POST', '/zones', { name: 'above.example' })
    assert.equal(answer.body.code, 'zone_claimed')
  })

  it('can be used above and below by the team that verified the domain, and waits if it is the same', async () => {
    await zoneOf(red, 'proved.example')
    await sql`insert into domains (team_id, domain, verified) values (${blue.teamId}, 'proved.example', now())`.execute(
      api.database.postgres.owner,
    )
    assert.equal((await zoneOf(blue, 'sub.proved.example')).body.status, 'updating')
    const waiting = await zoneOf(blue, 'proved.example')
    assert.equal(waiting.body.status, 'pending_verification')
    // It can be edited, and gets the name once the other team deletes its zone.
    const set = await blue.call('PUT', '/zones/proved.example/recordsets/www/A', { records: ['192.0.2.1'] })
    assert.equal(set.status, 201, set.text)
    assert.equal((await red.call('DELETE', '/zones/proved.example?confirm=proved.example')).status, 204)
    assert.equal((await blue.call('GET', '/zones/proved.example')).body.status, 'updating')
    const restored = await red.call('POST', `/zones/${await deletedId('proved.example.')}/restore`)
    assert.equal(restored.body.code, 'zone_claimed')
  })

  const deletedId = async (name: string) => {
    const { rows } = await sql<{ id: number }>`
      select id from dns_zones where name = ${name} and deleted is not null`.execute(
      api.database.postgres.owner,
    )
    return rows[0]!.id
  }
})

describe('listing zones', () => {
  it('finds the zone that is responsible for a name', async () => {
    await zoneOf(red, 'owner.example')
    await zoneOf(red, 'lab.owner.example')
    const owner = async (qname: string) => {
      const { body } = await red.call('GET', `/zones?owns_qname=${qname}`)
      return body.results.map(({ name }: Answered) => name)
    }
    assert.deepEqual(await owner('_acme-challenge.www.owner.example'), ['owner.example'])
    assert.deepEqual(await owner('a.lab.owner.example.'), ['lab.owner.example'])
    assert.deepEqual(await owner('lab.owner.example'), ['lab.owner.example'])
    assert.deepEqual(await owner('elsewhere.test'), [])
  })

  it('orders by name canonically, and pages with the exact count', async () => {
    const team = await addDnsTeam(api, 'pages')
    for (const name of ['z.example', 'a.example', 'www.a.example', 'b.example']) await zoneOf(team, name)
    const { body } = await team.call('GET', '/zones?limit=2&offset=1')
    assert.deepEqual(
      body.results.map(({ name }: Answered) => name),
      ['www.a.example', 'b.example'],
    )
    assert.equal(body.count, 4)
    const filtered = await team.call(
      'GET',
      '/zones?search=A.ex&reverse=false&status=updating&kind=primary&ordering=-name',
    )
    assert.equal(filtered.body.count, 2)
  })
})

describe('a record set', () => {
  before(() => zoneOf(red, 'sets.example'))
  const put = (id: string, payload: object, headers?: Record<string, string>) =>
    red.call('PUT', `/zones/sets.example/recordsets/${id}`, payload, headers)
  const version = () => versionOf(api, 'sets.example.')

  it('is created by PUT with 201, replaced with 200, and answers what GET answers', async () => {
    const created = await put('www/a', { ttl: 600, records: ['192.0.2.2', '192.0.2.1'], comment: 'front' })
    assert.equal(created.status, 201, created.text)
    const { created: _created, touched: _touched, zone_id: _zone, ...rest } = created.body
    assert.deepEqual(rest, {
      id: 'www/A',
      name: 'www',
      fqdn: 'www.sets.example.',
      type: 'A',
      ttl: 600,
      records: ['192.0.2.1', '192.0.2.2'],
      comment: 'front',
      managed: false,
    })
    const replaced = await put('www/A', { records: ['192.0.2.3'] })
    assert.deepEqual([replaced.status, replaced.body.ttl, replaced.body.comment], [200, 600, 'front'])
    const got = await red.call('GET', '/zones/sets.example/recordsets/www.sets.example./A')
    assert.deepEqual(got.body, replaced.body)
    assert.equal(got.etag, replaced.etag)
  })

  it('is created once by a repeated PUT: with its Idempotency-Key it answers 201 again', async () => {
    const key = { 'idempotency-key': 'put-once' }
    const first = await put('once/A', { records: ['192.0.2.1'] }, key)
    const again = await put('once/A', { records: ['192.0.2.1'] }, key)
    assert.deepEqual([first.status, again.status, again.headers['idempotency-replayed']], [201, 201, 'true'])
    assert.deepEqual([again.body, again.etag], [first.body, first.etag])
    assert.equal(again.headers['location'], '/v3/dns/zones/sets.example/recordsets/once/A')
    assert.equal((await put('once/A', { records: ['192.0.2.1'] })).status, 200)
  })

  it('in another order or spelling is the same, and bumps no version', async () => {
    await put('same/MX', { ttl: 900, records: ['10 mx1.sets.example.', '20 mx2'] })
    const before = await version()
    const again = await put('SAME/mx', { ttl: 900, records: ['20 MX2.Sets.Example.', '10 mx1'] })
    assert.equal(again.status, 200)
    assert.deepEqual(again.body.records, ['10 mx1.sets.example.', '20 mx2.sets.example.'])
    assert.equal(await version(), before)
  })

  it('takes single records with add and remove', async () => {
    await put('merge/TXT', { records: ['one', 'two'] })
    const merged = await put('merge/TXT', { add: ['three', 'one'], remove: ['two', 'absent'] })
    assert.deepEqual(merged.body.records.toSorted(), ['"one"', '"three"'])
    assert.equal((await put('merge/TXT', { remove: ['one', 'three'] })).status, 422)
    assert.equal((await put('merge/TXT', { add: ['x'], records: ['y'] })).status, 422)
  })

  it('with a wrong If-Match is not changed', async () => {
    const { etag } = await put('match/A', { records: ['192.0.2.1'] })
    assert.equal((await put('match/A', { records: ['192.0.2.2'] }, { 'if-match': '"other"' })).status, 412)
    assert.equal((await put('match/A', { records: ['192.0.2.2'] }, { 'if-match': etag })).status, 200)
    assert.equal((await put('absent/A', { records: ['192.0.2.2'] }, { 'if-match': '*' })).status, 412)
  })

  it('is created only if it does not exist with If-None-Match: *', async () => {
    const only = { 'if-none-match': '*' }
    assert.equal((await put('fresh/A', { records: ['192.0.2.1'] }, only)).status, 201)
    const again = await put('fresh/A', { records: ['192.0.2.2'] }, only)
    assert.deepEqual([again.status, again.body.code], [412, 'precondition_failed'])
    const { body } = await red.call('GET', '/zones/sets.example/recordsets/fresh/A')
    assert.deepEqual(body.records, ['192.0.2.1'])
  })

  it('that GET answered is accepted and changes nothing, as are the settings', async () => {
    await put('back/TXT', { records: ['"one" "two"', 'v=spf1 -all'], ttl: 600, comment: 'rack 4' })
    const before = await version()
    for (const path of [
      '/zones/sets.example/recordsets/back/TXT?include=source',
      '/zones/sets.example/recordsets/back/TXT',
      '/zones/sets.example/settings',
    ]) {
      const { body } = await red.call('GET', path)
      const answer = await red.call('PUT', path.replace(/\?.*/, ''), body)
      assert.equal(answer.status, 200, answer.text)
      const after = await red.call('GET', path)
      assert.deepEqual(after.body, body)
    }
    assert.equal(await version(), before)
    const { body } = await red.call('GET', '/zones/sets.example/recordsets/back/TXT')
    const elsewhere = await put('other/TXT', body)
    assert.deepEqual([elsewhere.status, codesOf(elsewhere)], [422, ['mismatch']])
  })

  it('quotes and splits long texts', async () => {
    const { body } = await put('long/TXT', { records: ['v=DKIM1; k=rsa; p='.padEnd(400, 'A')] })
    assert.equal(body.records.length, 1)
    assert.match(body.records[0], /^"v=DKIM1; k=rsa; p=A{237}" "A{145}"$/)
  })

  it('of a wrong form is rejected with its place and a suggestion', async () => {
    const rows: [id: string, payload: object, type: string, suggestion?: RegExp][] = [
      ['bad/CNAME', { records: ['www.other.example'] }, 'trailing_dot', /www\.other\.example\./],
      ['bad/MX', { records: ['10 mail.other.example'] }, 'trailing_dot', /mail\.other\.example\./],
      ['bad/A', { records: ['192.0.2.256'] }, 'syntax'],
      ['bad/A', { records: [] }, 'minItems'],
      ['bad/A', {}, 'required'],
      ['bad/A', { records: ['192.0.2.1'], ttl: 1 }, 'range'],
      ['bad/A', { records: ['192.0.2.1'], ttl: 4294967295 }, 'maximum'],
      ['bad/WKS', { records: ['\\# 1 00'] }, 'unsupported_type'],
      ['bad/AAA', { records: ['x'] }, 'unknown'],
      ['bad.sets.example/A', { records: ['192.0.2.1'] }, 'trailing_dot'],
      ['bad.other.example./A', { records: ['192.0.2.1'] }, 'out_of_zone'],
      ['@/CNAME', { records: ['www.other.example.'] }, 'cname_and_other', /HTTPS/],
      ['bad/CNAME', { records: ['a.other.example.', 'b.other.example.'] }, 'several_in_set'],
      ['bad/CNAME', { records: ['bad'] }, 'cname_loop', /bad\.sets\.example\. -> bad/],
      ['bad/A', { records: ['2001:db8::1'] }, 'syntax', /AAAA/],
      ['bad/TXT', { records: ['one\ntwo'] }, 'line_break', /010/],
      ['bad/TXT', { records: ['\u201cv=spf1 -all\u201d'] }, 'syntax', /typographic/],
      ['bad/NAPTR', { records: ['1 1 "u" "E2U+sip" "!^.*$!sip:\\\\1@a.example!" .'] }, 'meaning', /0 groups/],
      ['bad/SVCB', { records: ['1 a.example. alpn=h2 dohpath=/novariable'] }, 'meaning', /RFC 9461/],
      ['bad/HTTPS', { records: ['1 . alpn=a\\\\b'] }, 'syntax', /comma or a backslash/],
      ...[22, 34, 40, 57, 67, 68].map((type): [string, object, string] => [
        `bad/TYPE${type}`,
        { records: ['\\# 0'] },
        'length',
      ]),
      ['bad/TYPE65280', { records: ['text'] }, 'generic_form', /RFC 3597/],
      ['p\u0430ypal/A', { records: ['192.0.2.1'] }, 'mixed_scripts', /xn--pypal-4ve/],
    ]
    const before = await version()
    for (const [id, payload, type, suggestion] of rows) {
      const answer = await put(id, payload)
      assert.equal(answer.status, 422, `${id}: ${answer.text}`)
      assert.equal(answer.body.errors[0].type, type, `${id}: ${answer.text}`)
      if (suggestion) assert.match(JSON.stringify(answer.body.errors[0]), suggestion)
    }
    assert.equal(await version(), before)
  })

  it('that Pharos manages is refused', async () => {
    for (const id of ['@/SOA', '@/NS', 'www/RRSIG', '@/DNSKEY']) {
      const answer = await put(id, { records: ['x'] })
      assert.deepEqual([answer.status, answer.body.code], [403, 'managed'], id)
    }
    assert.equal((await red.call('DELETE', '/zones/sets.example/recordsets/@/NS')).status, 403)
  })

  it('with the NS records of the zone itself is replaced where that is allowed, and never deleted', async () => {
    await zoneOf(red, 'apex.example')
    await sql`update dns_zones set settings = '{"apex_ns_editable": true}' where name = 'apex.example.'`.execute(
      api.database.postgres.owner,
    )
    const path = '/zones/apex.example/recordsets/@/NS'
    const replaced = await red.call('PUT', path, { records: ['ns1.example.net.', 'ns2.example.net.'] })
    assert.equal(replaced.status, 200, replaced.text)
    const deleted = await red.call('DELETE', path)
    assert.deepEqual([deleted.status, codesOf(deleted)], [422, ['apex_ns_required']])
    const changed = await red.call('PATCH', '/zones/apex.example/recordsets', {
      recordsets: [{ name: '@', type: 'NS', records: [] }],
    })
    assert.deepEqual([changed.status, codesOf(changed)], [422, ['apex_ns_required']])
    const zonefile = 'www 300 A 192.0.2.1\n'
    const imported = await red.call('POST', '/zones/import', {
      name: 'apex.example',
      zonefile,
      mode: 'replace',
    })
    assert.deepEqual([imported.status, imported.body.removed_count], [200, 0], imported.text)
    assert.deepEqual((await red.call('GET', path)).body.records, ['ns1.example.net.', 'ns2.example.net.'])
  })

  it('is created by POST, one or several, and never replaced', async () => {
    const one = await red.call('POST', '/zones/sets.example/recordsets', {
      name: 'new',
      type: 'A',
      records: ['192.0.2.9'],
    })
    assert.equal(one.status, 201, one.text)
    assert.match(String(one.headers['location']), /\/recordsets\/new\/A$/)
    const got = await red.call('GET', '/zones/sets.example/recordsets/new/A')
    assert.deepEqual([got.body, got.etag], [one.body, one.etag])
    const list = await red.call('POST', '/zones/sets.example/recordsets', [
      { name: 'listed', type: 'A', records: ['192.0.2.9'] },
    ])
    assert.deepEqual([list.body.count, list.body.results[0].id], [1, 'listed/A'])
    const several = await red.call('POST', '/zones/sets.example/recordsets', [
      { name: 'several', type: 'A', records: ['192.0.2.9'] },
      { name: 'new', type: 'A', records: ['192.0.2.10'] },
    ])
    assert.deepEqual([several.status, several.body.code], [409, 'exists'])
    assert.deepEqual(several.body.errors[0].loc, ['body', 1, 'name'])
    assert.equal((await red.call('GET', '/zones/sets.example/recordsets/several/A')).status, 404)
  })

  it('beside a CNAME is rejected, also within one request and in another spelling', async () => {
    const answer = await red.call('POST', '/zones/sets.example/recordsets', [
      { name: 'alias', type: 'CNAME', records: ['www'] },
      { name: '\\097LIAS', type: 'A', records: ['192.0.2.9'] },
    ])
    assert.equal(answer.status, 422, answer.text)
    assert.ok(codesOf(answer).includes('cname_and_other'))
  })

  it('has its errors at the field', async () => {
    const cases: [set: object, loc: string][] = [
      [{ name: 'f', type: 'CNAME', records: ['a', 'b'] }, 'body.records'],
      [{ name: 'www', type: 'CNAME', records: ['a'] }, 'body.type'],
      [{ name: '@', type: 'DS', records: [`1 13 2 ${'ab'.repeat(32)}`] }, 'body.type'],
    ]
    await put('www/A', { records: ['192.0.2.1'] })
    for (const [set, loc] of cases) {
      const { body } = await red.call('POST', '/zones/sets.example/recordsets', set)
      assert.equal(body.errors[0].loc.join('.'), loc)
    }
    const { body } = await put('www/CNAME', { records: ['a'] })
    assert.deepEqual(body.errors[0].loc, ['path', 'type'])
  })

  it('that leads back to itself is rejected, with the aliases that exist', async () => {
    await put('loop1/CNAME', { records: ['loop2'] })
    await put('loop2/CNAME', { records: ['loop3'] })
    const answer = await put('loop3/CNAME', { records: ['loop1'] })
    assert.deepEqual([answer.status, codesOf(answer)], [422, ['cname_loop']])
    assert.match(answer.text, /loop3\.sets\.example\. -> loop1/)
    const both = await red.call('POST', '/zones/sets.example/recordsets', [
      { name: 'ping', type: 'CNAME', records: ['pong'] },
      { name: 'pong', type: 'CNAME', records: ['ping'] },
    ])
    assert.deepEqual([both.status, codesOf(both)], [422, ['cname_loop', 'cname_loop']])
    assert.equal((await put('loop3/CNAME', { records: ['loop4'] })).status, 201)
  })

  it('below a DNAME is rejected, and so is a DNAME above names', async () => {
    await put('a.tree/A', { records: ['192.0.2.1'] })
    assert.deepEqual(codesOf(await put('tree/DNAME', { records: ['other.example.'] })), ['below_dname'])
    await put('moved/DNAME', { records: ['other.example.'] })
    assert.deepEqual(codesOf(await put('a.moved/A', { records: ['192.0.2.1'] })), ['below_dname'])
  })

  it('is deleted once', async () => {
    await put('gone/A', { records: ['192.0.2.1'] })
    assert.equal((await red.call('DELETE', '/zones/sets.example/recordsets/gone/A')).status, 204)
    assert.equal((await red.call('DELETE', '/zones/sets.example/recordsets/gone/A')).status, 404)
  })

  it('is found by filters', async () => {
    await put('find.me/TXT', { records: ['needle in a haystack'], comment: 'Kept for Alice' })
    const find = async (query: string) =>
      (await red.call('GET', `/zones/sets.example/recordsets?${query}`)).body.results.map(
        ({ id }: Answered) => id,
      )
    for (const query of [
      'content=NEEDLE',
      'search=alice',
      'name=find.me',
      'name=find.me.sets.example.&type=txt&type=A',
    ])
      assert.deepEqual(await find(query), ['find.me/TXT'], query)
    assert.deepEqual(await find('managed=true'), ['@/NS', '@/SOA'])
    assert.equal((await red.call('GET', '/zones/sets.example/recordsets?type=NOPE')).status, 422)
  })

  it('of a name with 255 octets, and a set of 60 kB, are stored', async () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(48)}`
    assert.equal((await put(`${name}/A`, { records: ['192.0.2.1'] })).status, 201)
    assert.equal((await put(`${name}e/A`, { records: ['192.0.2.1'] })).status, 422)
    const big = Array.from({ length: 220 }, (_, at) => `"${String(at).padEnd(255, 'x')}"`)
    assert.equal((await put('big/TXT', { records: big })).status, 201)
    const larger = Array.from({ length: 260 }, (_, at) => `"${String(at).padEnd(255, 'x')}"`)
    assert.deepEqual(codesOf(await put('larger/TXT', { records: larger })), ['set_too_large'])
  })
})

describe('changing many record sets', () => {
  before(() =>
    zoneOf(red, 'bulk.example', { recordsets: [{ name: 'old', type: 'CNAME', records: ['www'] }] }),
  )
  const patch = (recordsets: object[], query = '', headers?: Record<string, string>) =>
    red.call('PATCH', `/zones/bulk.example/recordsets${query}`, { recordsets }, headers)

  it('plans with dry_run what it applies, in one version', async () => {
    const sets = [
      { name: 'old', type: 'CNAME', records: [] },
      { name: 'old', type: 'A', records: ['192.0.2.1'] },
      { name: 'new', type: 'A', records: ['192.0.2.2'] },
    ]
    const before = await versionOf(api, 'bulk.example.')
    const plan = await patch(sets, '?dry_run=true')
    assert.equal(plan.status, 200, plan.text)
    assert.deepEqual(
      [plan.body.result.added_count, plan.body.result.removed_count, plan.body.result.version],
      [2, 1, before + 1],
    )
    assert.equal(await versionOf(api, 'bulk.example.'), before)
    const applied = await patch(sets)
    assert.deepEqual(
      applied.body.added.map(({ id }: Answered) => id),
      ['old/A', 'new/A'],
    )
    assert.equal(await versionOf(api, 'bulk.example.'), before + 1)
    const again = await patch(sets)
    assert.deepEqual([again.body.version, again.body.unchanged_count], [before + 1, 3])
  })

  it('reports every error of the request and applies nothing', async () => {
    const before = await versionOf(api, 'bulk.example.')
    const answer = await patch([
      { name: 'ok', type: 'A', records: ['192.0.2.1'] },
      { name: 'bad', type: 'A', records: ['x', '192.0.2.1', 'y'] },
      { name: 'ok', type: 'A', records: ['192.0.2.2'] },
    ])
    assert.equal(answer.status, 422)
    assert.deepEqual(
      answer.body.errors.map(({ loc }: Answered) => loc.join('.')),
      ['body.recordsets.1.records.0', 'body.recordsets.1.records.2', 'body.recordsets.2.name'],
    )
    assert.equal(await versionOf(api, 'bulk.example.'), before)
  })

  it('with the ETag of the zone rejects a change after another one', async () => {
    const { etag } = await red.call('GET', '/zones/bulk.example')
    assert.equal(
      (await patch([{ name: 'x', type: 'A', records: ['192.0.2.1'] }], '', { 'if-match': etag })).status,
      200,
    )
    assert.equal(
      (await patch([{ name: 'y', type: 'A', records: ['192.0.2.1'] }], '', { 'if-match': etag })).status,
      412,
    )
  })
})

describe('the history of a zone', () => {
  it('has the difference of every version, and rolls back to one', async () => {
    await zoneOf(red, 'past.example')
    const put = (id: string, records: string[]) =>
      red.call('PUT', `/zones/past.example/recordsets/${id}`, { ttl: 300, records })
    await put('a/A', ['192.0.2.1'])
    await put('a/A', ['192.0.2.2'])
    await put('b/A', ['192.0.2.3'])
    await red.call('DELETE', '/zones/past.example/recordsets/a/A')
    const { body: list } = await red.call('GET', '/zones/past.example/versions')
    assert.deepEqual(
      list.results.map(({ version, what, added_count, changed_count, removed_count }: Answered) => [
        version,
        what,
        added_count,
        changed_count,
        removed_count,
      ]),
      [
        [5, 'recordset.delete', 0, 0, 1],
        [4, 'recordset.update', 1, 0, 0],
        [3, 'recordset.update', 0, 1, 0],
        [2, 'recordset.update', 1, 0, 0],
        [1, 'zone.create', 2, 0, 0],
      ],
    )
    const third = await red.call('GET', '/zones/past.example/versions/3')
    assert.deepEqual(third.body.changed[0].before.records, ['192.0.2.1'])
    assert.deepEqual(third.body.changed[0].after.records, ['192.0.2.2'])

    const plan = await red.call('POST', '/zones/past.example/versions/2/rollback?dry_run=true')
    assert.deepEqual([plan.body.result.added_count, plan.body.result.removed_count], [1, 1])
    const rolled = await red.call('POST', '/zones/past.example/versions/2/rollback')
    assert.equal(rolled.status, 200, rolled.text)
    assert.equal(rolled.body.version, 6)
    const { body } = await red.call('GET', '/zones/past.example/recordsets?managed=false')
    assert.deepEqual(
      body.results.map(({ id, records }: Answered) => [id, ...records]),
      [['a/A', '192.0.2.1']],
    )
    assert.equal((await red.call('POST', '/zones/past.example/versions/99/rollback')).status, 404)
  })

  it('rolls back only the zone that the caller has seen', async () => {
    await zoneOf(red, 'seen.example')
    const put = (address: string) =>
      red.call('PUT', '/zones/seen.example/recordsets/a/A', { ttl: 300, records: [address] })
    await put('192.0.2.1')
    await put('192.0.2.2')
    const { etag } = await red.call('GET', '/zones/seen.example')
    await put('192.0.2.3')
    const rollBack = (tag: string) =>
      red.call('POST', '/zones/seen.example/versions/2/rollback', undefined, { 'if-match': tag })
    const stale = await rollBack(etag)
    assert.deepEqual([stale.status, stale.body.code], [412, 'precondition_failed'])
    const rolled = await rollBack((await red.call('GET', '/zones/seen.example')).etag)
    assert.equal(rolled.status, 200, rolled.text)
    assert.equal((await rollBack(rolled.etag)).body.version, rolled.body.version)
  })
})

describe('settings of a zone', () => {
  before(() => zoneOf(red, 'settings.example'))

  it('can name the keys of the team, and lists neither those of others nor a secret', async () => {
    await sql`insert into dns_tsig_keys (name, team_id, secret_sealed) values
      ('own.example.', ${red.teamId}, 'x'), ('other.example.', ${blue.teamId}, 'x'), ('provider.example.', null, 'x')`.execute(
      api.database.postgres.owner,
    )
    const { body } = await red.call('GET', '/tsig-keys')
    assert.equal(body.count, 1)
    assert.deepEqual([body.results[0].name, body.results[0].algorithm], ['own.example.', 'hmac-sha256'])
    assert.ok(!Object.keys(body.results[0]).some((key) => key.includes('secret')))
    const { body: settings } = await red.call('GET', '/zones/settings.example/settings')
    const answer = await red.call(
      'PUT',
      '/zones/settings.example/settings',
      { ...settings, tsig_key_ids: [body.results[0].id] },
      {},
    )
    assert.equal(answer.status, 200, answer.text)
    await red.call('PUT', '/zones/settings.example/settings', settings, {})
  })

  const put = (payload: object, headers?: Record<string, string>) =>
    red.call('PUT', '/zones/settings.example/settings', payload, headers)

  it('have a value each, are replaced as a whole, and change SOA', async () => {
    const { body, etag } = await red.call('GET', '/zones/settings.example/settings')
    assert.equal(body.soa.expire, 1209600)
    const changed = await put(
      { ...body, soa: { ...body.soa, refresh: 7200, rname: 'Admin.Example.net' } },
      { 'if-match': etag },
    )
    assert.equal(changed.status, 200, changed.text)
    const soa = await red.call('GET', '/zones/settings.example/recordsets/@/SOA')
    assert.match(soa.body.records[0], / admin\.example\.net\. 0 7200 900 1209600 300$/)
    assert.equal(await versionOf(api, 'settings.example.'), 2)
    assert.equal((await put(body, { 'if-match': etag })).status, 412)
    assert.equal((await put(changed.body)).etag, changed.etag)
    const reset = await put({})
    assert.equal(reset.body.soa.refresh, 3600)
  })

  it('outside their ranges are rejected', async () => {
    const rows: [payload: object, loc: string][] = [
      [{ soa: { expire: 1209599 } }, 'body.soa.expire'],
      [{ soa: { refresh: 900, retry: 900 } }, 'body.soa.retry'],
      [{ default_ttl: 59 }, 'body.default_ttl'],
      [{ default_ttl: 300, minimum_ttl: 600 }, 'body.minimum_ttl'],
      [{ apex_ns_editable: true }, 'body.apex_ns_editable'],
      [{ nameservers: ['ns1..example'] }, 'body.nameservers.0'],
      [{ allow_transfer: ['192.0.2.1/24'] }, 'body.allow_transfer.0'],
      [{ tsig_key_ids: [4711] }, 'body.tsig_key_ids.0'],
      [{ also_notify: [{ address: 'ns1' }] }, 'body.also_notify.0.address'],
      [{ soa: { rname: 'a@b' } }, 'body.soa.rname'],
    ]
    for (const [payload, loc] of rows) {
      const answer = await put(payload)
      assert.equal(answer.status, 422, `${loc}: ${answer.text}`)
      assert.equal(answer.body.errors[0].loc.join('.'), loc)
    }
  })

  it('name no servers inside the network of the provider', async () => {
    for (const address of ['10.0.0.53', '169.254.169.254', 'fd00::53', '::ffff:10.0.0.53']) {
      const servers = [{ address }]
      const secondary = { name: 'inside.example', kind: 'secondary', primaries: servers }
      const transferred = { name: 'inside.example', mode: 'create', axfr: { server: address } }
      const answers = [
        ['body.also_notify.0.address', await put({ also_notify: servers })],
        ['body.primaries.0.address', await red.call('POST', '/zones', secondary)],
        ['body.axfr.server', await red.call('POST', '/zones/import', transferred)],
      ] as const
      for (const [loc, { status, text, body }] of answers)
        assert.deepEqual(
          [status, body.errors?.[0].loc.join('.'), body.errors?.[0].type],
          [422, loc, 'address'],
          text,
        )
    }
  })

  it('protect the zone from deletion', async () => {
    await put({ protect_delete: true })
    const answer = await red.call('DELETE', '/zones/settings.example?confirm=settings.example')
    assert.deepEqual([answer.status, answer.body.code], [409, 'delete_protected'])
  })
})

describe('deleting a zone', () => {
  it('needs its name, is refused while the parent delegates, and can be undone for seven days', async () => {
    const { body } = await zoneOf(red, 'delete.example')
    const remove = (query: string) => red.call('DELETE', `/zones/delete.example${query}`)
    assert.equal((await remove('')).status, 422)
    assert.deepEqual(codesOf(await remove('?confirm=other.example')), ['confirm'])
    const { owner } = api.database.postgres
    await sql`insert into dns_delegations (zone_id, status, ns, checked, due)
      values (${body.id}, 'delegated', array['ns.invalid.'], now(), now() + interval '1 hour')`.execute(owner)
    assert.equal((await remove('?confirm=delete.example')).body.code, 'delegated')
    const { rows } = await sql`
      select from dns_delegations where zone_id = ${body.id} and due <= now()`.execute(owner)
    assert.equal(rows.length, 1, 'the parent is checked at once')
    assert.equal((await remove('?confirm=delete.example.&force=true')).status, 204)
    assert.equal((await red.call('GET', '/zones/delete.example')).status, 404)
    const list = await red.call('GET', '/zones?deleted=true&include=details&name=delete.example')
    assert.equal(list.body.results[0].id, body.id)
    assert.ok(list.body.results[0].details.deleted)
    for (const one of [body.id, 'delete.example']) {
      assert.equal((await red.call('GET', `/zones/${one}`)).status, 404, String(one))
      assert.equal((await red.call('GET', `/zones/${one}?deleted=false`)).status, 404)
      const { status, body: found } = await red.call('GET', `/zones/${one}?deleted=true&include=details`)
      assert.deepEqual([status, found.id, typeof found.details?.deleted], [200, body.id, 'string'])
      assert.equal((await blue.call('GET', `/zones/${one}?deleted=true`)).status, 404, 'of another team')
    }
    const restored = await red.call('POST', `/zones/${body.id}/restore`)
    assert.equal(restored.status, 200, restored.text)
    assert.equal((await red.call('GET', '/zones/delete.example')).body.id, body.id)
    assert.equal((await red.call('GET', `/zones/${body.id}?deleted=true`)).status, 404, 'it is not deleted')
    await remove('?confirm=delete.example.&force=true')
    await zoneOf(red, 'delete.example')
    assert.equal((await red.call('POST', `/zones/${body.id}/restore`)).body.code, 'exists')
    await sql`update dns_zones set deleted = now() - interval '8 days' where id = ${body.id}`.execute(owner)
    assert.equal((await red.call('POST', `/zones/${body.id}/restore`)).status, 404)
    assert.equal((await red.call('GET', `/zones/${body.id}?deleted=true`)).status, 404)
  })
})

const file = `$TTL 1h
@ IN SOA ns1.old.example. hostmaster 2026112205 7200 900 1209600 300
  IN NS ns1.old.example.
www 300 A 192.0.2.1
www 300 A 192.0.2.1
    A 192.0.2.2
txt TXT "a;b" ( "c"
  "d" )
other.example. A 192.0.2.3
`

describe('importing a zone file', () => {
  const load = (payload: object, query = '', headers: Record<string, string> = {}) =>
    red.call('POST', `/zones/import${query}`, { dnssec: false, ...payload }, headers)

  it('creates a zone, reports every line that is left out, and continues the serial', async () => {
    const plan = await load({ name: 'import.example', zonefile: file, mode: 'create' }, '?dry_run=true')
    assert.equal(plan.status, 200, plan.text)
    assert.equal(plan.body.result.applied, false)
    const { status, body, headers } = await load({ name: 'import.example', zonefile: file, mode: 'create' })
    assert.equal(status, 201)
    assert.equal(headers['location'], `/v3/dns/zones/${body.zone.id}`)
    assert.deepEqual(
      body.ignored.map(({ line, reason }: Answered) => [line, reason]),
      [
        [2, 'soa'],
        [3, 'apex_ns'],
        [5, 'duplicate'],
        [9, 'out_of_zone'],
      ],
    )
    assert.deepEqual(
      body.added.map(({ id, ttl }: Answered) => [id, ttl]),
      [
        ['txt/TXT', 3600],
        ['www/A', 300],
      ],
    )
    const { rows } = await sql<{
      serial: number
    }>`select serial from dns_zones where name = 'import.example.'`.execute(api.database.postgres.owner)
    assert.equal(rows[0]!.serial, 2026112205)
  })

  it('merges, or replaces what is not in the file', async () => {
    const text = 'www 300 A 192.0.2.9\nnew 300 A 192.0.2.1\n'
    const merged = await load({ name: 'import.example', zonefile: text, mode: 'merge', ttl_floor: 600 })
    assert.equal(merged.status, 200, merged.text)
    assert.deepEqual(
      [merged.body.added_count, merged.body.changed_count, merged.body.removed_count],
      [1, 1, 0],
    )
    assert.equal(merged.body.added[0].ttl, 600)
    const replaced = await load({ name: 'import.example', zonefile: text, mode: 'replace', ttl_floor: 600 })
    assert.deepEqual(
      replaced.body.removed.map(({ id }: Answered) => id),
      ['txt/TXT'],
    )
    const exported = await red.call('GET', '/zones/import.example/export')
    assert.match(String(exported.headers['content-type']), /^text\/dns/)
    assert.match(exported.text, /^import\.example\.\t3600\tIN\tSOA\t/)
    const again = await load({ name: 'import.example', zonefile: exported.text, mode: 'replace' })
    assert.deepEqual(
      [again.body.added_count, again.body.changed_count, again.body.removed_count],
      [0, 0, 0],
      again.text,
    )
  })

  it('changes only the zone that the caller has seen', async () => {
    await zoneOf(red, 'reviewed.example')
    const payload = { name: 'reviewed.example', zonefile: 'www 300 A 192.0.2.9\n' }
    const { etag } = await red.call('GET', '/zones/reviewed.example')
    const seen = { 'if-match': etag }
    const plan = await load({ ...payload, mode: 'replace' }, '?dry_run=true', seen)
    assert.equal(plan.status, 200, plan.text)
    await red.call('PUT', '/zones/reviewed.example/recordsets/later/A', { ttl: 300, records: ['192.0.2.1'] })
    for (const [mode, query] of [
      ['merge', ''],
      ['replace', ''],
      ['replace', '?dry_run=true'],
    ] as const) {
      const stale = await load({ ...payload, mode }, query, seen)
      assert.deepEqual([stale.status, stale.body.code], [412, 'precondition_failed'])
    }
    const now = await red.call('GET', '/zones/reviewed.example')
    const replaced = await load({ ...payload, mode: 'replace' }, '', { 'if-match': now.etag })
    assert.equal(replaced.status, 200, replaced.text)
    assert.equal((await load({ ...payload, mode: 'merge' }, '', { 'if-match': replaced.etag })).status, 200)
    const absent = { ...payload, name: 'unseen.example', mode: 'create' }
    assert.equal((await load(absent, '', { 'if-match': '*' })).status, 412)
  })

  it('with errors names their lines and applies nothing', async () => {
    const answer = await load({
      name: 'broken.example',
      zonefile: 'www 300 A 192.0.2.1\nbad 300 A x\n$INCLUDE /etc/passwd\n',
      mode: 'create',
    })
    assert.equal(answer.status, 422)
    assert.deepEqual(
      answer.body.errors.map(({ loc, type }: Answered) => [...loc, type]),
      [
        ['body', 'zonefile', 2, 'rdata'],
        ['body', 'zonefile', 3, 'include'],
      ],
    )
    assert.equal((await red.call('GET', '/zones/broken.example')).status, 404)
    const refused = await load({
      name: 'broken.example',
      zonefile: 'a NAPTR 1 1 "u" "E2U+sip" "!^.*$!\\\\1!" .\nb TYPE22 \\# 0\nc HTTPS 1 . dohpath=/x\n',
      mode: 'create',
    })
    assert.deepEqual(
      refused.body.errors.map(({ loc, type }: Answered) => [...loc, type]),
      [1, 2, 3].map((line) => ['body', 'zonefile', line, 'rdata']),
    )
    const loop = await load({
      name: 'broken.example',
      zonefile: 'a 300 CNAME b\na 300 A 192.0.2.1\n',
      mode: 'create',
    })
    assert.deepEqual([loop.status, codesOf(loop)], [422, ['cname_and_other']])
    const aliases = await load({ name: 'broken.example', zonefile: 'a CNAME b\nb CNAME a\n', mode: 'create' })
    assert.deepEqual(
      aliases.body.errors.map(({ loc, type }: Answered) => [...loc, type]),
      [
        ['body', 'zonefile', 1, 'cname_loop'],
        ['body', 'zonefile', 2, 'cname_loop'],
      ],
    )
  })

  it('keeps the TTLs of the file, also below the lowest one of record sets', async () => {
    const zonefile = 'low 60 A 192.0.2.1\nhuge 4294967295 A 192.0.2.1\n'
    const { status, body, text } = await load({ name: 'ttls.example', zonefile, mode: 'create' })
    assert.equal(status, 201, text)
    assert.deepEqual(
      body.added.map(({ name, ttl }: Answered) => [name, ttl]),
      [
        ['huge', 0],
        ['low', 60],
      ],
    )
    assert.deepEqual(
      body.warnings.map(({ line, code }: Answered) => [line, code]),
      [[2, 'ttl_above_max']],
    )
  })

  it('warns of records that are probably not meant so', async () => {
    const zonefile = `alias 300 CNAME www
@ 300 MX 10 alias
sub 300 NS ns.sub
ns.sub 300 A 192.0.2.1
x.sub 300 TXT hidden
two 300 A 192.0.2.1
two 600 A 192.0.2.2
`
    const { body } = await load({ name: 'warned.example', zonefile, mode: 'create' }, '?dry_run=true')
    assert.deepEqual(
      body.result.warnings.map(({ line, code, text }: Answered) => [line, code, text]),
      [
        [2, 'target_is_alias', 'warned.example. MX'],
        [5, 'occluded', 'x.sub.warned.example. TXT'],
        [7, 'ttl_differs', 'two.warned.example. A'],
      ],
    )
  })

  it('takes files of megabytes, and refuses more than 5 MB and more than 50,000 records', async () => {
    const text = `${'x'.repeat(250)}`
    const lines = (count: number) =>
      Array.from({ length: count }, (_, at) => `t${at % 50} 300 TXT "${at} ${text}"`).join('\n')
    const large = await load(
      { name: 'megabytes.example', zonefile: lines(10_000), mode: 'create' },
      '?dry_run=true',
    )
    assert.equal(large.status, 200, large.text.slice(0, 300))
    assert.equal(large.body.result.zone.record_count, 10_002)
    const larger = await load({ name: 'megabytes.example', zonefile: lines(20_000), mode: 'create' })
    assert.equal(larger.status, 422, larger.text.slice(0, 300))
    assert.deepEqual(larger.body.errors[0].loc, ['body', 'zonefile'])
    const records = Array.from({ length: 50_001 }, (_, at) => `n${at} 1 A 192.0.2.1`).join('\n')
    const many = await load({ name: 'megabytes.example', zonefile: records, mode: 'create' })
    assert.deepEqual([many.status, codesOf(many)], [422, ['too_many_records']], many.text.slice(0, 300))
  })

  it('needs the mode that fits', async () => {
    assert.equal((await load({ name: 'import.example', zonefile: file, mode: 'create' })).body.code, 'exists')
    assert.equal((await load({ name: 'absent.example', zonefile: file, mode: 'merge' })).status, 404)
    assert.equal((await load({ name: 'absent.example', mode: 'create' })).status, 422)
    assert.equal((await load({ name: 'absent.example', zonefile: '', mode: 'create' })).status, 422)
  })

  it('of 5,000 sets pages fast at any offset, with the exact count', async () => {
    const text = Array.from({ length: 5_000 }, (_, at) => `n${at} 300 A 192.0.2.${at % 250}`).join('\n')
    const { status, body } = await load({ name: 'large.example', zonefile: text, mode: 'create' })
    assert.equal(status, 201)
    assert.deepEqual([body.added.length, body.added_count], [1_000, 5_000])
    await red.call('PUT', '/zones/large.example/recordsets/n2500x/A', { records: ['192.0.2.1'] })
    await red.call('DELETE', '/zones/large.example/recordsets/n1/A')
    const ids: string[] = []
    for (let offset = 0; offset < 5_200; offset += 700) {
      const page = await red.call('GET', `/zones/large.example/recordsets?limit=700&offset=${offset}`)
      assert.equal(page.body.count, 5_002)
      ids.push(...page.body.results.map(({ id }: Answered) => id))
    }
    assert.equal(ids.length, 5_002)
    assert.equal(new Set(ids).size, 5_002)
    const { rows } = await sql<{ sets: number }>`
      select sum(count)::integer as sets from dns_blocks b join dns_zones z on z.id = b.zone_id
      where z.name = 'large.example.'`.execute(api.database.postgres.owner)
    assert.equal(rows[0]!.sets, 5_002)
  })
})
