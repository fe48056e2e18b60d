// Everything that opens a team is in its access review, and nothing of another team.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { reviewedKinds, type ReviewedAccount } from '@pharos/contract/operator/access-review'
import type { ReviewedAccess } from '@pharos/contract/team/access-review'
import { sql } from 'kysely'
import { parseApiToken } from '../src/session/api-token-format.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, addStaffToken, openSession } from './support/credentials.ts'
import { addProvider } from './support/identity.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let adminId: number
let authorization: string

const owner = () => api.database.postgres.owner

async function send(url: string, payload?: object) {
  const method = payload ? 'POST' : 'GET'
  const answer = await api.server.inject({
    method,
    url,
    headers: { authorization },
    ...(payload && { payload }),
  })
  assert.ok(answer.statusCode < 300, answer.body)
  return answer
}
const review = async (query = ''): Promise<ReviewedAccess[]> =>
  (await send(`/v3/teams/current/access-review?${query}`)).json().results

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  adminId = (await addUser(api, 'admin', [red], { admin: true })).userId
  authorization = `Bearer ${(await openSession(api, adminId, red.teamId)).access}`
  for (const team of [red, blue]) await addApiToken(api, team.teamId, { scopes: ['dns:read'], idleDays: 100 })
  await addUser(api, 'foreign', [blue], { admin: true })
})
after(() => api[Symbol.asyncDispose]())

describe('the access review of a team', () => {
  it('lists members, invitations, service accounts, API tokens and TSIG keys', async () => {
    await send('/v3/teams/current/members', { email: 'new@elsewhere.example', roles: ['network'] })
    const { id } = (await send('/v3/service-accounts', { name: 'backup', roles: ['dns'] })).json()
    const scopes = ['dns:read', 'dns:write']
    await send('/v3/tokens', { name: 'of the account', scopes, service_account_id: id })
    const key = (
      await send('/v3/dns/tsig-keys', { label: 'nsupdate', may_update: true, may_transfer: false })
    ).json()
    const limited = await addApiToken(api, red.teamId, { isLimited: true, scopes: ['dns:write'] })
    const own = (await review()).map(({ kind, name, roles, is_admin, scopes, is_limited, created_by }) => [
      kind,
      name,
      roles,
      is_admin,
      scopes,
      is_limited,
      created_by,
    ])
    const by = `user:${adminId}`
    assert.deepEqual(
      own.filter(([, name]) => name !== 'test'),
      [
        ['member', 'admin@red.example', ['admin'], true, null, false, null],
        ['invitation', 'new@elsewhere.example', ['network'], false, null, false, by],
        ['service_account', 'backup', ['dns'], false, null, false, by],
        ['api_token', 'of the account', ['dns'], false, scopes, false, by],
        ['tsig_key', key.name, null, false, null, false, by],
      ],
    )
    assert.deepEqual(
      (await review('kind=api_token')).filter(({ is_limited }) => is_limited).map(({ id }) => id),
      [parseApiToken(limited)!.id],
    )
  })

  it('finds what was not used for some days', async () => {
    await sql`update memberships set joined = now() - interval '1 year'`.execute(owner())
    await sql`update dns_tsig_keys set created = now() - interval '1 year'`.execute(owner())
    const unused = async () => (await review('unused_days=90')).map(({ kind }) => kind)
    // The member has used a session today; the use of a TSIG key is not recorded.
    assert.deepEqual(await unused(), ['api_token'])
    await sql`update sessions set last_used = now() - interval '91 days'`.execute(owner())
    assert.deepEqual(await unused(), ['member', 'api_token'])
  })

  it('has a member with the second factor and the last use in this team', async () => {
    const member = async () => (await review('kind=member'))[0]!
    assert.equal((await member()).two_factor, false)
    await sql`update users set totp_enabled = now() where id = ${adminId}`.execute(owner())
    await sql`update session_proofs set strong = true`.execute(owner())
    assert.equal((await member()).two_factor, true)
    assert.deepEqual((await member()).sign_in, ['password'])
  })

  it('has how a member can sign in, without the identity providers of other teams', async () => {
    const person = await addUser(api, 'both', [red, blue])
    const methods = async () =>
      (await review('kind=member')).find(({ name }) => name === person.email)!.sign_in
    const [own, foreign] = [await addProvider(api, red), await addProvider(api, blue)]
    const link = ({ id }: { id: number }) =>
      sql`insert into user_identities (provider_id, subject, user_id, email)
        values (${id}, 'subject', ${person.userId}, ${person.email})`.execute(owner())
    await link(foreign)
    assert.deepEqual(await methods(), ['password'])
    await link(own)
    assert.deepEqual(await methods(), ['password', 'provider'])
    await sql`update users set password_hash = null, passkey_added = now() where id = ${person.userId}`.execute(
      owner(),
    )
    assert.deepEqual(await methods(), ['passkey', 'provider'])
    assert.equal((await review('kind=api_token'))[0]!.sign_in, null)
    const { rows } = await api.database.postgres.inTeam(red.teamId, (trx) =>
      sql<{
        methods: string[] | null
      }>`select member_sign_in(${person.userId}, ${blue.teamId}) as methods`.execute(trx),
    )
    assert.deepEqual(rows, [{ methods: null }], 'a team cannot ask for another one')
  })

  it('is a file with a line for each', async () => {
    const { body, headers } = await send('/v3/teams/current/access-review/csv?kind=api_token')
    const lines = body.trimEnd().split('\n')
    assert.match(String(headers['content-disposition']), /access-review\.csv/)
    assert.match(lines[0]!, /^kind,id,name,roles,is_admin,scopes,/)
    assert.equal(lines.length, 1 + (await review('kind=api_token')).length)
    assert.ok(
      lines.some((line) => /^api_token,[a-z2-7]{12},of the account,dns,false,dns:read dns:write,/.test(line)),
    )
  })
})

