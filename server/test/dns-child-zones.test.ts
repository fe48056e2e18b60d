// Zones of one team above and below each other, on a real PostgreSQL: the zone above delegates, names move, and whoever follows the delegations as a
// resolver does gets the same answers before and after.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { checkDelegations } from '../src/dns/dnssec/check-delegations.ts'
import { evaluateZone } from '../src/dns/dnssec/evaluate-dnssec.ts'
import { publishZone } from '../src/dns/publish/publish-zone.ts'
import { signZone } from '../src/dns/sign/sign-zone.ts'
import { updateZone } from '../src/dns/update/apply-update.ts'
import { opcode, rcode, type Message } from '../src/net/dns/message.ts'
import { parseName } from '../src/net/dns/name.ts'
import { parseRdata } from '../src/net/dns/rdata/rdata.ts'
import { recordClass, recordType } from '../src/net/dns/type.ts'
import { silentLog } from '../src/runtime/log.ts'
import { seal } from '../src/runtime/secrets.ts'
import { scaled } from '../src/runtime/testing-scale.ts'
import { addDnsTeam, addPrefix, type Answered, type DnsTeam } from './support/dns.ts'

let api: TestApi
let red: DnsTeam
let blue: DnsTeam
before(async () => {
  api = await createTestApi()
  red = await addDnsTeam(api, 'red')
  blue = await addDnsTeam(api, 'blue')
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner
const create = async (name: string, more: object = {}, team = red) => {
  const created = await team.call('POST', '/zones', { name, dnssec: false, ...more })
  assert.equal(created.status, 201, created.text)
  return created.body
}
const put = (zone: string, set: string, ...records: string[]) =>
  red.call('PUT', `/zones/${zone}/recordsets/${set}`, { records, ttl: 300 })
const write = async (zone: string, set: string, ...records: string[]) => {
  const { status, text } = await put(zone, set, ...records)
  assert.ok(status === 201 || status === 200, text)
}
const remove = (zone: string, more = '') => red.call('DELETE', `/zones/${zone}?confirm=${zone}${more}`)
const errorOf = ({ body }: { readonly body: Answered }) => {
  const { type, ctx } = body.errors[0]
  return [type, ctx?.zone]
}

type Stored = {
  readonly name: string
  readonly type: number
  readonly content: string
  readonly source: string
}
const setsOf = async (zone: string): Promise<Stored[]> => {
  const { rows } = await sql<Stored>`
    select r.name, r.type, r.content, r.source from dns_recordsets r join dns_zones z on z.id = r.zone_id
    where z.name = ${`${zone}.`} and z.deleted is null order by r.name_key, r.type`.execute(db())
  return rows
}
/** The sets without the zone's own apex, as `name type content`. */
const contentOf = async (zone: string): Promise<string[]> =>
  (await setsOf(zone))
    .filter(({ name }) => name !== `${zone}.`)
    .map(({ name, type, content }) => `${name} ${type} ${content.replaceAll('\n', ', ')}`)
const isDs = (line: string) => / 43 /.test(line)
const nsLine = (name: string) => `${name}. 2 ns.invalid.`

describe('a zone below another one of the team', () => {
  it('is delegated to, and the names of the parent at and below it move into it', async () => {
    await create('shop.example')
    await write('shop.example', 'a.kid/A', '192.0.2.88')
    await write('shop.example', 'kid/TXT', '"at the cut"')
    await write('shop.example', 'other/A', '192.0.2.1')
    const plan = await red.call('POST', '/zones?dry_run=true', { name: 'kid.shop.example' })
    assert.equal(plan.status, 200, plan.text)
    const [planned] = plan.body.result.other_zones
    assert.equal(planned.name, 'shop.example')
    assert.deepEqual(
      planned.added.map(({ id, managed }: Answered) => [id, managed]),
      [
        ['kid/NS', true],
        ['kid/DS', true],
      ],
    )
    assert.deepEqual(
      planned.removed.map(({ id }: Answered) => id),
      ['kid/TXT', 'a.kid/A'],
    )
    assert.equal((await contentOf('shop.example')).length, 3)
    const created = await create('kid.shop.example', { dnssec: true })
    assert.deepEqual(
      created.other_zones.map(({ name, removed_count: count }: Answered) => [name, count]),
      [['shop.example', 2]],
    )
    assert.deepEqual(await contentOf('kid.shop.example'), ['a.kid.shop.example. 1 192.0.2.88'])
    const parent = await contentOf('shop.example')
    assert.deepEqual(
      parent.filter((line) => !isDs(line)),
      [nsLine('kid.shop.example'), 'other.shop.example. 1 192.0.2.1'],
    )
    const ds = parent.filter(isDs).flatMap((line) => line.split(' 43 ')[1]!.split(', '))
    const shown = created.keys.flatMap((key: Answered) => key.ds)
    assert.deepEqual(
      new Set(ds.map((one) => one.toLowerCase())),
      new Set(shown.map((one: string) => one.toLowerCase())),
    )
  })

  const refusals: readonly [how: string, path: string, body: () => unknown][] = [
    [
      'created',
      '/zones/shop.example/recordsets',
      () => ({ name: 'b.kid', type: 'A', records: ['192.0.2.1'] }),
    ],
    [
      'created at the cut',
      '/zones/shop.example/recordsets',
      () => ({ name: 'kid', type: 'TXT', records: ['"x"'] }),
    ],
    [
      'imported',
      '/zones/import',
      () => ({ name: 'shop.example', mode: 'merge', zonefile: 'b.kid 300 A 192.0.2.1' }),
    ],
  ]
  for (const [how, path, body] of refusals)
    it(`refuses names below that are ${how} in the parent, and names the zone that answers`, async () => {
      const answer = await red.call('POST', path, body())
      assert.deepEqual(
        [answer.status, errorOf(answer)],
        [422, ['in_child_zone', 'kid.shop.example']],
        answer.text,
      )
    })

  it('refuses changes of what Pharos delegates with, and deletions of it', async () => {
    for (const answer of [
      await put('shop.example', 'kid/NS', 'ns.other.example.'),
      await put('shop.example', 'b.kid/A', '192.0.2.1'),
      await red.call('PATCH', '/zones/shop.example/recordsets', {
        recordsets: [{ name: 'b.kid', type: 'A', records: ['192.0.2.1'] }],
      }),
      await red.call('DELETE', '/zones/shop.example/recordsets/kid/NS'),
      await red.call('DELETE', '/zones/shop.example/recordsets/kid/DS'),
    ])
      assert.deepEqual(
        [answer.status, errorOf(answer)],
        [422, ['in_child_zone', 'kid.shop.example']],
        answer.text,
      )
    const same = await red.call('PUT', '/zones/shop.example/recordsets/kid/NS', { records: ['ns.invalid.'] })
    assert.equal(same.status, 200, same.text)
  })

  it('refuses them over the PowerDNS-compatible API and over UPDATE', async () => {
    const token = await red.call('POST', '/v3/tokens', {
      name: 'pdns',
      scopes: ['dns:read', 'dns:write'],
      is_admin: true,
    })
    assert.equal(token.status, 201, token.text)
    const answer = await api.server.inject({
      method: 'PATCH',
      url: '/api/v1/servers/localhost/zones/shop.example.',
      headers: { 'x-api-key': token.body.token },
      payload: {
        rrsets: [
          {
            name: 'b.kid.shop.example.',
            type: 'A',
            ttl: 300,
            changetype: 'REPLACE',
            records: [{ content: '192.0.2.1', disabled: false }],
          },
        ],
      },
    })
    assert.equal(answer.statusCode, 422, answer.body)
    assert.match(answer.body, /kid\.shop\.example/)
    const secret = seal(api.config.secret, 'tsig-key', Buffer.alloc(32), 'update.red.')
    await sql`
      insert into dns_tsig_keys (name, team_id, secret_sealed, may_update) values ('update.red.', ${red.teamId}, ${secret}, true)`.execute(
      db(),
    )
    const update = (name: string): Promise<number> => {
      const message = {
        id: 1,
        opcode: opcode.UPDATE,
        questions: [{ name: parseName('shop.example.'), type: recordType.SOA, class: recordClass.IN }],
        answers: [],
        authorities: [
          {
            name: parseName(name),
            type: recordType.A,
            class: recordClass.IN,
            ttl: 300,
            rdata: parseRdata(recordType.A, '192.0.2.1'),
          },
        ],
        additionals: [],
      } as unknown as Message
      const deps = { postgres: api.database.postgres, now: () => new Date(), onRefused: () => {} }
      return updateZone(deps, message, { address: '127.0.0.1', key: 'update.red.' } as never)
    }
    assert.equal(await update('b.kid.shop.example.'), rcode.REFUSED)
    assert.equal(await update('b.other.shop.example.'), rcode.NOERROR)
  })

  it('is left alone by an import that replaces the parent, and by an export that is imported again', async () => {
    const before = await contentOf('shop.example')
    const file = await red.call('GET', '/zones/shop.example/export')
    const same = await red.call('POST', '/zones/import', {
      name: 'shop.example',
      mode: 'replace',
      zonefile: file.text,
    })
    assert.equal(same.status, 200, same.text)
    assert.deepEqual(same.body.ignored.filter(({ reason }: Answered) => reason === 'child_zone').length, 3)
    const zonefile = 'other 300 A 192.0.2.1\nkid 300 NS ns.old.example.'
    const answer = await red.call('POST', '/zones/import', {
      name: 'shop.example',
      mode: 'replace',
      zonefile,
    })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      await contentOf('shop.example'),
      before.filter((line) => !line.startsWith('b.other')),
    )
  })

  it('is left alone by a rollback of the parent to a version before it', async () => {
    const { body } = await red.call('POST', '/zones/shop.example/versions/2/rollback')
    assert.ok(body.version > 2)
    const lines = await contentOf('shop.example')
    assert.deepEqual(
      lines.filter((line) => !isDs(line)),
      [nsLine('kid.shop.example')],
    )
    assert.equal(lines.length, 2)
  })

  it('is not delegated to again by a rollback of the parent after it was deleted', async () => {
    const versionOf = async () =>
      (await red.call('GET', '/zones/back.example?include=details')).body.details.version
    await create('back.example')
    await write('back.example', 'a.kid/A', '192.0.2.1')
    await write('back.example', 'ns1.kid/A', '192.0.2.2')
    const before = await versionOf()
    const own = await contentOf('back.example')
    await create('kid.back.example', { nameservers: ['ns1.kid.back.example.'] })
    const during = await versionOf()
    await write('kid.back.example', 'ns1/A', '192.0.2.3')
    await write('kid.back.example', 'ns2/A', '192.0.2.4')
    const settings = { nameservers: ['ns2.kid.back.example.'] }
    assert.equal((await red.call('PUT', '/zones/kid.back.example/settings', settings)).status, 200)
    const changed = await versionOf()
    assert.equal((await remove('kid.back.example')).status, 204)
    await write('back.example', 'www/A', '192.0.2.5')
    const back = (version: number) => red.call('POST', `/zones/back.example/versions/${version}/rollback`)
    for (const version of [during, changed]) {
      assert.equal((await back(version)).status, 200)
      assert.deepEqual(await contentOf('back.example'), [], `version ${version}`)
    }
    assert.equal((await back(before)).status, 200)
    assert.deepEqual(await contentOf('back.example'), own, 'the names of the parent itself')
    // A delegation that the team writes later is its own, and goes with its version.
    await write('back.example', 'kid2/NS', 'ns.other.example.')
    await create('kid2.back.example')
    const third = await versionOf()
    assert.equal((await remove('kid2.back.example')).status, 204)
    await write('back.example', 'kid2/NS', 'ns.other.example.')
    assert.equal((await back(third)).status, 200)
    assert.ok(!(await contentOf('back.example')).some((line) => line.startsWith('kid2')))
  })

  it('answers what a wildcard of the parent answered there', async () => {
    await create('wild.example')
    await write('wild.example', '*/A', '192.0.2.9')
    await write('wild.example', '*/TXT', '"all"')
    const copied = ['@/A', '@/TXT', '*/A', '*/TXT']
    const plan = await red.call('POST', '/zones?dry_run=true', { name: 'kid.wild.example' })
    assert.deepEqual(
      plan.body.result.copied.map(({ id }: Answered) => id),
      copied,
      'a copy changes no other zone, and is part of the plan nevertheless',
    )
    assert.deepEqual(
      (await create('kid.wild.example')).copied.map(({ id }: Answered) => id),
      copied,
    )
    assert.deepEqual(
      (await setsOf('kid.wild.example'))
        .filter(({ type }) => type === recordType.A || type === recordType.TXT)
        .map(({ name, content }) => `${name} ${content}`),
      [
        'kid.wild.example. 192.0.2.9',
        'kid.wild.example. "all"',
        '*.kid.wild.example. 192.0.2.9',
        '*.kid.wild.example. "all"',
      ],
    )
    await create('own.wild.example', {
      recordsets: [
        { name: '@', type: 'A', records: ['192.0.2.10'] },
        { name: 'www', type: 'A', records: ['192.0.2.11'] },
      ],
    })
    assert.deepEqual(await contentOf('own.wild.example'), [
      '*.own.wild.example. 1 192.0.2.9',
      '*.own.wild.example. 16 "all"',
      'www.own.wild.example. 1 192.0.2.11',
    ])
    // A name that exists is not matched, and neither is a name below it.
    await write('wild.example', 'a.exists/A', '192.0.2.12')
    await create('exists.wild.example')
    await create('deep.a.wild.example')
    assert.deepEqual(await contentOf('exists.wild.example'), ['a.exists.wild.example. 1 192.0.2.12'])
    assert.equal((await contentOf('deep.a.wild.example')).length, 2)
    await write('wild.example', 'b/A', '192.0.2.13')
    await create('kid.b.wild.example')
    assert.deepEqual(await contentOf('kid.b.wild.example'), [], 'b is the closest name above')
    // The wildcard below is closer.
    await write('wild.example', '*.b/CNAME', 'www.other.example.')
    await create('kid2.b.wild.example')
    const sets = await setsOf('kid2.b.wild.example')
    assert.deepEqual(
      sets.filter(({ content }) => content.includes('www.other')).map(({ name, type }) => `${name} ${type}`),
      [`kid2.b.wild.example. ${recordType.ALIAS}`, '*.kid2.b.wild.example. 5'],
    )
    // A restored zone has its former sets.
    const { id } = await create('again.wild.example')
    await red.call('DELETE', '/zones/again.wild.example/recordsets/*/A')
    await red.call('DELETE', '/zones/again.wild.example/recordsets/*/TXT')
    assert.equal((await remove('again.wild.example')).status, 204)
    assert.equal((await red.call('POST', `/zones/${id}/restore`)).status, 200)
    assert.deepEqual(await contentOf('again.wild.example'), [])
  })

  it('has the addresses of servers in zones further below in the zones above, also after they change', async () => {
    await create('far.example')
    await create('kid.far.example', {
      nameservers: ['ns1.x.kid.far.example.'],
      recordsets: [{ name: 'ns1.x', type: 'A', records: ['192.0.2.60'] }],
    })
    const glue = async () => (await contentOf('far.example')).filter((line) => / 1 /.test(line))
    assert.deepEqual(await glue(), ['ns1.x.kid.far.example. 1 192.0.2.60'])
    await create('x.kid.far.example')
    assert.deepEqual(await glue(), ['ns1.x.kid.far.example. 1 192.0.2.60'], 'the address has moved')
    await write('x.kid.far.example', 'ns1/A', '192.0.2.61')
    assert.deepEqual(await glue(), ['ns1.x.kid.far.example. 1 192.0.2.61'])
    await create('ns1.x.kid.far.example')
    await write('ns1.x.kid.far.example', '@/A', '192.0.2.62')
    assert.deepEqual(await glue(), ['ns1.x.kid.far.example. 1 192.0.2.62'], 'and a zone further below')
    assert.equal((await remove('ns1.x.kid.far.example')).status, 204)
    assert.deepEqual(await glue(), [], 'the address is gone with its zone')
    await write('x.kid.far.example', 'ns1/A', '192.0.2.63')
    assert.deepEqual(await glue(), ['ns1.x.kid.far.example. 1 192.0.2.63'])
  })

  it('has its servers and their addresses in the parent, also after they change', async () => {
    await create('glue.example')
    await create('kid.glue.example', {
      nameservers: ['ns1.kid.glue.example.', 'ns.other.example.'],
      recordsets: [{ name: 'ns1', type: 'A', records: ['192.0.2.53'] }],
    })
    assert.deepEqual(await contentOf('glue.example'), [
      'kid.glue.example. 2 ns.other.example., ns1.kid.glue.example.',
      'ns1.kid.glue.example. 1 192.0.2.53',
    ])
    await write('kid.glue.example', 'ns1/A', '192.0.2.54')
    assert.ok((await contentOf('glue.example')).includes('ns1.kid.glue.example. 1 192.0.2.54'))
    const settings = await red.call('PUT', '/zones/kid.glue.example/settings?dry_run=true', {
      nameservers: ['ns.third.example.'],
    })
    assert.ok(
      settings.body.changes.some(({ field }: Answered) => field.startsWith('other_zones')),
      settings.text,
    )
    assert.equal(
      (await red.call('PUT', '/zones/kid.glue.example/settings', { nameservers: ['ns.third.example.'] }))
        .status,
      200,
    )
    assert.deepEqual(await contentOf('glue.example'), ['kid.glue.example. 2 ns.third.example.'])
  })

  it('is refused with the names that cannot move, and as a secondary zone with all of them', async () => {
    await create('stay.example')
    await write('stay.example', 'kid/CNAME', 'www.stay.example.')
    for (const more of [{}, { kind: 'secondary', primaries: [{ address: '192.0.2.1' }] }]) {
      const answer = await red.call('POST', '/zones', { name: 'kid.stay.example', ...more })
      assert.deepEqual([answer.status, answer.body.code], [409, 'conflict'], answer.text)
      assert.match(answer.body.detail, /kid\.stay\.example\. CNAME/)
    }
    assert.deepEqual(await contentOf('stay.example'), ['kid.stay.example. 5 www.stay.example.'])
  })

  it('is delegated to no more once it is deleted, and again once it is restored', async () => {
    await create('undo.example')
    await write('undo.example', 'a.kid/A', '192.0.2.1')
    const { id } = await create('kid.undo.example', { dnssec: true })
    const plan = await remove('kid.undo.example', '&dry_run=true')
    assert.equal(plan.status, 200, plan.text)
    assert.match(plan.text, /kid\/NS/)
    assert.equal((await remove('kid.undo.example')).status, 204)
    assert.deepEqual(await contentOf('undo.example'), [])
    await write('undo.example', 'b.kid/A', '192.0.2.2')
    const restored = await red.call('POST', `/zones/${id}/restore`)
    assert.equal(restored.status, 200, restored.text)
    assert.deepEqual(await contentOf('kid.undo.example'), [
      'a.kid.undo.example. 1 192.0.2.1',
      'b.kid.undo.example. 1 192.0.2.2',
    ])
    const lines = await contentOf('undo.example')
    assert.deepEqual([lines.length, lines[0]!.replace(/ 43 .*/, ' 43')], [2, nsLine('kid.undo.example')])
  })

  it('replaces a delegation that the team wrote, and makes its own of it', async () => {
    await create('former.example')
    await write('former.example', 'kid/NS', 'ns1.kid.former.example.')
    await write('former.example', 'ns1.kid/A', '192.0.2.9')
    await create('kid.former.example')
    assert.deepEqual(await contentOf('former.example'), [nsLine('kid.former.example')])
    assert.deepEqual(await contentOf('kid.former.example'), ['ns1.kid.former.example. 1 192.0.2.9'])
    await create('equal.example')
    await write('equal.example', 'kid/NS', 'ns.invalid.')
    await create('kid.equal.example')
    const ns = (await setsOf('equal.example')).find(({ name }) => name === 'kid.equal.example.')
    assert.equal(ns!.source, 'system')
  })
})

describe('a zone above another one of the team', () => {
  it('delegates to the zones below, and takes no names of them', async () => {
    await create('deep.low.up.example', { dnssec: true })
    await create('low.up.example')
    const refused = await red.call('POST', '/zones', {
      name: 'up.example',
      recordsets: [{ name: 'x.low', type: 'A', records: ['192.0.2.1'] }],
    })
    assert.deepEqual(
      [refused.status, errorOf(refused)],
      [422, ['in_child_zone', 'low.up.example']],
      refused.text,
    )
    const imported = await red.call('POST', '/zones/import', {
      name: 'up.example',
      mode: 'create',
      dnssec: false,
      zonefile: 'www 300 A 192.0.2.1\nlow 300 NS ns.old.example.',
    })
    assert.equal(imported.status, 201, imported.text)
    assert.deepEqual(await contentOf('up.example'), [nsLine('low.up.example'), 'www.up.example. 1 192.0.2.1'])
    assert.equal((await contentOf('low.up.example')).filter(isDs).length, 1)
  })

  it('is not deleted while it alone delegates to zones below, unless forced', async () => {
    const refused = await remove('up.example')
    assert.deepEqual([refused.status, refused.body.code], [409, 'delegated'])
    assert.match(refused.body.detail, /low\.up\.example/)
    assert.equal((await remove('low.up.example')).status, 204)
    const lines = await contentOf('up.example')
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['deep.low.up.example. 2', 'deep.low.up.example. 43', 'www.up.example. 1'],
    )
    assert.equal((await remove('up.example', '&force=true')).status, 204)
  })
})

