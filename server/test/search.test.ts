// The search over HTTP: the results for each kind of caller, the kinds of matches, and the reads of a search with many
// rows.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { searchKinds, type SearchAnswer, type SearchHit } from '@pharos/contract/search'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { callers } from './support/callers.ts'
import { addApiToken } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

const presentAs = async (name: string) => {
  const caller = callers.find((one) => one.name === name)!
  return (await caller.present(api, fixtures)).authorization!
}

async function searchAs(
  authorization: string,
  q: string,
  query: Record<string, string> = {},
): Promise<SearchAnswer> {
  const { statusCode, body } = await api.server.inject({
    url: `/v3/search?${new URLSearchParams({ q, ...query })}`,
    headers: { authorization },
  })
  assert.equal(statusCode, 200, body)
  return JSON.parse(body)
}

const kindsOf = ({ results }: SearchAnswer) => [...new Set(results.map(({ kind }) => kind))]
const named = (answer: SearchAnswer, kind: string) =>
  answer.results.filter((hit) => hit.kind === kind).map(({ title, match }) => `${title} ${match}`)

/** Every url answers 200 to the same caller. */
async function assertReadable(authorization: string, hits: readonly SearchHit[]): Promise<void> {
  for (const { url } of hits) {
    if (url === null) continue
    const { statusCode } = await api.server.inject({ url, headers: { authorization } })
    assert.equal(statusCode, 200, url)
  }
}

