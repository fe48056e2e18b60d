// Signing staff in with the identity provider of the platform file: who is signed in, which rights a session has without it, and the accounts for the time when it
// does not answer.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import { routes } from '@pharos/contract/document/routes'
import { staffProviderKey } from '@pharos/contract/session/sso'
import { sql } from 'kysely'
import { staffCommand } from '../src/commands/staff.ts'
import { runCommand } from '../src/commands/testing.ts'
import { followRedirects, startOidc, type TestOidc, type TestPerson } from '../src/drivers/oidc/testing.ts'
import { redirectUriOf } from '../src/identity/open-provider.ts'
import { documentOf } from '../src/platform/engine/document.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { seal } from '../src/runtime/secrets.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { addStaffToken, openSession } from './support/credentials.ts'
import { addProvider, proveByProvider } from './support/identity.ts'
import { addSecondFactor, codeOf as otpOf } from './support/second-factor.ts'

let api: TestApi
let home: TestTeam
let customer: TestTeam
let idp: TestOidc
let redirectUri: string

const owner = () => api.database.postgres.owner

before(async () => {
  api = await createTestApi({
    PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8',
    PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '1000',
  })
  home = await addTeam(api, 'home')
  customer = await addTeam(api, 'customer')
  redirectUri = redirectUriOf(api.shared.publicUrl, staffProviderKey)
  idp = await startOidc({ redirectUris: [redirectUri] })
})
after(async () => {
  await idp[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

type Options = {
  readonly required?: boolean
  readonly groups?: object
  readonly breakGlass?: readonly string[]
}

async function require({ required = true, groups = {}, breakGlass = [] }: Options = {}): Promise<void> {
  const sealed = seal(api.config.secret, 'identity-provider', Buffer.from(idp.clientSecret), 'staff_sign_in')
  await sql`delete from staff_sign_in`.execute(owner())
  await sql`
    insert into staff_sign_in (key, issuer, client_id, secret_sealed, domains, groups, groups_claim, second_factor, required, break_glass)
    values ('staff_sign_in', ${idp.issuer}, ${idp.clientId}, ${sealed}, '{home.example}', ${JSON.stringify(groups)}::jsonb, 'groups', 'claim', ${required},
      ${breakGlass})`.execute(owner())
}

beforeEach(async () => {
  await sql`delete from staff_sign_in`.execute(owner())
  await sql`delete from identity_providers`.execute(owner())
  await sql`delete from users`.execute(owner())
  await sql`delete from mails`.execute(owner())
})

/** A member of the team of the provider. */
async function staff(name = 'nora', roles: true | readonly ('noc' | 'reader' | 'admin')[] = true) {
  const person = await addUser(api, name, [home], { staff: roles as true })
  await sql`update users set email_confirmed = now() where id = ${person.userId}`.execute(owner())
  return person
}

const nora: TestPerson = { sub: 'nora-1', email: 'nora@home.example', email_verified: true, name: 'Nora' }
const codeOf = (response: { json(): unknown }): string => (response.json() as { code: string }).code
const as = (access: string) => ({ authorization: `Bearer ${access}` })
const get = (url: string, access: string) => api.server.inject({ url, headers: as(access) })
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  api.server.inject({ method: 'POST', url, payload, headers })

async function signIn(person: TestPerson, headers: Record<string, string> = {}) {
  const begun = await post('/v3/session/sso', { provider: staffProviderKey }, headers)
  assert.equal(begun.statusCode, 200, begun.body)
  const cookie = String(begun.headers['set-cookie']).split(';')[0]!
  idp.person = person
  const answer = await followRedirects(begun.json().redirect, redirectUri)
  return post('/v3/session/sso/complete', { provider: staffProviderKey, ...answer }, { cookie })
}

const reasonOf = (response: { json(): unknown }): string =>
  (response.json() as { errors: { ctx: { reason: string } }[] }).errors[0]!.ctx.reason

describe('staff', () => {
  it('have their rights with the proof only, if it is required', async () => {
    const { userId } = await staff()
    const { access } = await openSession(api, userId, home.teamId)
    assert.equal((await get('/v3/admin/teams', access)).statusCode, 200)
    await require()
    const routesOfStaff = routes.filter(
      ({ permission }) => 'role' in permission && permission.role === 'staff',
    )
    assert.ok(routesOfStaff.length > 30)
    await waitFor(
      'the setting in this process',
      async () => (await get('/v3/admin/teams', access)).statusCode === 403,
    )
    for (const route of routesOfStaff) {
      const params = Object.fromEntries(Object.keys(route.params.properties).map((name) => [name, '1']))
      const answer = await api.server.inject({
        method: route.method,
        url: urlOf(route, params, {}),
        headers: as(access),
        payload: {},
      })
      assert.equal(answer.statusCode, 403, `${route.name}: ${answer.body}`)
      assert.equal(codeOf(answer), 'sign_in_required', route.name)
      assert.deepEqual(answer.json().errors[0].ctx, { provider: staffProviderKey })
    }
    const { results } = (await get('/v3/teams', access)).json()
    assert.deepEqual(
      results.map(({ id }: { id: number }) => id),
      [home.teamId],
    )
    assert.equal((await get('/v3/teams/current', access)).statusCode, 200)

    const signedIn = await signIn(nora, as(access))
    assert.equal(signedIn.statusCode, 200, signedIn.body)
    assert.equal((await get('/v3/admin/teams', signedIn.json().access)).statusCode, 200)
    assert.equal((await get('/v3/session/sessions', signedIn.json().access)).statusCode, 200)
    await sql`update session_proofs set expires = now() where kind = 'staff'`.execute(owner())
    await waitFor(
      'the end of the proof',
      async () => (await get('/v3/admin/teams', signedIn.json().access)).statusCode === 403,
    )
  })

  it('do not enter the team of a customer without it, nor stay in it', async () => {
    const { userId } = await staff()
    const { access: entered } = await openSession(api, userId, customer.teamId)
    const { access } = await openSession(api, userId, home.teamId)
    assert.equal((await get(`/v3/teams/${customer.teamId}`, entered)).statusCode, 200)
    await require()
    await waitFor(
      'the setting in this process',
      async () => (await get('/v3/teams/current', entered)).statusCode === 403,
    )
    for (const [token, url] of [
      [entered, '/v3/teams/current'],
      [entered, `/v3/teams/${customer.teamId}/members`],
      [access, `/v3/teams/${customer.teamId}/members`],
    ] as const)
      assert.equal(codeOf(await get(url, token)), 'sign_in_required', url)
    const reason = { team_id: customer.teamId, reason: 'a request of the customer' }
    assert.equal(codeOf(await post('/v3/session/token', reason, as(access))), 'sign_in_required')
    const { access: proved } = (await signIn(nora)).json()
    assert.equal((await post('/v3/session/token', reason, as(proved))).statusCode, 200)
  })

  it('have the roles of their groups in the session, never more than the file maps', async () => {
    await staff()
    await require({ groups: { 'net-ops': ['noc'], desk: ['reader'] } })
    const rolesOf = async (groups: string[]) => {
      const { access } = (await signIn({ ...nora, groups })).json()
      return (await get('/v3/session/token', access)).json().token.staff_roles
    }
    assert.deepEqual(await rolesOf(['net-ops', 'others']), ['noc'])
    assert.deepEqual(await rolesOf(['desk']), ['reader'])
    assert.equal(reasonOf(await signIn({ ...nora, groups: ['others'] })), 'not_assigned')
  })

  it('are those that the operator has made staff, with an address in a domain of the installation', async () => {
    await staff()
    const { userId } = await addUser(api, 'member', [home])
    await sql`update users set email_confirmed = now() where id = ${userId}`.execute(owner())
    await require()
    assert.equal(reasonOf(await signIn({ ...nora, sub: 'x', email: 'member@home.example' })), 'not_assigned')
    assert.equal(reasonOf(await signIn({ ...nora, sub: 'y', email: 'nobody@home.example' })), 'not_assigned')
    assert.equal(reasonOf(await signIn({ ...nora, email: 'nora@customer.example' })), 'domain_not_yours')
    assert.equal(reasonOf(await signIn({ ...nora, email_verified: false })), 'email_unverified')
    assert.equal((await owner().selectFrom('users').select('id').execute()).length, 2)
  })

  it('who are no longer staff have no session of it', async () => {
    const { userId } = await staff()
    await require()
    const { access, refresh } = (await signIn(nora)).json()
    await sql`update users set is_staff = false, staff_roles = null where id = ${userId}`.execute(owner())
    await waitFor(
      'the end of the rights',
      async () => (await get('/v3/admin/teams', access)).statusCode === 403,
    )
    assert.equal(codeOf(await post('/v3/session/refresh', { refresh })), 'token_not_valid')
  })

  it('programs of staff stay', async () => {
    await require()
    const token = await addStaffToken(api, { scopes: ['admin:read'] })
    const headers = { authorization: `Token ${token}` }
    assert.equal((await api.server.inject({ url: '/v3/admin/teams', headers })).statusCode, 200)
  })
})

describe('the platform file', () => {
  it('has the provider, whose secret signs staff in', async () => {
    await staff()
    const section = {
      issuer: idp.issuer,
      client_id: idp.clientId,
      client_secret: idp.clientSecret,
      domains: ['home.example'],
    }
    const flags = { prune: false, enforce: true }
    const deps = { ring: api.config.secret, readText: () => assert.fail('no file') }
    const document = documentOf('request', { staff_sign_in: section })
    const prepared = await preparePlatform(platformKinds, owner(), document, deps, flags)
    await applyPlatform(platformKinds, owner(), prepared, new Date())
    const signedIn = await signIn(nora)
    assert.equal(signedIn.statusCode, 200, signedIn.body)
  })
})

describe('an attack', () => {
  it('with the answer of the provider of a team fails, and the other way round', async () => {
    await staff()
    await require()
    const team = await addProvider(api, home, { ...idp, domain: 'home.example' })
    const begun = await post('/v3/session/sso', { provider: staffProviderKey })
    const cookie = String(begun.headers['set-cookie']).split(';')[0]!
    idp.person = nora
    const answer = await followRedirects(begun.json().redirect, redirectUri)
    const mixed = await post('/v3/session/sso/complete', { provider: team.key, ...answer }, { cookie })
    assert.equal(reasonOf(mixed), 'issuer')
    const again = await post(
      '/v3/session/sso/complete',
      { provider: staffProviderKey, ...answer },
      { cookie },
    )
    assert.equal(reasonOf(again), 'expired')
  })

  it('by a session that the provider of a team holds of an account that becomes staff gives no rights', async () => {
    const { userId } = await addUser(api, 'member', [home, customer])
    const provider = await addProvider(api, customer)
    const { access, sessionId } = await openSession(api, userId, customer.teamId)
    await proveByProvider(api, sessionId, provider)
    await sql`update users set is_staff = true, staff_roles = '{admin}' where id = ${userId}`.execute(owner())
    assert.equal(codeOf(await get('/v3/admin/teams', access)), 'sign_in_required')
    assert.equal((await get('/v3/teams/current', access)).statusCode, 200)
  })

  it('by an expired proof gives no more rights than the proof', async () => {
    await staff()
    await require({ required: false, groups: { desk: ['reader'] } })
    const { access } = (await signIn({ ...nora, groups: ['desk'] })).json()
    assert.equal((await get('/v3/admin/teams', access)).statusCode, 200)
    await sql`update session_proofs set expires = now()`.execute(owner())
    await waitFor(
      'the end of the proof',
      async () => (await get('/v3/admin/teams', access)).statusCode === 403,
    )
  })

  it('by a proof of a team, strong or not, gives no rights of staff', async () => {
    const { userId } = await staff()
    await require()
    const provider = await addProvider(api, home)
    const { access, sessionId } = await openSession(api, userId, home.teamId)
    await sql`
      insert into session_proofs (session_id, kind, expires, strong, provider_id)
      values (${sessionId}, 'provider', now() + interval '1 hour', true, ${provider.id})`.execute(owner())
    assert.equal(codeOf(await get('/v3/admin/teams', access)), 'sign_in_required')
  })
})

describe('an account for the time when the identity provider does not answer', () => {
  const passwordSignIn = async (email: string, otp?: string) =>
    (await post('/v3/session/token', { email, password: testPassword, ...(otp && { otp }) })).json()

  it('has the rights of staff with a second factor; each use is an entry and a mail', async () => {
    const { userId, email } = await staff()
    await staff('otto')
    await require({ breakGlass: [email] })
    const weak = await passwordSignIn(email)
    assert.equal(codeOf(await get('/v3/admin/teams', weak.access)), 'sign_in_required')
    const factor = await addSecondFactor(api, userId)
    const { access } = await passwordSignIn(email, otpOf(factor.secret))
    assert.equal((await get('/v3/admin/teams', access)).statusCode, 200)
    const { rows } = await sql`select actor from audit_entries where action = 'staff.break_glass'`.execute(
      owner(),
    )
    assert.deepEqual(rows, [{ actor: `user:${userId}` }])
    const { rows: mails } =
      await sql`select recipient from mails where template = 'team-sign-in' order by recipient`.execute(
        owner(),
      )
    assert.deepEqual(mails, [{ recipient: email }, { recipient: 'otto@home.example' }])
  })
})

describe('a break-glass account that adds its first second factor', () => {
  it('has its rights once it has signed in with it, which is reported', async () => {
    const { userId, email } = await staff()
    await require({ breakGlass: [email] })
    const { access } = await openSession(api, userId, home.teamId)
    const begun = await post('/v3/session/totp', { current_password: testPassword }, as(access))
    assert.equal(begun.statusCode, 200, begun.body)
    const otp = otpOf(begun.json().secret)
    const added = await post('/v3/session/totp/confirm', { otp }, as(access))
    assert.equal(added.statusCode, 200, added.body)
    assert.equal(codeOf(await get('/v3/admin/teams', added.json().access)), 'sign_in_required')
  })
})

describe('pharos staff sign-in', () => {
  it('gives the rights back, audited', async () => {
    const { userId } = await staff()
    await require()
    const { access } = await openSession(api, userId, home.teamId)
    assert.equal(codeOf(await get('/v3/admin/teams', access)), 'sign_in_required')
    assert.match(
      await runCommand(api.database, staffCommand, 'sign-in', 'optional'),
      /^Staff have their rights/,
    )
    await waitFor(
      'the setting in this process',
      async () => (await get('/v3/admin/teams', access)).statusCode === 200,
    )
    assert.match(await runCommand(api.database, staffCommand, 'sign-in', 'optional'), /No change/)
  })
})
