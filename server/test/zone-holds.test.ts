// Holds of DNS over the API of staff: listed, approved and rejected, by staff only and each once.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { seedZone } from '../src/dns/testing.ts'
import { openHold, type PlannedHold } from '../src/dns/publish/hold.ts'
import { publishCatalog } from '../src/dns/publish/publish-catalog.ts'
import { parseZoneName } from '../src/net/dns/name.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import type { Answered } from './support/dns.ts'

let api: TestApi
let zoneId = 0
let teamId = 0
let staff = ''
let member = ''
before(async () => {
  api = await createTestApi()
  const team = await addTeam(api, 'red')
  teamId = team.teamId
  const people = [
    await addUser(api, 'staff', [team], { staff: true }),
    await addUser(api, 'admin', [team], { admin: true }),
  ]
  staff = (await api.signIn(people[0]!.email)).access
  member = (await api.signIn(people[1]!.email)).access
  zoneId = (await seedZone(api.database.postgres, { teamId, name: 'held.example' })).id
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner
async function call(method: 'GET' | 'POST', path: string, as = staff): Promise<Answered> {
  const answer = await api.server.inject({
    method,
    url: `/v3/admin/zone-holds${path}`,
    headers: { authorization: `Bearer ${as}` },
  })
  return { status: answer.statusCode, body: answer.json() }
}

async function open(planned: PlannedHold): Promise<number> {
  await openHold(db(), planned)
  const { rows } = await sql<{ id: number }>`
    select id from dns_holds where state = 'open' and kind = ${planned.kind} order by id desc`.execute(db())
  return rows[0]!.id
}
const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.held.example.`)

describe('holds of DNS', () => {
  it('show what would be removed, of which zone and team', async () => {
    const sets = [{ name: 'www.held.example.', type: 1 }]
    const id = await open({ kind: 'publish', zoneId, reason: 'unexplained_removals', sets })
    await open({ kind: 'catalog', reason: 'many_removals', sets: ['a.example.', 'b.example.'] })
    const { body } = await call('GET', '?state=open')
    assert.deepEqual(
      body.results.map(({ kind, zone, team, removals, removal_count }: Answered) => [
        kind,
        zone,
        team,
        removals,
        removal_count,
      ]),
      [
        ['catalog', null, null, ['a.example.', 'b.example.'], 2],
        [
          'publish',
          { id: zoneId, name: 'held.example' },
          { id: teamId, name: 'Team red' },
          ['www.held.example. A'],
          1,
        ],
      ],
    )
    assert.deepEqual((await call('GET', `/${id}`)).body, body.results[1])
    assert.equal((await call('GET', '?kind=publish&state=open')).body.count, 1)
    assert.equal((await call('GET', '/999999')).status, 404)
  })

  it('list the first thousand removals, and count all', async () => {
    const id = await open({ kind: 'shrink', zoneId, reason: 'transfer_shrinks', sets: names(1_200) })
    const { body } = await call('GET', `/${id}`)
    assert.deepEqual([body.removals.length, body.removal_count], [1_000, 1_200])
  })

  it('are decided once, by staff, with an entry in the audit log', async () => {
    const id = await open({ kind: 'shrink', zoneId, reason: 'transfer_shrinks', sets: names(3) })
    for (const path of ['', `/${id}`]) assert.equal((await call('GET', path, member)).status, 403)
    assert.equal((await call('POST', `/${id}/approve`, member)).status, 403)
    const { evidence } = (await call('GET', `/${id}`)).body
    const unseen = await call('POST', `/${id}/approve`)
    assert.deepEqual([unseen.status, unseen.body.errors[0].loc], [422, ['query', 'evidence']])
    const plan = await call('POST', `/${id}/approve?dry_run=true&evidence=${evidence}`)
    assert.deepEqual([plan.status, plan.body.result.state], [200, 'approved'])
    assert.equal((await call('GET', `/${id}`)).body.state, 'open')
    for (let time = 1; time <= 2; time++) {
      const { status, body } = await call('POST', `/${id}/approve?evidence=${evidence}`)
      assert.deepEqual([status, body.state], [200, 'approved'])
    }
    const rejected = await call('POST', `/${id}/reject?evidence=${evidence}`)
    assert.deepEqual([rejected.status, rejected.body.code], [409, 'conflict'])
    const { rows } = await sql`
      select actor, action from audit_entries where target = ${`dns-hold:${id}`}`.execute(db())
    assert.equal(rows.length, 1)
  })

  it('grow with the plan, and an approval of less than they have now is refused', async () => {
    const first = await open({ kind: 'shrink', zoneId, reason: 'transfer_shrinks', sets: names(5) })
    const shown = (await call('GET', `/${first}`)).body
    const second = await open({ kind: 'shrink', zoneId, reason: 'transfer_shrinks', sets: names(6) })
    assert.equal(second, first)
    const grown = (await call('GET', `/${first}`)).body
    assert.deepEqual([grown.removal_count, grown.created, grown.state], [6, shown.created, 'open'])
    const { status, body } = await call('POST', `/${first}/approve?evidence=${shown.evidence}`)
    assert.deepEqual([status, body.code], [409, 'conflict'])
    assert.equal((await call('POST', `/${first}/approve?evidence=${grown.evidence}`)).body.state, 'approved')
  })

  it('of the SOA or NS records of a zone can be rejected only', async () => {
    const sets = [{ name: 'held.example.', type: 2 }]
    const id = await open({ kind: 'publish', zoneId, reason: 'apex_removed', sets })
    const { evidence } = (await call('GET', `/${id}`)).body
    const { status, body } = await call('POST', `/${id}/approve?evidence=${evidence}`)
    assert.equal(status, 409)
    assert.match(body.detail, /rollback/)
    assert.equal((await call('POST', `/${id}/reject?evidence=${evidence}`)).status, 200)
  })

  it('of deletions are for the team that deletes too many, which sees that its zones are still served', async () => {
    await sql`delete from dns_holds`.execute(db())
    const other = await addTeam(api, 'blue')
    const ids: number[] = []
    for (const [team, count] of [
      [teamId, 8],
      [other.teamId, 30],
    ] as const)
      for (let at = 0; at < count; at++)
        ids.push(
          (await seedZone(api.database.postgres, { teamId: team, name: `d${at}.t${team}.example` })).id,
        )
    await sql`update dns_zones set published = now(), serial = 1, status = 'ok' where id = any(${ids})`.execute(
      db(),
    )
    const catalog = parseZoneName('catalog.example')
    const publish = () => publishCatalog({ db: db(), catalog, now: () => new Date() })
    await publish()
    const drop = (...at: number[]) =>
      sql`update dns_zones set deleted = now() where id = any(${at.map((one) => ids[one]!)})`.execute(db())
    const shown = async (at: number) => {
      const answer = await api.server.inject({
        method: 'GET',
        url: `/v3/dns/zones/${ids[at]}?deleted=true&include=state_messages`,
        headers: { authorization: `Bearer ${member}` },
      })
      const { status, state_messages: messages } = answer.json()
      return [status, messages.map(({ tag }: Answered) => tag)]
    }
    await drop(0, 1, 2, 3, 10)
    assert.deepEqual(await shown(0), ['updating', ['zone_deleting']])
    assert.deepEqual(await publish(), { added: 0, removed: 1, held: 4 })
    assert.deepEqual(await shown(0), ['error', ['zone_deletion_held']])
    const [hold] = (await call('GET', '?state=open')).body.results
    assert.equal(hold.removal_count, 4)
    await drop(4)
    await publish()
    const [grown] = (await call('GET', '?state=open')).body.results
    assert.deepEqual([grown.id, grown.removal_count], [hold.id, 5])
    const list = await api.server.inject({
      method: 'GET',
      url: '/v3/dns/zones?deleted=true&status=error',
      headers: { authorization: `Bearer ${member}` },
    })
    assert.equal(list.json().count, 5)
    assert.equal((await call('POST', `/${hold.id}/approve?evidence=${grown.evidence}`)).status, 200)
    assert.deepEqual(await publish(), { added: 0, removed: 5, held: 0 })
    assert.deepEqual(await shown(0), ['ok', []])
    await drop(5)
    await publish()
    assert.deepEqual(await shown(5), ['error', ['zone_deletion_held']])
    const [next] = (await call('GET', '?state=open')).body.results
    assert.deepEqual([next.id === hold.id, next.removal_count], [false, 1])
    assert.equal((await call('POST', `/${next.id}/reject?evidence=${next.evidence}`)).status, 200)
    assert.deepEqual(await publish(), { added: 0, removed: 0, held: 1 })
    assert.equal((await call('GET', '?state=open')).body.count, 0, 'nobody is asked again')
    const { rows } = await sql<{ change: string; count: number }>`
      select data->>'before' || ' ' || (data->>'after') as change, count(*)::integer as count from outbox
      where type = 'zone.status_changed' and team_id = ${teamId} group by 1 order by 1`.execute(db())
    assert.deepEqual(rows, [
      { change: 'error updating', count: 5 },
      { change: 'updating error', count: 6 },
    ])
  })
})
