import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Passkey } from '@pharos/contract/session/passkey'
import type { PasskeyAssertion, PasskeyCreation, PasskeyRequest } from '@pharos/contract/session/webauthn'
import { sql } from 'kysely'
import { waitFor } from '../../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { Authenticator, type Signing } from '../../test/support/authenticator.ts'
import { openSession } from '../../test/support/credentials.ts'
import { addSecondFactor, codeOf } from '../../test/support/second-factor.ts'
import { open } from '../runtime/secrets.ts'
import { resetSecondFactor } from './second-factor.ts'

let api: TestApi
let second: TestApi
let team: TestTeam
let people = 0

const origin = 'https://portal.example.net'

before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: origin })
  second = await createTestApi({ PHAROS_PUBLIC_URL: origin }, { sameInstallationAs: api })
  team = await addTeam(api, 'red')
})
after(async () => {
  await second[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const owner = () => api.database.postgres.owner
const call = (
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  payload?: object,
  access?: string,
  on = api,
  more: Record<string, string> = {},
) =>
  on.server.inject({
    method,
    url: `/v3/session${path}`,
    ...(payload === undefined ? {} : { payload }),
    headers: { ...(access === undefined ? {} : { authorization: `Bearer ${access}` }), ...more },
  })

type Person = { readonly userId: number; readonly email: string; readonly access: string }

async function addPerson(): Promise<Person> {
  const person = await addUser(api, `person-${people++}`, [team])
  return { ...person, ...(await openSession(api, person.userId, team.teamId)) }
}

async function creationOf(access: string): Promise<PasskeyCreation> {
  const answer = await call('POST', '/passkeys/options', { current_password: testPassword }, access)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().public_key
}

const register = async (access: string, key: Authenticator, signing: Signing = {}, name = 'Laptop') =>
  call('POST', '/passkeys', { name, response: key.create(await creationOf(access), signing) }, access)

/** Returns the person with a session after the passkey was added. */
async function addPersonWithPasskey(counts = true) {
  const person = await addPerson()
  const key = new Authenticator(origin, { counts })
  const added = await register(person.access, key)
  assert.equal(added.statusCode, 200, added.body)
  const {
    access,
    passkey,
    recovery_codes: codes,
  } = added.json() as {
    access: string
    passkey: Passkey
    recovery_codes: string[]
  }
  return { ...person, access, key, passkey, codes }
}

const requestOptions = async (on = api): Promise<PasskeyRequest> =>
  (await call('POST', '/passkey/options', undefined, undefined, on)).json().public_key
const signInWith = (passkey: PasskeyAssertion, on = api) => call('POST', '/token', { passkey }, undefined, on)
const signIn = (email: string, rest: object = {}) =>
  call('POST', '/token', { email, password: testPassword, ...rest })

/** The notification that invalidates a cached credential follows the answer. */
const untilRefused = (access: string) =>
  waitFor('the end of the session', async () => {
    return (await call('GET', '/token', undefined, access)).statusCode === 401
  })

type Refusal = {
  code: string
  detail: string
  errors?: { ctx: { methods: string[]; public_key?: PasskeyRequest } }[]
}
async function factorOptions(email: string): Promise<PasskeyRequest> {
  const refused: Refusal = (await signIn(email)).json()
  assert.equal(refused.code, 'otp_required')
  return refused.errors![0]!.ctx.public_key!
}

async function auditOf(userId: number): Promise<string[]> {
  const { rows } = await sql<{ action: string }>`
    select action from audit_entries where target = ${`user:${userId}`} order by id`.execute(owner())
  return rows.map(({ action }) => action)
}

async function noticesTo(email: string): Promise<string[]> {
  const { rows } = await sql<{ content_sealed: Buffer }>`
    select content_sealed from mails where recipient = ${email} and template = 'second-factor-changed' order by id`.execute(
    owner(),
  )
  return rows.map(
    ({ content_sealed }) =>
      JSON.parse(open(api.config.secret, 'mail', content_sealed, 'second-factor-changed').toString()).change,
  )
}

describe('adding a passkey', () => {
  it('needs the password, makes it the second factor, and shows recovery codes with the first factor only', async () => {
    const { userId, email, access } = await addPerson()
    const refused = await call('POST', '/passkeys/options', { current_password: 'not this one' }, access)
    assert.equal(refused.json().code, 'wrong_password')
    const first = await register(access, new Authenticator(origin), {}, 'Laptop')
    assert.equal(first.statusCode, 200, first.body)
    assert.equal(first.json().recovery_codes.length, 10)
    const again = await register(first.json().access, new Authenticator(origin), {}, 'Key')
    assert.equal(again.json().recovery_codes, null)
    const listed = await call('GET', '/passkeys', undefined, again.json().access)
    assert.deepEqual(
      listed.json().results.map(({ name, usable, last_used }: Passkey) => [name, usable, last_used]),
      [
        ['Laptop', true, null],
        ['Key', true, null],
      ],
    )
    assert.deepEqual(await auditOf(userId), ['passkey.add', 'passkey.add'])
    assert.deepEqual(await noticesTo(email), ['passkey added', 'passkey added'])
    assert.equal((await signIn(email)).json().code, 'otp_required')
  })

  it('revokes every session of the user, and opens a strong one', async () => {
    const person = await addPerson()
    const other = await openSession(api, person.userId, team.teamId)
    const added = await register(person.access, new Authenticator(origin))
    for (const access of [person.access, other.access]) await untilRefused(access)
    const { rows } = await sql`
      select p.kind, p.strong from sessions s join session_proofs p on p.session_id = s.id
      where s.user_id = ${person.userId} and s.revoked is null`.execute(owner())
    assert.deepEqual(rows, [{ kind: 'local', strong: true }])
    assert.equal((await call('GET', '/token', undefined, added.json().access)).statusCode, 200)
  })

  const wrong: Record<string, (creation: PasskeyCreation) => Promise<Signing> | Signing> = {
    'a wrong origin': () => ({ origin: 'https://portal.example.org' }),
    'a wrong relying party': () => ({ rpId: 'example.org' }),
    'a frame of another page': () => ({ crossOrigin: true }),
    'the type of a sign-in': () => ({ type: 'webauthn.get' }),
    'a challenge of another session': async () => {
      const { access } = await addPerson()
      return { challenge: (await creationOf(access)).challenge }
    },
    'a challenge to sign in': async () => ({ challenge: (await requestOptions()).challenge }),
    'a challenge of its own making': () => ({ challenge: Buffer.from('abc').toString('base64url') }),
  }
  for (const [what, signing] of Object.entries(wrong))
    it(`refuses ${what}`, async () => {
      const { userId, access } = await addPerson()
      const creation = await creationOf(access)
      const response = new Authenticator(origin).create(creation, await signing(creation))
      const refused = await call('POST', '/passkeys', { name: 'Laptop', response }, access)
      assert.equal(refused.statusCode, 422, refused.body)
      assert.deepEqual(refused.json().errors[0].loc, ['body', 'response'])
      assert.deepEqual(await auditOf(userId), [])
    })

  it('takes a challenge once, and a credential once', async () => {
    const { access, key } = await addPersonWithPasskey()
    const creation = await creationOf(access)
    const response = key.create(creation)
    const taken = await call('POST', '/passkeys', { name: 'Again', response }, access)
    assert.equal(taken.json().code, 'exists')
    const replayed = new Authenticator(origin).create(creation)
    assert.equal(
      (await call('POST', '/passkeys', { name: 'Again', response: replayed }, access)).statusCode,
      422,
    )
  })

  it('waits for the end of an upgrade, because older processes do not ask for passkeys', async () => {
    const { access } = await addPerson()
    const { rows } = await sql<{ floor: string }>`select schema_floor as floor from installation`.execute(
      owner(),
    )
    await sql`update installation set schema_floor = '0.2.0'`.execute(owner())
    const refused = await call('POST', '/passkeys/options', { current_password: testPassword }, access)
    await sql`update installation set schema_floor = ${rows[0]!.floor}`.execute(owner())
    assert.equal(refused.json().code, 'conflict')
  })

  it('is refused beyond the limit', async () => {
    const { userId, access } = await addPersonWithPasskey()
    await sql`
      insert into passkeys (user_id, credential_id, public_key, counter, transports, backed_up, aaguid, relying_party, name)
      select ${userId}, 'many-' || ${userId} || '-' || n, '', 0, '{}', false, gen_random_uuid(), 'portal.example.net', 'n'
      from generate_series(1, 19) n`.execute(owner())
    const refused = await call('POST', '/passkeys/options', { current_password: testPassword }, access)
    assert.equal(refused.json().code, 'quota_exceeded')
  })
})

describe('signing in with a passkey', () => {
  it('needs no address and no password, in any process, and opens a strong session', async () => {
    const { key, userId, email } = await addPersonWithPasskey()
    const signedIn = await signInWith(key.get(await requestOptions(api)), second)
    assert.equal(signedIn.statusCode, 200, signedIn.body)
    assert.equal(signedIn.json().user.email, email)
    const { rows } = await sql`
      select p.strong from sessions s join session_proofs p on p.session_id = s.id
      where s.user_id = ${userId} and s.revoked is null order by s.created desc limit 1`.execute(owner())
    assert.deepEqual(rows, [{ strong: true }])
    const { rows: entries } = await sql`
      select after from audit_entries where action = 'session.create' and actor = ${`user:${userId}`}`.execute(
      owner(),
    )
    assert.deepEqual(entries, [{ after: { second_factor: 'passkey' } }])
  })

  it('offers no accounts and no passkeys', async () => {
    const { challenge, ...options } = await requestOptions()
    assert.ok(challenge.length > 40)
    assert.deepEqual(options, {
      rpId: 'portal.example.net',
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [],
    })
  })

  it('writes nothing for options and unknown passkeys', async () => {
    const count = async () =>
      (
        await sql<{ count: number }>`
          select (select count(*) from used_challenges) + (select count(*) from audit_entries) as count`.execute(
          owner(),
        )
      ).rows[0]!.count
    const before = await count()
    await signInWith(new Authenticator(origin).get(await requestOptions()))
    assert.equal(await count(), before)
  })

  /** The answer for a passkey that no account has. */
  async function unknown(): Promise<Refusal> {
    const { request_id: _, ...refusal } = (
      await signInWith(new Authenticator(origin).get(await requestOptions()))
    ).json()
    return refusal
  }

  const wrong: Record<string, (options: PasskeyRequest) => Promise<Signing> | Signing> = {
    'a wrong origin': () => ({ origin: 'https://portal.example.org' }),
    'the origin without TLS': () => ({ origin: 'http://portal.example.net' }),
    'a wrong relying party': () => ({ rpId: 'example.net' }),
    'a user that was not verified': () => ({ verifiesUser: false }),
    'another key': () => ({ foreignKey: true }),
    'a frame of another page': () => ({ crossOrigin: true }),
    'a handle of another user': () => ({ userHandle: Buffer.from('user:1').toString('base64url') }),
    'a challenge of a second factor': async () => ({
      challenge: (await factorOptions((await addPersonWithPasskey()).email)).challenge,
    }),
    'a challenge to add a passkey': async () => ({
      challenge: (await creationOf((await addPerson()).access)).challenge,
    }),
    'a challenge that has changed': ({ challenge }) => ({ challenge: `${challenge.slice(0, -4)}AAAA` }),
    'no challenge': () => ({ challenge: '' }),
  }
  for (const [what, signing] of Object.entries(wrong))
    it(`refuses ${what}, as an unknown passkey`, async () => {
      const { key, userId } = await addPersonWithPasskey()
      const options = await requestOptions()
      const refused = await signInWith(key.get(options, await signing(options)))
      const { request_id: _, ...refusal } = refused.json()
      assert.equal(refused.statusCode, 401)
      assert.equal(refusal.code, 'invalid_credentials')
      assert.deepEqual(refusal, await unknown())
      assert.deepEqual(await auditOf(userId), ['passkey.add', 'passkey.refuse'])
    })

  it('refuses the credential of another user that is signed by an own one', async () => {
    const { key } = await addPersonWithPasskey()
    const victim = await addPersonWithPasskey()
    const assertion = { ...key.get(await requestOptions()), id: victim.key.id.toString('base64url') }
    assert.equal((await signInWith(assertion)).json().code, 'invalid_credentials')
  })

  it('takes an assertion once, also of two at the same time in two processes', async () => {
    const { key } = await addPersonWithPasskey(false)
    const assertion = key.get(await requestOptions())
    const answers = await Promise.all([
      signInWith(assertion),
      signInWith(assertion, second),
      signInWith(assertion),
    ])
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 401, 401])
    assert.equal((await signInWith(assertion)).statusCode, 401)
  })

  it('takes a challenge once, whatever the passkey', async () => {
    const { key } = await addPersonWithPasskey()
    const other = await addPersonWithPasskey()
    const options = await requestOptions()
    assert.equal((await signInWith(key.get(options))).statusCode, 200)
    assert.equal((await signInWith(other.key.get(options))).statusCode, 401)
  })

  it('refuses a counter that falls or stays, and records it', async () => {
    const { key, userId } = await addPersonWithPasskey()
    assert.equal((await signInWith(key.get(await requestOptions(), { counter: 40 }))).statusCode, 200)
    for (const counter of [40, 7, 0]) {
      const refused = await signInWith(key.get(await requestOptions(), { counter }))
      assert.equal(refused.json().code, 'invalid_credentials')
    }
    assert.deepEqual(await auditOf(userId), ['passkey.add', ...Array(3).fill('passkey.cloned')])
    assert.equal((await signInWith(key.get(await requestOptions(), { counter: 41 }))).statusCode, 200)
  })

  it('accepts an authenticator without a counter every time', async () => {
    const { key } = await addPersonWithPasskey(false)
    for (let times = 0; times < 3; times++)
      assert.equal((await signInWith(key.get(await requestOptions()))).statusCode, 200)
  })

  it('is refused for an address that is not confirmed, and for an account without a team, as with the password', async () => {
    const { key, userId, email, codes } = await addPersonWithPasskey()
    await sql`update users set email_confirmed = null where id = ${userId}`.execute(owner())
    const unconfirmed = await signInWith(key.get(await requestOptions()))
    assert.equal(unconfirmed.json().code, 'email_unconfirmed')
    await sql`update users set email_confirmed = now() where id = ${userId}`.execute(owner())
    await sql`delete from memberships where user_id = ${userId}`.execute(owner())
    const withPassword = (await signIn(email, { otp: codes[0] })).json()
    const withPasskey = (await signInWith(key.get(await requestOptions()))).json()
    assert.equal(withPasskey.code, 'forbidden')
    assert.equal(withPasskey.detail, withPassword.detail)
  })

  it('is not delayed by wrong passwords of other people', async () => {
    const { key, email } = await addPersonWithPasskey()
    for (let times = 0; times < 8; times++) await signIn(email, { password: 'not this one' })
    assert.equal((await signIn(email)).json().code, 'rate_limited')
    assert.equal((await signInWith(key.get(await requestOptions()))).statusCode, 200)
  })

  it('is limited by address, and so are its options', async () => {
    await using strict = await createTestApi(
      { PHAROS_PUBLIC_URL: origin, PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '3' },
      { sameInstallationAs: api },
    )
    const assertion = new Authenticator(origin).get(await requestOptions())
    const codesOf = async (ask: () => ReturnType<typeof call>) => {
      const codes = []
      for (let times = 0; times < 4; times++) codes.push((await ask()).statusCode)
      return codes
    }
    assert.deepEqual(await codesOf(() => signInWith(assertion, strict)), [401, 401, 401, 429])
    assert.deepEqual(
      await codesOf(() => call('POST', '/passkey/options', undefined, undefined, strict)),
      [200, 200, 200, 429],
    )
  })
})

describe('a passkey as the second factor', () => {
  it('is named after the right password only, and needs presence only', async () => {
    const { key, email } = await addPersonWithPasskey()
    const wrong: Refusal = (await signIn(email, { password: 'not this one' })).json()
    assert.equal(wrong.code, 'invalid_credentials')
    assert.equal(wrong.errors, undefined)
    const refused: Refusal = (await signIn(email)).json()
    assert.deepEqual(refused.errors![0]!.ctx.methods, ['passkey', 'recovery_code'])
    const options = refused.errors![0]!.ctx.public_key!
    assert.deepEqual(
      options.allowCredentials.map(({ id }) => id),
      [key.id.toString('base64url')],
    )
    const signedIn = await signIn(email, { passkey: key.get(options, { verifiesUser: false }) })
    assert.equal(signedIn.statusCode, 200, signedIn.body)
  })

  it('is refused with the challenge of another account, of a sign-in, a replayed one, and the passkey of another user', async () => {
    const { key, email, userId } = await addPersonWithPasskey()
    const other = await addPersonWithPasskey()
    const used = key.get(await factorOptions(email))
    assert.equal((await signIn(email, { passkey: used })).statusCode, 200)
    const refused = [
      used,
      key.get(await factorOptions(other.email)),
      key.get(await requestOptions()),
      other.key.get(await factorOptions(email)),
      new Authenticator(origin).get(await factorOptions(email)),
    ]
    for (const passkey of refused) {
      const answer = await signIn(email, { passkey })
      assert.equal(answer.statusCode, 401)
      assert.equal(answer.json().code, 'otp_required')
    }
    const actions = await auditOf(userId)
    assert.deepEqual(actions, ['passkey.add', ...Array(5).fill('passkey.refuse')])
    const { rows } = await sql<{ after: object | null }>`
      select after from audit_entries where target = ${`user:${userId}`} and action = 'passkey.refuse'
        and after ->> 'passkey' = ${String(other.passkey.id)}`.execute(owner())
    assert.deepEqual(rows, [], 'names the passkey of another account')
  })

  it('is one of two kinds: codes work beside it, and recovery codes for an account without an authenticator', async () => {
    const { email, userId, codes } = await addPersonWithPasskey()
    assert.equal((await signIn(email, { otp: codes[3] })).statusCode, 200)
    assert.equal((await signIn(email, { otp: codes[3] })).json().code, 'otp_required')
    const { secret } = await addSecondFactor(api, userId)
    const refused: Refusal = (await signIn(email)).json()
    assert.deepEqual(refused.errors![0]!.ctx.methods, ['passkey', 'totp', 'recovery_code'])
    assert.equal((await signIn(email, { otp: codeOf(secret) })).statusCode, 200)
  })

  it('limits wrong recovery codes of an account without an authenticator', async () => {
    const { access } = await addPersonWithPasskey()
    const renew = (otp?: string) =>
      call(
        'POST',
        '/totp/recovery-codes',
        { current_password: testPassword, ...(otp ? { otp } : {}) },
        access,
      )
    for (let times = 0; times < 10; times++) assert.equal((await renew('aaaaa-aaaaa')).statusCode, 422)
    assert.equal((await renew('aaaaa-aaaaa')).json().code, 'rate_limited')
    assert.equal((await renew()).json().recovery_codes.length, 10)
  })

  it('opens a team that requires a second factor', async () => {
    const strict = await addTeam(api, `strict-${people}`)
    await sql`update teams set require_2fa = true where id = ${strict.teamId}`.execute(owner())
    const person = await addUser(api, `person-${people++}`, [strict])
    const { access } = await openSession(api, person.userId, strict.teamId)
    const members = (token: string) =>
      api.server.inject({ url: '/v3/teams/current/members', headers: { authorization: `Bearer ${token}` } })
    assert.equal((await members(access)).json().code, 'second_factor_required')
    const added = await register(access, new Authenticator(origin))
    const answer = await members(added.json().access)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.json().results[0].two_factor, true)
  })
})

