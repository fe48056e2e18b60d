// The first run: the setup code creates the first account of an empty installation, once, and nothing else opens it.
import assert from 'node:assert/strict'
import { after, beforeEach, before, describe, it } from 'node:test'
import type { SetupProgress } from '@pharos/contract/operator/setup'
import { sql } from 'kysely'
import { emptyTables } from '../src/db/testing.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { parseYaml } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { createSetupTest } from '../src/setup/parts.ts'
import { readSetupCode } from '../src/setup/first-account.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'

let api: TestApi
before(async () => {
  api = await createTestApi()
})
after(() => api[Symbol.asyncDispose]())
beforeEach(() =>
  emptyTables(api.database.postgres.owner, [
    'users',
    'teams',
    'regions',
    'locations',
    'sources',
    'devices',
    'provider',
    'platform_owners',
    'setup',
    'restores',
    'audit_entries',
  ]),
)

const owner = () => api.database.postgres.owner
const password = 'seven unlikely words of mine'
const codeNow = async () => (await readSetupCode(owner(), api.config.secret))!.code

const isOpen = async (): Promise<boolean> =>
  (await api.server.inject({ url: '/v3/setup' })).json<{ open: boolean }>().open

const create = (code: string, rest: object = {}, remoteAddress = '192.0.2.1') =>
  api.server.inject({
    method: 'POST',
    url: '/v3/setup',
    remoteAddress,
    payload: { code, provider: 'Example Net', email: 'ann@net.example', password, ...rest },
  })

async function authorizationOf(email = 'ann@net.example'): Promise<string> {
  const response = await api.server.inject({
    method: 'POST',
    url: '/v3/session/token',
    payload: { email, password },
  })
  assert.equal(response.statusCode, 200, response.body)
  return `Bearer ${response.json<{ access: string }>().access}`
}

const apply = async (yaml: string, options = {}): Promise<void> => {
  const document = parseYaml('platform.yaml', yaml)
  const deps = { ring: api.config.secret, readText: () => assert.fail() }
  const all = { prune: false, enforce: false, ...options }
  const prepared = await preparePlatform(platformKinds, owner(), document, deps, all)
  await applyPlatform(platformKinds, owner(), prepared, new Date())
}

describe('the first account', () => {
  it('is an admin of the provider and of its team, and signs in', async () => {
    assert.equal(await isOpen(), true)
    const response = await create((await codeNow()).toUpperCase().replaceAll('-', ' '), {
      first_name: 'Ann',
      last_name: 'Lee',
    })
    assert.equal(response.statusCode, 200, response.body)
    const authorization = await authorizationOf()
    const { user, token } = (
      await api.server.inject({ url: '/v3/session/token', headers: { authorization } })
    ).json()
    assert.deepEqual(
      [user.display_name, user.current_team.name, user.is_staff, token.roles, token.staff_roles],
      ['Ann Lee', 'Example Net', true, ['admin'], ['admin']],
    )
    assert.equal(await isOpen(), false)
    const { rows } = await sql<{ actor: string; action: string }>`
      select actor, action from audit_entries order by action`.execute(owner())
    const actions = rows.map(({ actor, action }) => `${actor.replace(/\d+/, '1')} ${action}`)
    for (const action of [
      'operator user.create',
      'operator team.create',
      'operator provider.create',
      'user:1 setup.complete',
    ])
      assert.ok(actions.includes(action), action)
    const stored = JSON.stringify((await sql`select * from audit_entries`.execute(owner())).rows)
    assert.ok(!stored.includes(password) && !stored.includes('argon2'))
  })

  it('is left alone by a later platform file, and the file is not changed by it', async () => {
    await create(await codeNow())
    await apply(
      'users:\n  - { email: bob@net.example, password: "seven unlikely words of his", staff: true }',
      {
        prune: true,
      },
    )
    await authorizationOf()
    const { rows } = await sql<{ email: string }>`select email from users order by email`.execute(owner())
    assert.deepEqual(
      rows.map(({ email }) => email),
      ['ann@net.example', 'bob@net.example'],
    )
  })

  it('is in a team that exists, and does not rename a provider of a file', async () => {
    await apply('provider: { name: Other Net }\nteams:\n  - { slug: example-net, name: Other }')
    const response = await create(await codeNow())
    assert.equal(response.statusCode, 200, response.body)
    const { rows } = await sql<{ provider: string; team: string; teams: number }>`
      select p.name as provider, t.name as team, (select count(*)::integer from teams) as teams
      from provider p, teams t`.execute(owner())
    assert.deepEqual(rows, [{ provider: 'Other Net', team: 'Other', teams: 1 }])
  })

  it('is created once if two requests have the code', async () => {
    const code = await codeNow()
    const answers = await Promise.all(
      ['ann@net.example', 'bob@net.example', 'eve@net.example'].map((email) => create(code, { email })),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409])
    const { rows } = await sql`select from users`.execute(owner())
    assert.equal(rows.length, 1)
  })

  it('excludes a platform file with users that is applied at the same time', async () => {
    const code = await codeNow()
    const file = apply(
      'users:\n  - { email: bob@net.example, password: "seven unlikely words of his", staff: true }',
    )
    const [answer] = await Promise.all([create(code), file.catch(() => undefined)])
    const { rows } = await sql<{ email: string }>`select email from users where is_staff`.execute(owner())
    // Either the file was first, or the account, which the file then joins.
    const emails = rows.map(({ email }) => email).toSorted()
    if (answer.statusCode === 409) assert.deepEqual(emails, ['bob@net.example'])
    else assert.deepEqual([answer.statusCode, emails[0]], [200, 'ann@net.example'])
  })
})

