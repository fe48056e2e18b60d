// A team that requires a second factor, and a member without one: which calls are refused, which are allowed, and from when.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import { isStrongSession } from '../src/db/proofs.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { addSecondFactor, codeOf } from './support/second-factor.ts'

let api: TestApi
let other: TestApi
let open: TestTeam
let people = 0

before(async () => {
  api = await createTestApi()
  other = await createTestApi({}, { sameInstallationAs: api })
  open = await addTeam(api, 'open')
})
after(async () => {
  await other[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

type Method = 'GET' | 'POST' | 'PATCH'
const call = (method: Method, url: string, access?: string, payload?: object, on = api) =>
  on.server.inject({
    method,
    url,
    ...(access === undefined ? {} : { headers: { authorization: `Bearer ${access}` } }),
    ...(payload === undefined ? {} : { payload }),
  })
const announcements = (access: string, on = api) =>
  call('GET', '/v3/ipam/announcements', access, undefined, on)

const require2fa = ({ teamId }: TestTeam, required: boolean) =>
  sql`update teams set require_2fa = ${required} where id = ${teamId}`.execute(api.database.postgres.owner)

/** Adds a member of the open team and of a new one, with a session in the new one. */
async function addMember() {
  const team = await addTeam(api, `strict-${people}`)
  const user = await addUser(api, `person-${people++}`, [team, open], { admin: true })
  return { ...user, team, ...(await openSession(api, user.userId, team.teamId)) }
}

/** A cached credential is invalidated by a notification, well before its lifetime of 5 s. */
async function until(status: number, ask: () => Promise<{ statusCode: number }>): Promise<void> {
  const deadline = performance.now() + 300_000
  while ((await ask()).statusCode !== status) {
    assert.ok(performance.now() < deadline, `it does not become ${status}`)
    await setTimeout(5)
  }
}

describe('a team that starts to require a second factor', () => {
  it('refuses a member without one at once, on every process, and accepts them when it no longer requires it', async () => {
    const { team, access } = await addMember()
    for (const on of [api, other]) assert.equal((await announcements(access, on)).statusCode, 200)
    await require2fa(team, true)
    for (const on of [api, other]) await until(403, () => announcements(access, on))
    assert.equal((await announcements(access)).json().code, 'second_factor_required')
    await require2fa(team, false)
    for (const on of [api, other]) await until(200, () => announcements(access, on))
  })

  it('accepts the new session of a member who sets one up, and refuses it when the factor is disabled', async () => {
    const { team, access } = await addMember()
    await require2fa(team, true)
    await until(403, () => announcements(access))
    const { secret } = (
      await call('POST', '/v3/session/totp', access, { current_password: testPassword })
    ).json()
    const confirmed = (await call('POST', '/v3/session/totp/confirm', access, { otp: codeOf(secret) })).json()
    await until(200, () => announcements(confirmed.access))
    await until(401, () => announcements(access))
    const proof = { current_password: testPassword, otp: confirmed.recovery_codes[0] }
    const disabled = await call('POST', '/v3/session/totp/disable', confirmed.access, proof)
    assert.equal(disabled.statusCode, 200)
    await until(403, () => announcements(disabled.json().access))
  })

  it('still allows signing in, refreshing, reading the own user, switching teams and signing out', async () => {
    const { team, userId, email, refresh } = await addMember()
    await require2fa(team, true)
    const signedIn = (
      await call('POST', '/v3/session/token', undefined, { email, password: testPassword })
    ).json()
    assert.equal(signedIn.user.current_team.id, team.teamId)
    await until(403, () => announcements(signedIn.access))
    assert.equal((await call('POST', '/v3/session/refresh', undefined, { refresh })).statusCode, 200)
    assert.equal((await call('GET', '/v3/session/token', signedIn.access)).json().user.id, userId)
    assert.equal((await call('GET', '/v3/teams', signedIn.access)).json().count, 2)
    const away = await call('POST', '/v3/session/token', signedIn.access, { team_id: open.teamId })
    assert.equal((await announcements(away.json().access)).statusCode, 200)
    const back = await call('POST', '/v3/session/token', away.json().access, { team_id: team.teamId })
    assert.equal((await announcements(back.json().access)).statusCode, 403)
    assert.equal((await call('POST', '/v3/session/logout', back.json().access, {})).statusCode, 204)
  })

  it('also refuses calls by path from another team', async () => {
    const { team, userId } = await addMember()
    await require2fa(team, true)
    const { access } = await openSession(api, userId, open.teamId)
    const closed = await call('PATCH', `/v3/teams/${team.teamId}`, access, { require_2fa: false })
    assert.equal(closed.json().code, 'second_factor_required')
    assert.equal((await call('GET', `/v3/teams/${open.teamId}`, access)).statusCode, 200)
    await addSecondFactor(api, userId)
    assert.equal((await call('GET', `/v3/teams/${team.teamId}`, access)).statusCode, 200)
  })

  it('accepts a session that the release before opened with a code, which has no proof, and refuses one without a code', async () => {
    const { team, userId, sessionId, access } = await addMember()
    const { owner } = api.database.postgres
    await require2fa(team, true)
    await until(403, () => announcements(access))
    await sql`delete from session_proofs where session_id = ${sessionId}`.execute(owner)
    await until(403, () => announcements(access))
    // A process of the release before opens a session by one statement, without a proof.
    await sql`
      insert into sessions (user_id, team_id, expires, second_factor) values (${userId}, ${team.teamId}, now() + interval '1 hour', true)`.execute(
      owner,
    )
    const { rows } = await sql<{ is_strong: boolean }>`
      select ${isStrongSession} as is_strong from sessions s where s.user_id = ${userId} order by s.created`.execute(
      owner,
    )
    assert.deepEqual(
      rows.map(({ is_strong }) => is_strong),
      [false, true],
    )
    await sql`update sessions set second_factor = true, team_id = team_id where id = ${sessionId}`.execute(
      owner,
    )
    await until(200, () => announcements(access))
  })

  it('does not count a proof that has expired', async () => {
    const { team, userId, access } = await addMember()
    const { owner } = api.database.postgres
    await require2fa(team, true)
    await addSecondFactor(api, userId)
    await until(200, () => announcements(access))
    await sql`
      update session_proofs p set expires = now() - interval '1 second' from sessions s
      where s.id = p.session_id and s.user_id = ${userId}`.execute(owner)
    await until(403, () => announcements(access))
  })

  it('does not require one of API tokens', async () => {
    const { team } = await addMember()
    await require2fa(team, true)
    const token = await addApiToken(api, team.teamId, { scopes: ['ipam:read'] })
    const response = await api.server.inject({
      url: '/v3/ipam/announcements',
      headers: { authorization: `Token ${token}` },
    })
    assert.equal(response.statusCode, 200)
  })
})

describe('the operations without the required second factor', () => {
  it('are those of the own account and of switching teams, and no others', () => {
    const personal = routes.filter(({ permission }) => 'personal' in permission && permission.personal)
    const others = personal.filter(({ group }) => group !== 'Session').map(({ name }) => name)
    assert.deepEqual(others, ['listTeams'])
    const session = routes.filter(
      ({ group, permission: { credential } }) =>
        group === 'Session' && (credential === 'web' || credential === 'any'),
    )
    // Personal notifications contain resources of the team.
    assert.deepEqual(
      session.filter((route) => !personal.includes(route)).map(({ name }) => name),
      ['getNotificationSettings', 'updateNotificationSettings', 'listNotifications', 'readNotifications'],
    )
  })
})