describe('zones of other teams', () => {
  it('are neither delegated to nor written, and change no answer', async () => {
    await create('mine.example')
    await write('mine.example', 'a.kid/A', '192.0.2.1')
    await sql`insert into domains (team_id, domain, verified) values (${blue.teamId}, 'kid.mine.example', now())`.execute(
      db(),
    )
    const before = await setsOf('mine.example')
    const created = await create('kid.mine.example', {}, blue)
    assert.deepEqual(created.other_zones, [])
    assert.deepEqual(await setsOf('mine.example'), before)
    await write('mine.example', 'b.kid/A', '192.0.2.1')
    assert.equal((await remove('mine.example')).status, 204)
  })

  it('a zone that gets its name later is delegated to by its own team alone', async () => {
    await create('kid.later.example')
    await sql`insert into domains (team_id, domain, verified) values (${blue.teamId}, 'later.example', now())`.execute(
      db(),
    )
    await create('later.example', {}, blue)
    const waiting = await create('kid.later.example', {}, blue)
    assert.equal(waiting.status, 'pending_verification')
    assert.deepEqual(await contentOf('later.example'), [])
    const written = await blue.call('PUT', '/zones/later.example/recordsets/b.kid/A', {
      records: ['192.0.2.1'],
    })
    assert.equal(written.status, 201, written.text)
    assert.equal((await remove('kid.later.example')).status, 204)
    await publishZone(loops(), waiting.id)
    const find = {
      ask: () => assert.fail('nobody is asked'),
      roots: [],
      isAllowed: () => false,
      isDelegable: () => false,
    }
    await checkDelegations(
      { db: db(), find, now: () => new Date(), cacheSeconds: 60 },
      silentLog,
      AbortSignal.timeout(60_000),
    )
    assert.ok((await contentOf('later.example')).includes(nsLine('kid.later.example')))
  })
})

