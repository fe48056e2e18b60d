// A complete rotation of the key ring: [old], then [new, old], everything resealed, then [new]. Credentials issued
// under the old key stay valid or are documented as invalidated: the rules are in docs/operating/rotate-keys.md.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { queueMail } from '../src/mail/mail.ts'
import { countSealed, resealAll, sealedPlaces } from '../src/db/reseal.ts'
import { createKeyRing, isSealedUnderNewest, open, seal, type KeyRing } from '../src/runtime/secrets.ts'
import { createKey } from '../src/dns/dnssec/key.ts'
import { nameKey, type DomainName } from '../src/net/dns/name.ts'
import { openWebhookSecret, sealWebhookSecret } from '../src/webhook/webhook-secret.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { saveFlow } from '../src/identity/flow.ts'
import { addProvider } from './support/identity.ts'
import { addSecondFactor, codeOf, type TestFactor } from './support/second-factor.ts'

const [oldKey, newKey] = ['o'.repeat(40), 'n'.repeat(40)]
const rings = {
  old: createKeyRing([oldKey]),
  both: createKeyRing([newKey, oldKey]),
  new: createKeyRing([newKey]),
}

let api: TestApi
let team: TestTeam
let user: { readonly userId: number; readonly email: string }
before(async () => {
  api = await createTestApi({ PHAROS_SECRET: oldKey })
  team = await addTeam(api, 'red')
  user = await addUser(api, 'admin', [team], { admin: true })
})
after(() => api[Symbol.asyncDispose]())

/** Creates a process of the same installation with other keys. */
const startWith = (secret: KeyRing): Promise<TestApi> =>
  createTestApi({}, { sameInstallationAs: { ...api, config: { ...api.config, secret } } })

const owner = () => api.database.postgres.owner

type Sent = { readonly authorization?: string; readonly payload?: object; readonly key?: string }

async function send({ server }: TestApi, method: 'GET' | 'POST', url: string, sent: Sent = {}) {
  const { authorization, payload, key } = sent
  const { statusCode, body } = await server.inject({
    method,
    url,
    headers: { ...(authorization ? { authorization } : {}), ...(key ? { 'idempotency-key': key } : {}) },
    ...(payload ? { payload } : {}),
  })
  return { status: statusCode, body: body === '' ? {} : JSON.parse(body) }
}

const use = async (on: TestApi, token: string): Promise<number> =>
  (await send(on, 'GET', '/v3/ipam/regions', { authorization: `Token ${token}` })).status

const refresh = async (on: TestApi, token: string) =>
  send(on, 'POST', '/v3/session/refresh', { payload: { refresh: token } })

const signIn = (on: TestApi, otp: string) =>
  send(on, 'POST', '/v3/session/token', { payload: { email: user.email, password: testPassword, otp } })