describe('the access review of the installation', () => {
  let staff: { userId: number; authorization: string }
  before(async () => {
    const { userId } = await addUser(api, 'boss', [], { staff: ['admin'] })
    const { access } = await openSession(api, userId, red.teamId)
    staff = { userId, authorization: `Bearer ${access}` }
    await addUser(api, 'viewer', [], { staff: ['reader'] })
    await addUser(api, 'nobody', [])
    await addStaffToken(api, { scopes: ['admin:read'] })
  })
  const get = (path: string, by = staff.authorization) =>
    api.server.inject({ url: `/v3/admin/access-review${path}`, headers: { authorization: by } })
  const rows = async (query = ''): Promise<ReviewedAccount[]> =>
    (await get(`?limit=1000${query}`)).json().results

  it('lists staff, members of any team and staff tokens, and no accounts without rights', async () => {
    const all = await rows()
    const named = (name: string) => all.find((row) => row.name === name)
    assert.deepEqual(
      [named('boss@nowhere.example')?.kind, named('boss@nowhere.example')?.staff_roles],
      ['staff', ['admin']],
    )
    assert.deepEqual(named('viewer@nowhere.example')?.staff_roles, ['reader'])
    assert.deepEqual(named('foreign@blue.example')?.teams, [
      { id: blue.teamId, slug: 'blue', name: 'Team blue', roles: ['admin'] },
    ])
    assert.equal(named('nobody@nowhere.example'), undefined)
    const token = all.find(({ kind }) => kind === 'staff_token')
    assert.deepEqual([token?.scopes, token?.teams, token?.two_factor], [['admin:read'], [], null])
    assert.ok(named('boss@nowhere.example')?.last_sign_in && !named('foreign@blue.example')?.last_sign_in)
    assert.deepEqual(
      all.map(({ kind }) => kind),
      all.map(({ kind }) => kind).toSorted((a, b) => reviewedKinds.indexOf(a) - reviewedKinds.indexOf(b)),
    )
  })

  it('is filtered by kind, team and use', async () => {
    assert.ok((await rows('&kind=staff')).every(({ kind }) => kind === 'staff'))
    const ofBlue = await rows(`&team_id=${blue.teamId}`)
    assert.ok(ofBlue.length > 0 && ofBlue.every(({ teams }) => teams.some(({ id }) => id === blue.teamId)))
    await sql`update users set created = now() - interval '1 year' where email = 'foreign@blue.example'`.execute(
      owner(),
    )
    assert.deepEqual(
      (await rows('&unused_days=300')).map(({ name }) => name),
      ['foreign@blue.example'],
    )
    assert.equal((await get('?unused_days=0')).statusCode, 422)
  })

  it('is a file, in which a team is its short name with the roles', async () => {
    const { body, headers } = await get('/csv?kind=account')
    assert.match(String(headers['content-disposition']), /access-review\.csv/)
    assert.match(body, /^kind,id,name,staff_roles,scopes,teams,sign_in,/)
    assert.match(body, /^account,\d+,foreign@blue\.example,,,blue:admin,password,false,team,/m)
  })

  it('is open to admins of the staff only', async () => {
    const { userId } = await addUser(api, 'noc', [], { staff: ['noc', 'reader'] })
    const { access } = await openSession(api, userId, red.teamId)
    for (const by of [`Bearer ${access}`, authorization])
      for (const path of ['', '/csv']) assert.equal((await get(path, by)).statusCode, 403)
  })
})
