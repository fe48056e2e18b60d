// The sign-in policy of a team over HTTP: which sessions it admits, what it needs, and how its admins recover. Written from the side of those who should
// not get in: a leaver, a contractor, an admin of another team, and staff.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { UsageError } from '../src/commands/command.ts'
import { runCommand } from '../src/commands/testing.ts'
import { teamCommand } from '../src/commands/team.ts'
import { sandboxIssuer } from '../src/drivers/sandbox-identity/provider.ts'
import { listTeamsWithEvents } from '../src/events/list/events-of-teams.store.ts'
import { open } from '../src/runtime/secrets.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { addProvider, type TestProvider } from './support/identity.ts'
import { addSecondFactor, codeOf as otpOf } from './support/second-factor.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let provider: TestProvider

const owner = () => api.database.postgres.owner

before(async () => {
  api = await createTestApi({ PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '1000' })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
})
after(() => api[Symbol.asyncDispose]())

beforeEach(async () => {
  await sql`update teams set sign_in_policy = 'optional', require_2fa = false`.execute(owner())
  await sql`delete from identity_providers`.execute(owner())
  await sql`delete from domains`.execute(owner())
  await sql`delete from team_recovery_codes`.execute(owner())
  await sql`delete from users`.execute(owner())
  await sql`delete from mails`.execute(owner())
  provider = await addProvider(api, red, { issuer: sandboxIssuer, domain: 'red.example' })
})

type Headers = Readonly<Record<string, string>>
const as = (access: string): Headers => ({ authorization: `Bearer ${access}` })
const call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  access: string,
  payload?: object,
) => api.server.inject({ method, url, headers: as(access), ...(payload && { payload }) })
const codeOf = (response: { json(): unknown }): string => (response.json() as { code: string }).code
const teamOf = (team: TestTeam) => `/v3/teams/${team.teamId}`

type Policy = 'optional' | 'required_domain' | 'required'
const setPolicy = (policy: Policy, team = red) =>
  sql`update teams set sign_in_policy = ${policy} where id = ${team.teamId}`.execute(owner())

type Proof = { readonly strong?: boolean; readonly at?: string }

/** A session with a local proof, and one of the provider if it is named. */
async function sessionOf(
  userId: number,
  team = red,
  by?: TestProvider,
  { strong = false, at = '0 s' }: Proof = {},
) {
  const session = await openSession(api, userId, team.teamId)
  if (strong)
    await sql`update session_proofs set strong = true where session_id = ${session.sessionId}`.execute(
      owner(),
    )
  if (by)
    await sql`
      insert into session_proofs (session_id, kind, at, expires, strong, provider_id)
      values (${session.sessionId}, 'provider', now() - ${at}::interval, now() + interval '1 hour', false, ${by.id})`.execute(
      owner(),
    )
  return session
}

async function admin(name = 'chief') {
  const { userId } = await addUser(api, name, [red], { admin: true })
  await sql`update users set email_confirmed = now() where id = ${userId}`.execute(owner())
  return userId
}

const statusOf = async (access: string, team = red): Promise<number | string> => {
  const response = await call('GET', `${teamOf(team)}/members`, access)
  return response.statusCode === 200 ? 200 : codeOf(response)
}

/** The notification that invalidates cached credentials follows the change. */
const assertStatus = (expected: number | string, access: string, team = red) =>
  waitFor(`${expected} for a session`, async () => (await statusOf(access, team)) === expected)

