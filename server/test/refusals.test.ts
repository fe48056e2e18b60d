// Refused calls in the audit log: actor, operation, reason, and the team. Counting and limits are tested beside audit/refusals.ts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestApi, testPassword, type TestApi } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

type Entry = {
  team_id: number | null
  actor: string
  credential: string | null
  action: string
  target: string
  after: { code: string; count: number }
  request_id: string | null
  address: string | null
}

/** Returns the next refusals in the audit log: they are written about a second after the response. */
let seen = 0
async function nextRefusals(count: number): Promise<Entry[]> {
  for (;;) {
    const { rows } = await sql<Entry & { id: number }>`
      select id, team_id, actor, credential, action, target, after, request_id, host(address) as address
      from audit_entries where action like '%.refuse' and id > ${seen} order by id`.execute(
      api.database.postgres.owner,
    )
    if (rows.length >= count) {
      seen = rows.at(-1)!.id
      return rows
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const call = (method: 'GET' | 'POST' | 'PATCH', url: string, authorization: string, payload?: object) =>
  api.server.inject({
    method,
    url,
    headers: { authorization },
    remoteAddress: '::ffff:198.51.100.9',
    ...(payload ? { payload } : {}),
  })

describe('a refused call', () => {
  it('is audited with the actor, the operation, its ids and the reason', async () => {
    const { member, bare } = fixtures.people
    const session = await openSession(api, member.userId, fixtures.red.teamId)
    const id = fixtures.red.announcements.off
    const refused = await call('POST', `/v3/admin/announcements/${id}/suspend`, `Bearer ${session.access}`, {
      reason: 'x',
    })
    assert.equal(refused.statusCode, 403)
    const other = await openSession(api, bare.userId, fixtures.bare.teamId)
    await call('GET', '/v3/ipam/announcements', `Bearer ${other.access}`)
    const token = await addApiToken(api, fixtures.red.teamId, { scopes: ['lighthouse:read'] })
    await call('PATCH', `/v3/ipam/announcements/${id}`, `Token ${token}`, { enabled: true })
    // Refused by the use case, not by the authorization of the route.
    const reader = await addApiToken(api, fixtures.red.teamId, { scopes: ['ipam:read'] })
    await call('GET', '/v3/inventory/asns/204001/verify?refresh=true', `Token ${reader}`)
    const entries = await nextRefusals(4)
    assert.deepEqual(
      entries.map(({ team_id, action, target, after, address }) => [team_id, action, target, after, address]),
      [
        [
          fixtures.red.teamId,
          'authorization.refuse',
          `suspendAnnouncement:${id}`,
          { code: 'forbidden', count: 1 },
          '198.51.100.9',
        ],
        [
          fixtures.bare.teamId,
          'authorization.refuse',
          'listAnnouncements',
          { code: 'module_disabled', count: 1 },
          '198.51.100.9',
        ],
        [
          fixtures.red.teamId,
          'authorization.refuse',
          `updateAnnouncement:${id}`,
          { code: 'scope_missing', count: 1 },
          '198.51.100.9',
        ],
        [
          fixtures.red.teamId,
          'authorization.refuse',
          'verifyAsn:204001',
          { code: 'scope_missing', count: 1 },
          '198.51.100.9',
        ],
      ],
    )
    assert.deepEqual(
      [entries[0]!.actor, entries[0]!.credential, entries[0]!.request_id],
      [`user:${member.userId}`, `session:${session.sessionId}`, refused.headers['x-request-id']],
    )
    assert.match(entries[2]!.credential!, /^token:/)
  })

  it('is not audited without a known actor, or for other errors', async () => {
    const { access } = await openSession(api, fixtures.people.admin.userId, fixtures.red.teamId)
    await call('GET', '/v3/ipam/announcements', 'Bearer nonsense')
    await call('GET', '/v3/ipam/announcements/999999', `Bearer ${access}`)
    await call('GET', '/v3/ipam/announcements?limit=0', `Bearer ${access}`)
    await call('GET', '/v3/admin/approvals', `Bearer ${access}`)
    assert.deepEqual(
      (await nextRefusals(1)).map(({ target }) => target),
      ['listApprovals'],
    )
  })
})

describe('a failed sign-in', () => {
  const signIn = (email: string, password: string) =>
    api.server.inject({ method: 'POST', url: '/v3/session/token', payload: { email, password } })

  it('is audited in the team that the session would be in; not for an unknown user', async () => {
    const { member } = fixtures.people
    assert.equal((await signIn('nobody@nowhere.example', testPassword)).statusCode, 401)
    assert.equal((await signIn(member.email, 'not this one')).statusCode, 401)
    const [entry, ...others] = await nextRefusals(1)
    assert.equal(others.length, 0)
    assert.deepEqual(
      [entry!.team_id, entry!.actor, entry!.action, entry!.target, entry!.after.code],
      [
        fixtures.red.teamId,
        `user:${member.userId}`,
        'session.refuse',
        `user:${member.userId}`,
        'invalid_credentials',
      ],
    )
  })
})

describe('a known API token that is no longer valid', () => {
  const past = new Date(Date.now() - 60_000)
  const cases = {
    revoked: { revoked: true },
    expired: { expires: past },
    unused: { idleDays: 8 },
    network: { networks: ['192.0.2.0/24'] },
  }
  for (const [reason, options] of Object.entries(cases)) {
    it(`is audited in its team: ${reason}`, async () => {
      const token = await addApiToken(api, fixtures.red.teamId, { scopes: ['ipam:read'], ...options })
      const { statusCode } = await call('GET', '/v3/ipam/announcements', `Token ${token}`)
      assert.equal(statusCode, 401)
      const id = /^phs_([^_]+)_/.exec(token)![1]
      const [entry] = await nextRefusals(1)
      assert.deepEqual(
        [entry!.team_id, entry!.actor, entry!.action, entry!.target, entry!.after.code, entry!.address],
        [fixtures.red.teamId, `token:${id}`, 'token.refuse', `token:${id}`, reason, '198.51.100.9'],
      )
    })
  }
})