const loops = () => ({ db: db(), ring: api.config.secret, signWhole: signZone, now: () => new Date() })

describe('DNSSEC of a zone below', () => {
  it('is announced in the parent once it is served signed, and withdrawn as CDS asks', async () => {
    await create('secure.example')
    const { id } = await create('kid.secure.example')
    await publishZone(loops(), id)
    assert.equal((await red.call('POST', '/zones/kid.secure.example/dnssec', {})).status, 202)
    const hasDs = async () => (await contentOf('secure.example')).some(isDs)
    assert.equal(await hasDs(), false)
    for (let round = 0; round < 4 && !(await hasDs()); round++) {
      const later = { ...loops(), now: () => new Date(Date.now() + round * 86_400_000) }
      await publishZone(later, id)
      await evaluateZone(later, id)
    }
    assert.equal(await hasDs(), true)
    const refused = await red.call('DELETE', '/zones/secure.example/recordsets/kid/DS')
    assert.deepEqual(errorOf(refused), ['in_child_zone', 'kid.secure.example'])
    assert.equal((await red.call('DELETE', '/zones/kid.secure.example/dnssec?force=true')).status, 204)
    assert.equal(await hasDs(), false)
  })

  it('is written by the team where it decides: a secondary zone, other signers, no CDS', async () => {
    await create('manual.example')
    await create('sec.manual.example', { kind: 'secondary', primaries: [{ address: '192.0.2.1' }] })
    const ds = '1 13 2 0000000000000000000000000000000000000000000000000000000000000000'
    await write('manual.example', 'sec/DS', ds)
    assert.equal((await put('manual.example', 'x.sec/A', '192.0.2.1')).status, 422)
  })
})

