// Single sign-on over HTTP with real OpenID providers of two teams: who signs in, to which account, what the session opens, and every way in which an
// answer is refused.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { followRedirects, startOidc, type TestOidc, type TestPerson } from '../src/drivers/oidc/testing.ts'
import { sandboxIssuer } from '../src/drivers/sandbox-identity/provider.ts'
import { redirectUriOf } from '../src/identity/open-provider.ts'
import { open } from '../src/runtime/secrets.ts'
import { readFigures } from '../src/status/figures.store.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { addProvider, providerKeys, type ProviderOptions, type TestProvider } from './support/identity.ts'
import { addSecondFactor } from './support/second-factor.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let idp: TestOidc
let otherIdp: TestOidc
let provider: TestProvider

const owner = () => api.database.postgres.owner

before(async () => {
  api = await createTestApi({ PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8' })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  const redirectUris = providerKeys.map((key) => redirectUriOf(api.shared.publicUrl, key))
  idp = await startOidc({ redirectUris })
  otherIdp = await startOidc({ redirectUris })
})
after(async () => {
  await idp[Symbol.asyncDispose]()
  await otherIdp[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const addRed = (options: ProviderOptions = {}) =>
  addProvider(api, red, { ...idp, domain: 'red.example', ...options })
const addBlue = () => addProvider(api, blue, { ...otherIdp, domain: 'blue.example' })

beforeEach(async () => {
  await sql`delete from identity_providers`.execute(owner())
  await sql`delete from users`.execute(owner())
  await sql`delete from mails`.execute(owner())
  provider = await addRed()
})

const anna: TestPerson = { sub: 'anna-1', email: 'anna@red.example', email_verified: true, name: 'Anna Berg' }

type Answer = Readonly<Record<string, string>>
const post = async (url: string, payload: object, headers: Record<string, string> = {}) =>
  api.server.inject({ method: 'POST', url, payload, headers })
const get = (url: string, access: string) =>
  api.server.inject({ url, headers: { authorization: `Bearer ${access}` } })

/** Starts a sign-in as a browser, and returns its cookie with the redirect. */
async function start(body: object, headers: Record<string, string> = {}) {
  const response = await post('/v3/session/sso', body, headers)
  assert.equal(response.statusCode, 200, response.body)
  const cookie = String(response.headers['set-cookie']).split(';')[0]!
  return { redirect: response.json().redirect as string, cookie }
}

/** Signs in at the provider, and returns what comes back to the portal. */
async function answerOf(redirect: string, at: TestProvider, person: TestPerson, by = idp): Promise<Answer> {
  by.person = person
  return followRedirects(redirect, at.redirectUri)
}

const complete = (at: TestProvider, answer: Answer, cookie: string) =>
  post('/v3/session/sso/complete', { provider: at.key, ...answer }, { cookie })

async function signIn(person: TestPerson, at = provider, by = idp, headers: Record<string, string> = {}) {
  const { redirect, cookie } = await start({ provider: at.key }, headers)
  return complete(at, await answerOf(redirect, at, person, by), cookie)
}

async function assertRefused(response: { statusCode: number; json(): unknown }, reason: string) {
  const body = response.json() as { code: string; errors: { ctx: { reason: string } }[] }
  assert.equal(body.code, 'sso_failed', JSON.stringify(body))
  assert.equal(response.statusCode, 401)
  assert.equal(body.errors[0]!.ctx.reason, reason)
}

const codeOf = (response: { json(): unknown }): string => (response.json() as { code: string }).code

describe('the sign-in page', () => {
  it('learns from the domain alone whether there is a provider', async () => {
    await addUser(api, 'anna', [red])
    const methods = async (email: string) =>
      (await post('/v3/session/methods', { email })).json().sso as unknown
    // The list of domains is kept in memory for five seconds, and the tests before have other providers.
    const expected = { required: false }
    for (const email of ['anna@red.example', 'nobody@RED.example']) {
      const { provider: _, ...rest } = (await methods(email)) as { provider: string }
      assert.deepEqual(rest, expected)
    }
    assert.equal(await methods('anna@green.example'), null)
    assert.equal(await methods('no address'), null)
  })
})

describe('a person without an account', () => {
  it('gets one without a password, with the roles of the provider', async () => {
    const response = await signIn(anna)
    assert.equal(response.statusCode, 200, response.body)
    const { user, access, return_to } = response.json()
    assert.deepEqual([user.email, user.display_name, return_to], ['anna@red.example', 'Anna Berg', null])
    const row = await owner()
      .selectFrom('users')
      .select(['password_hash', 'email_confirmed'])
      .where('email', '=', anna.email!)
      .executeTakeFirstOrThrow()
    assert.equal(row.password_hash, null)
    assert.ok(row.email_confirmed)
    const { token } = (await get('/v3/session/token', access)).json()
    assert.deepEqual(token.roles, ['reader'])
    const password = await post('/v3/session/token', { email: anna.email, password: testPassword })
    assert.equal(codeOf(password), 'invalid_credentials')
    assert.equal((await signIn(anna)).json().user.id, user.id)
  })

  it('has the roles of their groups, which follow at each sign-in', async () => {
    await sql`update identity_providers set default_roles = '{}' where id = ${provider.id}`.execute(owner())
    await sql`insert into provider_mappings (provider_id, group_name, roles) values (${provider.id}, 'net-ops', '{network,dns}'),
      (${provider.id}, 'billing', '{billing}')`.execute(owner())
    await assertRefused(await signIn({ ...anna, groups: ['others'] }), 'not_assigned')
    assert.equal((await owner().selectFrom('users').select('id').execute()).length, 0)
    const rolesOf = async (groups: string[]) => {
      const { access } = (await signIn({ ...anna, groups })).json()
      return (await get('/v3/session/token', access)).json().token.roles as string[]
    }
    assert.deepEqual(await rolesOf(['net-ops', 'others']), ['network', 'dns'])
    assert.deepEqual(await rolesOf(['billing']), ['billing'])
    await assertRefused(await signIn({ ...anna, groups: [] }), 'not_assigned')
  })

  it('is refused if the address is not verified, missing or of another domain', async () => {
    await assertRefused(await signIn({ ...anna, email_verified: false }), 'email_unverified')
    await assertRefused(await signIn({ sub: 'anna-1' }), 'email_missing')
    await assertRefused(await signIn({ ...anna, email: 'anna@blue.example' }), 'domain_not_yours')
    await assertRefused(await signIn({ ...anna, email: 'anna@xn--rd-eka.example' }), 'domain_not_yours')
    await assertRefused(await signIn({ ...anna, email: 'a@blue.example@red.example' }), 'email_missing')
    await sql`update domains set verified = null where domain = 'red.example'`.execute(owner())
    await assertRefused(await signIn(anna), 'domain_not_yours')
    assert.equal((await owner().selectFrom('users').select('id').execute()).length, 0)
  })
})

describe('a person with an account', () => {
  it('of the team is linked, and told so', async () => {
    const { userId } = await addUser(api, 'anna', [red], { roles: ['dns'] })
    const { access, user } = (await signIn(anna)).json()
    assert.equal(user.id, userId)
    assert.deepEqual((await get('/v3/session/token', access)).json().token.roles, ['dns'])
    const mails = await owner().selectFrom('mails').select(['template', 'recipient']).execute()
    assert.deepEqual(mails, [{ template: 'identity-linked', recipient: 'anna@red.example' }])
    // Refusals of the tests before are written later.
    const actions = await owner()
      .selectFrom('audit_entries')
      .select('action')
      .where('action', '!=', 'session.refuse')
      .orderBy('id')
      .execute()
    const last = actions.slice(-2).map(({ action }) => action)
    assert.deepEqual(last, ['identity.link', 'session.create'])
  })

  it('elsewhere decides by a link to the mailbox', async () => {
    const { userId, email } = await addUser(api, 'anna', [{ ...blue, slug: 'red' }])
    await assertRefused(await signIn(anna), 'linked_elsewhere')
    const { sealed } = await owner()
      .selectFrom('mails')
      .select('content_sealed as sealed')
      .where('template', '=', 'link-account')
      .executeTakeFirstOrThrow()
    const { open } = await import('../src/runtime/secrets.ts')
    const { link } = JSON.parse(open(api.config.secret, 'mail', sealed!, 'link-account').toString()) as {
      link: string
    }
    const token = new URL(link).hash.slice(1)
    const linked = await post('/v3/session/sso/link', { token })
    assert.deepEqual(linked.json(), { email, team_name: 'Team red' })
    assert.equal(codeOf(await post('/v3/session/sso/link', { token })), 'invalid_token')
    assert.equal((await signIn(anna)).json().user.id, userId)
  })

  it('of the staff, or a demo account, is refused', async () => {
    await addUser(api, 'anna', [red], { staff: true })
    await assertRefused(await signIn(anna), 'not_assigned')
    await addUser(api, 'demo', [red], { demo: true })
    await assertRefused(await signIn({ ...anna, sub: 'd', email: 'demo@red.example' }), 'not_assigned')
  })

  it('whom an admin removed does not come back', async () => {
    const { user } = (await signIn(anna)).json()
    await sql`delete from memberships`.execute(owner())
    await sql`insert into former_members (team_id, user_id) values (${red.teamId}, ${user.id})`.execute(
      owner(),
    )
    await assertRefused(await signIn(anna), 'not_assigned')
  })
})

describe('an active provider', () => {
  it('replaces auto-join of its domains', async () => {
    await addUser(api, 'carl', [{ ...blue, slug: 'red' }])
    await sql`update domains set auto_join = true where domain = 'red.example'`.execute(owner())
    const teamsOf = async () => {
      const { user } = await api
        .signIn('carl@red.example')
        .then(async ({ access }) => (await get('/v3/session/token', access)).json())
      return (user as { teams: { id: number }[] }).teams.map(({ id }) => id)
    }
    assert.deepEqual(await teamsOf(), [blue.teamId])
    await sql`update identity_providers set status = 'disabled'`.execute(owner())
    assert.deepEqual(await teamsOf(), [blue.teamId, red.teamId])
    await sql`update domains set auto_join = false`.execute(owner())
  })
})

describe('the session of a provider', () => {
  async function memberOfBoth() {
    await addUser(api, 'anna', [red, blue], { admin: true })
    const signedIn = (await signIn(anna)).json()
    return signedIn as { access: string; refresh: string; user: { teams: { id: number }[]; id: number } }
  }

  it('opens the team of the provider and no other', async () => {
    const { access, user } = await memberOfBoth()
    assert.deepEqual(
      user.teams.map(({ id }) => id),
      [red.teamId],
    )
    assert.equal((await get('/v3/teams/current', access)).statusCode, 200)
    const listed = (await get('/v3/teams', access)).json()
    assert.deepEqual(
      listed.results.map(({ id }: { id: number }) => id),
      [red.teamId],
    )
    assert.equal(listed.count, 1)
    assert.equal(codeOf(await get(`/v3/teams/${blue.teamId}/members`, access)), 'sign_in_required')
    const other = await addBlue()
    const refused = await post(
      '/v3/session/token',
      { team_id: blue.teamId },
      { authorization: `Bearer ${access}` },
    )
    assert.equal(refused.statusCode, 403)
    assert.equal(codeOf(refused), 'sign_in_required')
    assert.deepEqual(refused.json().errors[0].ctx, { provider: other.key })
  })

  it('changes nothing that the account owns', async () => {
    const { access } = await memberOfBoth()
    const authorization = { authorization: `Bearer ${access}` }
    assert.equal(codeOf(await get('/v3/session/sessions', access)), 'local_sign_in_required')
    assert.equal(codeOf(await get('/v3/session/identities', access)), 'local_sign_in_required')
    const change = { current_password: testPassword, new_password: 'nine harbours under rain' }
    for (const [url, body] of [
      ['/v3/session/change-password', change],
      ['/v3/session/change-email', { current_password: testPassword, email: 'eve@red.example' }],
      ['/v3/session/logout', { all: true }],
    ] as const)
      assert.equal(codeOf(await post(url, body, authorization)), 'local_sign_in_required', url)
    assert.equal((await post('/v3/session/logout', {}, authorization)).statusCode, 204)
  })

  it('is refreshed while its proof is valid, which a refresh does not extend', async () => {
    const { refresh } = await memberOfBoth()
    const expiry = () => owner().selectFrom('session_proofs').select('expires').executeTakeFirstOrThrow()
    const before = await expiry()
    assert.ok(Math.abs(before.expires!.getTime() - Date.now() - 12 * 3_600_000) < 600_000)
    const next = (await post('/v3/session/refresh', { refresh })).json()
    assert.deepEqual(
      next.user.teams.map(({ id }: { id: number }) => id),
      [red.teamId],
    )
    assert.deepEqual(await expiry(), before)
    await sql`update session_proofs set expires = now() - interval '1 second'`.execute(owner())
    assert.equal(codeOf(await post('/v3/session/refresh', { refresh: next.refresh })), 'token_not_valid')
  })

  it('gets the proof of another team by a second sign-in, which replaces it', async () => {
    const { access, user } = await memberOfBoth()
    const other = await addBlue()
    const bearer = { authorization: `Bearer ${access}` }
    await sql`insert into user_identities (provider_id, subject, user_id, email) values (${other.id}, 'anna-b', ${user.id}, 'anna@blue.example')`.execute(
      owner(),
    )
    const both = await signIn({ sub: 'anna-b', email: 'anna@blue.example' }, other, otherIdp, bearer)
    assert.equal(both.statusCode, 200, both.body)
    const teams = both.json().user.teams.map(({ id }: { id: number }) => id)
    assert.deepEqual(teams, [blue.teamId, red.teamId])
    // The notification that invalidates the cached credential follows the answer.
    await waitFor('the end of the session', async () => {
      const { statusCode } = await get('/v3/teams/current', access)
      return statusCode === 401
    })
    assert.equal((await get(`/v3/teams/${red.teamId}`, both.json().access)).statusCode, 200)
  })

  it('is none if the account is deleted at the same moment', async () => {
    await signIn(anna)
    const { redirect, cookie } = await start({ provider: provider.key })
    const answer = await answerOf(redirect, provider, anna)
    const { completing } = await owner()
      .transaction()
      .execute(async (trx) => {
        await sql`delete from users where email = ${anna.email!}`.execute(trx)
        const under = { completing: complete(provider, answer, cookie) }
        await waitFor('the sign-in to wait for the account', async () => {
          const { rows } = await sql`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
            owner(),
          )
          return rows.length > 0
        })
        return under
      })
    await assertRefused(await completing, 'expired')
  })

  it('is not joined with the session of another account', async () => {
    const { userId } = await addUser(api, 'berta', [red])
    const { access } = await openSession(api, userId, red.teamId)
    const response = await signIn(anna, provider, idp, { authorization: `Bearer ${access}` })
    assert.equal(response.statusCode, 409)
    assert.equal(codeOf(response), 'other_account')
  })

  it('ends when the provider is disabled or deleted, or its domain is lost', async () => {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access: admin } = await openSession(api, userId, red.teamId)
    const bearer = { authorization: `Bearer ${admin}` }
    const at = (id: number) => `/v3/teams/current/providers/${id}`
    const isOver = async (access: string) =>
      assert.match(codeOf(await get('/v3/teams/current', access)), /sign_in_required|unauthenticated/)

    const first = (await signIn(anna)).json()
    const disable = {
      method: 'PATCH' as const,
      url: at(provider.id),
      payload: { status: 'disabled' },
      headers: bearer,
    }
    assert.equal((await api.server.inject(disable)).statusCode, 200)
    await isOver(first.access)
    assert.equal(codeOf(await post('/v3/session/refresh', { refresh: first.refresh })), 'token_not_valid')

    await sql`update identity_providers set status = 'active'`.execute(owner())
    const second = (await signIn(anna)).json()
    const [domain] = await owner()
      .selectFrom('domains')
      .select('id')
      .where('domain', '=', 'red.example')
      .execute()
    const unbind = { ...disable, payload: { domain_ids: [] } }
    assert.equal((await api.server.inject(unbind)).statusCode, 200)
    await isOver(second.access)
    await assertRefused(await signIn(anna), 'domain_not_yours')

    await api.server.inject({ ...disable, payload: { domain_ids: [domain!.id] } })
    const third = (await signIn(anna)).json()
    const drop = { method: 'DELETE' as const, headers: bearer }
    assert.equal((await api.server.inject({ ...drop, url: at(provider.id) })).statusCode, 204)
    await isOver(third.access)
    assert.equal(codeOf(await post('/v3/session/refresh', { refresh: third.refresh })), 'token_not_valid')
  })
})

describe('an invitation', () => {
  const invite = async (email: string) => {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access } = await openSession(api, userId, red.teamId)
    const authorization = { authorization: `Bearer ${access}` }
    const invited = await post('/v3/teams/current/members', { email, roles: ['network'] }, authorization)
    assert.equal(invited.statusCode, 201, invited.body)
    const { rows } = await sql<{ content_sealed: Buffer }>`
      select content_sealed from mails where template = 'invitation'`.execute(owner())
    return JSON.parse(open(api.config.secret, 'mail', rows[0]!.content_sealed, 'invitation').toString()) as {
      link: string
      provider: string | null
    }
  }

  it('to an address of the provider is accepted by signing in with it, also by a person without a group', async () => {
    await sql`update identity_providers set default_roles = '{}'`.execute(owner())
    await assertRefused(await signIn(anna), 'not_assigned')
    const { link, provider: named } = await invite(anna.email!)
    assert.equal(named, 'Company login')
    const shown = await post('/v3/session/invitation', { token: new URL(link).hash.slice(1) })
    assert.deepEqual(shown.json().sso, { provider: provider.key, required: false })
    await assertRefused(await signIn({ ...anna, sub: 'eve-1', email: 'eve@red.example' }), 'not_assigned')
    const { access } = (await signIn(anna)).json()
    assert.deepEqual((await get('/v3/session/token', access)).json().token.roles, ['network'])
    // An admin has set the roles: they stay, although no group gives them.
    assert.equal((await signIn(anna)).statusCode, 200)
  })

  it('to another address, or of an admin who has left, is not', async () => {
    await sql`update identity_providers set default_roles = '{}'`.execute(owner())
    const { provider: named } = await invite('carl@contractor.example')
    assert.equal(named, null)
    await assertRefused(await signIn({ ...anna, email: 'carl@contractor.example' }), 'domain_not_yours')
    await sql`update invitations set email = ${anna.email!}`.execute(owner())
    await sql`delete from memberships`.execute(owner())
    await assertRefused(await signIn(anna), 'not_assigned')
  })
})

describe('an invitation to a colleague', () => {
  it('is not accepted by a known person for whom the provider states that address', async () => {
    await signIn(anna)
    await sql`delete from memberships`.execute(owner())
    await sql`update identity_providers set default_roles = '{}'`.execute(owner())
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access } = await openSession(api, userId, red.teamId)
    const payload = { email: 'boss@red.example', roles: ['admin'] }
    const authorization = `Bearer ${access}`
    const invited = await post('/v3/teams/current/members', payload, { authorization })
    assert.equal(invited.statusCode, 201, invited.body)
    for (const email_verified of [true, false])
      await assertRefused(
        await signIn({ ...anna, email: 'boss@red.example', email_verified }),
        'not_assigned',
      )
  })
})

describe('the second factor', () => {
  it('of the account is asked for, after the code of the provider was spent', async () => {
    await sql`update identity_providers set second_factor = 'local'`.execute(owner())
    const { userId } = await addUser(api, 'anna', [red])
    const { recoveryCodes } = await addSecondFactor(api, userId)
    const { redirect, cookie } = await start({ provider: provider.key })
    const asked = await complete(provider, await answerOf(redirect, provider, anna), cookie)
    assert.equal(codeOf(asked), 'otp_required')
    const { state, methods } = asked.json().errors[0].ctx
    assert.ok(methods.includes('totp'))
    const again = (body: object) =>
      post('/v3/session/sso/complete', { provider: provider.key, ...body }, { cookie })
    const wrong = await again({ state, otp: '000000' })
    assert.equal(codeOf(wrong), 'otp_required')
    const { state: next } = wrong.json().errors[0].ctx
    await assertRefused(await again({ state, otp: recoveryCodes[0]! }), 'expired')
    const done = await again({ state: next, otp: recoveryCodes[0]! })
    assert.equal(done.statusCode, 200, done.body)
    const { strong } = await owner().selectFrom('session_proofs').select('strong').executeTakeFirstOrThrow()
    assert.equal(strong, true)
  })

  it('is needed in a team that requires one, unless the provider states it', async () => {
    await sql`update teams set require_2fa = true where id = ${red.teamId}`.execute(owner())
    try {
      await assertRefused(await signIn(anna), 'mfa_missing')
      const { access } = (await signIn({ ...anna, amr: ['pwd', 'mfa'] })).json()
      assert.equal((await get('/v3/teams/current', access)).statusCode, 200)
    } finally {
      await sql`update teams set require_2fa = false`.execute(owner())
    }
  })
})

describe('an attack', () => {
  it('with an answer that another browser has fetched fails, and spends it (login CSRF)', async () => {
    const { redirect, cookie } = await start({ provider: provider.key })
    const answer = await answerOf(redirect, provider, anna)
    const { cookie: victim } = await start({ provider: provider.key })
    await assertRefused(await complete(provider, answer, victim), 'wrong_browser')
    await assertRefused(await complete(provider, answer, cookie), 'expired')
    const { redirect: second } = await start({ provider: provider.key })
    await assertRefused(await complete(provider, await answerOf(second, provider, anna), ''), 'wrong_browser')
    assert.ok(!idp.requested.slice(-3).includes('/token'), 'the answer was redeemed')
  })

  it('is none if two tabs of one browser sign in at the same time: both are completed', async () => {
    const first = await start({ provider: provider.key })
    const second = await start({ provider: provider.key }, { cookie: first.cookie })
    assert.equal(second.cookie, first.cookie)
    const answers = [
      await answerOf(first.redirect, provider, anna),
      await answerOf(second.redirect, provider, anna),
    ]
    for (const answer of answers)
      assert.equal((await complete(provider, answer, second.cookie)).statusCode, 200)
  })

  it('by a replay fails', async () => {
    const { redirect, cookie } = await start({ provider: provider.key })
    const answer = await answerOf(redirect, provider, anna)
    assert.equal((await complete(provider, answer, cookie)).statusCode, 200)
    await assertRefused(await complete(provider, answer, cookie), 'expired')
  })

  it('by the provider of another team fails (mix-up)', async () => {
    const other = await addBlue()
    const { redirect, cookie } = await start({ provider: provider.key })
    const answer = await answerOf(redirect, provider, anna)
    await assertRefused(await complete(other, answer, cookie), 'issuer')

    const honest = await start({ provider: provider.key })
    const foreign = await start({ provider: other.key })
    const stolen = await answerOf(foreign.redirect, other, { ...anna, sub: 'x' }, otherIdp)
    const { state } = await answerOf(honest.redirect, provider, anna)
    const mixed: Answer = { ...stolen, state: state! }
    await assertRefused(await complete(provider, mixed, honest.cookie), 'issuer')
    const { iss: _, ...silent } = mixed
    const again = await start({ provider: provider.key })
    const next = await answerOf(again.redirect, provider, anna)
    await assertRefused(
      await complete(provider, { ...silent, state: next['state']! }, again.cookie),
      'issuer',
    )
  })

  it('with the code of another flow fails (code injection)', async () => {
    const one = await start({ provider: provider.key })
    const other = await start({ provider: provider.key })
    const stolen = await answerOf(one.redirect, provider, anna)
    const own = await answerOf(other.redirect, provider, { ...anna, sub: 'mallory', email: 'm@red.example' })
    await assertRefused(
      await complete(provider, { ...own, code: stolen['code']! }, other.cookie),
      'idp_error',
    )
  })

  it('by a page to return to fails (open redirect)', async () => {
    const back = async (return_to: string) => {
      const { redirect, cookie } = await start({ provider: provider.key, return_to })
      assert.ok(!redirect.includes('return_to'))
      return (await complete(provider, await answerOf(redirect, provider, anna), cookie)).json().return_to
    }
    assert.equal(await back('/zones?name=a'), '/zones?name=a')
    assert.equal(await back('//mallory.example'), null)
  })

  it('by a person of another team fails: the domain is that of one team', async () => {
    const other = await addBlue()
    await assertRefused(await signIn(anna, other, otherIdp), 'domain_not_yours')
  })

  it('after the domain has moved to another team meets the owner of the account', async () => {
    await addUser(api, 'anna', [red])
    assert.equal((await signIn(anna)).statusCode, 200)
    await sql`update domains set verified = null where domain = 'red.example'`.execute(owner())
    const other = await addProvider(api, blue, { ...otherIdp, domain: 'red.example' })
    await assertRefused(await signIn({ ...anna, sub: 'other-1' }, other, otherIdp), 'linked_elsewhere')
    await assertRefused(await signIn(anna), 'domain_not_yours')
    await sql`delete from domains where team_id = ${blue.teamId}`.execute(owner())
  })

  it('by the sandbox fails unless the portal is on loopback too, not only the server behind a proxy', async () => {
    const sandbox = await addProvider(api, red, { issuer: sandboxIssuer })
    const begin = (on: TestApi) =>
      on.server.inject({ method: 'POST', url: '/v3/session/sso', payload: { provider: sandbox.key } })
    assert.equal((await begin(api)).statusCode, 200)
    await using proxied = await createTestApi(
      { PHAROS_PUBLIC_URL: 'https://portal.example' },
      { sameInstallationAs: api },
    )
    await assertRefused(await begin(proxied), 'unavailable')
  })

  it('is none if the provider does not answer: its admins get one mail for each outage', async () => {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    await sql`update users set email_confirmed = now() where id = ${userId}`.execute(owner())
    const down = await addProvider(api, red, { issuer: 'http://10.0.0.1', domain: 'red2.example' })
    const fail = async () =>
      assertRefused(await post('/v3/session/sso', { provider: down.key }), 'unavailable')
    const mails = async () => {
      const { rows } = await sql`select from mails where template = 'team-sign-in'`.execute(owner())
      return rows.length
    }
    await fail()
    await fail()
    assert.equal(await mails(), 0)
    const begin = () =>
      sql`update identity_providers set unreachable = now() - interval '5 minutes' where id = ${down.id}`.execute(
        owner(),
      )
    await begin()
    await fail()
    await fail()
    assert.equal(await mails(), 1)
    assert.deepEqual((await readFigures(owner())).providers, { domain_lost: 0, unreachable: 1 })
    await sql`update identity_providers set problem_mailed = now() - interval '1 hour'`.execute(owner())
    await begin()
    await fail()
    assert.equal(await mails(), 2)
  })

  it('by an identity provider in the network of the installation fails (SSRF)', async () => {
    const inside = await addProvider(api, red, { issuer: 'http://10.0.0.1' })
    await assertRefused(await post('/v3/session/sso', { provider: inside.key }), 'unavailable')
  })
})

describe('admins', () => {
  it('read why sign-ins failed, without values', async () => {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access } = await openSession(api, userId, red.teamId)
    const failed = await signIn({ ...anna, email: 'eve@green.example' })
    const url = `/v3/teams/current/providers/${provider.id}/attempts`
    const { results, count } = (await get(url, access)).json()
    assert.equal(count, 1)
    assert.equal(results[0].reason, 'domain_not_yours')
    assert.equal(results[0].request_id, failed.headers['x-request-id'])
    assert.ok(results[0].claims.includes('email'))
    assert.ok(!JSON.stringify(results).includes('eve@'))
    for (let n = 0; n < 55; n++)
      await post('/v3/session/sso/complete', { provider: provider.key, state: `unknown ${n}` })
    assert.equal((await get(url, access)).json().count, 50)
  })

  it('test a draft before it is activated, which links nothing', async () => {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access } = await openSession(api, userId, red.teamId)
    const bearer = { authorization: `Bearer ${access}` }
    await sql`update identity_providers set status = 'draft', tested = null`.execute(owner())
    const url = `/v3/teams/current/providers/${provider.id}`
    const activate = () =>
      api.server.inject({ method: 'PATCH', url, payload: { status: 'active' }, headers: bearer })
    assert.equal(codeOf(await activate()), 'conflict')
    assert.equal(codeOf(await post('/v3/session/sso', { provider: provider.key })), 'not_found')
    const begun = await post(`${url}/test`, {}, bearer)
    const cookie = String(begun.headers['set-cookie']).split(';')[0]!
    const answer = await answerOf(begun.json().redirect, provider, { ...anna, groups: ['net-ops'] })
    const { result } = (await post(`${url}/test`, answer, { ...bearer, cookie })).json()
    assert.deepEqual(
      { ...result, claims: [] },
      {
        subject: 'anna-1',
        email: 'anna@red.example',
        groups: ['net-ops'],
        claims: [],
        second_factor: false,
        roles: ['reader'],
        reason: null,
      },
    )
    assert.equal((await owner().selectFrom('user_identities').select('id').execute()).length, 0)
    assert.equal((await activate()).json().status, 'active')
    assert.equal((await signIn(anna)).statusCode, 200)
  })

  it('add no issuer that is shared, is no URL or is this installation', async () => {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access } = await openSession(api, userId, red.teamId)
    const add = (issuer: string) =>
      post(
        '/v3/teams/current/providers',
        { kind: 'oidc', name: 'Login', issuer, client_id: 'a', client_secret: 'b' },
        { authorization: `Bearer ${access}` },
      )
    for (const issuer of [
      'idp.example',
      'ftp://idp.example',
      'https://user:pass@idp.example',
      'https://idp.example/?a',
      'https://idp.example/#a',
      'https://login.microsoftonline.com/common/v2.0',
      'https://login.microsoftonline.com/organizations/v2.0',
      'https://LOGIN.microsoftonline.com/consumers/v2.0',
      api.shared.publicUrl,
    ])
      assert.equal(codeOf(await add(issuer)), 'invalid', issuer)
    assert.equal((await add('https://idp.example/realms/acme')).statusCode, 201)
    assert.equal((await add('https://login.microsoftonline.com/0f1e/v2.0')).statusCode, 201)
    assert.equal(codeOf(await add('https://another.example')), 'quota_exceeded')
  })
})