describe('the passkeys of an account', () => {
  it('are renamed under their ETag', async () => {
    const { access, passkey, userId } = await addPersonWithPasskey()
    const path = `/passkeys/${passkey.id}`
    const { etag } = (await call('GET', path, undefined, access)).headers as { etag: string }
    const renamed = await call('PATCH', path, { name: 'Phone' }, access, api, { 'if-match': etag })
    assert.equal(renamed.json().name, 'Phone')
    const stale = await call('PATCH', path, { name: 'Tablet' }, access, api, { 'if-match': etag })
    assert.equal(stale.json().code, 'precondition_failed')
    assert.deepEqual(await auditOf(userId), ['passkey.add', 'passkey.update'])
  })

  it('are not visible to other users', async () => {
    const { passkey } = await addPersonWithPasskey()
    const other = await addPerson()
    const path = `/passkeys/${passkey.id}`
    const remove = { current_password: testPassword }
    for (const answer of [
      await call('GET', path, undefined, other.access),
      await call('PATCH', path, { name: 'Mine' }, other.access),
      await call('POST', `${path}/delete`, remove, other.access),
    ])
      assert.equal(answer.statusCode, 404)
    assert.equal((await call('GET', '/passkeys', undefined, other.access)).json().count, 0)
  })

  it('are removed with the password; with the last one the recovery codes go too', async () => {
    const { access, passkey, key, email, userId } = await addPersonWithPasskey()
    const path = `/passkeys/${passkey.id}/delete`
    const refused = await call('POST', path, { current_password: 'not this one' }, access)
    assert.equal(refused.json().code, 'wrong_password')
    const removed = await call('POST', path, { current_password: testPassword }, access)
    assert.equal(removed.statusCode, 200, removed.body)
    await untilRefused(access)
    assert.equal((await signInWith(key.get(await requestOptions()))).json().code, 'invalid_credentials')
    assert.equal((await signIn(email)).statusCode, 200)
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from recovery_codes where user_id = ${userId}`.execute(owner())
    assert.deepEqual(rows, [{ count: 0 }])
    assert.deepEqual(await noticesTo(email), ['passkey added', 'off'])
  })

  it('stay the second factor when the authenticator is disabled, and the other way round', async () => {
    const { access, userId, email, passkey } = await addPersonWithPasskey()
    const { secret } = await addSecondFactor(api, userId)
    const proof = { current_password: testPassword, otp: codeOf(secret) }
    const disabled = await call('POST', '/totp/disable', proof, access)
    assert.equal(disabled.statusCode, 200, disabled.body)
    const refused: Refusal = (await signIn(email)).json()
    assert.deepEqual(refused.errors![0]!.ctx.methods, ['passkey', 'recovery_code'])
    await addSecondFactor(api, userId)
    const path = `/passkeys/${passkey.id}/delete`
    await call('POST', path, { current_password: testPassword }, disabled.json().access)
    const after: Refusal = (await signIn(email)).json()
    assert.deepEqual(after.errors![0]!.ctx.methods, ['totp', 'recovery_code'])
    assert.deepEqual(await noticesTo(email), ['passkey added', 'authenticator removed', 'passkey removed'])
  })

  it('are removed by the operator with the other second factors', async () => {
    const { email, key, access } = await addPersonWithPasskey()
    await resetSecondFactor(owner(), api.config.secret, email)
    await untilRefused(access)
    assert.equal((await signInWith(key.get(await requestOptions()))).json().code, 'invalid_credentials')
    assert.equal((await signIn(email)).statusCode, 200)
  })

  it('stay after the password was changed', async () => {
    const { access, key } = await addPersonWithPasskey()
    const change = { current_password: testPassword, new_password: 'nine harbours under rain' }
    assert.equal((await call('POST', '/change-password', change, access)).statusCode, 200)
    assert.equal((await signInWith(key.get(await requestOptions()))).statusCode, 200)
  })
})

describe('an installation with an IP address', () => {
  it('has no passkeys, and says why', async () => {
    await using numbered = await createTestApi(
      { PHAROS_PUBLIC_URL: 'https://192.0.2.7' },
      { sameInstallationAs: api },
    )
    const { access } = await addPerson()
    const current_password = testPassword
    for (const answer of [
      await call('POST', '/passkey/options', undefined, undefined, numbered),
      await call('POST', '/passkeys/options', { current_password }, access, numbered),
    ]) {
      assert.equal(answer.json().code, 'conflict')
      assert.match(answer.json().detail, /host name/)
    }
  })
})
