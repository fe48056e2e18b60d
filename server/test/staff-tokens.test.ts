// A program of the provider with a staff token: it has the permissions of staff, uses its own name in every answer and
// in the audit log, and has no access to a team. Which calls it may make is tested in every-route.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AuditEntry } from '@pharos/contract/team/audit'
import { sql } from 'kysely'
import { parseApiToken } from '../src/session/api-token-format.ts'
import { createTestApi, type TestApi } from './api.ts'
import { addApiToken, addStaffToken, openSession } from './support/credentials.ts'
import { createFixtures, replaceOpenApproval, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let actor: string
let program: Record<string, string>

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const text = await addStaffToken(api, { scopes: ['admin:read', 'admin:write'] })
  actor = `staff_token:${parseApiToken(text)!.id}`
  program = { authorization: `Token ${text}` }
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner

async function send(method: 'GET' | 'POST', url: string, headers: Record<string, string>, payload?: object) {
  const answer = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Record<string, unknown>>()
}

const auditAs = async (person: 'admin' | 'staff', query: string): Promise<AuditEntry[]> => {
  const { access } = await openSession(api, fixtures.people[person].userId, fixtures.red.teamId)
  const { results } = await send('GET', `/v3/audit?${query}`, { authorization: `Bearer ${access}` })
  return results as AuditEntry[]
}

describe('a staff token', () => {
  it('is the author of its decisions', async () => {
    const approval = await replaceOpenApproval(api, fixtures.regions['ams']!)
    const { decided_by } = await send('POST', `/v3/admin/approvals/${approval}/approve`, program)
    assert.equal(decided_by, actor)
    const path = `/v3/admin/letters/${fixtures.red.letterId}`
    assert.equal((await send('POST', `${path}/accept`, program, {}))['reviewed_by'], actor)
    assert.equal((await send('GET', path, program))['reviewed_by'], actor)
  })

  it('is shown to a team as staff, and to staff with its name', async () => {
    const id = fixtures.red.announcements.off
    await send('POST', `/v3/admin/announcements/${id}/suspend`, program, { reason: 'a test' })
    const query = `action=announcement.suspend&target=announcement:${id}`
    const [seen] = await auditAs('admin', query)
    assert.deepEqual(
      [seen!.actor, seen!.actor_name, seen!.credential, seen!.address],
      ['staff', 'staff of the provider', null, null],
    )
    const [own] = await auditAs('staff', query)
    assert.deepEqual([own!.actor, own!.actor_name, own!.credential], [actor, 'test', actor])
  })

  it('ends at once when it is revoked', async () => {
    const text = await addStaffToken(api, { scopes: ['admin:read'] })
    const call = () =>
      api.server.inject({ url: '/v3/admin/approvals', headers: { authorization: `Token ${text}` } })
    assert.equal((await call()).statusCode, 200)
    const invalidated = new Promise<void>((resolve) => void api.waker.on('actors', resolve))
    await sql`update staff_tokens set revoked = now() where id = ${parseApiToken(text)!.id}`.execute(db())
    await invalidated
    assert.equal((await call()).statusCode, 401)
  })

  it('leaves a refused call in the audit log, without a team', async () => {
    const reader = await addStaffToken(api, { scopes: ['admin:read'] })
    const approval = await replaceOpenApproval(api, fixtures.regions['ams']!)
    const { statusCode } = await api.server.inject({
      method: 'POST',
      url: `/v3/admin/approvals/${approval}/approve`,
      headers: { authorization: `Token ${reader}` },
    })
    assert.equal(statusCode, 403)
    await api.server.close()
    const { rows } = await sql<{ team_id: number | null; by_staff: boolean; target: string }>`
      select team_id, by_staff, target from audit_entries
      where action = 'authorization.refuse' and actor = ${`staff_token:${parseApiToken(reader)!.id}`}`.execute(
      db(),
    )
    assert.deepEqual(rows, [{ team_id: null, by_staff: true, target: `approveChanges:${approval}` }])
  })
})

describe('the author of a change', () => {
  it('has one form in all answers', async () => {
    await using again = await createTestApi({}, { sameInstallationAs: api })
    const form = /^(user:[0-9]+|(staff_)?token:[a-z2-7]{12}|staff|operator|pharos)$/
    const { teamId } = fixtures.red
    const { access } = await openSession(again, fixtures.people.admin.userId, teamId)
    const admin = { authorization: `Bearer ${access}` }
    const machine = {
      authorization: `Token ${await addApiToken(again, teamId, { isAdmin: true, scopes: ['webhooks:write'] })}`,
    }
    const create = async (url: string, headers: Record<string, string>, payload: object) =>
      (await again.server.inject({ method: 'POST', url, headers, payload })).json<{ created_by: string }>()
    const webhook = { url: 'https://hooks.example.net/pharos', events: ['event.started'] }
    const created = [
      await create('/v3/webhooks', admin, webhook),
      await create('/v3/webhooks', machine, webhook),
      await create('/v3/tokens', admin, { name: 'x', scopes: ['ipam:read'] }),
    ].map(({ created_by }) => created_by)
    for (const one of created) assert.match(one, form)
    assert.deepEqual([created[0], created[2]], Array(2).fill(`user:${fixtures.people.admin.userId}`))
    const { results } = (await again.server.inject({ url: '/v3/tokens', headers: admin })).json<{
      results: { created_by: string }[]
    }>()
    for (const { created_by } of results) assert.match(created_by, form)
    assert.ok(results.some(({ created_by }) => created_by === 'operator'))
  })
})
