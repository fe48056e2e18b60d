import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AccountExport, DeletedAccount } from '@pharos/contract/session/personal-data'
import { sql } from 'kysely'
import { waitFor } from '../../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { Authenticator } from '../../test/support/authenticator.ts'
import { addApiToken, openSession } from '../../test/support/credentials.ts'
import { addProvider, proveByProvider } from '../../test/support/identity.ts'
import { sealAll } from '../audit/seal.ts'
import { verifyAudit } from '../audit/verify.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let people = 0
const origin = 'https://portal.example.net'

before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: origin, PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '1000' })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
})
after(() => api[Symbol.asyncDispose]())

const owner = () => api.database.postgres.owner
const call = (method: 'GET' | 'POST' | 'PATCH', path: string, access?: string, payload?: object) =>
  api.server.inject({
    method,
    url: `/v3/session${path}`,
    ...(payload === undefined ? {} : { payload }),
    headers: access === undefined ? {} : { authorization: `Bearer ${access}` },
  })

type Person = {
  readonly userId: number
  readonly email: string
  readonly sessionId: string
  readonly access: string
}

async function addPerson(teams = [red], flags: Parameters<typeof addUser>[3] = {}): Promise<Person> {
  const person = await addUser(api, `person-${people++}`, teams, flags)
  return { ...person, ...(await openSession(api, person.userId, teams[0]!.teamId)) }
}

/** An API token that the person created in the team. */
async function addTokenOf({ userId }: Person, { teamId }: TestTeam): Promise<{ id: string; text: string }> {
  const text = await addApiToken(api, teamId)
  const id = text.split('_')[1]!
  await sql`update api_tokens set created_by = ${userId} where id = ${id}`.execute(owner())
  return { id, text }
}

