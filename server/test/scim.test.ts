// SCIM over HTTP: who becomes a member, with which roles, who is removed, and what a token of one team can never do.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import Fastify from 'fastify'
import { sql } from 'kysely'
import type { Member } from '@pharos/contract/team/member'
import type { Provider } from '@pharos/contract/team/provider'
import { followRedirects, startOidc, type TestOidc, type TestPerson } from '../src/drivers/oidc/testing.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { redirectUriOf } from '../src/identity/open-provider.ts'
import { scimApi } from '../src/scim/scim.routes.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { addProvider, proveByProvider, providerKeys, type TestProvider } from './support/identity.ts'
import { addScimToken, scimCaller } from './support/scim.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let idp: TestOidc
let provider: TestProvider
let scim: ReturnType<typeof scimCaller>
let admin: { readonly userId: number; readonly access: string }

const owner = () => api.database.postgres.owner
const membersMax = 60

before(async () => {
  api = await createTestApi({
    PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8',
    PHAROS_MEMBERS_PER_TEAM: String(membersMax),
  })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  idp = await startOidc({ redirectUris: providerKeys.map((key) => redirectUriOf(api.shared.publicUrl, key)) })
})
after(async () => {
  await idp[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await sql`delete from identity_providers`.execute(owner())
  await sql`delete from users`.execute(owner())
  await sql`delete from invitations`.execute(owner())
  await sql`delete from mails`.execute(owner())
  await sql`delete from audit_entries`.execute(owner()).catch(() => {})
  provider = await addProvider(api, red, { ...idp, domain: 'red.example', defaultRoles: [] })
  await map('net-ops', '{network,dns}')
  await map('admins', '{admin}')
  scim = scimCaller(api, await addScimToken(api, red, provider))
  const { userId } = await addUser(api, 'boss', [red], { admin: true })
  admin = { userId, ...(await openSession(api, userId, red.teamId)) }
})

const map = (group: string, roles: string, at = provider) =>
  sql`insert into provider_mappings (provider_id, group_name, roles) values (${at.id}, ${group}, ${roles}::text[])`.execute(
    owner(),
  )

const userOf = (name: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@red.example`,
  name: { givenName: name, familyName: 'Berg' },
  emails: [{ primary: true, type: 'work', value: `${name}@red.example` }],
  active: true,
  ...more,
})

async function send(
  method: Parameters<typeof scim>[0],
  path: string,
  payload?: object,
  status = 200,
  call = scim,
) {
  const response = await call(method, path, payload)
  assert.equal(response.statusCode, status, `${method} ${path}: ${response.body}`)
  const body: unknown = response.body === '' ? {} : response.json()
  return body as Record<string, unknown> & { id: string }
}

const addPerson = async (name: string, more?: object, call = scim): Promise<string> =>
  (await send('POST', '/Users', userOf(name, more), 201, call)).id
const addGroup = async (displayName: string, ids: readonly string[], call = scim): Promise<string> =>
  (await send('POST', '/Groups', { displayName, members: ids.map((value) => ({ value })) }, 201, call)).id

async function rolesOf(email: string, { teamId } = red): Promise<string[] | null> {
  const { rows } = await sql<{ roles: string[] }>`
    select m.roles from memberships m join users u on u.id = m.user_id where m.team_id = ${teamId} and u.email = ${email}`.execute(
    owner(),
  )
  return rows[0]?.roles ?? null
}
const accountOf = async (email: string) =>
  (
    await sql<{ id: number; password_hash: string | null; display_name: string; email: string }>`
      select id, password_hash, display_name, email from users where email = ${email}`.execute(owner())
  ).rows[0]

const active = (value: unknown) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'Replace', path: 'active', value }],
})

const signIn = async (person: TestPerson) => {
  const post = (url: string, payload: object, headers = {}) =>
    api.server.inject({ method: 'POST', url, payload, headers })
  const started = await post('/v3/session/sso', { provider: provider.key })
  const cookie = String(started.headers['set-cookie']).split(';')[0]!
  idp.person = person
  const answer = await followRedirects(started.json().redirect as string, provider.redirectUri)
  return post('/v3/session/sso/complete', { provider: provider.key, ...answer }, { cookie })
}
const personOf = (name: string): TestPerson => ({
  sub: `${name}-1`,
  email: `${name}@red.example`,
  email_verified: true,
})

describe('a person', () => {
  it('becomes a member with the roles of their groups, without a password', async () => {
    const id = await addPerson('anna')
    assert.equal(await accountOf('anna@red.example'), undefined)
    await addGroup('net-ops', [id])
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns'])
    const account = await accountOf('anna@red.example')
    assert.deepEqual([account?.password_hash, account?.display_name], [null, 'anna Berg'])
    await addGroup('admins', [id])
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns', 'admin'])
    const members = await api.server.inject({
      url: '/v3/teams/current/members?email=anna',
      headers: { authorization: `Bearer ${admin.access}` },
    })
    assert.equal((members.json().results as Member[])[0]!.roles_source, 'scim')
    const signedIn = await signIn(personOf('anna'))
    assert.equal(signedIn.statusCode, 200, signedIn.body)
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns', 'admin'])
  })

  it('without a group has the roles of the provider, and becomes no member if it has none', async () => {
    await addPerson('anna')
    assert.equal(await rolesOf('anna@red.example'), null)
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    await addPerson('ben')
    assert.deepEqual(await rolesOf('ben@red.example'), ['reader'])
  })

  it('who loses the last group with roles is removed, and comes back with another', async () => {
    const id = await addPerson('anna')
    const group = await addGroup('net-ops', [id])
    const removed = [{ op: 'remove', path: `members[value eq "${id}"]` }]
    await send('PATCH', `/Groups/${group}`, { Operations: removed })
    assert.equal(await rolesOf('anna@red.example'), null)
    const added = [{ op: 'add', path: 'members', value: [{ value: id }] }]
    await send('PATCH', `/Groups/${group}`, { Operations: added })
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns'])
    await send('DELETE', `/Groups/${group}`, undefined, 204)
    assert.equal(await rolesOf('anna@red.example'), null)
  })

  it('of whom an admin changes the mapping follows at once', async () => {
    const id = await addPerson('anna')
    await addGroup('net-ops', [id])
    const change = (body: object) =>
      api.server.inject({
        method: 'PATCH',
        url: `/v3/teams/current/providers/${provider.id}`,
        headers: { authorization: `Bearer ${admin.access}` },
        payload: body,
      })
    const changed = await change({ mappings: [{ group: 'net-ops', roles: ['billing'] }] })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.deepEqual(await rolesOf('anna@red.example'), ['billing'])
    await change({ mappings: [] })
    assert.equal(await rolesOf('anna@red.example'), null)
    await change({ default_roles: ['reader'] })
    assert.deepEqual(await rolesOf('anna@red.example'), ['reader'])
  })

  it('has roles by the external id of a group too, compared byte by byte', async () => {
    await map('0f8fad5b-d9cb-469f-a165-70867728950e', '{billing}')
    await map('Ops "A" ]=*\\', '{reader}')
    const id = await addPerson('anna')
    await send('POST', '/Groups', { displayName: 'NET-OPS', members: [{ value: id }] }, 201)
    assert.equal(await rolesOf('anna@red.example'), null)
    const members = [{ value: id }]
    const group = { displayName: 'Billing', externalId: '0f8fad5b-d9cb-469f-a165-70867728950e', members }
    await send('POST', '/Groups', group, 201)
    assert.deepEqual(await rolesOf('anna@red.example'), ['billing'])
    await addGroup('Ops "A" ]=*\\', [id])
    assert.deepEqual(await rolesOf('anna@red.example'), ['reader', 'billing'])
    await addGroup(group.externalId, [await addPerson('mallory')])
    assert.equal(await rolesOf('mallory@red.example'), null, 'a name that is the id of another group')
  })
})

describe('a leaver', () => {
  for (const [how, leave] of Object.entries({
    'with active false': (id: string) => send('PATCH', `/Users/${id}`, active(false)),
    'with the text False': (id: string) => send('PATCH', `/Users/${id}`, active('False')),
    'by PUT': (id: string) => send('PUT', `/Users/${id}`, userOf('anna', { active: false })),
    'by DELETE': (id: string) => send('DELETE', `/Users/${id}`, undefined, 204),
  }))
    it(`${how} loses the membership with everything that it holds`, async () => {
      const id = await addPerson('anna')
      await addGroup('admins', [id])
      const { id: userId } = (await accountOf('anna@red.example'))!
      const session = await openSession(api, userId, red.teamId)
      await proveByProvider(api, session.sessionId, provider)
      const token = await addApiToken(api, red.teamId)
      await sql`update api_tokens set created_by = ${userId} where id = ${token.split('_')[1]!}`.execute(
        owner(),
      )
      const invite = (email: string, inviter: number) =>
        sql`
        insert into invitations (id, team_id, email, is_admin, roles, token_mac, invited_by, inviter, inviter_name, expires)
        values (nextval('member_ids'), ${red.teamId}, ${email}, false, '{reader}', '\\x00', ${inviter}, ${`user:${inviter}`}, '', now() + interval '1 day')`.execute(
          owner(),
        )
      await invite('friend@red.example', userId)
      await leave(id)
      assert.equal(await rolesOf('anna@red.example'), null)
      const get = (authorization: string) =>
        api.server.inject({ url: '/v3/teams/current', headers: { authorization } })
      assert.equal((await get(`Bearer ${session.access}`)).statusCode, 401)
      assert.equal((await get(`Token ${token}`)).statusCode, 401)
      const { rows } = await sql`select from invitations`.execute(owner())
      assert.equal(rows.length, 0)
      const { rows: proofs } = await sql`
        select from session_proofs p join sessions s on s.id = p.session_id where s.user_id = ${userId} and p.expires > now()`.execute(
        owner(),
      )
      assert.equal(proofs.length, 0)
      assert.equal((await signIn(personOf('anna'))).json().errors[0].ctx.reason, 'not_assigned')
    })

  it('does not come back by an invitation that was open, and by signing in not even when SCIM is off', async () => {
    const id = await addPerson('anna')
    const group = await addGroup('net-ops', [id])
    await send('DELETE', `/Groups/${group}`, undefined, 204)
    await sql`
      insert into invitations (id, team_id, email, is_admin, roles, token_mac, invited_by, inviter, inviter_name, expires)
      values (nextval('member_ids'), ${red.teamId}, 'anna@red.example', false, '{reader}', '\\x00', ${admin.userId}, ${`user:${admin.userId}`}, '', now() + interval '1 day')`.execute(
      owner(),
    )
    await send('PATCH', `/Users/${id}`, active(false))
    assert.equal((await sql`select from invitations`.execute(owner())).rows.length, 0)
    await sql`delete from scim_tokens`.execute(owner())
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    assert.equal((await signIn(personOf('anna'))).json().errors[0].ctx.reason, 'not_assigned')
    assert.equal((await signIn(personOf('ben'))).statusCode, 200)
  })

  for (const [what, change] of Object.entries({
    'the mailbox of whom is gone': { emails: [{ type: 'work', value: '' }], userName: 'anna' },
    'without a name': { emails: [], userName: '' },
    'who gets an address elsewhere': { emails: [{ value: 'anna@green.example' }] },
  }))
    it(`${what} is removed by the same request`, async () => {
      const id = await addPerson('anna')
      await addGroup('net-ops', [id])
      const left = await send('PUT', `/Users/${id}`, userOf('anna', { ...change, active: false }))
      assert.equal(await rolesOf('anna@red.example'), null)
      assert.deepEqual(
        (left as unknown as { emails: { value: string }[] }).emails[0]?.value,
        'anna@red.example',
      )
      assert.equal((await scim('PUT', `/Users/${id}`, userOf('anna', change))).statusCode, 400)
    })

  it('does not come back by an invitation to the former address or that of the account; others stay', async () => {
    const id = await addPerson('anna')
    await addGroup('net-ops', [id])
    await sql`update users set email = 'anna@home.example', password_hash = 'x' where email = 'anna@red.example'`.execute(
      owner(),
    )
    for (const email of ['anna@red.example', 'Anna@home.example', 'former@red.example', 'x@green.example'])
      await sql`
        insert into invitations (id, team_id, email, is_admin, roles, token_mac, invited_by, inviter, inviter_name, expires)
        values (nextval('member_ids'), ${red.teamId}, ${email}, false, '{reader}', '\\x00', ${admin.userId}, ${`user:${admin.userId}`}, '', now() + interval '1 day')`.execute(
        owner(),
      )
    const invited = async () =>
      (await owner().selectFrom('invitations').select('email').orderBy('email').execute()).map(
        (one) => one.email,
      )
    await send('PUT', `/Users/${id}`, userOf('former', { active: false }))
    assert.deepEqual(await invited(), ['x@green.example'])
    await send(
      'PUT',
      `/Users/${id}`,
      userOf('former', { active: false, emails: [{ value: 'x@green.example' }] }),
    )
    assert.deepEqual(await invited(), ['x@green.example'])
  })

  it('who was no member does not join by the domain, also if the provider is disabled', async () => {
    await sql`update domains set auto_join = true where domain = 'red.example'`.execute(owner())
    await sql`update identity_providers set status = 'disabled'`.execute(owner())
    await addUser(api, 'owned', [{ ...blue, slug: 'red' }])
    await addPerson('owned', { active: false })
    await api.signIn('owned@red.example')
    assert.equal(await rolesOf('owned@red.example'), null)
    await sql`delete from scim_tokens`.execute(owner())
    await api.signIn('owned@red.example')
    assert.notEqual(await rolesOf('owned@red.example'), null)
    await sql`update domains set auto_join = false`.execute(owner())
  })

  it('may be the last admin: staff get a mail', async () => {
    await sql`delete from memberships`.execute(owner())
    await addUser(api, 'staff', [blue], { staff: true })
    const id = await addPerson('anna')
    await addGroup('admins', [id])
    await send('PATCH', `/Users/${id}`, active(false))
    assert.equal(await rolesOf('anna@red.example'), null)
    const mails = await owner().selectFrom('mails').select(['template', 'recipient']).execute()
    assert.deepEqual(mails, [{ template: 'team-sign-in', recipient: 'staff@blue.example' }])
  })

  it('who returns has the former account', async () => {
    const id = await addPerson('anna')
    await addGroup('net-ops', [id])
    const before = await accountOf('anna@red.example')
    await send('PATCH', `/Users/${id}`, active(false))
    await send('PATCH', `/Users/${id}`, active('True'))
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns'])
    assert.deepEqual(await accountOf('anna@red.example'), before)
  })
})

describe('members that SCIM did not make', () => {
  it('are never touched', async () => {
    await addUser(api, 'anna', [red], { roles: ['editor'] })
    const id = await addPerson('anna')
    await addGroup('admins', [id])
    assert.deepEqual(await rolesOf('anna@red.example'), ['editor'])
    await send('PATCH', `/Users/${id}`, active(false))
    await send('DELETE', `/Users/${id}`, undefined, 204)
    assert.deepEqual(await rolesOf('anna@red.example'), ['editor'])
  })

  it('are adopted if signing in with the provider had made them', async () => {
    await sql`delete from scim_tokens`.execute(owner())
    await signIn({ ...personOf('anna'), groups: ['net-ops'] })
    scim = scimCaller(api, await addScimToken(api, red, provider))
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns'])
    const id = await addPerson('anna')
    await addGroup('admins', [id])
    assert.deepEqual(await rolesOf('anna@red.example'), ['admin'])
    await send('PATCH', `/Users/${id}`, active(false))
    assert.equal(await rolesOf('anna@red.example'), null)
  })

  it('keep roles that an admin has set, and are removed with the rest', async () => {
    const id = await addPerson('anna')
    const group = await addGroup('net-ops', [id])
    await sql`update memberships set roles = '{reader}', roles_source = 'manual' where user_id <> ${admin.userId}`.execute(
      owner(),
    )
    await addGroup('admins', [id])
    assert.deepEqual(await rolesOf('anna@red.example'), ['reader'])
    await send('DELETE', `/Groups/${group}`, undefined, 204)
    assert.deepEqual(await rolesOf('anna@red.example'), ['reader'])
    await send('PATCH', `/Users/${id}`, active(false))
    assert.equal(await rolesOf('anna@red.example'), null)
  })

  it('do not come back if an admin has removed them', async () => {
    const id = await addPerson('anna')
    const group = await addGroup('net-ops', [id])
    const listed = await api.server.inject({
      url: '/v3/teams/current/members?email=anna',
      headers: { authorization: `Bearer ${admin.access}` },
    })
    const member = (listed.json().results as Member[])[0]!
    const removed = await api.server.inject({
      method: 'DELETE',
      url: `/v3/teams/current/members/${member.id}`,
      headers: { authorization: `Bearer ${admin.access}` },
    })
    assert.equal(removed.statusCode, 204, removed.body)
    await send('PATCH', `/Users/${id}`, active(false))
    await send('PATCH', `/Users/${id}`, active(true))
    await send('PUT', `/Groups/${group}`, { displayName: 'net-ops', members: [{ value: id }] })
    await send('DELETE', `/Users/${id}`, undefined, 204)
    const again = await addPerson('anna')
    await addGroup('admins', [again])
    assert.equal(await rolesOf('anna@red.example'), null)
  })
})

describe('the answer to POST', () => {
  it('is the same whether or not an account exists, for staff and for members', async () => {
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    await addUser(api, 'member', [red])
    await addUser(api, 'chief', [red], { staff: true })
    await addUser(api, 'owned', [{ ...blue, slug: 'red' }])
    await sql`delete from memberships where team_id = ${red.teamId} and user_id <> ${admin.userId}`.execute(
      owner(),
    )
    const answers = await Promise.all(
      ['member', 'chief', 'owned', 'nobody'].map(async (name) => {
        const response = await scim('POST', '/Users', userOf(name))
        const { id: _, meta: __, ...rest } = response.json() as Record<string, unknown>
        const text = JSON.stringify(rest).replaceAll(name, 'NAME')
        return [response.statusCode, text, Object.keys(response.headers).toSorted().join()].join('\n')
      }),
    )
    assert.equal(new Set(answers).size, 1, answers.join('\n\n'))
    assert.equal(await rolesOf('chief@red.example'), null, 'staff are refused')
    assert.deepEqual(await rolesOf('owned@red.example'), ['reader'])
  })

  it('leaves an account with a password to its owner: linking the identity asks the mailbox', async () => {
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    await addUser(api, 'owned', [{ ...blue, slug: 'red' }])
    const id = await addPerson('owned')
    await send(
      'PUT',
      `/Users/${id}`,
      userOf('owned', { displayName: 'Taken over', emails: [{ value: 'new@red.example' }] }),
    )
    const account = await accountOf('owned@red.example')
    assert.ok(account)
    assert.notEqual(account.display_name, 'Taken over')
    const reason = async () => (await signIn(personOf('owned'))).json().errors[0].ctx.reason as string
    assert.equal(await reason(), 'linked_elsewhere')
    await sql`update memberships set roles_source = 'manual' where user_id = ${account.id}`.execute(owner())
    assert.equal(await reason(), 'linked_elsewhere', 'also when an admin has set the roles')
  })

  it('is the same for an address whose account another user of the provider has, who becomes no member', async () => {
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    await addUser(api, 'owned', [{ ...blue, slug: 'red' }])
    const former = await addPerson('owned')
    await send('PUT', `/Users/${former}`, userOf('renamed'))
    const next = await addPerson('owned')
    await addGroup('net-ops', [former, next])
    assert.deepEqual(await rolesOf('owned@red.example'), ['network', 'dns'])
    await send('DELETE', `/Users/${next}`, undefined, 204)
    assert.deepEqual(await rolesOf('owned@red.example'), ['network', 'dns'])
    await send('DELETE', `/Users/${former}`, undefined, 204)
    assert.equal(await rolesOf('owned@red.example'), null)
    await addPerson('owned')
    assert.deepEqual(await rolesOf('owned@red.example'), ['reader'])
  })

  it('is 409 for a user of the provider only', async () => {
    await addPerson('anna')
    assert.equal((await scim('POST', '/Users', userOf('ANNA'))).json().scimType, 'uniqueness')
    await addGroup('net-ops', [])
    assert.equal((await scim('POST', '/Groups', { displayName: 'net-ops' })).statusCode, 409)
  })
})

describe('an address', () => {
  it('is in a domain that is verified and bound to the provider, whenever it is set or someone returns', async () => {
    const refused = async (response: ReturnType<typeof scim>) => {
      const { statusCode, body } = await response
      assert.equal(statusCode, 400, body)
      assert.equal(JSON.parse(body).scimType, 'invalidValue')
    }
    const elsewhere = { emails: [{ value: 'anna@blue.example' }] }
    await refused(scim('POST', '/Users', userOf('anna', elsewhere)))
    const id = await addPerson('anna')
    await refused(scim('PUT', `/Users/${id}`, userOf('anna', elsewhere)))
    const path = 'emails[type eq "work"].value'
    const Operations = [{ op: 'Replace', path, value: 'anna@sub.red.example' }]
    await refused(scim('PATCH', `/Users/${id}`, { Operations }))
    await send('PATCH', `/Users/${id}`, active(false))
    await sql`update domains set verified = null where team_id = ${red.teamId}`.execute(owner())
    await refused(scim('PATCH', `/Users/${id}`, active(true)))
    await send('DELETE', `/Users/${id}`, undefined, 204)
    assert.equal((await sql`select from users where email like '%blue%'`.execute(owner())).rows.length, 0)
  })

  it('that another user has keeps nobody who leaves', async () => {
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    await addPerson('anna')
    const id = await addPerson('anne')
    const left = await send('PUT', `/Users/${id}`, userOf('anna', { active: false }))
    assert.equal((left as unknown as { userName: string }).userName, 'anne@red.example')
    assert.equal(await rolesOf('anne@red.example'), null)
  })

  it('of an account that nobody else decides on follows, unless another account has it', async () => {
    await sql`update identity_providers set default_roles = '{reader}'`.execute(owner())
    const id = await addPerson('anna')
    const { id: userId } = (await accountOf('anna@red.example'))!
    await send('PUT', `/Users/${id}`, userOf('anne', { displayName: 'Anne' }))
    assert.deepEqual(await accountOf('anne@red.example'), {
      id: userId,
      password_hash: null,
      display_name: 'Anne',
      email: 'anne@red.example',
    })
    await addUser(api, 'taken', [{ ...blue, slug: 'red' }])
    const moved = await send('PUT', `/Users/${id}`, userOf('taken'))
    assert.equal((moved as unknown as { emails: { value: string }[] }).emails[0]!.value, 'taken@red.example')
    assert.equal((await accountOf('anne@red.example'))?.id, userId)
  })
})

describe('a token', () => {
  it('opens its own provider only', async () => {
    const id = await addPerson('anna')
    const group = await addGroup('net-ops', [id])
    const second = await addProvider(api, red, { domain: 'second.example' })
    const other = await addProvider(api, blue, { domain: 'blue.example', defaultRoles: ['reader'] })
    for (const [team, at] of [
      [red, second],
      [blue, other],
    ] as const) {
      const call = scimCaller(api, await addScimToken(api, team, at))
      for (const path of [`/Users/${id}`, `/Groups/${group}`]) {
        assert.equal((await call('GET', path)).statusCode, 404)
        assert.equal((await call('DELETE', path)).statusCode, 404)
        assert.equal((await call('PATCH', path, active(false))).statusCode, 404)
      }
      assert.equal((await call('PUT', `/Users/${id}`, userOf('x'))).statusCode, 404)
      const foreign = await call('POST', '/Groups', { displayName: 'g', members: [{ value: id }] })
      assert.equal(foreign.json().scimType, 'invalidValue')
      assert.equal((await call('GET', '/Users')).json().totalResults, 0)
      assert.equal((await call('POST', '/Users', userOf('eve'))).statusCode, 400)
    }
    assert.deepEqual(await rolesOf('anna@red.example'), ['network', 'dns'])
  })

  it('is no credential of the API, and no other credential opens SCIM', async () => {
    const token = await addScimToken(api, red, await addProvider(api, red))
    for (const scheme of ['Bearer', 'Token']) {
      const response = await api.server.inject({
        url: '/v3/teams/current',
        headers: { authorization: `${scheme} ${token}` },
      })
      assert.equal(response.statusCode, 401)
    }
    const others = [await addApiToken(api, red.teamId), admin.access, 'phscim_', `${token}x`]
    for (const other of others) {
      const response = await scimCaller(api, other)('GET', '/Users')
      assert.equal(response.statusCode, 401)
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="pharos"')
      assert.deepEqual(response.json().schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
    }
  })

  it('is created, rotated with overlap, and turned off in the portal', async () => {
    const url = `/v3/teams/current/providers/${provider.id}`
    const call = async (method: 'GET' | 'POST' | 'DELETE', path = '/scim-token', payload?: object) => {
      const response = await api.server.inject({
        method,
        url: url + path,
        headers: { authorization: `Bearer ${admin.access}` },
        ...(payload ? { payload } : {}),
      })
      return { status: response.statusCode, body: response.body === '' ? null : response.json() }
    }
    assert.equal((await call('DELETE')).status, 204)
    assert.equal((await call('DELETE')).status, 404)
    assert.equal((await call('GET', '')).body.scim, null)
    const { token, base_url: base } = (await call('POST')).body as { token: string; base_url: string }
    assert.match(token, /^phscim_[a-z2-7]{12}_/)
    assert.match(base, /\/scim\/v2$/)
    const statusOf = async (text: string) => (await scimCaller(api, text)('GET', '/Users')).statusCode
    assert.equal(await statusOf(token), 200)
    const next = (await call('POST', '/scim-token', { overlap_hours: 1 })).body.token as string
    assert.deepEqual([await statusOf(token), await statusOf(next)], [200, 200])
    const last = (await call('POST', '/scim-token', { overlap_hours: 0, allowed_subnets: ['192.0.2.0/24'] }))
      .body
    assert.deepEqual([await statusOf(token), await statusOf(next)], [401, 401])
    assert.equal(await statusOf(last.token as string), 401, 'from another network')
    const { scim: shown } = (await call('GET', '')).body as Provider
    assert.deepEqual([shown!.allowed_subnets, shown!.previous_secret_until], [['192.0.2.0/24'], null])
    assert.equal((await call('DELETE')).status, 204)
  })
})

describe('the protocol', () => {
  it('pages, filters and projects', async () => {
    for (const name of ['anna', 'ben', 'cleo']) await addPerson(name, { externalId: `x-${name}` })
    const list = async (query: string) =>
      (await send('GET', `/Users?${query}`)) as unknown as {
        totalResults: number
        startIndex: number
        Resources: { userName: string }[]
      }
    const page = await list('startIndex=2&count=1')
    assert.deepEqual([page.totalResults, page.startIndex, page.Resources.length], [3, 2, 1])
    assert.equal((await list('startIndex=-3&count=-1')).Resources.length, 0)
    for (const filter of [
      'userName eq "BEN@red.example"',
      'externalId eq "x-ben"',
      'emails.value eq "ben@red.example" and active eq true',
      '(userName eq "ben@red.example") and (externalId eq "x-ben")',
    ]) {
      const { Resources } = await list(`filter=${encodeURIComponent(filter)}`)
      assert.deepEqual(
        Resources.map(({ userName }) => userName),
        ['ben@red.example'],
        filter,
      )
    }
    const { Resources } = await list('count=1&attributes=userName')
    assert.deepEqual(Object.keys(Resources[0]!).toSorted(), ['id', 'schemas', 'userName'])
    const id = await addPerson('dora')
    const group = await addGroup('big', [id])
    assert.equal('members' in (await send('GET', `/Groups/${group}?excludedAttributes=members`)), false)
    const asked = encodeURIComponent(`id eq "${group}" and members eq "${id}"`)
    assert.equal((await send('GET', `/Groups?filter=${asked}`))['totalResults'], 1)
  })

  it('has versions', async () => {
    const id = await addPerson('anna')
    const first = await scim('GET', `/Users/${id}`)
    assert.equal(first.headers.etag, 'W/"1"')
    assert.equal((first.json() as { meta: { version: string } }).meta.version, 'W/"1"')
    const known = await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': 'W/"1"' })
    assert.equal(known.statusCode, 304)
    const changed = await scim('PATCH', `/Users/${id}`, active(false), { 'if-match': 'W/"1"' })
    assert.equal(changed.headers.etag, 'W/"2"')
    const late = await scim('PATCH', `/Users/${id}`, active(true), { 'if-match': 'W/"1"' })
    assert.equal(late.statusCode, 412)
  })

  it('is described', async () => {
    for (const path of [
      '/ServiceProviderConfig',
      '/ResourceTypes',
      '/ResourceTypes/User',
      '/Schemas',
      '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User',
    ]) {
      const response = await scim('GET', path)
      assert.equal(response.statusCode, 200, path)
      assert.match(String(response.headers['content-type']), /^application\/scim\+json/)
    }
  })

  it('answers bad input with its own errors', async () => {
    const typeOf = async (response: ReturnType<typeof scim>) => {
      const { statusCode, body, headers } = await response
      assert.match(String(headers['content-type']), /^application\/scim\+json/, body)
      return `${statusCode} ${(JSON.parse(body) as { scimType?: string }).scimType ?? '-'}`
    }
    const filter = (text: string) => typeOf(scim('GET', `/Users?filter=${encodeURIComponent(text)}`))
    assert.equal(await filter(Array(10_000).fill('id eq "1"').join(' and ')), '400 invalidFilter')
    assert.equal(await filter('('.repeat(1_000)), '400 invalidFilter')
    assert.equal(await filter('userName sw "a"'), '400 invalidFilter')
    assert.equal(await filter('password eq "a"'), '400 invalidFilter')
    assert.equal(await filter('userName eq "\\u0000"'), '400 invalidFilter')
    const post = (body: object | string, headers = {}) => typeOf(scim('POST', '/Users', body, headers))
    assert.equal(await post({ ...userOf('anna'), userName: null }), '400 invalidValue')
    assert.equal(await post('{"userName":'), '400 invalidSyntax')
    assert.equal(await post('[]'), '400 invalidSyntax')
    assert.equal(await post('{"userName":"a\\u0000@red.example"}'), '400 invalidSyntax')
    assert.equal(await post({ ...userOf('a'), username: 'b@red.example' }), '400 invalidSyntax')
    assert.equal(await post({ ...userOf('a'), active: 'perhaps' }), '400 invalidValue')
    assert.equal(await post(userOf('a\u0007b')), '400 invalidValue')
    assert.equal(await post({ ...userOf('a'), emails: [{ value: 'a@b@red.example' }] }), '400 invalidValue')
    assert.equal(await post('x'.repeat(4 * 1024 * 1024)), '413 -')
    assert.equal(await post('a=b', { 'content-type': 'text/plain' }), '415 -')
    assert.equal(await typeOf(scim('GET', '/Users/1')), '404 -')
    assert.equal(await typeOf(scim('GET', '/Nothing')), '404 -')
    assert.equal(await typeOf(scim('PATCH', '/Users/1', { Operations: [] })), '400 invalidSyntax')
    const id = await addPerson('anna')
    const patch = (operation: object) => typeOf(scim('PATCH', `/Users/${id}`, { Operations: [operation] }))
    assert.equal(await patch({ op: 'move', path: 'active', value: true }), '400 invalidSyntax')
    assert.equal(await patch({ op: 'replace', path: 'emails[', value: 'x' }), '400 invalidPath')
    assert.equal(await patch({ op: 'remove' }), '400 noTarget')
    assert.equal(await patch({ op: 'remove', path: 'userName' }), '400 invalidValue')
    const group = (members: unknown) => typeOf(scim('POST', '/Groups', { displayName: 'g', members }))
    assert.equal(await group([{ value: 'x' }]), '400 invalidValue')
    assert.equal(await group(Array.from({ length: 20_001 }, () => ({ value: id }))), '400 tooMany')
  })

  it('answers 503 while the database is away, never 404: the identity provider would create the user again', async () => {
    await using postgres = await openPostgres({
      databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
      dataDir: '',
    })
    const server = Fastify()
    server.decorate('publicUrl', '').decorateRequest('actor', null)
    const facade = scimApi({
      ...api.shared,
      db: postgres.front,
      postgres,
      membersPerTeam: membersMax,
      rate: { perSecond: 100, burst: 100 },
      onUseError: () => {},
      onRequest: () => {},
    })
    if ('addRoutes' in facade) facade.addRoutes(server)
    const call = scimCaller(
      { ...api, server: server as never },
      await addScimToken(api, blue, await addProvider(api, blue)),
    )
    for (const method of ['GET', 'DELETE'] as const) {
      const response = await call(method, '/Users/0f8fad5b-d9cb-469f-a165-70867728950e')
      assert.equal(response.statusCode, 503, response.body)
      assert.deepEqual(response.json().schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
    }
    await server.close()
  })

  it('reads two pages of a team at a time, of which each may be large; others wait, up to a limit', async () => {
    await addGroup('net-ops', [])
    const release = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holding = owner()
      .transaction()
      .execute(async (trx) => {
        await sql`lock table scim_groups in access exclusive mode`.execute(trx)
        locked.resolve()
        await release.promise
      })
    await locked.promise
    const answers = Array.from({ length: 105 }, () => scim('GET', '/Groups'))
    const refused = answers.map((one) =>
      one.then(({ statusCode }) => statusCode === 503 && release.resolve()),
    )
    await Promise.all([holding, ...refused])
    const statuses = Map.groupBy(await Promise.all(answers), ({ statusCode }) => statusCode)
    assert.deepEqual([statuses.get(200)?.length, statuses.get(503)?.length], [102, 3])
    assert.equal(statuses.get(503)![0]!.headers['retry-after'], '1')
  })

  it('refuses a group for which the team has no room, as a whole', async () => {
    const ids = []
    for (let number = 0; number < membersMax; number += 1) ids.push(await addPerson(`p${number}`))
    const response = await scim('POST', '/Groups', {
      displayName: 'net-ops',
      members: ids.map((value) => ({ value })),
    })
    assert.equal(response.statusCode, 403, response.body)
    assert.equal(
      (await sql`select from memberships where team_id = ${red.teamId}`.execute(owner())).rows.length,
      1,
    )
    await addGroup('net-ops', ids.slice(1))
    assert.equal(
      (await sql`select from memberships where team_id = ${red.teamId}`.execute(owner())).rows.length,
      membersMax,
    )
  })
})