describe('a search', () => {
  it('for an address finds the event on it, and the prefixes and announcements that cover it', async () => {
    const admin = await presentAs('an admin')
    const answer = await searchAs(admin, '203.0.113.1')
    assert.deepEqual(named(answer, 'event'), ['203.0.113.1 exact'])
    assert.deepEqual(named(answer, 'announcement'), ['203.0.113.0/24 related'])
    assert.deepEqual(named(answer, 'prefix'), ['203.0.113.0/24 related'])
    assert.deepEqual(named(answer, 'incident'), ['203.0.113.1 exact'])
    assert.equal(answer.results[0]!.kind, 'incident')
    await assertReadable(admin, answer.results)
  })

  it('for a prefix finds it first, then what is inside it', async () => {
    const answer = await searchAs(await presentAs('a member'), '2001:db8:1ed::/48')
    assert.deepEqual(named(answer, 'announcement'), [
      '2001:db8:1ed::/48 exact',
      '2001:db8:1ed:4000::/50 related',
      '2001:db8:1ed:8000::/50 related',
    ])
    assert.equal(
      answer.results.every(({ match }, at) => at < 2 === (match === 'exact')),
      true,
    )
  })

  it('for a network finds at most the newest events inside it, and names the kind as truncated', async () => {
    const answer = await searchAs(await presentAs('a member'), '203.0.113.0/24', {
      kind: 'event',
      limit: '2',
    })
    assert.equal(answer.results.length, 2)
    assert.deepEqual(answer.truncated, ['event'])
  })

  it('finds an attack once, by an address or by the id of any of its events', async () => {
    const admin = await presentAs('an admin')
    const db = api.database.postgres.owner
    const [first, second] = (await searchAs(admin, '203.0.113.0/24', { kind: 'event', limit: '2' })).results
    assert.ok(first && second)
    await sql`update team_events set incident = ${first.id} where event_id = ${second.id}`.execute(db)
    try {
      for (const q of ['203.0.113.0/24', first.id, second.id]) {
        const answer = await searchAs(admin, q, { kind: 'incident', limit: '100' })
        const ids = answer.results.map(({ id }) => id)
        assert.equal(ids.filter((id) => id === first.id).length, 1, q)
        assert.ok(!ids.includes(second.id), q)
        await assertReadable(admin, answer.results)
      }
    } finally {
      await sql`update team_events set incident = null where event_id = ${second.id}`.execute(db)
    }
  })

  it('finds an ASN with and without AS, with the announcements of this origin', async () => {
    const admin = await presentAs('an admin')
    for (const q of ['AS64510', 'as64510', ' 64510 ']) {
      const answer = await searchAs(admin, q)
      assert.deepEqual(named(answer, 'asn'), ['AS64510 exact'], q)
      await assertReadable(admin, answer.results)
    }
    const origin = await sql<{ origin_asn: number }>`
      select origin_asn from announcements where id = ${fixtures.red.announcements.off}`.execute(
      api.database.postgres.owner,
    )
    const byOrigin = await searchAs(admin, `AS${origin.rows[0]!.origin_asn}`)
    assert.equal(named(byOrigin, 'announcement').length, 4)
  })

  it('finds an event by its id and by the start of it', async () => {
    const id = fixtures.red.eventIds[0]!
    for (const [q, match] of [
      [id, 'exact'],
      [id.slice(0, 12), 'starts'],
    ] as const) {
      const { results } = await searchAs(await presentAs('a member'), q)
      assert.deepEqual(
        results.map((hit) => [hit.kind, hit.id, hit.match]),
        [
          ['incident', id, match],
          ['event', id, match],
        ],
      )
    }
  })

  it('finds members by their address, services by their name', async () => {
    const admin = await presentAs('an admin')
    const members = await searchAs(admin, fixtures.people.member.email.toUpperCase())
    assert.deepEqual(kindsOf(members), ['member'])
    const services = await searchAs(admin, 'transit')
    assert.deepEqual(named(services, 'service'), ['Transit of 203.0.113.0 starts'])
    await assertReadable(admin, [...members.results, ...services.results])
  })

  it('finds lists of shield rules by prefix, address and the comment of a rule', async () => {
    const { teamId } = fixtures.red
    const unset = {
      source: null,
      source_port: null,
      destination: null,
      destination_port: null,
      tcp_flags: null,
    }
    const match = {
      protocol: 'udp',
      ...unset,
      icmp_type: null,
      icmp_code: null,
      packet_length: null,
      dscp: null,
    }
    await sql`with l as (insert into shield_lists (team_id, prefix) values (${teamId}, '203.0.113.0/25') returning id)
      insert into shield_rules (list_id, team_id, sequence, enabled, action, match, comment)
      select id, ${teamId}, n, true, 'deny', ${JSON.stringify({ ...match, fragment: 'any' })}::jsonb, case n when 2 then 'memcached reflection' else '' end
      from l, generate_series(1, 2) n`.execute(api.database.postgres.owner)
    const admin = await presentAs('an admin')
    const find = async (q: string) => (await searchAs(admin, q, { kind: 'shield_list' })).results
    const [list] = await find('203.0.113.0/25')
    assert.deepEqual([list!.title, list!.subtitle, list!.match], ['203.0.113.0/25', '2 rules', 'exact'])
    await assertReadable(admin, [list!])
    assert.deepEqual(
      (await find('203.0.113.7')).map(({ match }) => match),
      ['related'],
    )
    assert.deepEqual(
      (await find('memcached')).map(({ match }) => match),
      ['contains'],
    )
    assert.deepEqual(await find('198.51.100.1'), [])
  })

  it('treats characters of patterns as text', async () => {
    assert.deepEqual((await searchAs(await presentAs('a member'), '%%')).results, [])
    assert.deepEqual((await searchAs(await presentAs('a member'), '__')).results, [])
  })

  it('needs two characters', async () => {
    const authorization = await presentAs('a member')
    for (const q of ['a', ' a ', '']) {
      const { statusCode } = await api.server.inject({
        url: `/v3/search?${new URLSearchParams({ q })}`,
        headers: { authorization },
      })
      assert.equal(statusCode, 422, q)
    }
  })
})