describe('the setup is refused', () => {
  type Case = { readonly prepare: () => Promise<string>; readonly status: number; readonly code: string }
  const closed = { status: 409, code: 'conflict' }
  const wrong = { status: 400, code: 'invalid_token' }
  const cases: Readonly<Record<string, Case>> = {
    'with another code': {
      prepare: async () => {
        await codeNow()
        return 'aaaaa-bbbbb-ccccc-ddddd'
      },
      ...wrong,
    },
    'with a part of the code': { prepare: async () => (await codeNow()).slice(0, 17), ...wrong },
    'before a code was made': { prepare: async () => 'aaaaa-bbbbb-ccccc-ddddd', ...wrong },
    'with an expired code': {
      async prepare() {
        const code = await codeNow()
        await sql`update setup set expires = now() - interval '1 second'`.execute(owner())
        return code
      },
      ...wrong,
    },
    'with a code that was replaced': {
      async prepare() {
        const code = await codeNow()
        await sql`update setup set expires = now() - interval '1 second'`.execute(owner())
        assert.notEqual(await codeNow(), code)
        return code
      },
      ...wrong,
    },
    'with an account of a platform file': {
      async prepare() {
        const code = await codeNow()
        await apply('users:\n  - { email: bob@net.example, password: "seven unlikely words of his" }')
        return code
      },
      ...closed,
    },
    'with an account of staff': {
      async prepare() {
        const code = await codeNow()
        await addUser(api, 'staff', [await addTeam(api, 'red')], { staff: true })
        return code
      },
      ...closed,
    },
    'after a setup whose account is gone': {
      async prepare() {
        const code = await codeNow()
        await create(code)
        await sql`delete from memberships`.execute(owner())
        await sql`delete from users`.execute(owner())
        return code
      },
      ...closed,
    },
    'in a restored database, also once that is decided': {
      async prepare() {
        const code = await codeNow()
        await sql`insert into restores (reason, evidence, closed) values ('by_hand', '{}', now())`.execute(
          owner(),
        )
        return code
      },
      ...closed,
    },
  }
  for (const [name, { prepare, status, code }] of Object.entries(cases)) {
    it(name, async () => {
      const given = await prepare()
      const users = async () => (await sql`select from users`.execute(owner())).rows.length
      const before = await users()
      const answer = await create(given, { email: 'eve@net.example' })
      assert.deepEqual([answer.statusCode, answer.json().code], [status, code], answer.body)
      assert.equal(await users(), before)
      if (status === 409) {
        assert.equal(await isOpen(), false)
        assert.equal(await readSetupCode(owner(), api.config.secret), undefined)
        assert.equal(await createSetupTest(api.shared)(), false)
      }
    })
  }

  it('with a weak password, at its field', async () => {
    const code = await codeNow()
    for (const weak of ['short', 'example net example net', 'ann@net.example.1']) {
      const answer = await create(code, { password: weak })
      assert.equal(answer.statusCode, 422, weak)
      assert.deepEqual(answer.json().errors[0].loc, ['body', 'password'])
    }
    const address = await create(code, { email: 'nobody at all' })
    assert.deepEqual(
      [address.statusCode, address.json().errors?.[0]?.loc],
      [422, ['body', 'email']],
      address.body,
    )
    assert.equal(await isOpen(), true)
  })

  it('with an Idempotency-Key, which would keep a digest of the password', async () => {
    const payload = { code: await codeNow(), provider: 'Example Net', email: 'ann@net.example', password }
    const headers = { 'idempotency-key': 'one-of-a-kind' }
    const answer = await api.server.inject({ method: 'POST', url: '/v3/setup', headers, payload })
    assert.deepEqual(
      [answer.statusCode, answer.json().errors?.[0]?.loc],
      [422, ['header', 'Idempotency-Key']],
    )
    assert.equal(await isOpen(), true)
  })

  it('after some attempts of one client', async () => {
    await using limited = await createTestApi(
      { PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '3' },
      { sameInstallationAs: api },
    )
    const statuses = []
    for (let at = 0; at < 4; at += 1) {
      const payload = { code: 'x', provider: 'x', email: 'ann@net.example', password }
      statuses.push((await limited.server.inject({ method: 'POST', url: '/v3/setup', payload })).statusCode)
    }
    assert.deepEqual(statuses, [400, 400, 400, 429])
  })
})

