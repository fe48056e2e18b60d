// The PowerDNS-compatible API on a real PostgreSQL: requests of its clients, changes, errors, and permissions.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Resources } from '@pharos/contract/resource-limit'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import { clients } from './powerdns/requests.ts'
import { versionOf } from './support/dns.ts'
import { printedRoutes } from './support/printed-routes.ts'

const zones = '/api/v1/servers/localhost/zones'

let api: TestApi
let key: string
let otherKey: string
let team: Awaited<ReturnType<typeof teamWithKey>>
before(async () => {
  api = await createTestApi({})
  team = await teamWithKey('red', ['dns:read', 'dns:write'])
  key = team.key
  otherKey = (await teamWithKey('blue', ['dns:read', 'dns:write'])).key
})
after(() => api[Symbol.asyncDispose]())

async function teamWithKey(slug: string, scopes: string[], modules?: string[]) {
  const team = await addTeam(api, slug, modules)
  const { email } = await addUser(api, 'admin', [team], { admin: true })
  const { access } = await api.signIn(email)
  return { ...team, key: await addKey(access, scopes, true), bearer: access }
}

async function addKey(
  bearer: string,
  scopes: string[],
  isAdmin: boolean,
  resources?: Resources,
): Promise<string> {
  const created = await api.server.inject({
    method: 'POST',
    url: '/v3/tokens',
    headers: { authorization: `Bearer ${bearer}` },
    payload: { name: 'dns', scopes, is_admin: isAdmin, ...(resources && { resources }) },
  })
  assert.equal(created.statusCode, 201, created.body)
  return created.json().token
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
async function call(
  method: Method,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  as = key,
) {
  const answer = await api.server.inject({
    method,
    url: path,
    headers: { ...(as === '' ? {} : { 'x-api-key': as }), ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
  const isJson = answer.body.startsWith('{') || answer.body.startsWith('[')
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    body: isJson ? answer.json() : null,
  }
}

const addZone = async (name: string, more: object = {}) => {
  const created = await call('POST', zones, { name, kind: 'Native', nameservers: [], ...more })
  assert.equal(created.status, 201, created.text)
  return created.body
}
const patch = (zone: string, ...rrsets: object[]) => call('PATCH', `${zones}/${zone}`, { rrsets })
type Set = {
  readonly name: string
  readonly type: string
  readonly records: readonly { readonly content: string }[]
}
const setOf = async (zone: string, name: string, type: string) => {
  const { body } = await call('GET', `${zones}/${zone}`)
  return body.rrsets.find((set: Set) => set.name === name && set.type === type)
}
const contentsOf = (set: Set | undefined) => set?.records.map(({ content }) => content)
const records = (...contents: string[]) => contents.map((content) => ({ content, disabled: false }))

describe('clients of PowerDNS', () => {
  for (const [name, requests] of Object.entries(clients))
    it(`answers the requests of ${name}`, async () => {
      for (const { method, path, body, status, reads = {} } of requests) {
        const answer = await call(method, path, body)
        assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
        for (const [at, expected] of Object.entries(reads)) {
          const value = at.split('.').reduce((object, part) => object?.[part], answer.body)
          assert.deepEqual(value, expected, `${method} ${path}: ${at}`)
        }
      }
    })
})

describe('changes of record sets', () => {
  it('replaces, extends, prunes and deletes in one version', async () => {
    await addZone('patch.example.')
    assert.equal(
      (
        await patch('patch.example.', {
          name: 'a.patch.example.',
          type: 'A',
          ttl: 300,
          changetype: 'REPLACE',
          records: records('192.0.2.1', '192.0.2.2'),
        })
      ).status,
      204,
    )
    const version = await versionOf(api, 'patch.example.')
    const changed = await patch(
      'patch.example.',
      { name: 'a.patch.example.', type: 'A', ttl: 300, changetype: 'EXTEND', records: records('192.0.2.3') },
      {
        name: 'A.patch.example.',
        type: 'A',
        changetype: 'PRUNE',
        records: records('192.0.2.1', '192.0.2.77'),
      },
      { name: 'b.patch.example.', type: 'TXT', ttl: 300, changetype: 'EXTEND', records: records('"new"') },
      { name: 'none.patch.example.', type: 'TXT', changetype: 'DELETE' },
    )
    assert.equal(changed.status, 204, changed.text)
    assert.equal(await versionOf(api, 'patch.example.'), version + 1)
    assert.deepEqual(contentsOf(await setOf('patch.example.', 'a.patch.example.', 'A')), [
      '192.0.2.2',
      '192.0.2.3',
    ])
    assert.deepEqual(contentsOf(await setOf('patch.example.', 'b.patch.example.', 'TXT')), ['"new"'])
    await patch('patch.example.', {
      name: 'b.patch.example.',
      type: 'TXT',
      changetype: 'PRUNE',
      records: records('"new"'),
    })
    assert.equal(await setOf('patch.example.', 'b.patch.example.', 'TXT'), undefined)
  })

  it('takes a DELETE and a REPLACE of one name in their order', async () => {
    await addZone('order.example.')
    const changed = await patch(
      'order.example.',
      { name: 'x.order.example.', type: 'CNAME', changetype: 'DELETE' },
      { name: 'x.order.example.', type: 'A', changetype: 'DELETE' },
      { name: 'x.order.example.', type: 'A', ttl: 300, changetype: 'REPLACE', records: records('192.0.2.5') },
    )
    assert.equal(changed.status, 204, changed.text)
    assert.deepEqual(contentsOf(await setOf('order.example.', 'x.order.example.', 'A')), ['192.0.2.5'])
  })

  it('applies twenty changes at once', async () => {
    await addZone('busy.example.')
    const changes = Array.from({ length: 20 }, (_, at) => ({
      name: `n${at}.busy.example.`,
      type: 'A',
      ttl: 300,
      changetype: 'REPLACE',
      records: records(`192.0.2.${at}`),
    }))
    const answers = await Promise.all(changes.map((change) => patch('busy.example.', change)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      changes.map(() => 204),
    )
    assert.equal((await call('GET', `${zones}/busy.example.`)).body.rrsets.length, 22)
  })

  it('keeps comments of a change without them', async () => {
    await addZone('comment.example.')
    const set = {
      name: 'c.comment.example.',
      type: 'A',
      ttl: 300,
      changetype: 'REPLACE',
      records: records('192.0.2.1'),
    }
    await patch('comment.example.', { ...set, comments: [{ content: 'rack 4', account: 'ops' }] })
    await patch('comment.example.', { ...set, records: records('192.0.2.2') })
    assert.equal((await setOf('comment.example.', set.name, 'A')).comments[0].content, 'rack 4')
    await patch('comment.example.', { ...set, comments: [] })
    assert.deepEqual((await setOf('comment.example.', set.name, 'A')).comments, [])
  })

  it('raises a TTL below the lowest: clients have defaults of their own', async () => {
    const set = { name: '_acme-challenge.low.example.', type: 'TXT', ttl: 120, records: records('"token"') }
    await addZone('low.example.', { rrsets: [{ ...set, name: 'first.low.example.' }] })
    const { status, text } = await patch('low.example.', { ...set, changetype: 'REPLACE' })
    assert.equal(status, 204, text)
    for (const name of [set.name, 'first.low.example.'])
      assert.equal((await setOf('low.example.', name, 'TXT')).ttl, 300)
  })

  const bad: readonly [what: string, rrset: object, text: RegExp][] = [
    ['a record that is none', { type: 'A', records: records('192.0.2.300') }, /^rrsets\.0\.records\.0 /],
    ['a name without the final dot', { name: 'www.bad.example' }, /rrsets\.0\.name .*www\.bad\.example\./],
    ['a name out of the zone', { name: 'www.example.net.' }, /rrsets\.0\.name/],
    ['a disabled record', { records: [{ content: '192.0.2.1', disabled: true }] }, /records\.0\.disabled/],
    [
      'a record that BIND refuses with the whole zone',
      { type: 'TYPE22', records: records('\\# 0') },
      /^rrsets\.0\.records\.0 .*at least 1/,
    ],
    ['code, as LUA records are', { type: 'LUA', records: records('A "return 1"') }, /rrsets\.0\.type/],
    ['an unknown type', { type: 'NOPE' }, /rrsets\.0\.type/],
    ['an unknown change', { changetype: 'UPSERT' }, /rrsets\.0\.changetype/],
    [
      'a CNAME beside an A record',
      { name: 'taken.bad.example.', type: 'CNAME', records: records('a.example.') },
      /CNAME/,
    ],
  ]
  for (const [what, rrset, text] of bad)
    it(`refuses ${what}, and applies nothing`, async () => {
      const zone = 'bad.example.'
      if ((await call('GET', `${zones}/${zone}`)).status === 404) {
        await addZone(zone)
        await patch(zone, {
          name: 'taken.bad.example.',
          type: 'A',
          ttl: 300,
          changetype: 'REPLACE',
          records: records('192.0.2.1'),
        })
      }
      const version = await versionOf(api, zone)
      const good = {
        name: 'good.bad.example.',
        type: 'A',
        ttl: 300,
        changetype: 'REPLACE',
        records: records('192.0.2.9'),
      }
      const { status, body, headers } = await patch(
        zone,
        { ...good, name: 'www.bad.example.', ...rrset },
        good,
      )
      assert.equal(status, 422, JSON.stringify(body))
      assert.match(body.error, text)
      assert.deepEqual(
        Object.keys(body).filter((field) => field !== 'errors'),
        ['error'],
      )
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(await versionOf(api, zone), version)
    })

  it('refuses what Pharos writes itself', async () => {
    await addZone('managed.example.')
    const soa = await patch('managed.example.', {
      name: 'managed.example.',
      type: 'SOA',
      ttl: 300,
      changetype: 'DELETE',
    })
    assert.equal(soa.status, 403, soa.text)
    assert.equal(typeof soa.body.error, 'string')
  })

  it('takes what GET answered, with SOA and NS of the zone, as no change', async () => {
    const zone = 'unchanged.example.'
    await addZone(zone)
    const { body } = await call('GET', `${zones}/${zone}`)
    const version = await versionOf(api, zone)
    const sent = body.rrsets.map((set: object) => ({ ...set, changetype: 'REPLACE' }))
    assert.deepEqual(sent.map(({ type }: { type: string }) => type).toSorted(), ['NS', 'SOA'])
    const { status, text } = await patch(zone, ...sent)
    assert.equal(status, 204, text)
    assert.equal(await versionOf(api, zone), version)
    for (const set of sent) {
      const other = await patch(zone, { ...set, ttl: set.ttl + 60 })
      assert.equal(other.status, 403, `${set.type}: ${other.text}`)
    }
  })

  it('takes the keys of a signed zone sent back as no change, and no others', async () => {
    const zone = 'keys-sent.example.'
    await addZone(zone, { dnssec: true })
    const [{ dnskey, ds }] = (await call('GET', `${zones}/${zone}/cryptokeys`)).body
    const version = await versionOf(api, zone)
    const set = { name: zone, ttl: 3600, changetype: 'REPLACE' }
    const sent = [
      { ...set, type: 'DNSKEY', records: records(dnskey) },
      { ...set, type: 'CDNSKEY', records: records(dnskey) },
      { ...set, type: 'CDS', records: records(...ds) },
    ]
    const { status, text } = await patch(zone, ...sent)
    assert.equal(status, 204, text)
    assert.equal(await versionOf(api, zone), version)
    const other =
      '257 3 13 oJMRESz5E4gYzS/q6XDrvU1qMPYIjCWzJaOau8XNEZeqCYKD5ar0IRd8KqXXFJkqmVfRvMGPmM1x8fGAa2XhSA=='
    const refused = await patch(zone, { ...set, type: 'DNSKEY', records: records(dnskey, other) })
    assert.equal(refused.status, 403, refused.text)
  })

  it('names the place of an error behind sets that are unchanged', async () => {
    const zone = 'place.example.'
    await addZone(zone)
    const { body } = await call('GET', `${zones}/${zone}`)
    const sent = body.rrsets.map((set: object) => ({ ...set, changetype: 'REPLACE' }))
    const bad = { name: `a.${zone}`, type: 'A', ttl: 300, changetype: 'REPLACE', records: records('x') }
    const answer = await patch(zone, ...sent, bad)
    assert.match(answer.body.error, /^rrsets\.2\.records\.0 /)
  })
})

describe('the SOA record', () => {
  const soaOf = async (zone: string) => contentsOf(await setOf(zone, zone, 'SOA'))![0]!.split(' ')
  const patchSoa = async (zone: string, change: (fields: string[]) => void, as = key) => {
    const set = await setOf(zone, zone, 'SOA')
    const fields = await soaOf(zone)
    change(fields)
    const sent = {
      name: zone,
      type: 'SOA',
      ttl: set.ttl,
      changetype: 'REPLACE',
      records: records(fields.join(' ')),
    }
    return call('PATCH', `${zones}/${zone}`, { rrsets: [sent] }, {}, as)
  }

  it('sets the times and the mailbox in the settings of the zone, in one version', async () => {
    const zone = 'times.example.'
    await addZone(zone)
    const version = await versionOf(api, zone)
    const wanted = ['dns.example.net.', '7200', '1800', '1814400', '600']
    const change = (fields: string[]) => {
      fields.splice(3, 4, ...wanted.slice(1))
      fields[1] = wanted[0]!
    }
    const { status, text } = await patchSoa(zone, change)
    assert.equal(status, 204, text)
    assert.equal(await versionOf(api, zone), version + 1)
    const [, rname, , ...times] = await soaOf(zone)
    assert.deepEqual([rname, ...times], wanted)
    assert.equal((await patchSoa(zone, change)).status, 204)
    assert.equal(await versionOf(api, zone), version + 1, 'the same again is no change')
    const { rows } = await sql<{ soa: object }>`
      select settings -> 'soa' as soa from dns_zones where name = ${zone}`.execute(
      api.database.postgres.owner,
    )
    const soa = {
      rname: 'dns.example.net.',
      refresh: 7200,
      retry: 1800,
      expire: 1_814_400,
      negative_ttl: 600,
    }
    assert.deepEqual(rows, [{ soa }])
  })

  it('is within the limits of the settings', async () => {
    const zone = 'limits.example.'
    await addZone(zone)
    // The expiry and the refresh of a new zone of PowerDNS, and a time below every limit.
    const change = (fields: string[]) => fields.splice(3, 4, '10800', '3600', '604800', '1')
    assert.equal((await patchSoa(zone, change)).status, 204)
    assert.deepEqual((await soaOf(zone)).slice(3), ['10800', '3600', '1209600', '60'])
    const version = await versionOf(api, zone)
    assert.equal((await patchSoa(zone, change)).status, 204)
    assert.equal(await versionOf(api, zone), version)
    const refused = await patchSoa(zone, (fields) => fields.splice(3, 2, '1000', '5000'))
    assert.deepEqual([refused.status, /soa\.retry/.test(refused.text)], [422, true], refused.text)
  })

  it('is changed by admins only, and not in its name server', async () => {
    const zone = 'who.example.'
    await addZone(zone)
    const member = await addKey(team.bearer, ['dns:read', 'dns:write'], false)
    const change = (fields: string[]) => fields.splice(6, 1, '120')
    assert.equal((await patchSoa(zone, () => {}, member)).status, 204)
    assert.equal((await patchSoa(zone, change, member)).status, 403)
    assert.equal((await patchSoa(zone, change)).status, 204)
    assert.equal((await patchSoa(zone, (fields) => fields.splice(0, 1, 'other.example.'))).status, 403)
  })

  it('of a new zone gives its settings, and the serial goes on', async () => {
    const zone = 'moved.example.'
    const content = `a.misconfigured.dns.server.invalid. hostmaster.${zone} 2026112801 10800 3600 604800 3600`
    await addZone(zone, {
      rrsets: [{ name: zone, type: 'SOA', ttl: 3600, records: records(content) }],
    })
    const [, rname, , ...times] = await soaOf(zone)
    assert.deepEqual([rname, ...times], [`hostmaster.${zone}`, '10800', '3600', '1209600', '3600'])
    const { rows } = await sql<{ serial: string }>`
      select serial from dns_zones where name = ${zone}`.execute(api.database.postgres.owner)
    assert.equal(Number(rows[0]!.serial), 2_026_112_801)
    const bad = await call('POST', zones, {
      name: 'soas.example.',
      rrsets: [{ name: 'soas.example.', type: 'SOA', ttl: 3600, records: records(content, content) }],
    })
    assert.deepEqual(
      [bad.status, bad.body.error.startsWith('rrsets.0.records must have one record')],
      [422, true],
    )
  })
})

describe('NSEC3', () => {
  const paramOf = async (zone: string) => (await call('GET', `${zones}/${zone}`)).body.nsec3param

  it('is enabled and disabled with the parameters of RFC 9276', async () => {
    const zone = 'nsec3.example.'
    await addZone(zone, { dnssec: true, nsec3param: '1 0 0 -' })
    assert.equal(await paramOf(zone), '1 0 0 -')
    const put = (body: object) => call('PUT', `${zones}/${zone}`, body)
    assert.equal((await put({ nsec3param: '' })).status, 204)
    assert.equal(await paramOf(zone), '')
    assert.equal((await put({ nsec3param: '1 0 0 -', nsec3narrow: false })).status, 204)
    assert.equal(await paramOf(zone), '1 0 0 -')
    assert.equal((await put({ account: 'x' })).status, 204)
    assert.equal(await paramOf(zone), '1 0 0 -', 'a request without the field leaves it')
  })

  const refused: readonly [what: string, body: object, text: RegExp][] = [
    ['iterations and a salt', { dnssec: true, nsec3param: '1 0 5 ab' }, /^nsec3param must be 1 0 0 -/],
    ['opt-out', { dnssec: true, nsec3param: '1 1 0 -' }, /^nsec3param must be 1 0 0 -/],
    ['narrow answers', { dnssec: true, nsec3param: '1 0 0 -', nsec3narrow: true }, /^nsec3narrow/],
    ['a zone without DNSSEC', { nsec3param: '1 0 0 -' }, /^nsec3param is possible only in a signed zone/],
  ]
  for (const [what, body, text] of refused)
    it(`is refused with ${what}, in POST and PUT`, async () => {
      const zone = 'nsec3-refused.example.'
      const created = await call('POST', zones, { name: zone, kind: 'Native', ...body })
      assert.deepEqual([created.status, text.test(created.body.error)], [422, true], created.text)
      assert.equal((await call('GET', `${zones}/${zone}`)).status, 404)
      if ((await call('GET', `${zones}/plain.example.`)).status === 404) await addZone('plain.example.')
      const changed = await call('PUT', `${zones}/plain.example.`, body)
      assert.deepEqual([changed.status, text.test(changed.body.error)], [422, true], changed.text)
      assert.equal((await call('GET', `${zones}/plain.example.`)).body.dnssec, false)
    })
})

describe('keys, metadata and secondary zones', () => {
  it('returns one key, and takes the state that it has', async () => {
    const zone = 'onekey.example.'
    await addZone(zone, { dnssec: true })
    const path = `${zones}/${zone}/cryptokeys`
    const [listed] = (await call('GET', path)).body
    const one = await call('GET', `${path}/${listed.id}`)
    assert.deepEqual([one.status, one.body], [200, listed])
    assert.ok(!('privatekey' in one.body))
    const { active, published } = listed
    assert.equal((await call('PUT', `${path}/${listed.id}`, { active, published })).status, 204)
    for (const field of ['active', 'published']) {
      const other = await call('PUT', `${path}/${listed.id}`, { [field]: false })
      assert.deepEqual([other.status, other.body.error.startsWith(field)], [422, true], other.text)
    }
    assert.equal((await call('GET', `${path}/${listed.id + 999}`)).status, 404)
    assert.equal((await call('PUT', `${path}/${listed.id + 999}`, {})).status, 404)
  })

  it('writes metadata as settings of the zone, and leaves the other settings', async () => {
    const zone = 'meta.example.'
    await addZone(zone, { nameservers: ['ns1.example.net.'] })
    const { owner } = api.database.postgres
    await sql`insert into dns_tsig_keys (name, team_id, secret_sealed)
      values ('meta-key.example.', ${team.teamId}, ${Buffer.from('sealed')})`.execute(owner)
    const path = `${zones}/${zone}/metadata`
    const values: readonly [kind: string, values: string[]][] = [
      ['ALLOW-AXFR-FROM', ['198.51.100.0/24', '2001:db8::1']],
      ['ALSO-NOTIFY', ['8.8.8.8', '8.8.4.4:5300']],
      ['SOA-EDIT-API', ['INCREASE']],
      ['TSIG-ALLOW-AXFR', ['meta-key.example']],
    ]
    for (const [kind, metadata] of values) {
      const put = await call('PUT', `${path}/${kind}`, { metadata })
      assert.deepEqual([put.status, put.body], [200, { type: 'Metadata', kind, metadata }], put.text)
      assert.deepEqual((await call('GET', `${path}/${kind}`)).body.metadata, metadata)
    }
    assert.deepEqual(
      (await call('GET', path)).body,
      values.map(([kind, metadata]) => ({ type: 'Metadata', kind, metadata })),
    )
    const added = await call('POST', path, { kind: 'ALSO-NOTIFY', metadata: ['9.9.9.9'] })
    assert.deepEqual([added.status, added.body.metadata], [201, ['8.8.8.8', '8.8.4.4:5300', '9.9.9.9']])
    assert.equal((await call('DELETE', `${path}/ALSO-NOTIFY`)).status, 204)
    assert.deepEqual((await call('GET', `${path}/ALSO-NOTIFY`)).body.metadata, [])
    assert.equal((await call('GET', `${path}/ALLOW-AXFR-FROM`)).body.metadata.length, 2)
    const { rows } = await sql<{ settings: object }>`
      select settings from dns_zones where name = ${zone}`.execute(owner)
    assert.deepEqual(Object.keys(rows[0]!.settings).toSorted(), [
      'allow_transfer',
      'also_notify',
      'nameservers',
      'tsig_key_ids',
    ])
    const refused: readonly [kind: string, metadata: string[], text: RegExp][] = [
      ['LUA-AXFR-SCRIPT', ['/etc/passwd'], /ALLOW-AXFR-FROM, ALSO-NOTIFY/],
      ['ALSO-NOTIFY', ['10.0.0.1'], /also_notify/],
      ['ALLOW-AXFR-FROM', ['AUTO-NS'], /allow_transfer/],
      ['TSIG-ALLOW-AXFR', ['none.example'], /metadata\.0/],
    ]
    for (const [kind, metadata, text] of refused) {
      const { status, body } = await call('PUT', `${path}/${kind}`, { metadata })
      assert.deepEqual([status, text.test(body.error)], [422, true], JSON.stringify(body))
    }
  })

  it('has a secondary zone transferred, and refuses a primary one', async () => {
    const zone = 'second.example.'
    await addZone(zone, { kind: 'Slave', masters: ['8.8.8.8'] })
    const { owner } = api.database.postgres
    await sql`update dns_secondaries s set due = now() + interval '1 day', notified = null
      from dns_zones z where z.id = s.zone_id and z.name = ${zone}`.execute(owner)
    const asked = await call('PUT', `${zones}/${zone}/axfr-retrieve`)
    assert.deepEqual(
      [asked.status, asked.body],
      [200, { result: `Added retrieval request for '${zone}' from primary 8.8.8.8` }],
    )
    const { rows } = await sql<{ is_due: boolean }>`
      select s.due <= now() and s.notified is not null as is_due from dns_secondaries s
      join dns_zones z on z.id = s.zone_id where z.name = ${zone}`.execute(owner)
    assert.deepEqual(rows, [{ is_due: true }])
    await addZone('first.example.')
    const refused = await call('PUT', `${zones}/first.example./axfr-retrieve`)
    assert.deepEqual([refused.status, /not a secondary zone/.test(refused.body.error)], [422, true])
  })
})

describe('zones', () => {
  it('has ids with encoded octets', async () => {
    const { id, url } = await addZone('a_b.example.')
    assert.equal(id, 'a=5Fb.example.')
    assert.equal((await call('GET', url)).status, 200)
  })

  it('takes the kind in any case, as octodns writes it, and names the known ones', async () => {
    const { kind } = await addZone('kind.example.', { kind: 'master' })
    assert.equal(kind, 'Master')
    assert.equal((await call('PUT', `${zones}/kind.example.`, { kind: 'NATIVE' })).status, 204)
    assert.equal((await call('GET', `${zones}/kind.example.`)).body.kind, 'Native')
    for (const [method, path] of [
      ['POST', zones],
      ['PUT', `${zones}/kind.example.`],
    ] as const) {
      const { status, body } = await call(method, path, { name: 'other.example.', kind: 'Producer' })
      assert.deepEqual([status, body.error.startsWith('kind must be one of Native,')], [422, true])
    }
  })

  it('names the place of a wrong set of a new zone', async () => {
    const zone = 'wrong.example.'
    const ns = { name: zone, type: 'NS', ttl: 300, records: records('ns1.example.net.') }
    const bad = { name: `a.${zone}`, type: 'A', ttl: 300, records: records('192.0.2.1', 'x') }
    const { status, body } = await call('POST', zones, { name: zone, kind: 'Native', rrsets: [ns, bad] })
    assert.deepEqual([status, body.error.startsWith('rrsets.1.records.1 ')], [422, true], body.error)
  })

  it('exports a zone file, lists metadata, and finds data by pattern', async () => {
    await addZone('find.example.')
    await patch('find.example.', {
      name: 'needle.find.example.',
      type: 'TXT',
      ttl: 300,
      changetype: 'REPLACE',
      records: records('"hay stack"'),
    })
    const file = await call('GET', `${zones}/find.example./export`)
    assert.match(file.text, /needle\.find\.example\.\s+300\s+IN\s+TXT\s+"hay stack"/)
    assert.match(String(file.headers['content-type']), /^text\/plain/)
    assert.deepEqual((await call('GET', `${zones}/find.example./metadata`)).body, [])
    const found = async (q: string, as = key) =>
      (
        await call(
          'GET',
          `/api/v1/servers/localhost/search-data?q=${encodeURIComponent(q)}`,
          undefined,
          {},
          as,
        )
      ).body
    assert.equal((await found('needle*'))[0].content, '"hay stack"')
    assert.equal((await found('*stack?'))[0].name, 'needle.find.example.')
    assert.equal((await found('find.example'))[0].object_type, 'zone')
    assert.deepEqual(await found('n_edle*'), [])
    assert.deepEqual(await found('needle*', otherKey), [])
  })

  it('does not disable DNSSEC while nobody knows what the parent has', async () => {
    await addZone('signed.example.', { dnssec: true })
    const { body: keys } = await call('GET', `${zones}/signed.example./cryptokeys`)
    assert.equal(
      (await call('DELETE', `${zones}/signed.example./cryptokeys/${keys[0].id + 999}`)).status,
      404,
    )
    assert.equal((await call('DELETE', `${zones}/signed.example./cryptokeys/${keys[0].id}`)).status, 204)
    assert.equal((await call('GET', `${zones}/signed.example.`)).body.dnssec, true)
  })

  it('keeps the key if DNSSEC is disabled and enabled again', async () => {
    await addZone('kept.example.', { dnssec: true })
    const keysOf = async () => (await call('GET', `${zones}/kept.example./cryptokeys`)).body
    const [before] = await keysOf()
    for (const dnssec of [false, true])
      assert.equal((await call('PUT', `${zones}/kept.example.`, { dnssec })).status, 204)
    const after = await keysOf()
    assert.deepEqual([after.length, after[0].dnskey], [1, before.dnskey])
  })

  it('refuses a zone below that of another team', async () => {
    await addZone('above.example.')
    const { status, body } = await call(
      'POST',
      zones,
      { name: 'a.above.example.', kind: 'Native' },
      {},
      otherKey,
    )
    assert.equal(status, 409)
    assert.match(body.error, /another customer/)
  })

  it('returns the first answer for a repeated Idempotency-Key', async () => {
    const body = { name: 'once.example.', kind: 'Native' }
    const once = { 'idempotency-key': 'powerdns-once' }
    assert.equal((await call('POST', zones, body, once)).status, 201)
    const again = await call('POST', zones, body, once)
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, 'true'])
    assert.equal((await call('POST', zones, body)).status, 409)
  })
})

describe('callers', () => {
  const paths: readonly [Method, string, object?][] = [
    ['GET', '/api'],
    ['GET', '/api/v1'],
    ['GET', '/api/v1/servers'],
    ['GET', '/api/v1/servers/localhost'],
    ['GET', '/api/v1/servers/localhost/config'],
    ['GET', zones],
    ['POST', zones, { name: 'callers.example.', kind: 'Native' }],
    ['GET', `${zones}/mine.example.`],
    ['PATCH', `${zones}/mine.example.`, { rrsets: [] }],
    ['PUT', `${zones}/mine.example.`, { account: 'x' }],
    ['PUT', `${zones}/mine.example./notify`],
    ['PUT', `${zones}/mine.example./rectify`],
    ['GET', `${zones}/mine.example./export`],
    ['GET', `${zones}/mine.example./cryptokeys`],
    ['POST', `${zones}/mine.example./cryptokeys`, {}],
    ['GET', `${zones}/mine.example./cryptokeys/1`],
    ['PUT', `${zones}/mine.example./cryptokeys/1`, {}],
    ['DELETE', `${zones}/mine.example./cryptokeys/1`],
    ['PUT', `${zones}/mine.example./axfr-retrieve`],
    ['GET', `${zones}/mine.example./metadata`],
    ['POST', `${zones}/mine.example./metadata`, { kind: 'ALSO-NOTIFY', metadata: [] }],
    ['GET', `${zones}/mine.example./metadata/ALSO-NOTIFY`],
    ['PUT', `${zones}/mine.example./metadata/ALSO-NOTIFY`, { metadata: [] }],
    ['DELETE', `${zones}/mine.example./metadata/ALSO-NOTIFY`],
    ['GET', '/api/v1/servers/localhost/tsigkeys'],
    ['GET', '/api/v1/servers/localhost/tsigkeys/1'],
    ['GET', '/api/v1/servers/localhost/statistics'],
    ['PUT', '/api/v1/servers/localhost/cache/flush?domain=mine.example.'],
    ['DELETE', `${zones}/mine.example.`],
    ['GET', '/api/v1/servers/localhost/search-data?q=mine*'],
  ]

  it('refuses every route without a key, with a wrong one and with other credentials', async () => {
    const { bearer } = await teamWithKey('green', ['dns:read'])
    const wrong = `${key.slice(0, -4)}0000`
    for (const [method, path, body] of paths)
      for (const [as, headers] of [
        ['', {}],
        ['', { authorization: `Token ${key}` }],
        [wrong, {}],
        [bearer, {}],
        ['x'.repeat(5_000), {}],
      ] as const) {
        const answer = await call(method, path, body, headers, as)
        assert.equal(answer.status, 401, `${method} ${path}: ${answer.text}`)
        assert.deepEqual(Object.keys(answer.body), ['error'])
        assert.equal(answer.headers['www-authenticate'], 'X-API-Key realm="pharos"')
      }
  })

  it('asks for the scope, the role and the module of each operation', async () => {
    await addZone('mine.example.')
    const reader = await teamWithKey('reader', ['dns:read'])
    const other = await teamWithKey('noscope', ['ipam:read'])
    const nodns = await teamWithKey('nodns', ['dns:read', 'dns:write'], ['ipam'])
    for (const [method, path, body] of paths) {
      if (method !== 'GET') assert.equal((await call(method, path, body, {}, reader.key)).status, 403, path)
      for (const { key: as } of [other, nodns])
        assert.equal((await call(method, path, body, {}, as)).status, 403, `${method} ${path}`)
    }
    await api.settled()
  })

  it('are tried on every route', () => {
    const mounted = printedRoutes(api.server).filter(
      ({ method, url }) => url.startsWith('/api') && method !== 'HEAD',
    )
    const tried = new Set(
      paths.map(([method, path]) => {
        const url = path.split('?')[0]!.replaceAll(/\/(localhost|mine\.example\.|ALSO-NOTIFY)/g, '/1')
        return `${method} ${url}`
      }),
    )
    const missing = mounted.map(({ method, url }) => `${method} ${url}`).filter((one) => !tried.has(one))
    assert.deepEqual(missing, [])
  })

  it('with a limited token stay within its limit, on every route', async () => {
    await addZone('beside.example.')
    const limited = (resources: Resources) => addKey(team.bearer, ['dns:read', 'dns:write'], true, resources)
    const ofNames = await limited({
      zones: [{ zone: 'mine.example', names: ['_acme-challenge'], types: ['TXT'] }],
    })
    const ofWhole = await limited({ zones: [{ zone: 'mine.example' }] })
    const ofOther = await limited({ zones: [{ zone: 'beside.example' }] })
    const open = ['/api', '/api/v1', '/api/v1/servers', zones.replace('/zones', ''), zones]
    const isOpen = (method: Method, path: string) =>
      method === 'GET' && (open.includes(path) || path.endsWith('/config'))
    for (const [method, path, body] of paths) {
      const statusOf = async (as: string) => (await call(method, path, body, {}, as)).status
      const at = `${method} ${path}`
      const isOfZone = path.startsWith(`${zones}/mine`)
      // Clients ask for the last two after a change; they do nothing.
      const ofSets = ['GET', 'PATCH', 'PUT /notify', 'PUT /rectify']
      const isOfSets = ofSets.includes(at.replace(`${zones}/mine.example.`, '').trim())
      if (!isOfZone) {
        for (const as of [ofNames, ofWhole, ofOther])
          assert.equal(await statusOf(as), isOpen(method, path) ? 200 : 403, at)
        continue
      }
      assert.equal(await statusOf(ofOther), 404, at)
      const ofNamesStatus = await statusOf(ofNames)
      assert.ok(isOfSets ? ofNamesStatus < 300 : ofNamesStatus === 403, `${at}: ${ofNamesStatus}`)
      // The zone is needed by the following tests.
      if (at !== `DELETE ${zones}/mine.example.`) assert.notEqual(await statusOf(ofWhole), 403, at)
    }
    for (const [as, name] of [
      [ofNames, 'mine.example.'],
      [ofOther, 'beside.example.'],
    ] as const)
      assert.deepEqual(
        (await call('GET', zones, undefined, {}, as)).body.map((one: { name: string }) => one.name),
        [name],
      )
  })

  it('has no zone of another team', async () => {
    for (const [method, path, body] of paths.filter(([, path]) => path.startsWith(`${zones}/mine`)))
      assert.equal((await call(method, path, body, {}, otherKey)).status, 404, `${method} ${path}`)
    assert.deepEqual((await call('GET', zones, undefined, {}, otherKey)).body, [])
    assert.equal((await call('GET', `${zones}/mine.example.`)).status, 200)
  })

  it('writes the audit log, the security headers and those of the rate limit', async () => {
    const { headers } = await patch('mine.example.', {
      name: 'log.mine.example.',
      type: 'A',
      ttl: 300,
      changetype: 'REPLACE',
      records: records('192.0.2.1'),
    })
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.ok(Number(headers['ratelimit-remaining']) > 0)
    const { rows } = await sql<{ actor: string }>`
      select actor from audit_entries where action = 'recordset.change' order by id desc limit 1`.execute(
      api.database.postgres.owner,
    )
    assert.match(rows[0]!.actor, /^token:/)
  })

  it('answers the rest of what clients of PowerDNS ask, and 404 in its form', async () => {
    await addZone('rest.example.')
    const ofServer = '/api/v1/servers/localhost'
    const answer = async (path: string, method: 'GET' | 'PUT' = 'GET') => {
      const { status, body } = await call(method, `${ofServer}${path}`)
      assert.equal(status, 200, path)
      return body
    }
    assert.deepEqual(await answer('/zones/rest.example./metadata/ALSO-NOTIFY'), {
      type: 'Metadata',
      kind: 'ALSO-NOTIFY',
      metadata: [],
    })
    assert.deepEqual(
      (await answer('/tsigkeys')).filter(({ key }: { key: string }) => key !== ''),
      [],
      'no secrets',
    )
    const [uptime] = await answer('/statistics?statistic=uptime')
    assert.match(uptime.value, /^\d+$/)
    assert.deepEqual(await answer('/cache/flush?domain=rest.example.', 'PUT'), {
      count: 0,
      result: 'Flushed cache.',
    })
    for (const [path, method] of [
      ['/statistics?statistic=nothing', 'GET'],
      ['/cache/flush?domain=rest.example', 'PUT'],
    ] as const) {
      const { status, body } = await call(method, `${ofServer}${path}`)
      assert.deepEqual([status, Object.keys(body)], [422, ['error']], path)
    }
    for (const path of [
      '/nothing',
      '/zones/rest.example./nothing',
      '/tsigkeys/none.example.',
      '/zones/none.example.',
    ]) {
      const { status, body, headers } = await call('GET', `${ofServer}${path}`)
      assert.deepEqual([status, Object.keys(body), typeof body.error], [404, ['error'], 'string'], path)
      assert.match(String(headers['content-type']), /^application\/json/)
    }
  })

  it('answers methods that Pharos lacks in its form, with those that it has', async () => {
    const ofServer = '/api/v1/servers/localhost'
    const lacking: readonly [Method, string, allowed: RegExp][] = [
      ['POST', `${ofServer}/tsigkeys`, /GET/],
      ['DELETE', `${ofServer}/tsigkeys/red.example.`, /GET/],
      ['POST', `${ofServer}/statistics`, /GET/],
      ['GET', `${ofServer}/cache/flush`, /PUT/],
      ['POST', `${zones}/mine.example./axfr-retrieve`, /PUT/],
    ]
    for (const [method, path, allowed] of lacking) {
      const { status, body, headers } = await call(method, path, method === 'POST' ? {} : undefined)
      assert.deepEqual([status, Object.keys(body ?? {})], [405, ['error']], `${method} ${path}`)
      assert.match(String(headers['allow']), allowed)
    }
  })

  it('knows one server, and refuses broken requests', async () => {
    assert.equal((await call('GET', '/api/v1/servers/other')).status, 404)
    assert.equal((await call('GET', '/api/v1/servers/other/zones/mine.example.')).status, 404)
    assert.equal((await call('GET', `${zones}/..%2F..%2Fetc`)).status, 404)
    assert.equal((await call('GET', `${zones}/=00.example.`)).status, 404)
    const broken = await api.server.inject({
      method: 'POST',
      url: zones,
      headers: { 'x-api-key': key },
      payload: '{',
    })
    assert.deepEqual([broken.statusCode, Object.keys(broken.json())], [400, ['error']])
  })
})
