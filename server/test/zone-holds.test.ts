// Holds of DNS over the API of staff: listed, approved and rejected, by staff only and each once.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { seedZone } from '../src/dns/testing.ts'
import { openHold, type PlannedHold } from '../src/dns/publish/hold.ts'
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
    const plan = await call('POST', `/${id}/approve?dry_run=true`)
    assert.deepEqual([plan.status, plan.body.result.state], [200, 'approved'])
    assert.equal((await call('GET', `/${id}`)).body.state, 'open')
    for (let time = 1; time <= 2; time++) {
      const { status, body } = await call('POST', `/${id}/approve`)
      assert.deepEqual([status, body.state], [200, 'approved'])
    }
    const rejected = await call('POST', `/${id}/reject`)
    assert.deepEqual([rejected.status, rejected.body.code], [409, 'conflict'])
    const { rows } = await sql`
      select actor, action from audit_entries where target = ${`dns-hold:${id}`}`.execute(db())
    assert.equal(rows.length, 1)
  })

  it('that a later plan replaced cannot be approved', async () => {
    const first = await open({ kind: 'shrink', zoneId, reason: 'transfer_shrinks', sets: names(5) })
    const second = await open({ kind: 'shrink', zoneId, reason: 'transfer_shrinks', sets: names(6) })
    const { status, body } = await call('POST', `/${first}/approve`)
    assert.deepEqual([status, body.code], [409, 'conflict'])
    assert.equal((await call('POST', `/${second}/reject`)).body.state, 'rejected')
  })

  it('of the SOA or NS records of a zone can be rejected only', async () => {
    const sets = [{ name: 'held.example.', type: 2 }]
    const id = await open({ kind: 'publish', zoneId, reason: 'apex_removed', sets })
    const { status, body } = await call('POST', `/${id}/approve`)
    assert.equal(status, 409)
    assert.match(body.detail, /rollback/)
    assert.equal((await call('POST', `/${id}/reject`)).status, 200)
  })
})