describe('a delegation to other servers', () => {
  it('refuses names below it that are no addresses of servers, and a cut above names', async () => {
    await create('cut.example')
    await write('cut.example', 'sub/NS', 'ns.sub.cut.example.', 'ns.two.cut.example.')
    await write('cut.example', 'ns.sub/A', '192.0.2.1')
    await write(
      'cut.example',
      'sub/DS',
      '1 13 2 0000000000000000000000000000000000000000000000000000000000000000',
    )
    for (const [set, record] of [
      ['a.sub/A', '192.0.2.1'],
      ['b.sub/TXT', '"x"'],
      ['sub/TXT', '"x"'],
    ] as const) {
      const answer = await put('cut.example', set, record)
      assert.deepEqual([answer.status, answer.body.errors[0].type], [422, 'occluded'], answer.text)
      assert.match(answer.body.errors[0].msg, /sub\.cut\.example/)
    }
    await write('cut.example', 'a.two/A', '192.0.2.1')
    const above = await put('cut.example', 'two/NS', 'ns.sub.cut.example.')
    assert.deepEqual([above.status, above.body.errors[0].type], [422, 'occluded'], above.text)
    await write('cut.example', 'sub/NS', 'ns.elsewhere.example.')
  })
})

describe('reverse zones', () => {
  it('that are created for PTR records delegate to those below', async () => {
    await addPrefix(api, red, '10.77.0.0/16')
    await create('5.77.10.in-addr.arpa')
    const batch = await red.call('POST', '/ptr/batch', {
      records: [{ ip: '10.77.6.1', ptrdname: 'a.example.' }],
    })
    assert.equal(batch.status, 200, batch.text)
    assert.deepEqual(await contentOf('77.10.in-addr.arpa'), [
      nsLine('5.77.10.in-addr.arpa'),
      '1.6.77.10.in-addr.arpa. 12 a.example.',
    ])
  })
})

