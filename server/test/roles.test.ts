// Operations over several kinds of objects ask for the grant of each kind: search, the stream, notifications, mails of reports.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Role } from '@pharos/contract/role'
import { listRecipients, listReportSubscribers } from '../src/notification/notification.store.ts'
import { addUser, createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

let people = 0

async function memberWith(...roles: Role[]): Promise<{ userId: number; get: (url: string) => Promise<Got> }> {
  const { userId } = await addUser(api, `member-${people++}`, [fixtures.red], { roles })
  const { access } = await openSession(api, userId, fixtures.red.teamId)
  return {
    userId,
    async get(url) {
      const headers = { authorization: `Bearer ${access}` }
      const { statusCode, body } = await api.server.inject({ method: 'GET', url, headers })
      return { status: statusCode, body: JSON.parse(body) as Record<string, unknown> }
    },
  }
}

type Got = { readonly status: number; readonly body: Record<string, unknown> }

describe('search', () => {
  const kindsOf = async (...roles: Role[]) => {
    const { get } = await memberWith(...roles)
    const { body } = await get('/v3/search?q=203.0.113.0%2F24&limit=100')
    return new Set((body['results'] as { kind: string }[]).map(({ kind }) => kind))
  }

  it('finds the kinds of objects that the roles of the member let them list', async () => {
    const all = await kindsOf('reader')
    for (const kind of ['announcement', 'prefix', 'event']) assert.ok(all.has(kind), kind)
    assert.deepEqual(await kindsOf('admin'), all)
    const ofDns = await kindsOf('dns')
    assert.deepEqual([ofDns.has('announcement'), ofDns.has('event')], [true, false])
    assert.deepEqual(await kindsOf('billing'), new Set(['prefix']))
    assert.deepEqual(await kindsOf('billing', 'reader'), all)
  })
})

describe('the stream', () => {
  it('refuses messages that the roles of the member do not let them read', async () => {
    const { get } = await memberWith('dns')
    const { status, body } = await get('/v3/stream?type=incident.started')
    assert.deepEqual([status, body['code']], [403, 'forbidden'])
    assert.equal(body['detail'], 'Needs the role Reader, Editor, Network or Admin. Ask an admin of the team.')
  })
})

describe('notifications', () => {
  it('know the roles of each member', async () => {
    const { userId } = await memberWith('dns', 'billing')
    const recipients = await api.database.postgres.owner
      .transaction()
      .execute((trx) => listRecipients(trx, [fixtures.red.teamId]))
    assert.deepEqual(recipients.find((one) => one.userId === userId)?.roles, ['dns', 'billing'])
  })

  it('include the monthly report for roles that may read it', async () => {
    const { owner } = api.database.postgres
    const [billing, dns] = [await memberWith('billing'), await memberWith('dns')]
    for (const { userId } of [billing, dns])
      await owner
        .insertInto('notification_settings')
        .values({
          user_id: userId,
          team_id: fixtures.red.teamId,
          mail: true,
          monthly_report: true,
          digest: 'hourly',
          kinds: '{}',
        })
        .execute()
    const subscribers = await listReportSubscribers(owner, fixtures.red.teamId)
    assert.deepEqual(
      subscribers.map(({ userId }) => userId),
      [billing.userId],
    )
  })
})
