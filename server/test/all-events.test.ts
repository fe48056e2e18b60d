// The list of all events over HTTP: which events a user of one team, a user of several, an API token and staff get.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { RelatedEvent } from '@pharos/contract/events/event'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { rematch } from '../src/events/relate/rematch.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addPrefix, addSource, deliver } from '../src/events/testing.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'

let api: TestApi
const teams: Record<string, TestTeam> = {}
const bearers: Record<string, string> = {}

const list = '/v3/lighthouse/security/events'
const hosts = {
  red: '203.0.113.7',
  blue: '198.51.100.9',
  /** In no team's prefix. */
  lost: '192.0.2.1',
  /** In a prefix of red until it was removed. */
  former: '192.0.2.130',
  /** The same, before red had the prefix. */
  earlier: '192.0.2.131',
}
const whole = '203.0.113.0/24'

function ban(target: Record<string, unknown>, id: string): Record<string, unknown> {
  const body = fixture('fastnetmon-ban')
  return { ...body, ...target, attack_details: { ...(body.attack_details as object), attack_uuid: id } }
}

before(async () => {
  api = await createTestApi()
  const { owner } = api.database.postgres
  for (const [name, held] of [
    ['red', '203.0.113.0/25'],
    ['blue', '203.0.113.128/25'],
    ['green', '2001:db8::/32'],
  ] as const) {
    teams[name] = await addTeam(api, name)
    await addPrefix(owner, teams[name].teamId, held)
  }
  await addPrefix(owner, teams.blue!.teamId, '198.51.100.0/24')
  const former = await addPrefix(owner, teams.red!.teamId, '192.0.2.128/25')
  for (const [name, memberOf, flags] of [
    ['red', ['red'], {}],
    ['blue', ['blue'], {}],
    ['green', ['green'], {}],
    ['both', ['red', 'blue'], { admin: true }],
    ['staff', ['green'], { staff: true }],
  ] as const) {
    const { email } = await addUser(
      api,
      name,
      memberOf.map((team) => teams[team]!),
      flags,
    )
    bearers[name] = `Bearer ${(await api.signIn(email)).access}`
  }
  await addSource(owner, 'fnm')
  const bodies = [
    ...Object.entries(hosts).map(([name, ip]) => ban({ ip }, name)),
    ban(
      { ip: undefined, alert_scope: 'hostgroup', hostgroup_name: 'all', hostgroup_networks: [whole] },
      'shared',
    ),
  ]
  await deliver(owner, 'fnm', bodies)
  const cache = createOwnershipCache()
  await ingestDeliveries(api.database.postgres, cache)
  await sql`update events set start_at = now() - interval '10 days' where affected_network = '192.0.2.131'`.execute(
    owner,
  )
  await owner.deleteFrom('prefixes').where('id', '=', former).execute()
  await rematch(api.database.postgres, cache)
})
after(() => api[Symbol.asyncDispose]())

async function listed(
  authorization: string,
  query = '',
): Promise<{ networks: string[]; results: RelatedEvent[]; count: number }> {
  const answer = await api.server.inject({
    method: 'GET',
    url: `${list}?limit=100&${query}`,
    headers: { authorization },
  })
  assert.equal(answer.statusCode, 200, answer.body)
  const { results, count } = answer.json<{ results: RelatedEvent[]; count: number }>()
  return { networks: results.map((event) => event.affected_network).toSorted(), results, count }
}
const networksOf = async (name: string, query = '') => (await listed(bearers[name]!, query)).networks

const host = (ip: string) => `${ip}/32`