describe('the policy', () => {
  it('admits by password, by the provider of the team and by that of another team as its page says', async () => {
    const other = await addProvider(api, blue, { domain: 'blue.example' })
    const inDomain = (await addUser(api, 'anna', [red, blue])).userId
    const outside = (await addUser(api, 'carl', [red, blue])).userId
    await sql`update users set email = 'carl@contractor.example' where id = ${outside}`.execute(owner())
    const sessions = {
      'password, domain': await sessionOf(inDomain),
      'second factor, domain': await sessionOf(inDomain, red, undefined, { strong: true }),
      'password, contractor': await sessionOf(outside),
      'second factor, contractor': await sessionOf(outside, red, undefined, { strong: true }),
      'provider of the team': await sessionOf(inDomain, red, provider),
      'provider of another team': await sessionOf(inDomain, red, other),
    }
    const table: Record<Policy, (number | string)[]> = {
      optional: [200, 200, 200, 200, 200, 200],
      required_domain: [
        'sign_in_required',
        'sign_in_required',
        'second_factor_required',
        200,
        200,
        'sign_in_required',
      ],
      required: [
        'sign_in_required',
        'sign_in_required',
        'sign_in_required',
        'sign_in_required',
        200,
        'sign_in_required',
      ],
    }
    for (const [policy, expected] of Object.entries(table)) {
      await setPolicy(policy as Policy)
      for (const [at, { access }] of Object.values(sessions).entries())
        await assertStatus(expected[at]!, access)
    }
  })

  it('names the provider for the next step, in the answer and in the list of teams', async () => {
    const { userId } = await addUser(api, 'anna', [red, blue])
    await setPolicy('required')
    const { access, refresh } = await sessionOf(userId, blue)
    const refused = await call('GET', `${teamOf(red)}/members`, access)
    assert.equal(refused.statusCode, 403)
    assert.deepEqual(refused.json().errors[0].ctx, { provider: provider.key })
    const switched = await call('POST', '/v3/session/token', access, { team_id: red.teamId })
    assert.equal(codeOf(switched), 'sign_in_required')
    const { results } = (await call('GET', '/v3/teams', access)).json()
    assert.deepEqual(
      results.map(({ id, sign_in }: { id: number; sign_in: unknown }) => [id, sign_in]),
      [
        [blue.teamId, null],
        [red.teamId, { provider: provider.key }],
      ],
    )
    const refreshed = await api.server.inject({
      method: 'POST',
      url: '/v3/session/refresh',
      payload: { refresh },
    })
    assert.equal(refreshed.statusCode, 200)
  })

  it('is that of the sign-in page for the domain', async () => {
    await setPolicy('required')
    await waitFor('the list of domains', async () => {
      const payload = { email: 'somebody@red.example' }
      const { sso } = (
        await api.server.inject({ method: 'POST', url: '/v3/session/methods', payload })
      ).json()
      return sso?.required === true && sso.provider === provider.key
    })
  })

  it('closes a team to sessions without proofs, which the release before has opened', async () => {
    const { userId } = await addUser(api, 'anna', [red])
    const { access, sessionId } = await sessionOf(userId)
    await sql`delete from session_proofs where session_id = ${sessionId}`.execute(owner())
    await assertStatus(200, access)
    await setPolicy('required')
    await assertStatus('sign_in_required', access)
  })

  it('leaves API tokens as they are', async () => {
    const token = await addApiToken(api, red.teamId, { scopes: ['team:read'] })
    await setPolicy('required')
    const headers = { authorization: `Token ${token}` }
    assert.equal((await api.server.inject({ url: '/v3/teams/current', headers })).statusCode, 200)
  })

  it('is that of members: staff enter with a reason, which the team reads', async () => {
    await setPolicy('required')
    const { userId } = await addUser(api, 'operator', [], { staff: true })
    const { access } = await openSession(api, userId, red.teamId)
    await assertStatus(200, access)
  })
})

describe('signing in with a password', () => {
  const signIn = async (email: string) =>
    api.server.inject({
      method: 'POST',
      url: '/v3/session/token',
      payload: { email, password: testPassword },
    })

  it('opens the first team that it may, else a session whose team asks for the provider', async () => {
    const { email, userId } = await addUser(api, 'anna', [red, blue])
    await sessionOf(userId, red)
    await setPolicy('required')
    const first = await signIn(email)
    assert.equal(
      (await call('GET', '/v3/session/token', first.json().access)).json().token.team_id,
      blue.teamId,
    )
    await sql`delete from memberships where team_id = ${blue.teamId}`.execute(owner())
    const only = await signIn(email)
    assert.equal(only.statusCode, 200)
    assert.equal(codeOf(await call('GET', '/v3/teams/current', only.json().access)), 'sign_in_required')
    assert.equal((await call('GET', '/v3/session/sessions', only.json().access)).statusCode, 200)
  })

  it('with a second factor opens a team that needs one of contractors', async () => {
    const { email, userId } = await addUser(api, 'carl', [red])
    await sql`update users set email = 'carl@contractor.example' where id = ${userId}`.execute(owner())
    await setPolicy('required_domain')
    const { access } = (await signIn('carl@contractor.example')).json()
    assert.equal(codeOf(await call('GET', '/v3/teams/current', access)), 'second_factor_required', email)
    const factor = await addSecondFactor(api, userId)
    const payload = { email: 'carl@contractor.example', password: testPassword, otp: otpOf(factor.secret) }
    const strong = (await api.server.inject({ method: 'POST', url: '/v3/session/token', payload })).json()
    assert.equal((await call('GET', '/v3/teams/current', strong.access)).statusCode, 200)
  })
})