/** The answer of a resolver for a name that follows the delegations from `top` on. */
function resolve(zones: ReadonlyMap<string, readonly Stored[]>, top: string, name: string): string {
  const ends = (zone: string) => name === zone || name.endsWith(`.${zone}`)
  const hosted = [...zones.keys()].filter(ends).toSorted((a, b) => a.length - b.length)
  if (!zones.has(top)) return 'no zone'
  for (let zone = top; ;) {
    const sets = zones.get(zone)!
    const cut = sets
      .filter((set) => set.type === recordType.NS && set.name !== zone && ends(set.name))
      .toSorted((a, b) => a.name.length - b.name.length)[0]
    if (!cut) {
      // Servers answer from the closest zone that they have.
      if (hosted.at(-1) !== zone) return `blanked by ${hosted.at(-1)}`
      const answering = nameOrWildcard(sets, name)
      return sets.find((set) => set.name === answering && set.type === recordType.A)?.content ?? 'none'
    }
    const below = zones.get(cut.name)
    if (!below) return `lame at ${cut.name}`
    const ns = below.find((set) => set.name === cut.name && set.type === recordType.NS)!
    if (ns.content !== cut.content) return `other servers at ${cut.name}`
    zone = cut.name
  }
}

/** Returns the name, or the wildcard at its closest encloser if it does not exist (RFC 4592 section 3.3). */
function nameOrWildcard(sets: readonly Stored[], name: string): string {
  const exists = (one: string) => sets.some((set) => set.name === one || set.name.endsWith(`.${one}`))
  let encloser = name
  while (!exists(encloser)) encloser = encloser.slice(encloser.indexOf('.') + 1)
  return encloser === name ? name : `*.${encloser}`
}

