import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { addTeam, createTestApi, type TestApi, type TestTeam } from '../../test/api.ts'
import { addPerson, auditOfPerson, createClient, type Client } from '../../test/support/test-user.ts'

let api: TestApi
let team: TestTeam
let client: Client
before(async () => {
  api = await createTestApi()
  team = await addTeam(api, 'red')
  client = createClient(api)
})
after(() => api[Symbol.asyncDispose]())

const list = (access: string, query = '') => client.send('GET', `/sessions${query}`, access)
const end = (access: string, id: string) => client.send('DELETE', `/sessions/${id}`, access)
const idOf = ({ refresh }: { refresh: string }) => refresh.slice(4, 40)

describe('the list of sessions', () => {
  it("lists the user's active sessions, each with the address of its sign-in", async () => {
    const { userId, email } = await addPerson(api, team)
    const stranger = await addPerson(api, team)
    await client.open(stranger.email)
    const [one, two, over, ended] = [
      await client.open(email, undefined, '192.0.2.1'),
      await client.open(email, undefined, '2001:db8::7'),
      await client.open(email),
      await client.open(email),
    ]
    const { owner } = api.database.postgres
    await sql`update sessions set expires = now() where id = ${idOf(over)}`.execute(owner)
    await client.post('/logout', { refresh: ended.refresh })
    const { status, body } = await list(one.access)
    assert.equal(status, 200)
    assert.equal(body.count, 2)
    assert.deepEqual(
      body.results.map(({ id, current, address }: Record<string, unknown>) => ({ id, current, address })),
      [
        { id: idOf(two), current: false, address: '2001:db8::7' },
        { id: idOf(one), current: true, address: '192.0.2.1' },
      ],
    )
    assert.deepEqual(Object.keys(body.results[0]), [
      'id',
      'current',
      'team_id',
      'created',
      'last_used',
      'expires',
      'address',
      'user_agent',
    ])
    assert.equal(body.results[0].team_id, team.teamId)
    for (const field of ['created', 'last_used', 'expires']) assert.match(body.results[0][field], /^20.*Z$/)
    assert.ok(!JSON.stringify(body).includes(String(userId) + email))
  })

  it('is paginated, the most recently used first, with the total count', async () => {
    const { email } = await addPerson(api, team)
    const opened = []
    for (let n = 0; n < 5; n++) opened.push(await client.open(email))
    const access = opened[0]!.access
    const pages = [await list(access, '?limit=2'), await list(access, '?limit=2&offset=4')]
    assert.deepEqual(
      pages.map(({ body }) => [body.count, body.results.map(({ id }: { id: string }) => id)]),
      [
        [5, [idOf(opened[4]!), idOf(opened[3]!)]],
        [5, [idOf(opened[0]!)]],
      ],
    )
    assert.deepEqual((await list(access, '?offset=9')).body, { results: [], count: 5 })
    assert.equal((await list(access, '?limit=1001')).status, 422)
    assert.equal((await client.send('GET', '/sessions')).status, 401)
  })
})

describe('revoking a session', () => {
  it('takes effect at once, including its access tokens, and keeps the others', async () => {
    const { email } = await addPerson(api, team)
    const [own, other] = [await client.open(email), await client.open(email)]
    assert.equal((await list(other.access)).status, 200)
    assert.equal((await end(own.access, idOf(other))).status, 204)
    assert.equal((await client.post('/refresh', { refresh: other.refresh })).code, 'token_not_valid')
    const deadline = Date.now() + 300_000
    while ((await list(other.access)).status !== 401)
      assert.ok(Date.now() < deadline, 'its access token is still valid')
    assert.equal((await list(own.access)).status, 200)
    const audit = await api.database.postgres.owner
      .selectFrom('audit_entries')
      .select(['action', 'team_id'])
      .where('target', '=', `session:${idOf(other)}`)
      .where('action', '=', 'session.revoke')
      .execute()
    assert.deepEqual(audit, [{ action: 'session.revoke', team_id: team.teamId }])
  })

  it('is possible for the current session', async () => {
    const { email } = await addPerson(api, team)
    const own = await client.open(email)
    assert.equal((await end(own.access, idOf(own))).status, 204)
    assert.equal((await client.post('/refresh', { refresh: own.refresh })).code, 'token_not_valid')
  })

  it('returns 404 for an ended session, one of another user, and an unknown id', async () => {
    const { email } = await addPerson(api, team)
    const stranger = await client.open((await addPerson(api, team)).email)
    const own = await client.open(email)
    const over = await client.open(email)
    await client.post('/logout', { refresh: over.refresh })
    for (const id of [
      idOf(stranger),
      idOf(over),
      '00000000-0000-4000-8000-000000000000',
      'nonsense',
      idOf(own).toUpperCase(),
    ])
      assert.equal((await end(own.access, id)).code, 'not_found', id)
    assert.equal((await list(stranger.access)).status, 200)
  })
})

describe('the profile', () => {
  const patch = (access: string, body: object) => client.send('PATCH', '/user', access, body)

  it('changes the given fields, which later requests return, and has a new ETag', async () => {
    const { userId, email } = await addPerson(api, team)
    const signedIn = (await client.signIn(email)).body
    const { status, body } = await patch(signedIn.access, { first_name: 'Ada', country: 'GB' })
    assert.equal(status, 200)
    assert.deepEqual(body, { ...signedIn.user, first_name: 'Ada', country: 'GB' })
    const who = (await client.send('GET', '/token', signedIn.access)).body
    assert.deepEqual(who.user, body)
    assert.notEqual(who.user_etag, signedIn.user_etag)
    assert.deepEqual(await auditOfPerson(api, userId), ['user.update'])
  })

  it('is unchanged if all values are the same', async () => {
    const { userId, email } = await addPerson(api, team)
    const { access } = await client.open(email)
    await patch(access, { last_name: 'Lovelace' })
    for (const body of [{ last_name: 'Lovelace' }, {}]) assert.equal((await patch(access, body)).status, 200)
    assert.deepEqual(await auditOfPerson(api, userId), ['user.update'])
  })

  it('accepts the documented fields only', async () => {
    const { email } = await addPerson(api, team)
    const { access, user } = (await client.signIn(email)).body
    for (const body of [
      { is_staff: true },
      { email: 'other@red.example' },
      { country: 'gb' },
      { country: 'Great Britain' },
      { first_name: null },
      { first_name: 'a\r\nBcc: b@x.example' },
      { first_name: 'x'.repeat(101) },
      { first_name: 7 },
      [],
    ])
      assert.equal((await patch(access, body)).status, 422, JSON.stringify(body))
    assert.deepEqual((await client.send('GET', '/token', access)).body.user, user)
    assert.equal((await patch(access, { country: '', display_name: 'Ada ∑ 艾达' })).status, 200)
  })
})