describe('a stricter policy', () => {
  const put = (access: string, policy: Policy) => call('PUT', `${teamOf(red)}/sign-in`, access, { policy })
  const createCodes = (access: string) => call('POST', `${teamOf(red)}/recovery-codes`, access)
  const missingOf = async (access: string) =>
    (await call('GET', `${teamOf(red)}/sign-in`, access)).json().missing as string[]

  it('needs a provider, ten codes and a recent sign-in of the admin; optional needs none of them', async () => {
    const userId = await admin()
    const { access } = await sessionOf(userId)
    await sql`update identity_providers set status = 'draft'`.execute(owner())
    assert.deepEqual(await missingOf(access), ['provider', 'recovery_codes', 'recent_sign_in'])
    assert.match((await put(access, 'required')).json().detail, /no active identity provider/)
    await sql`update identity_providers set status = 'active'`.execute(owner())
    assert.match((await put(access, 'required')).json().detail, /recovery codes/)
    assert.equal((await createCodes(access)).json().recovery_codes.length, 10)
    assert.match((await put(access, 'required_domain')).json().detail, /15 minutes/)
    const { access: late } = await sessionOf(userId, red, provider, { at: '16 min' })
    assert.match((await put(late, 'required')).json().detail, /15 minutes/)
    const { access: recent } = await sessionOf(userId, red, provider, { at: '14 min' })
    assert.deepEqual(await missingOf(recent), [])
    const done = await put(recent, 'required')
    assert.equal(done.statusCode, 200, done.body)
    assert.deepEqual(done.json().policy, 'required')
    await assertStatus('sign_in_required', access)
    await assertStatus(200, recent)
    assert.equal((await put(late, 'optional')).statusCode, 200)
    await assertStatus(200, access)
  })

  it('is not set by a recent sign-in with the provider of another team', async () => {
    const userId = await admin()
    const other = await addProvider(api, blue)
    const { access } = await sessionOf(userId, red, other)
    await createCodes(access)
    assert.equal(codeOf(await put(access, 'required')), 'conflict')
  })

  it('keeps the last provider that signs in', async () => {
    const { access } = await sessionOf(await admin(), red, provider)
    await setPolicy('required')
    const at = (id: number) => `${teamOf(red)}/providers/${id}`
    const [domain] = await owner().selectFrom('domains').select('id').execute()
    const changes = [
      () => call('DELETE', at(provider.id), access),
      () => call('DELETE', `${teamOf(red)}/domains/${domain!.id}`, access),
      () => call('PATCH', at(provider.id), access, { status: 'disabled' }),
      () => call('PATCH', at(provider.id), access, { domain_ids: [] }),
    ]
    for (const change of changes) {
      const refused = await change()
      assert.equal(refused.statusCode, 409)
      assert.match(refused.json().detail, /Set the sign-in policy to optional first/)
    }
    await addProvider(api, red, { domain: 'red2.example' })
    assert.equal((await changes[0]!()).statusCode, 204)
  })

  it('is for admins of the team', async () => {
    const { userId } = await addUser(api, 'anna', [red])
    const { access } = await sessionOf(userId, red, provider)
    for (const response of [await put(access, 'required'), await createCodes(access)])
      assert.equal(codeOf(response), 'forbidden')
    const { userId: foreign } = await addUser(api, 'mallory', [blue], { admin: true })
    const { access: theirs } = await sessionOf(foreign, blue)
    for (const response of [await put(theirs, 'optional'), await createCodes(theirs)])
      assert.equal(response.statusCode, 404)
  })
})