describe('creating zones below a zone with wildcards', () => {
  const top = 'star.example'
  const full = (name: string) => (name === '' ? top : `${name}.${top}`)
  const names = ['*', '*.a', '*.a.a', '*.b', 'a', 'b.a', 'a.a', 'x.a.a', 'b', 'x.b.b']
  const zones = ['a', 'b', 'a.a', 'b.a', 'c', 'c.a', 'b.b']
  const asked = ['', ...zones, ...names, ...zones.flatMap((zone) => [`q.${zone}`, `q.r.${zone}`]), 'q', 'q.r']

  it('changes the answer of no name', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }),
        fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 3 }),
        async (written, created) => {
          await sql`delete from dns_zones where name like ${`%${top}.`}`.execute(db())
          await create(top, {
            recordsets: written.map((name, at) => ({ name, type: 'A', records: [`192.0.2.${at + 1}`] })),
          })
          const answers = async (hosted: readonly string[]) => {
            const sets = new Map<string, Stored[]>()
            for (const name of hosted) sets.set(`${full(name)}.`, await setsOf(full(name)))
            return asked.map((name) => `${name} ${resolve(sets, `${top}.`, `${full(name)}.`)}`)
          }
          const before = await answers([''])
          for (const [at, name] of created.entries()) {
            await create(full(name))
            assert.deepEqual(await answers(['', ...created.slice(0, at + 1)]), before, name)
          }
        },
      ),
      { numRuns: scaled(60) },
    )
  })
})

