// Everything that opens a team is in its access review, and nothing of another team.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ReviewedAccess } from '@pharos/contract/team/access-review'
import { sql } from 'kysely'
import { parseApiToken } from '../src/session/api-token-format.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'

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