describe('what an identity provider states of second factors', () => {
  const trusting = async (team: TestTeam, userId: number, teamOfSession: TestTeam) => {
    const other = await addProvider(api, team, { domain: `${team.teamId}.example` })
    const session = await sessionOf(userId, teamOfSession, other)
    await sql`update session_proofs set strong = true where session_id = ${session.sessionId} and kind = 'provider'`.execute(
      owner(),
    )
    return session
  }

  it('counts in its own team only', async () => {
    await sql`update teams set require_2fa = true`.execute(owner())
    const { userId } = await addUser(api, 'anna', [red, blue])
    const { access } = await trusting(blue, userId, blue)
    await assertStatus(200, access, blue)
    await assertStatus('second_factor_required', access, red)
    await setPolicy('required_domain')
    await sql`update users set email = 'anna@contractor.example' where id = ${userId}`.execute(owner())
    await assertStatus('second_factor_required', access, red)
  })

  it('is no second factor of the account: neither for a recovery code, nor after a change of the password', async () => {
    const userId = await admin()
    await sql`insert into memberships (team_id, user_id, is_admin, roles) values (${blue.teamId}, ${userId}, false, '{reader}')`.execute(
      owner(),
    )
    await sql`update teams set require_2fa = true where id = ${red.teamId}`.execute(owner())
    const { access } = await trusting(blue, userId, blue)
    const recovering = { team_id: red.teamId, code: 'aaaaa-aaaaa' }
    assert.equal(
      codeOf(await call('POST', '/v3/session/recover', access, recovering)),
      'second_factor_required',
    )
    const change = { current_password: testPassword, new_password: 'nine harbours under rain' }
    const changed = await call('POST', '/v3/session/change-password', access, change)
    assert.equal(changed.statusCode, 200, changed.body)
    await assertStatus('second_factor_required', changed.json().access, red)
  })
})

describe('recovery', () => {
  const recover = (access: string, code: string, team = red) =>
    call('POST', '/v3/session/recover', access, { team_id: team.teamId, code })

  async function closedTeam() {
    const userId = await admin()
    const factor = await addSecondFactor(api, userId)
    const { access } = await sessionOf(userId, red, provider)
    const { recovery_codes: codes } = (await call('POST', `${teamOf(red)}/recovery-codes`, access)).json()
    await setPolicy('required')
    return { userId, factor, codes: codes as string[] }
  }

  it('opens the team for one hour, once for each code; all admins get a mail', async () => {
    const { userId, codes } = await closedTeam()
    await admin('second')
    const { access, sessionId } = await sessionOf(userId)
    await assertStatus('sign_in_required', access)
    const opened = await recover(access, codes[0]!.toUpperCase().replace('-', ' '))
    assert.equal(opened.statusCode, 200, opened.body)
    const hour = Date.parse(opened.json().expires) - Date.now()
    assert.ok(Math.abs(hour - 3_600_000) < 600_000)
    await assertStatus(200, access)
    assert.equal(
      (await call('PUT', `${teamOf(red)}/sign-in`, access, { policy: 'optional' })).statusCode,
      200,
    )
    await setPolicy('required')
    const { rows: mails } = await sql<{ recipient: string; template: string; content_sealed: Buffer }>`
      select recipient, template, content_sealed from mails where template = 'team-sign-in' order by recipient`.execute(
      owner(),
    )
    assert.equal(mails.length, 2)
    const content = JSON.parse(
      open(api.config.secret, 'mail', mails[0]!.content_sealed, mails[0]!.template).toString(),
    )
    assert.equal(content.team, 'Team red')
    const { rows: entries } = await sql`
      select action, target from audit_entries where team_id = ${red.teamId} and action = 'session.recover'`.execute(
      owner(),
    )
    assert.deepEqual(entries, [{ action: 'session.recover', target: `session:${sessionId}` }])
    const { access: another } = await sessionOf(userId)
    assert.equal(codeOf(await recover(another, codes[0]!)), 'invalid')
    await sql`update session_proofs set expires = now() - interval '1 s' where kind = 'recovery'`.execute(
      owner(),
    )
    await assertStatus('sign_in_required', access)
  })

  it('is for admins with a second factor, and opens no other team', async () => {
    const { userId, codes } = await closedTeam()
    const { userId: member } = await addUser(api, 'anna', [red])
    const { userId: foreign } = await addUser(api, 'mallory', [blue], { admin: true })
    for (const id of [member, foreign]) await addSecondFactor(api, id)
    assert.equal(codeOf(await recover((await sessionOf(member)).access, codes[1]!)), 'forbidden')
    const { access: theirs } = await sessionOf(foreign, blue)
    assert.equal((await recover(theirs, codes[1]!)).statusCode, 404)
    assert.equal(codeOf(await recover(theirs, codes[1]!, blue)), 'invalid')
    const { access: weak, sessionId } = await sessionOf(userId)
    await sql`update session_proofs set strong = false where session_id = ${sessionId}`.execute(owner())
    assert.equal(codeOf(await recover(weak, codes[1]!)), 'second_factor_required')

    await setPolicy('required', blue)
    await sql`insert into memberships (team_id, user_id, is_admin, roles) values (${blue.teamId}, ${userId}, true, '{admin}')`.execute(
      owner(),
    )
    const { access } = await sessionOf(userId)
    assert.equal((await recover(access, codes[1]!)).statusCode, 200)
    await assertStatus(200, access)
    await assertStatus('sign_in_required', access, blue)
    await sql`update memberships set is_admin = false, roles = '{editor}' where team_id = ${red.teamId} and user_id = ${userId}`.execute(
      owner(),
    )
    await assertStatus('sign_in_required', access)
  })

  it('needs the account: a session of the identity provider alone does not recover', async () => {
    const { userId, codes } = await closedTeam()
    const { access, sessionId } = await sessionOf(userId, red, provider)
    await sql`delete from session_proofs where session_id = ${sessionId} and kind = 'local'`.execute(owner())
    assert.equal(codeOf(await recover(access, codes[0]!)), 'local_sign_in_required')
  })

  it('is refused after ten wrong codes, also with a right one', async () => {
    const { userId, codes } = await closedTeam()
    const { access } = await sessionOf(userId)
    for (let n = 0; n < 10; n++) assert.equal(codeOf(await recover(access, 'aaaaa-aaaaa')), 'invalid')
    assert.equal(codeOf(await recover(access, codes[0]!)), 'rate_limited')
  })

  it('works once if a code is sent twice at the same time', async () => {
    const { userId, codes } = await closedTeam()
    const sessions = await Promise.all([sessionOf(userId), sessionOf(userId), sessionOf(userId)])
    const answers = await Promise.all(sessions.map(({ access }) => recover(access, codes[2]!)))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 422, 422])
  })

  it('with new codes ends the former ones', async () => {
    const { userId, codes } = await closedTeam()
    const { access } = await sessionOf(userId, red, provider)
    const { recovery_codes: fresh } = (await call('POST', `${teamOf(red)}/recovery-codes`, access)).json()
    const { access: again } = await sessionOf(userId)
    assert.equal(codeOf(await recover(again, codes[0]!)), 'invalid')
    assert.equal((await recover(again, fresh[0])).statusCode, 200)
  })
})