describe('any order of creating, deleting, restoring and writing', () => {
  const top = 'top.example'
  const names = ['a', 'b', 'a.a', 'b.a', 'a.b', 'a.a.a', 'b.a.a', 'x.a', 'x.a.a', 'x.b', 'x']
  const full = (name: string) => (name === '' ? top : `${name}.${top}`)
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      name: fc.constantFrom(...names),
      value: fc.integer({ min: 1, max: 250 }),
    }),
    fc.record({
      kind: fc.constant('create' as const),
      name: fc.constantFrom('a', 'b', 'a.a', 'a.b', 'a.a.a'),
    }),
    fc.record({ kind: fc.constant('import' as const), name: fc.constantFrom('a', 'b', 'a.a') }),
    fc.record({
      kind: fc.constant('delete' as const),
      name: fc.constantFrom('a', 'b', 'a.a', 'a.b', 'a.a.a'),
    }),
    fc.record({
      kind: fc.constant('restore' as const),
      name: fc.constantFrom('a', 'b', 'a.a', 'a.b', 'a.a.a'),
    }),
  )

  it('leaves the view of a resolver as the operations say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        await sql`delete from dns_zones where name like ${`%${top}.`}`.execute(db())
        await create(top)
        const expected = new Map<string, string>()
        const deleted = new Map<string, { id: number; sets: Map<string, string> }>()
        const alive = new Map<string, number>([['', 0]])
        const closest = (name: string): string =>
          [...alive.keys()]
            .filter((zone) => zone === '' || name === zone || name.endsWith(`.${zone}`))
            .toSorted((a, b) => b.length - a.length)[0]!
        for (const one of steps) {
          const zone = full(one.name)
          if (one.kind === 'write') {
            const written = closest(one.name)
            const relative = one.name === written ? '@' : `${full(one.name)}.`
            await write(full(written), `${relative}/A`, `192.0.2.${one.value}`)
            expected.set(one.name, `192.0.2.${one.value}`)
          } else if (one.kind === 'delete') {
            if (!alive.has(one.name)) continue
            const id = alive.get(one.name)!
            const own = new Map([...expected].filter(([name]) => closest(name) === one.name))
            assert.equal((await remove(zone)).status, 204)
            alive.delete(one.name)
            for (const name of own.keys()) expected.delete(name)
            deleted.set(one.name, { id, sets: own })
          } else if (one.kind === 'restore') {
            const former = deleted.get(one.name)
            if (!former || alive.has(one.name)) continue
            const { status, text } = await red.call('POST', `/zones/${former.id}/restore`)
            assert.equal(status, 200, text)
            alive.set(one.name, former.id)
            deleted.delete(one.name)
            // Names of zones that were created below in the meantime belong to them.
            for (const [name, value] of former.sets) if (closest(name) === one.name) expected.set(name, value)
          } else {
            if (alive.has(one.name)) continue
            if (one.kind === 'create') alive.set(one.name, (await create(zone)).id)
            else {
              const zonefile = `z.${zone}. 300 A 192.0.2.251`
              const { status, text, body } = await red.call('POST', '/zones/import', {
                name: zone,
                mode: 'create',
                dnssec: false,
                zonefile,
              })
              assert.equal(status, 201, text)
              alive.set(one.name, body.zone.id)
              expected.set(`z.${one.name}`, '192.0.2.251')
            }
          }
          const zones = new Map<string, Stored[]>()
          for (const name of alive.keys()) zones.set(`${full(name)}.`, await setsOf(full(name)))
          for (const name of [...names, ...names.map((other) => `z.${other}`)])
            assert.equal(
              resolve(zones, `${top}.`, `${full(name)}.`),
              expected.get(name) ?? 'none',
              `${name} after ${JSON.stringify(one)}`,
            )
        }
      }),
      { numRuns: scaled(60) },
    )
  })
})
