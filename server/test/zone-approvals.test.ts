// Approvals about DNS over the API of staff: listed, approved and rejected, by staff only and each once.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { seedZone } from '../src/dns/testing.ts'
import { planApprovalsIn } from '../src/approval/plan-approvals.ts'
import { planRemovals, zoneApprovals, type ZoneSlot } from '../src/dns/publish/approval-area.ts'
import { publishCatalog } from '../src/dns/publish/publish-catalog.ts'
import { parseName, parseZoneName } from '../src/net/dns/name.ts'
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
    url: `/v3/admin/approvals${path}`,
    headers: { authorization: `Bearer ${as}` },
  })
  return { status: answer.statusCode, body: answer.json() }
}

/** Plans removals as a loop does, and returns the id of the open approval. */
async function open(
  kind: ZoneSlot['kind'],
  ...[reason, sets]: [Parameters<typeof planRemovals>[1], Parameters<typeof planRemovals>[2]]
): Promise<number> {
  const slot = { kind, zoneId: kind === 'catalog' ? null : zoneId }
  await planApprovalsIn(db(), zoneApprovals, slot, [planRemovals(slot, reason, sets)])
  const { rows } = await sql<{ id: number }>`
    select id from approvals where state = 'open' and kind = ${kind} order by id desc`.execute(db())
  return rows[0]!.id
}
const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.held.example.`)

describe('approvals about DNS', () => {
  it('show what would be removed, of which zone and team', async () => {
    const id = await open('publish', 'unexplained_removals', [
      { name: parseName('www.held.example'), type: 1 },
    ])
    await open('catalog', 'many_removals', ['a.example.', 'b.example.'])
    const { body } = await call('GET', '?state=open&include=items')
    assert.deepEqual(
      body.results.map(({ subject, team, items, item_count: count }: Answered) => [
        subject,
        team,
        items.map(({ change, value }: Answered) => `${change} ${value}`),
        count,
      ]),
      [
        [
          { type: 'catalog', id: null, name: 'catalog zone' },
          null,
          ['remove a.example.', 'remove b.example.'],
          2,
        ],
        [
          { type: 'zone', id: zoneId, name: 'held.example' },
          { id: teamId, name: 'Team red' },
          ['remove www.held.example. A'],
          1,
        ],
      ],
    )
    const { items_truncated: isCut, details, ...one } = (await call('GET', `/${id}`)).body
    assert.deepEqual([one, isCut, details], [body.results[1], false, null])
    for (const query of [
      'zone=held.example',
      'zone=Held.Example.',
      `team_id=${teamId}`,
      'reason=unexplained_removals',
    ])
      assert.equal((await call('GET', `?state=open&${query}`)).body.count, 1, query)
    assert.equal((await call('GET', '?area=dns')).body.count, 2)
    for (const query of ['area=routes', 'zone=other.example', 'team_id=999999', 'state=closed'])
      assert.equal((await call('GET', `?${query}`)).body.count, 0, query)
    assert.equal((await call('GET', '?region=nowhere')).status, 422)
    assert.equal((await call('GET', '/999999')).status, 404)
  })

  it('list the first thousand removals, and count all', async () => {
    const id = await open('shrink', 'transfer_shrinks', names(1_200))
    const { body } = await call('GET', `/${id}`)
    assert.deepEqual([body.items.length, body.items_truncated, body.item_count], [1_000, true, 1_200])
  })

  it('are decided once, by staff, with an entry in the audit log', async () => {
    const id = await open('shrink', 'transfer_shrinks', names(3))
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
      select actor, action from audit_entries where target = ${`approval:${id}`}`.execute(db())
    assert.equal(rows.length, 1)
  })

  it('are replaced when the plan grows, and what staff have seen before cannot be decided any more', async () => {
    const first = await open('shrink', 'transfer_shrinks', names(5))
    assert.equal(await open('shrink', 'transfer_shrinks', names(5)), first, 'a repeat joins')
    const second = await open('shrink', 'transfer_shrinks', names(6))
    const [former, grown] = [(await call('GET', `/${first}`)).body, (await call('GET', `/${second}`)).body]
    assert.deepEqual(
      [former.state, grown.state, grown.replaces, grown.item_count],
      ['closed', 'open', first, 6],
    )
    for (const verb of ['approve', 'reject']) {
      const { status, body } = await call('POST', `/${first}/${verb}`)
      assert.deepEqual([status, body.code], [409, 'conflict'])
    }
    assert.equal((await call('POST', `/${second}/approve`)).body.state, 'approved')
    assert.equal((await call('GET', `/${second}`)).body.valid_until, null)
  })

  it('of the SOA or NS records of a zone can be rejected only', async () => {
    const id = await open('publish', 'apex_removed', [{ name: parseName('held.example'), type: 2 }])
    const { status, body } = await call('POST', `/${id}/approve`)
    assert.equal(status, 409)
    assert.match(body.detail, /rollback/)
    assert.equal((await call('POST', `/${id}/reject`)).status, 200)
  })

  it('of deletions are for the team that deletes too many, which sees that its zones are still served', async () => {
    await sql`delete from approvals`.execute(db())
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
    const [approval] = (await call('GET', '?state=open')).body.results
    assert.equal(approval.item_count, 4)
    await drop(4)
    await publish()
    const [grown] = (await call('GET', '?state=open')).body.results
    assert.deepEqual([grown.replaces, grown.item_count], [approval.id, 5])
    const list = await api.server.inject({
      method: 'GET',
      url: '/v3/dns/zones?deleted=true&status=error',
      headers: { authorization: `Bearer ${member}` },
    })
    assert.equal(list.json().count, 5)
    assert.equal((await call('POST', `/${grown.id}/approve`)).status, 200)
    assert.deepEqual(await publish(), { added: 0, removed: 5, held: 0 })
    assert.deepEqual(await shown(0), ['ok', []])
    await drop(5)
    await publish()
    assert.deepEqual(await shown(5), ['error', ['zone_deletion_held']])
    const [next] = (await call('GET', '?state=open')).body.results
    assert.deepEqual([next.replaces, next.item_count], [null, 1])
    assert.equal((await call('POST', `/${next.id}/reject`)).status, 200)
    assert.deepEqual(await publish(), { added: 0, removed: 0, held: 1 })
    assert.equal((await call('GET', '?state=open')).body.count, 0, 'nobody is asked again')
    // The deletion is undone and made again: another change, about which staff are asked.
    await sql`update dns_zones set deleted = null where id = ${ids[5]!}`.execute(db())
    await publish()
    await drop(5)
    await publish()
    assert.equal((await call('GET', '?state=open')).body.count, 1)
    const { rows } = await sql<{ change: string; count: number }>`
      select data->>'before' || ' ' || (data->>'after') as change, count(*)::integer as count from outbox
      where type = 'zone.status_changed' and team_id = ${teamId} group by 1 order by 1`.execute(db())
    assert.deepEqual(rows, [
      { change: 'error updating', count: 5 },
      { change: 'updating error', count: 7 },
    ])
  })
})