describe('a leaver whom the identity provider no longer signs in', () => {
  it('does not get in by a password reset, by a second factor of their own, or by a lost domain', async () => {
    const { email, userId } = await addUser(api, 'anna', [red])
    await addSecondFactor(api, userId)
    await setPolicy('required_domain')
    await sql`update domains set verified = null`.execute(owner())
    const { access } = await sessionOf(userId, red, undefined, { strong: true })
    await assertStatus('sign_in_required', access)
    await setPolicy('required')
    await assertStatus('sign_in_required', access)
    assert.equal(
      (await api.server.inject({ method: 'POST', url: '/v3/session/password-reset', payload: { email } }))
        .statusCode,
      202,
    )
  })

  it('does not get in as a contractor by another address of the account', async () => {
    const { userId } = await addUser(api, 'anna', [red])
    await addSecondFactor(api, userId)
    const { access } = await sessionOf(userId, red, undefined, { strong: true })
    const change = (email: string) =>
      call('POST', '/v3/session/change-email', access, { email, current_password: testPassword })
    assert.equal((await change('anna@elsewhere.example')).statusCode, 202)
    const { rows } = await sql<{ content_sealed: Buffer }>`
      select content_sealed from mails where template = 'confirm-email'`.execute(owner())
    const sealed = open(api.config.secret, 'mail', rows[0]!.content_sealed, 'confirm-email').toString()
    const token = new URL((JSON.parse(sealed) as { link: string }).link).hash.slice(1)
    await setPolicy('required_domain')
    await assertStatus('sign_in_required', access)
    const confirmed = await api.server.inject({
      method: 'POST',
      url: '/v3/session/confirm-email',
      payload: { token },
    })
    assert.equal(codeOf(confirmed), 'invalid_token')
    const refused = await change('anna@elsewhere.example')
    assert.deepEqual([refused.statusCode, refused.json().errors[0]?.type], [422, 'domain'], refused.body)
    assert.equal((await change('anna.berg@red.example')).statusCode, 202)
  })

  it('does not read the team by lists that reach beyond the team of the session', async () => {
    const { userId } = await addUser(api, 'anna', [red, blue])
    await sql`update teams set enabled_modules = '{lighthouse}'`.execute(owner())
    const local = await sessionOf(userId, blue)
    const provided = await sessionOf(userId, red, provider)
    await sql`delete from session_proofs where session_id = ${provided.sessionId} and kind = 'local'`.execute(
      owner(),
    )
    const teamsOf = (sessionId: string) => listTeamsWithEvents(owner(), { userId, sessionId })
    assert.deepEqual(await teamsOf(local.sessionId), [red.teamId, blue.teamId])
    await setPolicy('required')
    assert.deepEqual(await teamsOf(local.sessionId), [blue.teamId])
    assert.deepEqual(await teamsOf(provided.sessionId), [red.teamId])
    const found = await call('GET', '/v3/search?q=team&kind=team', provided.access)
    assert.deepEqual(
      found.json().results.map(({ title }: { title: string }) => title),
      ['Team red'],
      found.body,
    )
  })

  it('is out when the proof has expired, whatever the age of the session', async () => {
    const { userId } = await addUser(api, 'anna', [red])
    await setPolicy('required')
    const { access, sessionId } = await sessionOf(userId, red, provider)
    await assertStatus(200, access)
    await sql`update session_proofs set expires = now() where session_id = ${sessionId} and kind = 'provider'`.execute(
      owner(),
    )
    await assertStatus('sign_in_required', access)
  })
})