describe('who finds what', () => {
  it('API tokens are found by whoever may list them', async () => {
    await addApiToken(api, fixtures.red.teamId, { scopes: ['ipam:read'] })
    const { rows } = await sql<{ name: string }>`
      select name from api_tokens where team_id = ${fixtures.red.teamId}`.execute(api.database.postgres.owner)
    const find = async (name: string) =>
      kindsOf(await searchAs(await presentAs(name), rows[0]!.name)).includes('token')
    for (const name of ['an admin', 'a member', 'an API token', 'an API token with the admin role']) {
      const { statusCode } = await api.server.inject({
        url: '/v3/tokens',
        headers: { authorization: await presentAs(name) },
      })
      assert.equal(await find(name), statusCode === 200, name)
    }
  })

  it('an API token finds the kinds of its scopes', async () => {
    const everything = ['203.0.113.1', 'AS64510', 'transit', '@', 'Team red']
    const kindsOfScopes = async (scopes: string[]) => {
      const authorization = `Token ${await addApiToken(api, fixtures.red.teamId, { scopes })}`
      const found = new Set<string>()
      for (const q of everything)
        if (q.length > 1) for (const kind of kindsOf(await searchAs(authorization, q))) found.add(kind)
      return [...found].toSorted()
    }
    assert.deepEqual(await kindsOfScopes([]), [])
    assert.deepEqual(await kindsOfScopes(['ipam:read']), ['announcement', 'asn'])
    assert.deepEqual(await kindsOfScopes(['inventory:read']), ['device', 'port', 'prefix', 'service'])
    assert.deepEqual(await kindsOfScopes(['lighthouse:read']), ['event', 'incident'])
    assert.deepEqual(await kindsOfScopes(['team:read']), ['team'])
  })

  it('a team finds nothing of another team', async () => {
    const blue = await presentAs('an admin of another team')
    for (const q of [
      '203.0.113.1',
      '203.0.113.0/24',
      '0.0.0.0/0',
      'AS64510',
      'transit',
      'red',
      fixtures.red.eventIds[0]!,
    ]) {
      const text = JSON.stringify((await searchAs(blue, q)).results)
      for (const mark of fixtures.red.marks) assert.ok(!text.includes(mark), `${q}: ${text}`)
    }
  })

  it('a team without modules finds no announcements and events', async () => {
    const answer = await searchAs(await presentAs('an admin of a team without modules'), '0.0.0.0/0')
    assert.deepEqual(answer.results, [])
  })

  it('staff find customers, and the prefixes of all teams with the team', async () => {
    const staff = await presentAs('staff')
    const customers = await searchAs(staff, 'Team blue')
    assert.deepEqual(
      customers.results.map(({ kind, title, url }) => [kind, title, url]),
      [['team', 'Team blue', `/v3/admin/teams/${fixtures.blue.teamId}`]],
    )
    const foreign = await searchAs(staff, '198.18.7.9')
    assert.deepEqual(
      foreign.results.map(({ kind, match, url, team }) => [kind, match, url, team?.name]),
      [
        ['announcement', 'related', null, 'Team blue'],
        ['prefix', 'related', null, 'Team blue'],
      ],
    )
    await assertReadable(staff, customers.results)
  })

  it('names only kinds of the contract as sources', async () => {
    const answer = await searchAs(await presentAs('an admin'), '20', { limit: '100' })
    assert.ok(answer.results.every(({ kind }) => searchKinds.includes(kind)))
  })
})

describe('a search among many rows', () => {
  it('answers within a second with 20,000 announcements and prefixes and 60,000 events', async () => {
    const db = api.database.postgres.owner
    const { teamId } = fixtures.red
    await sql`
      insert into announcements (team_id, prefix, origin_asn, description)
      select ${teamId}, ('10.' || (n / 256) || '.' || (n % 256) || '.0/24')::cidr, 64510, 'site ' || n
      from generate_series(1, 20000) n`.execute(db)
    await sql`
      insert into prefixes (team_id, prefix, name)
      select ${teamId}, ('10.' || (n / 256) || '.' || (n % 256) || '.0/24')::cidr, 'site ' || n
      from generate_series(1, 20000) n`.execute(db)
    await sql`
      insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
        classification_key, description, record, relationships, facet)
      select ${teamId}, 'made' || lpad(n::text, 16, '0'), now() - n * interval '1 minute', now(), 1, 1, 1,
        ('10.' || (n / 65536) || '.' || (n / 256 % 256) || '.' || (n % 256) || '/32')::cidr, 'udp.flood', '', '{}', '[]', 1
      from generate_series(1, 60000) n`.execute(db)
    await sql`analyze announcements, prefixes, team_events`.execute(db)
    const authorization = await presentAs('a member')
    for (const q of ['10.1.2.3', '10.0.0.0/8', '10.0.7.0/24', 'site 1234', 'made00000000', 'AS64510']) {
      await searchAs(authorization, q)
      const began = performance.now()
      const { results } = await searchAs(authorization, q)
      const took = performance.now() - began
      assert.ok(results.length > 0, q)
      assert.ok(took < 1_000, `${q}: ${took} ms`)
    }
  })
})