describe('rotating the key ring', () => {
  const made = {
    payload: { name: 'x', scopes: ['ipam:read'] },
    key: 'kept-over-the-rotation',
  }
  let bearer: string
  let factor: TestFactor
  let sessions: { readonly used: string; readonly idle: string }
  let tokens: { readonly used: string; readonly idle: string; readonly kept: string }

  before(async () => {
    factor = await addSecondFactor(api, user.userId)
    const session = async () => await openSession(api, user.userId, team.teamId)
    const [first, used, idle] = [await session(), await session(), await session()]
    bearer = `Bearer ${first.access}`
    sessions = { used: used.refresh, idle: idle.refresh }
    const make = async (key?: string) => {
      const { status, body } = await send(api, 'POST', '/v3/tokens', {
        authorization: bearer,
        payload: made.payload,
        ...(key ? { key } : {}),
      })
      assert.equal(status, 201, JSON.stringify(body))
      return body.token as string
    }
    tokens = { used: await make(), idle: await make(), kept: await make(made.key) }
    await owner()
      .transaction()
      .execute((trx) =>
        queueMail(trx, api.config.secret, {
          to: user.email,
          teamId: team.teamId,
          template: 'confirm-email',
          content: { link: 'https://portal.net.example/confirm-email#secret', hours: 24 },
        }),
      )
    await addSealedWebhook()
    await addSealedDnsKeys()
    await addSealedCredential()
    await addSealedProvider()
    await addSealedStaffSignIn()
  })

  /** Removed explicitly, because a former secret otherwise expires by itself. */
  async function addSealedWebhook(): Promise<void> {
    const sealed = (text: string) => sealWebhookSecret(rings.old, 1, Buffer.from(text))
    await sql`
      insert into webhooks (id, team_id, url, events, secret_sealed, former_secret_sealed, created_by)
      overriding system value values (1, ${team.teamId}, 'https://hooks.example', '{event.started}',
        ${sealed('secret')}, ${sealed('former')}, 'user:1')`.execute(owner())
  }

  async function addSealedProvider(): Promise<void> {
    const { id: providerId } = await addProvider(api, team)
    const content = { subject: 'a', email: user.email, userId: user.userId }
    const flow = { kind: 'link', state: 'a state', providerId, content, cookie: null } as const
    await saveFlow(owner(), rings.old, flow)
  }

  async function addSealedStaffSignIn(): Promise<void> {
    const sealed = seal(rings.old, 'identity-provider', Buffer.from('a secret'), 'staff_sign_in')
    await sql`
      insert into staff_sign_in (key, issuer, client_id, secret_sealed, domains, groups, groups_claim, second_factor, required, break_glass)
      values ('staff_sign_in', 'https://idp.example', 'pharos', ${sealed}, '{net.example}', '{}', 'groups', 'claim', false, '{}')`.execute(
      owner(),
    )
  }

  async function addSealedCredential(): Promise<void> {
    const sealed = seal(rings.old, 'device-credential', Buffer.from('a password'), 'core')
    await sql`
      insert into device_credentials (name, version, community_sealed, auth_sealed, privacy_sealed)
      values ('core', 'v3', ${sealed}, ${sealed}, ${sealed})`.execute(owner())
  }

  async function addSealedDnsKeys(): Promise<void> {
    const name = 'transfer.example.net.'
    const secret = seal(rings.old, 'tsig-key', Buffer.from('secret'), name)
    await sql`insert into dns_tsig_keys (name, secret_sealed) values (${name}, ${secret})`.execute(owner())
    const { rows } = await sql<{ id: number }>`
      insert into dns_zones (team_id, name, name_key) values (${team.teamId}, 'example.net.', ${nameKey('example.net.' as DomainName)})
      returning id`.execute(owner())
    const { id } = rows[0]!
    const { algorithm, flags, tag, dnskey, privateSealed } = createKey(rings.old, id, 13)
    await sql`
      insert into dns_keys (zone_id, algorithm, flags, tag, dnskey, private_sealed, state)
      values (${id}, ${algorithm}, ${flags}, ${tag}, ${dnskey}, ${privateSealed}, 'active')`.execute(owner())
  }

  it('starts with both keys: everything stays valid, and used credentials move to the new key', async () => {
    await using both = await startWith(rings.both)
    assert.equal(await use(both, tokens.used), 200)
    const renewed = await refresh(both, sessions.used)
    assert.equal(renewed.status, 200)
    sessions = { ...sessions, used: renewed.body.refresh }
    // The use is recorded shortly after the call.
    const isNoted = async () =>
      (await sql`select from api_tokens where last_used is not null`.execute(owner())).rows.length > 0
    for (const deadline = Date.now() + 300_000; !(await isNoted()); await sleep(20))
      assert.ok(Date.now() < deadline, 'the use of the token is not recorded')
  })

  it('reseals every value, and can be repeated', async () => {
    const before = await countSealed(owner(), rings.both)
    for (const { noun, older } of before)
      assert.ok(older > 0, `${noun}: no value under the old key to test with`)
    const all = before.reduce((sum, { older }) => sum + older, 0)
    assert.deepEqual(await resealAll(owner(), rings.both), { resealed: all, failed: [] })
    for (const { noun, older, unknown } of await countSealed(owner(), rings.new))
      assert.deepEqual([older, unknown], [0, 0], noun)
    assert.deepEqual(await resealAll(owner(), rings.both), { resealed: 0, failed: [] })
  })

  it('ends with the new key alone: only the documented credentials are invalid', async () => {
    await using only = await startWith(rings.new)
    // Signed before, by a key that was sealed under the old one.
    assert.equal((await send(only, 'GET', '/v3/session/token', { authorization: bearer })).status, 200)
    assert.equal((await signIn(only, codeOf(factor.secret))).status, 200)
    const repeated = await send(only, 'POST', '/v3/tokens', { authorization: bearer, ...made })
    assert.equal(repeated.body.token, tokens.kept)
    assert.equal(await use(only, tokens.used), 200)
    assert.equal((await refresh(only, sessions.used)).status, 200)
    const { rows } = await sql<{ content: Buffer }>`select content_sealed as content from mails`.execute(
      owner(),
    )
    assert.equal(
      JSON.parse(open(rings.new, 'mail', rows[0]!.content, 'confirm-email').toString()).link,
      'https://portal.net.example/confirm-email#secret',
    )

    const webhooks = await sql<{ secret: Buffer; former: Buffer }>`
      select secret_sealed as secret, former_secret_sealed as former from webhooks`.execute(owner())
    const { secret, former } = webhooks.rows[0]!
    assert.equal(openWebhookSecret(rings.new, 1, secret).toString(), 'secret')
    assert.equal(openWebhookSecret(rings.new, 1, former).toString(), 'former')

    // Stored as MACs only, and not used in between.
    assert.equal(await use(only, tokens.idle), 401)
    assert.equal((await refresh(only, sessions.idle)).status, 401)
    assert.equal((await signIn(only, factor.recoveryCodes[0]!)).status, 401)
  })
})

describe('the sealed values', () => {
  it('are all resealed by the command, in every table with a sealed column', async () => {
    const { rows } = await sql<{ place: string }>`
      select c.relname || '.' || a.attname as place from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and a.attname ~ '_sealed$' and not a.attisdropped`.execute(owner())
    const known = sealedPlaces.filter(({ inJson }) => !inJson)
    assert.deepEqual(
      rows.map(({ place }) => place).toSorted(),
      known.map(({ table, column }) => `${table}.${column}`).toSorted(),
    )
  })

  it('stay unchanged if they cannot be decrypted, and are reported', async () => {
    const stranger = createKeyRing(['s'.repeat(40)])
    const sealed = seal(stranger, 'totp', Buffer.from('x'), String(user.userId))
    await sql`update second_factors set secret_sealed = ${sealed}`.execute(owner())
    const { failed } = await resealAll(owner(), rings.new)
    assert.deepEqual(
      failed.map(({ noun, name }) => [noun, name]),
      [['second factors', String(user.userId)]],
    )
    const counted = (await countSealed(owner(), rings.new)).find(({ noun }) => noun === 'second factors')
    assert.deepEqual(counted, { noun: 'second factors', newest: 0, older: 0, unknown: 1 })
    const { rows } = await sql<{ kept: Buffer }>`select secret_sealed as kept from second_factors`.execute(
      owner(),
    )
    assert.ok(rows[0]!.kept.equals(sealed))
    assert.ok(!isSealedUnderNewest(rings.new, 'totp', sealed))
  })
})