describe('a step-up', () => {
  it('adds the proof to a new session, which replaces the old one and keeps its proofs', async () => {
    const userId = await admin('anna')
    const factor = await addSecondFactor(api, userId)
    const { access: first } = await sessionOf(userId, red, provider)
    const { recovery_codes: codes } = (await call('POST', `${teamOf(red)}/recovery-codes`, first)).json()
    await setPolicy('required')
    const { access } = await sessionOf(userId, red)
    const recovered = await call('POST', '/v3/session/recover', access, {
      team_id: red.teamId,
      code: codes[0],
    })
    assert.equal(recovered.statusCode, 200, recovered.body)
    const begun = await call('POST', '/v3/session/sso', access, {
      provider: provider.key,
      return_to: '/zones',
    })
    const cookie = String(begun.headers['set-cookie']).split(';')[0]!
    const { searchParams } = new URL(begun.json().redirect)
    const completed = await api.server.inject({
      method: 'POST',
      url: '/v3/session/sso/complete',
      payload: { provider: provider.key, ...Object.fromEntries(searchParams) },
      headers: { cookie },
    })
    assert.equal(completed.statusCode, 200, completed.body)
    assert.equal(completed.json().return_to, '/zones')
    await assertStatus(200, completed.json().access)
    const { rows } = await sql`
      select p.kind, p.team_id from session_proofs p join sessions s on s.id = p.session_id
      where s.revoked is null and s.user_id = ${factor.userId} and p.at > now() - interval '1 hour'
        and exists (select from session_proofs r where r.session_id = s.id and r.kind = 'recovery') order by p.kind`.execute(
      owner(),
    )
    assert.deepEqual(rows, [
      { kind: 'local', team_id: null },
      { kind: 'provider', team_id: null },
      { kind: 'recovery', team_id: red.teamId },
    ])
    await waitFor('the end of the replaced session', async () => {
      return (await call('GET', '/v3/teams/current', access)).statusCode === 401
    })
  })
})

describe('pharos team sign-in', () => {
  it('opens a team whose members cannot sign in; audited, and its admins get a mail', async () => {
    const userId = await admin()
    const { access } = await sessionOf(userId)
    await setPolicy('required')
    await assertStatus('sign_in_required', access)
    const run = (...args: string[]) => runCommand(api.database, teamCommand, ...args)
    assert.match(await run('sign-in', 'red', 'optional'), /^The sign-in policy of Team red is optional/)
    await assertStatus(200, access)
    assert.match(await run('sign-in', 'red', 'optional'), /No change/)
    const { rows: entries } = await sql`
      select actor, before from audit_entries where action = 'sign_in.policy' order by id desc limit 1`.execute(
      owner(),
    )
    assert.deepEqual(entries, [{ actor: 'operator', before: { policy: 'required' } }])
    const { rows: mails } = await sql`select template from mails`.execute(owner())
    assert.deepEqual(mails, [{ template: 'team-sign-in' }])
    await assert.rejects(run('sign-in', 'red', 'required'), UsageError)
    await assert.rejects(run('sign-in', 'nobody', 'optional'))
  })
})