describe('the list of all events', () => {
  it('contains the events of the team, cut to its networks, and those on prefixes that it held at the time', async () => {
    assert.deepEqual(await networksOf('red'), [host(hosts.former), '203.0.113.0/25', host(hosts.red)])
    assert.deepEqual(await networksOf('blue'), [host(hosts.blue), '203.0.113.128/25'])
    assert.deepEqual(await networksOf('green'), [])
    const { results, count } = await listed(bearers.red!)
    assert.equal(count, 3)
    const former = results.find((event) => event.affected_network === host(hosts.former))!
    assert.deepEqual(former.relationships, [])
  })

  it('contains nothing of other customers, in any field', async () => {
    for (const [name, foreign] of [
      ['red', /198\.51\.100|203\.0\.113\.(128|0\/24)|192\.0\.2\.(1\D|131)/],
      ['blue', /192\.0\.2|203\.0\.113\.(7|0)/],
    ] as const) {
      assert.doesNotMatch(JSON.stringify((await listed(bearers[name]!)).results), foreign)
    }
  })

  it('contains each event of all teams of a user once, with the relationships of all of them', async () => {
    const { networks, results, count } = await listed(bearers.both!)
    assert.deepEqual(networks, [host(hosts.former), host(hosts.blue), '203.0.113.0/25', host(hosts.red)])
    assert.equal(count, 4)
    const shared = results.find((event) => event.affected_network === '203.0.113.0/25')!
    assert.deepEqual(
      shared.relationships.map(({ match_value }) => match_value),
      ['203.0.113.0/25', '203.0.113.128/25'],
    )
  })

  it('leaves out teams without the module, and those that require a second factor which the user lacks', async () => {
    const { owner } = api.database.postgres
    const { teamId } = teams.red!
    const ofBlue = [host(hosts.blue), '203.0.113.128/25']
    await sql`update teams set enabled_modules = '{ipam}' where id = ${teamId}`.execute(owner)
    assert.deepEqual(await networksOf('both'), ofBlue)
    await sql`update teams set enabled_modules = '{lighthouse}', require_2fa = true where id = ${teamId}`.execute(
      owner,
    )
    assert.deepEqual(await networksOf('both'), ofBlue)
    await sql`update teams set require_2fa = false where id = ${teamId}`.execute(owner)
    assert.equal((await networksOf('both')).length, 4)
  })

  it('contains the events of its own team for an API token, whatever the teams of its creator', async () => {
    const made = await api.server.inject({
      method: 'POST',
      url: '/v3/tokens',
      headers: { authorization: bearers.both! },
      payload: { name: 'reader', scopes: ['lighthouse:read'] },
    })
    assert.equal(made.statusCode, 201, made.body)
    const { networks } = await listed(`Token ${made.json<{ token: string }>().token}`)
    assert.deepEqual(networks, [host(hosts.blue), '203.0.113.128/25'])
  })

  it('contains every event for staff, or those that one team sees; only staff may name a team', async () => {
    const { results, count } = await listed(bearers.staff!)
    assert.equal(count, 6)
    assert.equal(new Set(results.map(({ id }) => id)).size, 6)
    assert.deepEqual(await networksOf('staff', `team_id=${teams.blue!.teamId}`), [
      host(hosts.blue),
      '203.0.113.128/25',
    ])
    assert.deepEqual(await networksOf('staff', 'team_id=999999'), [])
    const refused = await api.server.inject({
      method: 'GET',
      url: `${list}?team_id=${teams.red!.teamId}`,
      headers: { authorization: bearers.red! },
    })
    assert.equal(refused.statusCode, 403)
  })

  it('shows an event on a former prefix no longer once another team holds the prefix', async () => {
    const { owner } = api.database.postgres
    const cache = createOwnershipCache()
    const id = await addPrefix(owner, teams.green!.teamId, '192.0.2.0/24')
    await rematch(api.database.postgres, cache)
    assert.deepEqual(await networksOf('red'), ['203.0.113.0/25', host(hosts.red)])
    assert.equal((await networksOf('green')).length, 3)
    await owner.deleteFrom('prefixes').where('id', '=', id).execute()
    await rematch(api.database.postgres, cache)
    assert.equal((await networksOf('red')).length, 3)
    // Green had it when no event started.
    assert.deepEqual(await networksOf('green'), [])
  })

  it('has the filters, orderings and paging of the related list', async () => {
    const queries: [string, string[]][] = [
      ['search=198.51.100', [host(hosts.blue)]],
      ['search=INCOMING&affected_network=203.0.113.7', [host(hosts.red)]],
      ['search=nothing', []],
      ['flag=OUTGOING', []],
      ['status=EVENT_PENDING&source_key=fnm&affected_network=192.0.2.0/24', [host(hosts.former)]],
      ['classification_key=tcp.flood&description=192.0.2', []],
      ['ongoing=false', []],
      ['min_bps=999999999999', []],
    ]
    for (const [query, networks] of queries) {
      assert.deepEqual(await networksOf('both', query), networks, query)
      const ofStaff = await networksOf('staff', query)
      assert.deepEqual(
        networks.filter((network) => !ofStaff.includes(network)),
        [],
        query,
      )
    }
    const ids = async (query: string) => (await listed(bearers.both!, query)).results.map(({ id }) => id)
    const all = await ids('ordering=-id')
    assert.deepEqual(all, all.toSorted().toReversed())
    assert.deepEqual(await ids('ordering=-id&offset=1'), all.slice(1))
  })
})
