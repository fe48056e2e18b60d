// The customers and registries for staff, over HTTP: counts, search, order, and switching into a team.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Customer } from '@pharos/contract/operator/team'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, replaceOpenApproval, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let authorization: string

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { access } = await openSession(api, fixtures.people.staff.userId, fixtures.red.teamId)
  authorization = `Bearer ${access}`
})
after(() => api[Symbol.asyncDispose]())

async function get<T>(url: string): Promise<T> {
  const response = await api.server.inject({ url, headers: { authorization } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
const list = (query = '') => get<{ results: Customer[]; count: number }>(`/v3/admin/teams${query}`)

describe('the customers', () => {
  it('have the counts of what they hold and of what waits for staff', async () => {
    const db = api.database.postgres.owner
    const id = await replaceOpenApproval(api, fixtures.regions['ams']!)
    await sql`
      update approvals set items = (select jsonb_agg(jsonb_build_object('change', 'withdraw', 'value', prefix))
        from announcements where team_id = ${fixtures.red.teamId} and claimed is not null) where id = ${id}`.execute(
      db,
    )
    const customer = await get<Customer>(`/v3/admin/teams/${fixtures.red.teamId}`)
    const { held_routes: held, open_requests: open, ...counts } = customer
    assert.deepEqual(
      [
        counts.name,
        counts.announcements,
        counts.ongoing_attacks,
        counts.pending_letters,
        counts.modules.length > 0,
      ],
      ['Team red', 4, 3, 1, true],
    )
    assert.ok(held > 0)
    assert.equal(open, 2, 'the letter, and the changes as one request')
    const { results } = await list('?ordering=-open_requests')
    assert.deepEqual(results[0], customer)
  })

  it('are found by a part of the name or slug, and ordered', async () => {
    const { results, count } = await list('?search=BLU')
    assert.deepEqual([results.map(({ id }) => id), count], [[fixtures.blue.teamId], 1])
    const names = (await list('?ordering=-name')).results.map(({ name }) => name.toLowerCase())
    assert.deepEqual(names, names.toSorted().reverse())
    assert.equal((await list('?limit=1')).results.length, 1)
  })

  it('have announcements that staff list without entering the team', async () => {
    const url = `/v3/admin/teams/${fixtures.red.teamId}/announcements`
    const all = await get<{ results: { cidr: string; details?: object }[]; count: number }>(url)
    const { announcements } = await get<Customer>(`/v3/admin/teams/${fixtures.red.teamId}`)
    assert.equal(all.count, announcements)
    const [first] = all.results
    const found = await get<typeof all>(`${url}?cidr=${encodeURIComponent(first!.cidr)}&include=details`)
    assert.ok(found.results.some(({ cidr, details }) => cidr === first!.cidr && details !== undefined))
    const other = await get<typeof all>(`/v3/admin/teams/${fixtures.blue.teamId}/announcements?limit=1000`)
    const own = await get<typeof all>(`${url}?limit=1000`)
    const ids = (answer: typeof all) => new Set(answer.results.map((one) => (one as { id?: number }).id))
    assert.equal(ids(other).intersection(ids(own)).size, 0)
  })

  it('can be entered by staff, which is audited in the team', async () => {
    const { statusCode } = await api.server.inject({
      method: 'POST',
      url: '/v3/session/token',
      headers: { authorization },
      payload: { team_id: fixtures.blue.teamId, reason: 'asked for help' },
    })
    assert.equal(statusCode, 200)
    const { rows } = await sql<{ action: string; by_staff: boolean }>`
      select action, by_staff from audit_entries
      where team_id = ${fixtures.blue.teamId} and actor = ${`user:${fixtures.people.staff.userId}`} order by id`.execute(
      api.database.postgres.owner,
    )
    assert.deepEqual(rows, [
      { action: 'staff.access', by_staff: true },
      { action: 'session.switch', by_staff: true },
    ])
  })
})

describe('the registries', () => {
  it('are those that running processes report', async () => {
    await sql`
      insert into processes (id, host, pid, version, roles, started, seen, loops, registries)
      values (gen_random_uuid(), 'a', 1, '1', '{reconciler}', now(), now(), '[]',
          '[{"kind":"irr","name":"whois://a","ok":false,"answered":null,"state":"down","error":"refused"}]'),
        (gen_random_uuid(), 'b', 2, '1', '{reconciler}', now(), now() - interval '1 hour', '[]',
          '[{"kind":"irr","name":"whois://gone","ok":true,"answered":null}]')`.execute(
      api.database.postgres.owner,
    )
    const { sources } = await get<{ sources: { name: string; state: string; last_error: string }[] }>(
      '/v3/admin/registries',
    )
    assert.deepEqual(
      sources.map(({ name, state, last_error: error }) => [name, state, error]),
      [['whois://a', 'down', 'refused']],
    )
  })
})
