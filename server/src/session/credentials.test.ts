import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createWaker } from '../db/wake.ts'
import { createKeyRing, mac, verifyMac } from '../runtime/secrets.ts'
import { createApiToken, formatApiToken } from './api-token-format.ts'
import { isAllowedFrom } from '../limit/allowed-from.ts'
import { createCredentials } from './credentials.ts'
import { AccessTokens } from './access-token.ts'
import { SigningKeys } from './signing-keys.ts'

const [oldKey, newKey] = ['o'.repeat(40), 'n'.repeat(40)]

describe('an access token that was used before', () => {
  const claims = { userId: 1, teamId: 1, sessionVersion: 1 }
  const changes: Record<string, string> = {
    'the session was revoked': 'update sessions set revoked = now()',
    'the user was signed out everywhere': 'update users set session_version = session_version + 1',
    'the member was removed': 'delete from memberships',
    'the session was deleted': 'delete from sessions',
  }
  for (const [name, change] of Object.entries(changes)) {
    it(`is rejected as soon as ${name}`, async (t) => {
      await using database = await createTestDatabase()
      const { owner } = database.postgres
      const waker = createWaker(database.postgres)
      const keys = new SigningKeys(owner, createKeyRing([newKey]), (error) => assert.fail(String(error)))
      await Promise.all([waker.start(), keys.start()])
      keys.stop()
      await seedMember(owner)
      const accessTokens = new AccessTokens(keys, 300)
      const { bearer } = createCredentials({
        db: owner,
        waker,
        ring: createKeyRing([newKey]),
        accessTokens,
        onLoopback: true,
        onTokenUseError: () => {},
      })
      const { id: sessionId } = await owner
        .insertInto('sessions')
        .values({ user_id: 1, team_id: 1, address: '192.0.2.1', user_agent: '', expires: inAnHour() })
        .returning('id')
        .executeTakeFirstOrThrow()
      const token = accessTokens.sign({ ...claims, sessionId })
      for (let n = 0; n < 3; n++) assert.equal((await bearer(token)).userId, 1)
      await sql.raw(change).execute(owner)
      // A cached credential expires after 5 s by this clock, which is stopped: only the notification can invalidate it.
      const now = performance.now()
      const clock = t.mock.method(performance, 'now', () => now)
      for (
        const deadline = Date.now() + 300_000;
        await isTaken(async () => bearer(token));
        await setTimeout(5)
      )
        assert.ok(Date.now() < deadline, 'still accepted')
      clock.mock.restore()
      await waker.stop()
    })
  }

  const inAnHour = () => new Date(Date.now() + 3_600_000)

  async function seedMember(db: Db): Promise<void> {
    await sql`insert into teams (slug, name, enabled_modules) values ('red', 'Red', '{ipam}')`.execute(db)
    await sql`
      insert into users (email, email_confirmed, password_hash, username, first_name, last_name, display_name, country)
      values ('a@example.net', now(), 'x', 'a', 'A', 'A', 'A', 'NL')`.execute(db)
    await sql`insert into memberships (team_id, user_id, is_admin, roles) values (1, 1, true, '{admin}')`.execute(
      db,
    )
  }

  const isTaken = (call: () => Promise<unknown>): Promise<boolean> =>
    call().then(
      () => true,
      (error: unknown) => {
        assert.equal((error as { code?: string }).code, 'unauthenticated')
        return false
      },
    )
})

describe('an API token', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
    await database.postgres.owner
      .insertInto('teams')
      .values({ slug: 'red', name: 'Red', enabled_modules: ['ipam'] })
      .execute()
  })
  after(() => database[Symbol.asyncDispose]())

  const credentialsWith = (...keys: string[]) =>
    createCredentials({
      db: database.postgres.owner,
      waker: { connected: false, on: () => () => {}, start: async () => {}, stop: async () => {} },
      ring: createKeyRing(keys),
      accessTokens: new AccessTokens(
        new SigningKeys(database.postgres.owner, createKeyRing(keys), () => {}),
        300,
      ),
      onLoopback: true,
      onTokenUseError: (error) => assert.fail(String(error)),
    })

  async function insert(values: Record<string, unknown> = {}): Promise<string> {
    const token = createApiToken()
    await database.postgres.owner
      .insertInto('api_tokens')
      .values({
        id: token.id,
        team_id: 1,
        name: 'test',
        scopes: ['ipam:read'],
        secret_mac: mac(createKeyRing([oldKey]), 'api-token', token.secret),
        ...values,
      })
      .execute()
    return formatApiToken(token)
  }

  it('is authenticated by its secret, and returns its team and scopes', async () => {
    const actor = await credentialsWith(oldKey).token(await insert(), '192.0.2.1')
    assert.ok(actor.kind === 'token')
    assert.deepEqual(
      [actor.kind, actor.teamId, actor.scopes, actor.modules],
      ['token', 1, ['ipam:read'], ['ipam']],
    )
  })

  it('is re-keyed with the newest key when used, so that the old key can be removed from the ring', async () => {
    const text = await insert()
    const id = text.split('_')[1]!
    await credentialsWith(newKey, oldKey).token(text, '192.0.2.1')
    const secret = text.split('_')[2]!.slice(0, 43)
    const moved = async () => {
      const { secret_mac } = await database.postgres.owner
        .selectFrom('api_tokens')
        .select('secret_mac')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return verifyMac(createKeyRing([newKey]), 'api-token', secret, secret_mac)
    }
    const deadline = Date.now() + 300_000
    while (!(await moved())) assert.ok(Date.now() < deadline, 'still stored under the old key')
    await credentialsWith(newKey).token(text, '192.0.2.1')
  })

  const past = new Date(Date.now() - 1_000)
  const refused: Record<string, Record<string, unknown>> = {
    revoked: { revoked: past },
    expired: { expires: past },
    'unused for too long': { created: new Date(Date.now() - 3 * 86_400_000), max_unused_days: 2 },
    'from another network': { allowed_networks: ['198.51.100.0/24'] },
    'under a key that was removed from the ring': {
      secret_mac: mac(createKeyRing([newKey]), 'api-token', 'x'),
    },
  }
  for (const [name, values] of Object.entries(refused)) {
    it(`gets the same error if it is ${name}`, async () => {
      await assert.rejects(credentialsWith(oldKey).token(await insert(values), '192.0.2.1'), {
        code: 'unauthenticated',
        message: 'The API token is not valid. Check that it is complete and was not revoked.',
      })
    })
  }

  it('is accepted from its networks, including IPv4 over a dual-stack socket', () => {
    assert.equal(isAllowedFrom([], 'anything'), true)
    assert.equal(isAllowedFrom(['192.0.2.0/24'], '::ffff:192.0.2.7'), true)
    assert.equal(isAllowedFrom(['192.0.2.0/24', '2001:db8::/32'], '2001:db8::1'), true)
    assert.equal(isAllowedFrom(['192.0.2.0/24'], '192.0.3.1'), false)
    assert.equal(isAllowedFrom(['192.0.2.0/24'], 'unix'), false)
  })
})