it('every process prints the same code until it expires, and the database does not contain it', async () => {
  const code = await codeNow()
  assert.equal(await codeNow(), code)
  assert.match(code, /^([a-z2-7]{5}-){3}[a-z2-7]{5}$/)
  const { rows } = await sql`select * from setup`.execute(owner())
  assert.ok(!JSON.stringify(rows).replaceAll('-', '').includes(code.replaceAll('-', '')))
})

describe('what is left', () => {
  const progress = async (authorization: string, dismissed?: boolean): Promise<SetupProgress> => {
    const answer = await api.server.inject({
      method: dismissed === undefined ? 'GET' : 'PATCH',
      url: '/v3/admin/setup',
      headers: { authorization },
      ...(dismissed === undefined ? {} : { payload: { dismissed } }),
    })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json()
  }
  const doneIn = ({ steps }: SetupProgress) => steps.filter(({ done }) => done).map(({ step }) => step)

  it('follows from what exists', async () => {
    await create(await codeNow())
    const authorization = await authorizationOf()
    assert.deepEqual(doneIn(await progress(authorization)), [])
    const values = [
      ['provider', { name: 'Example Net', asn: 64500, support: 'mailto:noc@net.example' }],
      ['locations', { key: 'ams', name: 'Amsterdam', country: 'NL', timezone: 'Europe/Amsterdam' }],
      ['regions', { slug: 'ams', name: 'Amsterdam', location: 'ams', speaker: { kind: 'sandbox' } }],
      ['sources', { key: 'fnm', kind: 'fastnetmon', name: 'FastNetMon', secret: 'a-secret-of-16-chars' }],
      ['devices', { name: 'r1' }],
      ['teams', { slug: 'bakery', name: 'Bakery' }],
    ] as const
    const changes = values.map(([section, value]) => ({
      action: section === 'provider' ? 'update' : 'create',
      section,
      values: value,
    }))
    const answer = await api.server.inject({
      method: 'POST',
      url: '/v3/admin/platform/changes',
      headers: { authorization },
      payload: { changes },
    })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(doneIn(await progress(authorization)), [
      'provider',
      'region',
      'detector',
      'device',
      'customer',
    ])
    await sql`update users set totp_enabled = now()`.execute(owner())
    assert.ok(doneIn(await progress(authorization)).includes('second_factor'))
  })

  it('is hidden and shown again, with an entry in the audit log for each', async () => {
    await create(await codeNow())
    const authorization = await authorizationOf()
    for (const dismissed of [true, true, false]) {
      assert.equal((await progress(authorization, dismissed)).dismissed, dismissed)
      assert.equal((await progress(authorization)).dismissed, dismissed)
    }
    const { rows } = await sql`select from audit_entries where action = 'setup.update'`.execute(owner())
    assert.equal(rows.length, 2)
  })
})