const exportOf = async ({ access }: Person): Promise<AccountExport> => {
  const answer = await call('GET', '/export', access)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const deleteWith = ({ access }: Person, body: object = { current_password: testPassword }, query = '') =>
  call('POST', `/delete${query}`, access, body)
const exists = async ({ userId }: Person) =>
  (await sql`select from users where id = ${userId}`.execute(owner())).rows.length > 0

/** The text of every row of the database with an address, by table. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`.execute(
    owner(),
  )
  const found = await Promise.all(
    rows.map(async ({ name }) => {
      const { rows: hits } = await sql`
        select from ${sql.table(name)} r where position(lower(${text}) in lower(r::text)) > 0 limit 1`.execute(
        owner(),
      )
      return hits.length > 0 ? [name] : []
    }),
  )
  return found.flat().toSorted()
}

describe('the export of an account', () => {
  it('has what is stored about it, from one moment, and no secrets', async () => {
    const person = await addPerson([red, blue])
    const token = await addTokenOf(person, red)
    await call('PATCH', '/user', person.access, { display_name: 'Anna', country: 'CH' })
    const exported = await exportOf(person)
    const { profile, memberships, sessions, api_tokens, audit_entries: entries } = exported
    assert.deepEqual(
      [profile.id, profile.email, profile.display_name, profile.has_password],
      [person.userId, person.email, 'Anna', true],
    )
    assert.deepEqual(
      memberships.map(({ team_id, ended }) => [team_id, ended]),
      [
        [red.teamId, null],
        [blue.teamId, null],
      ],
    )
    assert.equal(sessions.length, exported.session_count)
    assert.deepEqual(
      api_tokens.map(({ id }) => id),
      [token.id],
    )
    const update = entries.find(({ action }) => action === 'user.update')
    assert.equal((update!.after as { display_name: string }).display_name, 'Anna')
    assert.equal(entries.length, exported.audit_count)
    const text = JSON.stringify(exported)
    const secrets = await sql<{
      hash: string
    }>`select password_hash as hash from users where id = ${person.userId}`.execute(owner())
    assert.ok(!text.includes(secrets.rows[0]!.hash) && !text.includes(token.text))
    const { rows } = await sql`select from audit_entries
      where action = 'account.export' and target = ${`user:${person.userId}`} and team_id = ${red.teamId}`.execute(
      owner(),
    )
    assert.equal(rows.length, 1)
  })

  it('has entries of the account alone, and of others only what it did, without values of the team', async () => {
    const [admin, other] = [await addPerson([red], { admin: true }), await addPerson()]
    await call('PATCH', '/user', other.access, { display_name: 'Other' })
    const invited = await api.server.inject({
      method: 'POST',
      url: '/v3/teams/current/members',
      payload: { email: 'friend@elsewhere.example' },
      headers: { authorization: `Bearer ${admin.access}` },
    })
    assert.equal(invited.statusCode, 201, invited.body)
    const { audit_entries: entries } = await exportOf(admin)
    const invitation = entries.find(({ action }) => action === 'member.invite')
    assert.deepEqual([invitation?.before, invitation?.after], [null, null])
    assert.ok(!JSON.stringify(await exportOf(admin)).includes('friend@elsewhere.example'))
    assert.ok(!JSON.stringify(await exportOf(admin)).includes('Other'))
    const own = (await exportOf(other)).audit_entries.map(({ target }) => target)
    assert.deepEqual([...new Set(own)], [`user:${other.userId}`])
  })

  it('is closed to sessions of an identity provider, to API tokens, and without a credential', async () => {
    const person = await addPerson()
    const provider = await addProvider(api, red)
    await proveByProvider(api, person.sessionId, provider)
    assert.equal((await call('GET', '/export', person.access)).json().code, 'local_sign_in_required')
    assert.equal((await call('GET', '/export')).statusCode, 401)
  })
})

describe('the deletion of an account', () => {
  it('deletes all that belongs to it, and nothing in the database has the address any more', async () => {
    const admin = await addPerson([red], { admin: true })
    const person = await addPerson([red, blue])
    const { userId, email } = person
    const token = await addTokenOf(person, blue)
    const invite = await api.server.inject({
      method: 'POST',
      url: '/v3/teams/current/members',
      payload: { email },
      headers: { authorization: `Bearer ${admin.access}` },
    })
    assert.equal(invite.json().code, 'already_member', invite.body)
    await call('PATCH', '/user', person.access, { display_name: `Ann of ${email}` })
    const trial = await deleteWith(person, {}, '?dry_run=true')
    assert.equal(trial.statusCode, 200, trial.body)
    const { dry_run: isTrial, result } = trial.json() as { dry_run: boolean; result: DeletedAccount }
    assert.ok(isTrial && (await exists(person)))
    assert.deepEqual(
      result.teams.map(({ id, api_tokens_revoked: tokens }) => [id, tokens]),
      [
        [red.teamId, 0],
        [blue.teamId, 1],
      ],
    )
    const answer = await deleteWith(person)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(answer.json(), result)
    await waitFor(
      'the end of the session',
      async () => (await call('GET', '/token', person.access)).statusCode === 401,
    )
    const { rows } = await sql<{
      revoked: Date | null
    }>`select revoked from api_tokens where id = ${token.id}`.execute(owner())
    assert.ok(rows[0]!.revoked)
    // The mail that confirms it is the last one, and its row is deleted after 90 days.
    assert.deepEqual(await tablesWith(email), ['mails'])
    const mails = await sql<{
      template: string
    }>`select template from mails where recipient = ${email}`.execute(owner())
    assert.deepEqual(mails.rows, [{ template: 'account-deleted' }])
    await sealAll(owner(), api.config.secret, AbortSignal.timeout(60_000))
    assert.equal((await verifyAudit({ db: owner(), ring: api.config.secret })).brokenCount, 0)
    const entries = await sql<{ team_id: number; actor: string }>`
      select team_id, actor from audit_entries where action = 'account.delete' and target = ${`user:${userId}`} order by team_id`.execute(
      owner(),
    )
    assert.deepEqual(entries.rows, [
      { team_id: red.teamId, actor: `user:${userId}` },
      { team_id: blue.teamId, actor: `user:${userId}` },
    ])
  })

  it('needs the password or a passkey of the account itself', async () => {
    const [person, other] = [await addPerson(), await addPerson()]
    const own = await addPasskeyOf(person)
    const foreign = await addPasskeyOf(other)
    for (const [body, code] of [
      [{}, 'invalid'],
      [{ current_password: 'not this one' }, 'wrong_password'],
      [{ current_password: testPassword, passkey: await own.sign() }, 'invalid'],
      [{ passkey: await foreign.sign() }, 'invalid'],
    ] as const)
      assert.equal((await deleteWith({ ...person, access: own.access }, body)).json().code, code)
    assert.ok((await exists(person)) && (await exists(other)))
    const passkey = await own.sign()
    const byOther = await deleteWith({ ...other, access: foreign.access }, { passkey })
    assert.equal(byOther.json().code, 'invalid')
    const used = await deleteWith({ ...person, access: own.access }, { passkey })
    assert.equal(used.json().code, 'invalid', 'a passkey signs once')
    const answer = await deleteWith({ ...person, access: own.access }, { passkey: await own.sign() })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.ok(!(await exists(person)) && (await exists(other)))
  })

  it('is refused to the last admin, with the teams', async () => {
    const [green, grey] = [await addTeam(api, `green-${people}`), await addTeam(api, `grey-${people}`)]
    const person = await addPerson([green, grey], { admin: true })
    await addPerson([grey], { admin: true })
    for (const answer of [await deleteWith(person), await deleteWith(person, {}, '?dry_run=true')]) {
      assert.equal(answer.statusCode, 409)
      const { code, errors } = answer.json()
      assert.equal(code, 'last_admin')
      assert.deepEqual(
        errors.map(({ ctx }: { ctx: { team_id: number } }) => ctx.team_id),
        [green.teamId],
      )
    }
    assert.ok(await exists(person))
  })

  it('is refused for accounts of the platform file', async () => {
    const person = await addPerson()
    await sql`update users set managed_by = 'operator' where id = ${person.userId}`.execute(owner())
    assert.equal((await deleteWith(person)).json().code, 'conflict')
    assert.ok(await exists(person))
  })

  it('is refused to a session that an identity provider has opened, also for an account without a password', async () => {
    const person = await addPerson()
    const provider = await addProvider(api, red)
    await proveByProvider(api, person.sessionId, provider)
    assert.equal((await deleteWith(person)).json().code, 'local_sign_in_required')
    const local = await addPerson()
    await sql`update users set password_hash = null where id = ${local.userId}`.execute(owner())
    assert.equal((await deleteWith(local, { current_password: 'x' })).json().code, 'wrong_password')
    assert.ok((await exists(person)) && (await exists(local)))
  })

  it('takes no Idempotency-Key, since its body has a password', async () => {
    const person = await addPerson()
    const answer = await api.server.inject({
      method: 'POST',
      url: '/v3/session/delete',
      payload: { current_password: testPassword },
      headers: { authorization: `Bearer ${person.access}`, 'idempotency-key': 'one' },
    })
    assert.deepEqual(answer.json().errors[0].loc, ['header', 'Idempotency-Key'])
    assert.ok(await exists(person))
  })

  it('happens once, whatever is sent at the same time', async () => {
    const person = await addPerson()
    const answers = await Promise.all(Array.from({ length: 4 }, () => deleteWith(person)))
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
    assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses))
    assert.ok(
      statuses.every((status) => [200, 401, 403].includes(status)),
      String(statuses),
    )
    const { rows } = await sql`select from mails where recipient = ${person.email}`.execute(owner())
    assert.equal(rows.length, 1)
  })
})

/** Adds a passkey, and returns how to sign with it; the person continues with the new session. */
async function addPasskeyOf({ access }: Person) {
  const key = new Authenticator(origin)
  const options = await call('POST', '/passkeys/options', access, { current_password: testPassword })
  const added = await call('POST', '/passkeys', access, {
    name: 'Laptop',
    response: key.create(options.json().public_key),
  })
  assert.equal(added.statusCode, 200, added.body)
  return {
    access: added.json().access as string,
    sign: async () => key.get((await call('POST', '/passkey/options')).json().public_key),
  }
}
