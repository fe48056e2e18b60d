// Staff in the team of a customer: only with an open access, which the customer reads. Every route with every staff role is tried by
// every-route.test.ts; here are the ways in and out, expiry, two accesses at once, bad input and an unavailable database.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { openStream } from '@pharos/contract/messages/stream-client'
import type { StaffRole } from '@pharos/contract/staff-role'
import { sql } from 'kysely'
import { collectNotifications } from '../src/notification/collect.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { TcpProxy } from './support/tcp-proxy.ts'

let api: TestApi
/** Another process of the installation. */
let second: TestApi
let provider: TestTeam
let red: TestTeam
let blue: TestTeam
let anna: { userId: number; email: string }

before(async () => {
  api = await createTestApi({ PHAROS_STREAM_LIFETIME_SECONDS: '3600' })
  second = await createTestApi({}, { sameInstallationAs: api })
  provider = await addTeam(api, 'provider')
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  anna = await addUser(api, 'anna', [red], { admin: true })
})
after(async () => {
  await second[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const owner = () => api.database.postgres.owner
const reason = 'The customer asked for help with the announcements.'

type Body = Record<string, unknown>
type Got = { readonly status: number; readonly body: Body }
type Sent = { readonly method?: 'GET' | 'POST' | 'PATCH'; readonly body?: object; readonly by?: TestApi }

/** A session, whose access token follows its team. */
type Person = {
  readonly userId: number
  readonly sessionId: string
  bearer: string
  send(url: string, sent?: Sent): Promise<Got>
  /** Switches the team, with the access that is asked for. */
  enter(team: TestTeam, access?: object): Promise<Got>
}

let people = 0

async function sessionOf(userId: number): Promise<Person> {
  const { access, sessionId } = await openSession(api, userId, provider.teamId, { entry: 'none' })
  const person: Person = {
    userId,
    sessionId,
    bearer: access,
    async send(url, { method = 'GET', body, by = api } = {}) {
      const answer = await by.server.inject({
        method,
        url,
        headers: { authorization: `Bearer ${person.bearer}` },
        ...(body ? { payload: body } : {}),
      })
      return { status: answer.statusCode, body: answer.body === '' ? {} : (answer.json() as Body) }
    },
    async enter({ teamId }, access = {}) {
      const got = await person.send('/v3/session/token', {
        method: 'POST',
        body: { team_id: teamId, ...access },
      })
      if (got.status === 200) person.bearer = String(got.body['access'])
      return got
    },
  }
  return person
}

async function employee(...roles: StaffRole[]): Promise<Person> {
  const { userId } = await addUser(api, `employee-${people++}`, [provider], { staff: roles })
  return sessionOf(userId)
}

const outcome = ({ status, body }: Got) => (status < 300 ? status : body['code'])
const anyOf = async (person: Person, teamId: number | string, by = api) => ({
  read: outcome(await person.send(`/v3/teams/${teamId}`, { by })),
  change: outcome(
    await person.send(`/v3/teams/${teamId}`, {
      method: 'PATCH',
      body: { description: `change ${people++}` },
      by,
    }),
  ),
})
const closed = { read: 'reason_required', change: 'reason_required' }

const tokenOf = async (person: Person) => (await person.send('/v3/session/token')).body['token'] as Body
const accessOf = async (person: Person) => (await tokenOf(person))['staff_access'] as Body
const close = (person: Person, body: object = {}) =>
  person.send('/v3/session/staff-access/close', { method: 'POST', body })

describe('the team of a customer', () => {
  it('is closed to staff without an open access, with and without a switch', async () => {
    const staff = await employee('admin')
    assert.equal(outcome(await staff.enter(red)), 'reason_required')
    assert.deepEqual(await anyOf(staff, red.teamId), closed)
    const refused = await staff.send(`/v3/teams/${red.teamId}`)
    assert.match(String(refused.body['detail']), /Enter it with a reason/)
    // An employee whose session is in the team, as after the end of an access.
    await sql`update sessions set team_id = ${red.teamId} where id = ${staff.sessionId}`.execute(owner())
    const { access } = await openSession(api, staff.userId, red.teamId, { entry: 'none' })
    staff.bearer = access
    for (const url of [
      '/v3/ipam/announcements',
      '/v3/dns/zones',
      '/v3/audit',
      '/v3/search?q=red',
      '/v3/stream',
    ])
      assert.equal(outcome(await staff.send(url)), 'reason_required', url)
    assert.equal(outcome(await staff.send('/v3/admin/teams')), 200)
    assert.equal(outcome(await staff.send('/v3/session/sessions')), 200)
    assert.equal((await tokenOf(staff))['staff_access'], null)
  })

  it('opens for reading with a reason, and for changes with `change`', async () => {
    const staff = await employee('admin')
    assert.equal(outcome(await staff.enter(red, { reason })), 200)
    assert.deepEqual(await anyOf(staff, red.teamId), { read: 200, change: 'forbidden' })
    assert.deepEqual(await anyOf(staff, 'current'), { read: 200, change: 'forbidden' })
    assert.equal(outcome(await staff.send('/v3/tokens')), 200)
    const token = { name: 'x', scopes: ['ipam:read'] }
    const refused = await staff.send('/v3/tokens', { method: 'POST', body: token })
    assert.match(String(refused.body['detail']), /^You entered the team for reading/)
    assert.equal(outcome(await staff.enter(red, { reason, change: true })), 200)
    assert.deepEqual(await anyOf(staff, 'current'), { read: 200, change: 200 })
    assert.equal(outcome(await staff.send('/v3/tokens', { method: 'POST', body: token })), 201)
  })

  it('stays open after a switch to another team, which needs no second reason to come back', async () => {
    const staff = await employee('admin')
    await staff.enter(red, { reason, change: true })
    assert.equal(outcome(await staff.enter(provider)), 200)
    assert.deepEqual(await anyOf(staff, red.teamId), { read: 200, change: 200 })
    assert.deepEqual(await anyOf(staff, blue.teamId), closed)
    assert.equal(outcome(await staff.enter(red)), 200)
  })

  it('gives the rights that follow from the staff role', async () => {
    const urls = {
      zones: '/v3/dns/zones',
      events: '/v3/lighthouse/security/events/related',
      audit: '/v3/audit',
    }
    const expected: Readonly<Record<StaffRole, object>> = {
      reader: { zones: 200, events: 200, audit: 200, change: 'forbidden' },
      billing: { zones: 'forbidden', events: 'forbidden', audit: 'forbidden', change: 'forbidden' },
      noc: { zones: 200, events: 200, audit: 'forbidden', change: 'forbidden' },
      admin: { zones: 200, events: 200, audit: 200, change: 200 },
    }
    for (const role of Object.keys(expected) as StaffRole[]) {
      const staff = await employee(role)
      await staff.enter(red, { reason, change: true })
      const found: Record<string, unknown> = {}
      for (const [name, url] of Object.entries(urls)) found[name] = outcome(await staff.send(url))
      assert.deepEqual({ ...found, change: (await anyOf(staff, 'current')).change }, expected[role], role)
    }
    const noc = await employee('noc')
    await noc.enter(red, { reason, change: true })
    assert.equal((await noc.send('/v3/audit')).body['detail'], 'Needs the staff role Reader or Admin.')
    assert.deepEqual((await tokenOf(noc))['staff_roles'], ['noc'])
  })

  it('needs no reason from staff who are members, and gives them the rights of a member', async () => {
    const { userId } = await addUser(api, 'member', [provider, blue], { staff: ['admin'], roles: ['reader'] })
    const staff = await sessionOf(userId)
    assert.equal(outcome(await staff.enter(blue)), 200)
    assert.deepEqual(await anyOf(staff, 'current'), { read: 200, change: 'forbidden' })
    assert.equal((await tokenOf(staff))['staff_access'], null)
    const refused = await staff.enter(blue, { reason })
    assert.deepEqual(
      [refused.status, (refused.body['errors'] as Body[])[0]!['loc']],
      [422, ['body', 'reason']],
    )
  })

  it('ends for staff who lose their role, at once', async () => {
    const staff = await employee('admin')
    await staff.enter(red, { reason })
    assert.equal(outcome(await staff.send('/v3/audit')), 200)
    await sql`update users set staff_roles = '{billing}' where id = ${staff.userId}`.execute(owner())
    await waitFor('the role has changed', async () => outcome(await staff.send('/v3/audit')) === 'forbidden')
    await sql`update users set staff_roles = null, is_staff = false where id = ${staff.userId}`.execute(
      owner(),
    )
    await waitFor(
      'the user is no staff',
      async () => outcome(await staff.send('/v3/audit')) === 'unauthenticated',
    )
  })
})

describe('the customer', () => {
  const audit = async (query: string) => {
    const { access } = await openSession(api, anna.userId, red.teamId)
    const headers = { authorization: `Bearer ${access}` }
    const { body } = await api.server.inject({ url: `/v3/audit?${query}`, headers })
    return (JSON.parse(body) as { results: Body[] }).results
  }

  it('reads who entered why and how long, without a name, and what was done in that time', async () => {
    const staff = await employee('admin')
    await staff.enter(red, { reason, ticket: 'NOC-4711', change: true, hours: 2 })
    const { id, opened, expires } = await accessOf(staff)
    await anyOf(staff, 'current')
    await close(staff)
    const entries = await audit('ordering=at,id&limit=1000')
    const own = entries.filter(({ credential }) => credential === `staff_access:${String(id)}`)
    assert.deepEqual(
      own.map(({ action, actor, actor_name }) => [action, actor, actor_name]),
      ['staff.access', 'team.update', 'staff.leave'].map((action) => [
        action,
        'staff',
        'staff of the provider',
      ]),
    )
    assert.deepEqual(own[0]!['after'], { reason, ticket: 'NOC-4711', change: true, opened, expires })
    assert.equal(Date.parse(String(expires)) - Date.parse(String(opened)), 2 * 3_600_000)
    assert.ok(!JSON.stringify(entries).includes('employee-'))
  })

  it('gets the message and a notification in the feed, by mail only if enabled', async () => {
    const staff = await employee('noc')
    await staff.enter(red, { reason, ticket: 'NOC-4712' })
    const { id, opened, expires } = await accessOf(staff)
    const { rows } = await sql<{ data: object }>`
      select data from outbox where type = 'team.staff_access' order by id desc limit 1`.execute(owner())
    assert.deepEqual(rows[0]!.data, {
      staff_access_id: id,
      reason,
      ticket: 'NOC-4712',
      change: false,
      at: opened,
      expires,
    })
    const member = await addUser(api, 'ben', [red], { roles: ['editor'] })
    await sql`update memberships set joined = now() - interval '1 year'`.execute(owner())
    const signal = new AbortController().signal
    const noted = await waitFor('the notification is written', async () => {
      await collectNotifications(
        { db: owner(), canMail: true, now: () => new Date(), derive: async () => {} },
        signal,
      )
      const found = await sql<{ user_id: number; mail: string; attrs: Body }>`
        select user_id, mail, attrs from notifications
        where kind = 'staff_access' and (attrs ->> 'staff_access_id')::integer = ${id}`.execute(owner())
      return found.rows.length > 0 && found.rows
    })
    assert.deepEqual(
      noted.map(({ user_id, mail, attrs }) => [user_id, mail, attrs['reason']]),
      [[anna.userId, 'none', reason]],
      `a member without the audit log (${member.userId}) is not told`,
    )
  })

  it('gets no message while a process of the release before may run, which could not render it', async () => {
    const staff = await employee('admin')
    const before = await sql<{ floor: string }>`select schema_floor as floor from installation`.execute(
      owner(),
    )
    const messages = async () =>
      (await sql`select from outbox where type = 'team.staff_access'`.execute(owner())).rows.length
    const count = await messages()
    await sql`update installation set schema_floor = '0.2.0'`.execute(owner())
    assert.equal(outcome(await staff.enter(red, { reason })), 200)
    const { id } = await accessOf(staff)
    await sql`update installation set schema_floor = ${before.rows[0]!.floor}`.execute(owner())
    assert.equal(await messages(), count)
    const [entry] = await audit('action=staff.access')
    assert.equal(entry!['target'], `staff_access:${String(id)}`)
  })

  it('is shown in the list of accesses, which only staff admins read', async () => {
    const staff = await employee('noc')
    await staff.enter(blue, { reason })
    const admin = await employee('admin')
    assert.equal(outcome(await staff.send('/v3/admin/staff-accesses')), 'forbidden')
    const { body } = await admin.send(`/v3/admin/staff-accesses?user_id=${staff.userId}&open=true`)
    const [row] = body['results'] as Body[]
    assert.deepEqual(
      [body['count'], row!['team'], row!['reason'], row!['user_id'], row!['ended']],
      [1, { id: blue.teamId, name: 'Team blue' }, reason, staff.userId, null],
    )
    // Its session ends: so does the access.
    await staff.send('/v3/session/logout', { method: 'POST', body: {} })
    const ended = (await admin.send(`/v3/admin/staff-accesses?user_id=${staff.userId}&open=false`)).body
    assert.notEqual((ended['results'] as Body[])[0]!['ended'], null)
  })
})

describe('the end of an access', () => {
  it('by closing it is the end in every process', async () => {
    const staff = await employee('admin')
    await staff.enter(red, { reason, change: true })
    for (const by of [api, second])
      assert.deepEqual(await anyOf(staff, 'current', by), { read: 200, change: 200 })
    const { status, body } = await close(staff)
    assert.deepEqual([status, body['team_id'], typeof body['ended']], [200, red.teamId, 'string'])
    for (const by of [api, second])
      await waitFor('the team is closed', async () => (await staff.send('/v3/audit', { by })).status === 403)
    for (const by of [api, second]) {
      assert.deepEqual(await anyOf(staff, 'current', by), closed)
      assert.equal(outcome(await staff.send('/v3/ipam/announcements', { by })), 'reason_required')
    }
    assert.equal(outcome(await close(staff)), 'not_found')
    assert.equal(outcome(await staff.enter(red)), 'reason_required')
    assert.equal(outcome(await staff.enter(provider)), 200)
  })

  it('by its hours is the end in every process, also where it is cached, and of the stream', async () => {
    const staff = await employee('admin')
    await staff.enter(red, { reason, change: true })
    const { id } = await accessOf(staff)
    await api.server.listen({ port: 0, host: '127.0.0.1' })
    const { port } = api.server.server.address() as AddressInfo
    const abort = new AbortController()
    const events = openStream(
      { baseUrl: `http://127.0.0.1:${port}`, credential: () => ({ bearer: staff.bearer }) },
      { signal: abort.signal },
    )
    assert.equal((await events.next()).value!.type, 'ready')
    await sql`update staff_accesses set expires = now() + interval '2 seconds' where id = ${id}`.execute(
      owner(),
    )
    // Cached with the new end, in both processes.
    await waitFor('the end is known', async () => {
      const got = await accessOf(staff)
      return got === null || Date.parse(String(got['expires'])) < Date.now() + 10_000
    })
    await staff.send('/v3/audit', { by: second })
    const end = Date.now() + 3_000
    await waitFor('the end has passed', () => Date.now() > end)
    for (const by of [api, second]) {
      assert.equal(outcome(await staff.send('/v3/audit', { by })), 'reason_required')
      assert.deepEqual(await anyOf(staff, 'current', by), closed)
    }
    await waitFor('the stream has ended', async () => (await events.next()).done)
    abort.abort()
  })

  it('is the end for a change that waited for the team', async () => {
    const staff = await employee('admin')
    await staff.enter(red, { reason, change: true })
    const { id } = await accessOf(staff)
    const waiting = await owner()
      .transaction()
      .execute(async (trx) => {
        await sql`select from teams where id = ${red.teamId} for update`.execute(trx)
        const request = staff.send('/v3/teams/current', {
          method: 'PATCH',
          body: { description: 'too late' },
        })
        await waitFor('the change waits', async () => {
          const { rows } = await sql`
            select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
            owner(),
          )
          return rows.length > 0
        })
        await sql`update staff_accesses set closed = now() where id = ${id}`.execute(trx)
        return { request }
      })
    assert.equal(outcome(await waiting.request), 'reason_required')
  })
})

describe('two accesses', () => {
  it('to one team of one session: the later replaces the other, however many are asked for at once', async () => {
    const staff = await employee('admin')
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        staff.enter(red, { reason: `${reason} ${at}`, change: at % 2 === 0 }),
      ),
    )
    assert.deepEqual(new Set(answers.map(outcome)), new Set([200]))
    const { rows } = await sql<{ open: boolean; change: boolean }>`
      select closed is null as open, change from staff_accesses where session_id = ${staff.sessionId}`.execute(
      owner(),
    )
    assert.equal(rows.length, 10)
    const [open, ...others] = rows.filter((row) => row.open)
    assert.equal(others.length, 0)
    assert.deepEqual((await anyOf(staff, 'current')).change, open!.change ? 200 : 'forbidden')
  })

  it('to two teams, and of two sessions, end one by one', async () => {
    const staff = await employee('admin')
    const other = await sessionOf(staff.userId)
    await staff.enter(red, { reason })
    await staff.enter(blue, { reason, change: true })
    await other.enter(red, { reason, change: true })
    assert.equal((await anyOf(staff, red.teamId)).change, 'forbidden')
    assert.equal((await anyOf(other, red.teamId)).change, 200)
    assert.deepEqual(await anyOf(other, blue.teamId), closed)
    assert.equal(outcome(await close(staff, { team_id: red.teamId })), 200)
    assert.deepEqual(await anyOf(staff, red.teamId), closed)
    assert.deepEqual(await anyOf(staff, blue.teamId), { read: 200, change: 200 })
    assert.deepEqual(await anyOf(other, red.teamId), { read: 200, change: 200 })
  })
})

describe('a request for an access', () => {
  const refusals: Readonly<Record<string, readonly [object, (string | number)[]]>> = {
    'a reason of 9 characters': [{ reason: 'r'.repeat(9) }, ['body', 'reason']],
    'a reason of 501 characters': [{ reason: 'r'.repeat(501) }, ['body', 'reason']],
    'a reason of spaces': [{ reason: ' '.repeat(20) }, ['body', 'reason']],
    'a reason with a hidden character': [{ reason: `${reason}\u202e` }, ['body', 'reason']],
    'a reason that is null': [{ reason: null }, ['body', 'reason']],
    '0 hours': [{ reason, hours: 0 }, ['body', 'hours']],
    '9 hours': [{ reason, hours: 9 }, ['body', 'hours']],
    '1.5 hours': [{ reason, hours: 1.5 }, ['body', 'hours']],
    'hours as text': [{ reason, hours: '1' }, ['body', 'hours']],
    'an empty ticket': [{ reason, ticket: '' }, ['body', 'ticket']],
    'a change that is text': [{ reason, change: 'true' }, ['body', 'change']],
    'hours without a reason': [{ hours: 2 }, ['body', 'reason']],
    'a change without a reason': [{ change: true }, ['body', 'reason']],
    'an unknown field': [{ reason, days: 1 }, ['body', 'days']],
  }

  for (const [name, [body, loc]] of Object.entries(refusals))
    it(`is refused with ${name}`, async () => {
      const staff = await employee('admin')
      const got = await staff.enter(red, body)
      assert.equal(got.status, 422, JSON.stringify(got.body))
      const locations = (got.body['errors'] as Body[]).map((one) => one['loc'])
      assert.ok(
        locations.some((one) => JSON.stringify(one) === JSON.stringify(loc)),
        JSON.stringify(got.body),
      )
      assert.deepEqual(await anyOf(staff, red.teamId), closed)
    })

  it('is refused for an unknown team, the own team, and from others than staff', async () => {
    const staff = await employee('admin')
    assert.equal(outcome(await staff.enter({ teamId: 999_999, slug: '' }, { reason })), 'not_found')
    assert.equal(outcome(await staff.enter({ teamId: 99_999_999_999, slug: '' }, { reason })), 'not_found')
    assert.equal(outcome(await staff.enter(provider, { reason })), 'invalid')
    const { userId } = await addUser(api, 'stranger', [provider], { admin: true })
    const stranger = await sessionOf(userId)
    const [foreign, missing] = [
      await stranger.enter(red, { reason }),
      await stranger.enter({ teamId: 999_999, slug: '' }, { reason }),
    ]
    assert.deepEqual([outcome(foreign), outcome(missing)], ['not_found', 'not_found'])
    assert.deepEqual(foreign.body['detail'], missing.body['detail'])
    assert.equal(outcome(await close(stranger, { team_id: red.teamId })), 'not_found')
  })

  it('takes the limits', async () => {
    const staff = await employee('reader')
    for (const body of [
      { reason: 'r'.repeat(10), hours: 1 },
      { reason: 'r'.repeat(500), hours: 8, ticket: 't'.repeat(100) },
      { reason: `  ${'r'.repeat(10)}  ` },
    ])
      assert.equal(outcome(await staff.enter(red, body)), 200)
    // The notification that invalidates the access before, which is cached, follows the answer.
    await waitFor(
      'the last reason without its spaces',
      async () => (await accessOf(staff))['reason'] === 'r'.repeat(10),
    )
  })
})

describe('while the database is away', () => {
  it('nothing opens: a request in a team is 503, also where the access was cached', async () => {
    await using proxy = await TcpProxy.create(api.database.databaseUrl)
    await using distant = await createTestApi(
      {},
      { sameInstallationAs: api, through: () => proxy.databaseUrl },
    )
    const staff = await employee('admin')
    await staff.enter(red, { reason, change: true })
    assert.equal(outcome(await staff.send('/v3/audit', { by: distant })), 200)
    proxy.refuse()
    await close(staff)
    await waitFor('the process has no notifications', () => !distant.waker.connected)
    for (const url of ['/v3/audit', '/v3/teams/current', `/v3/teams/${red.teamId}`])
      assert.equal(outcome(await staff.send(url, { by: distant })), 'unavailable', url)
    proxy.open()
    await waitFor(
      'the database is back',
      async () => (await staff.send('/v3/audit', { by: distant })).status !== 503,
    )
    assert.equal(outcome(await staff.send('/v3/audit', { by: distant })), 'reason_required')
  })
})
