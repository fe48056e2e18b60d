// The audit log over HTTP: entries for a team's admins, filters, and hidden entries. Callers are tested in every-route.test.ts.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { AuditEntry } from '@pharos/contract/team/audit'
import { sql } from 'kysely'
import { sealAll } from '../src/audit/seal.ts'
import { writeAudit, type AuditEntry as Written } from '../src/db/audit.ts'
import { emptyAudit } from '../src/db/testing.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let people: Record<'admin' | 'member' | 'staff' | 'blue' | 'demoted', { userId: number; email: string }>
let bearers: Record<'admin' | 'staff' | 'blue', string>

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  people = {
    admin: await addUser(api, 'admin', [red], { admin: true }),
    member: await addUser(api, 'member', [red]),
    staff: await addUser(api, 'staff', [], { staff: true }),
    blue: await addUser(api, 'admin', [blue], { admin: true }),
    demoted: await addUser(api, 'demoted', []),
  }
  const bearer = async (name: keyof typeof people, team: TestTeam) =>
    `Bearer ${(await openSession(api, people[name].userId, team.teamId)).access}`
  bearers = {
    admin: await bearer('admin', red),
    staff: await bearer('staff', red),
    blue: await bearer('blue', blue),
  }
})
beforeEach(() => emptyAudit(owner()))
after(() => api[Symbol.asyncDispose]())

const owner = () => api.database.postgres.owner

type Page = { results: AuditEntry[]; count: number }

async function call(authorization: string, path: string) {
  const answer = await api.server.inject({ url: `/v3/audit${path}`, headers: { authorization } })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() as unknown }
}

async function list(search = '', authorization = bearers.admin): Promise<Page> {
  const { status, body } = await call(authorization, search)
  assert.equal(status, 200, JSON.stringify(body))
  return body as Page
}

const targetsOf = async (search?: string, authorization?: string): Promise<string[]> =>
  (await list(search, authorization)).results.map(({ target }) => target)

/** Adds entries of red in order, each about the target with its name. */
async function write(entries: Record<string, Partial<Written>>): Promise<void> {
  for (const [target, rest] of Object.entries(entries)) {
    const actor = `user:${people.admin.userId}`
    await writeAudit(owner(), { teamId: red.teamId, actor, action: 'test.write', target, ...rest })
  }
}

describe('the audit log of a team', () => {
  it('contains all fields of an entry, and its position in the chain once it is sealed', async () => {
    await write({
      'team:1': {
        credential: 'session:abc',
        before: { name: 'a' },
        after: { name: 'b', n: [1, null] },
        requestId: 'r1',
        address: '::ffff:192.0.2.7',
      },
    })
    const [entry] = (await list()).results
    const { id, at, ...rest } = entry!
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 3_600_000)
    assert.deepEqual(rest, {
      actor: `user:${people.admin.userId}`,
      actor_name: people.admin.email,
      credential: 'session:abc',
      action: 'test.write',
      target: 'team:1',
      before: { name: 'a' },
      after: { name: 'b', n: [1, null] },
      request_id: 'r1',
      address: '192.0.2.7',
      sealed: false,
      sequence: null,
    })
    const { body, headers } = await call(bearers.admin, `/${id}`)
    assert.deepEqual(body, entry)
    await sealAll(owner(), api.config.secret, new AbortController().signal)
    const sealed = await call(bearers.admin, `/${id}`)
    assert.deepEqual(sealed.body, { ...entry, sealed: true, sequence: 1 })
    assert.notEqual(sealed.headers['etag'], headers['etag'])
    assert.deepEqual((await list()).results, [sealed.body])
  })

  it('is sorted newest first, in pages, with the total count', async () => {
    await write(Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`t:${at}`, {}])))
    const page = await list('?limit=3&offset=2')
    assert.deepEqual([page.results.map(({ target }) => target), page.count], [['t:4', 't:3', 't:2'], 7])
    assert.deepEqual(await targetsOf('?ordering=at&limit=2'), ['t:0', 't:1'])
    assert.deepEqual(await targetsOf('?ordering=-id&limit=1'), ['t:6'])
    const past = await list('?offset=100')
    assert.deepEqual([past.results, past.count], [[], 7])
  })

  it('sorts entries of one moment by their ids, in the same direction', async () => {
    const actor = 'operator'
    const same = ['a', 'b', 'c'].map((target) => ({ teamId: red.teamId, actor, action: 'x.y', target }))
    await writeAudit(owner(), ...same)
    assert.deepEqual(await targetsOf(), ['c', 'b', 'a'])
    assert.deepEqual(await targetsOf('?ordering=at'), ['a', 'b', 'c'])
    assert.deepEqual(await targetsOf('?ordering=at,-id'), ['c', 'b', 'a'])
  })

  it('has filters: repeated ones are combined with or, different ones with and', async () => {
    const member = `user:${people.member.userId}`
    await write({
      one: { action: 'announcement.create', requestId: 'r1', address: '192.0.2.1' },
      two: { action: 'announcement.update', requestId: 'r2', address: '192.0.2.200', actor: member },
      three: { action: 'announcements.export', address: '2001:db8::7' },
      four: { action: 'team.update', actor: 'operator' },
    })
    assert.deepEqual(await targetsOf('?action=announcement.*'), ['two', 'one'])
    assert.deepEqual(await targetsOf('?action=announcement.create&action=team.*'), ['four', 'one'])
    assert.deepEqual(await targetsOf('?action=announcement'), [])
    assert.deepEqual(await targetsOf(`?actor=${member}&actor=operator`), ['four', 'two'])
    assert.deepEqual(await targetsOf(`?actor=${member}&action=team.*`), [])
    assert.deepEqual(await targetsOf('?target=three&target=one'), ['three', 'one'])
    assert.deepEqual(await targetsOf('?request_id=r2'), ['two'])
    assert.deepEqual(await targetsOf('?address=192.0.2.1'), ['one'])
    assert.deepEqual(await targetsOf('?address=192.0.2.0/25&address=2001:db8::/32'), ['three', 'one'])
    assert.equal((await list('?action=announcement.*&limit=1')).count, 2)
  })

  it('has an inclusive start and an exclusive end', async () => {
    for (const [target, at] of [
      ['before', '2026-03-01T09:59:59.999999Z'],
      ['at', '2026-03-01T10:00:00Z'],
      ['after', '2026-03-01T11:00:00Z'],
    ])
      await sql`insert into audit_entries (team_id, at, actor, action, target)
        values (${red.teamId}, ${at}::timestamptz, 'operator', 'a.b', ${target})`.execute(owner())
    assert.deepEqual(await targetsOf('?start=2026-03-01T10:00&end=2026-03-01T12:00:00%2B01:00'), ['at'])
    assert.deepEqual(await targetsOf('?start=2026-03-01T11:00:00Z'), ['after'])
  })

  it('rejects unknown and incomplete filters', async () => {
    for (const search of [
      '?who=me',
      '?action=',
      '?action=announcement*',
      '?action=*',
      '?action=Announcement.create',
      '?actor=',
      '?start=',
      '?start=yesterday',
      '?start=2026-03-02&end=2026-03-01',
      '?address=192.0.2.1/24',
      '?address=home',
      '?ordering=actor',
      '?limit=1001',
      '?limit=0',
      '?start=2026-03-01&start=2026-03-02',
    ]) {
      const { status, body } = await call(bearers.admin, search)
      assert.deepEqual([status, (body as { code: string }).code], [422, 'invalid'], search)
    }
  })
})

describe('the actor of an entry', () => {
  it('is shown to the team by name, and as the provider for staff', async () => {
    const token = await addApiToken(api, red.teamId)
    const tokenId = /^phs_([^_]+)_/.exec(token)![1]!
    await write({
      member: { actor: `user:${people.member.userId}` },
      token: { actor: `token:${tokenId}` },
      staff: { actor: `user:${people.staff.userId}`, credential: 'session:s', address: '198.51.100.1' },
      // Was staff at the time of the change.
      demoted: { actor: `user:${people.demoted.userId}`, byStaff: true, address: '198.51.100.2' },
      operator: { actor: 'operator' },
      loop: { actor: 'pharos' },
      gone: { actor: 'user:999999' },
    })
    const shown = (await list('?ordering=id')).results.map(
      ({ target, actor, actor_name, credential, address }) => [
        target,
        actor,
        actor_name,
        credential,
        address,
      ],
    )
    const staff = ['staff', 'staff of the provider', null, null]
    assert.deepEqual(shown, [
      ['member', `user:${people.member.userId}`, people.member.email, null, null],
      ['token', `token:${tokenId}`, 'test', null, null],
      ['staff', ...staff],
      ['demoted', ...staff],
      ['operator', 'operator', 'staff of the provider', null, null],
      ['loop', 'pharos', 'Pharos', null, null],
      ['gone', 'user:999999', null, null, null],
    ])
    assert.deepEqual(await targetsOf('?actor=staff'), ['demoted', 'staff'])
    assert.deepEqual(await targetsOf(`?actor=user:${people.staff.userId}`), [])
    assert.deepEqual(await targetsOf(`?actor=user:${people.demoted.userId}`), [])
    assert.deepEqual(await targetsOf('?address=198.51.100.0/24'), [])
  })

  it('is shown to staff by name, in their current team', async () => {
    await write({ staff: { actor: `user:${people.staff.userId}`, byStaff: true, address: '198.51.100.1' } })
    const [entry] = (await list('', bearers.staff)).results
    assert.deepEqual(
      [entry!.actor, entry!.actor_name, entry!.address],
      [`user:${people.staff.userId}`, people.staff.email, '198.51.100.1'],
    )
    assert.deepEqual(await targetsOf('?address=198.51.100.1', bearers.staff), ['staff'])
  })
})

describe('a session that switches to another team', () => {
  it('is audited in that team, once, and shown to the team as the provider', async () => {
    const { access: bearer } = await openSession(api, people.staff.userId, blue.teamId)
    const enter = (team: TestTeam, access = {}) =>
      api.server.inject({
        method: 'POST',
        url: '/v3/session/token',
        headers: { authorization: `Bearer ${bearer}` },
        payload: { team_id: team.teamId, ...access },
      })
    assert.equal((await enter(blue)).statusCode, 200)
    assert.equal((await enter(red, { reason: 'asked for help' })).statusCode, 200)
    assert.deepEqual(await targetsOf('', bearers.blue), [])
    const shown = (await list('?action=session.*')).results.map(({ action, actor, after }) => [
      action,
      actor,
      after,
    ])
    assert.deepEqual(shown, [['session.switch', 'staff', { team_id: red.teamId }]])
  })
})

describe('the isolation of teams', () => {
  it('returns no entry of another team or without a team, and none of their seals', async () => {
    await write({ red: {}, blue: { teamId: blue.teamId }, nobody: { teamId: null } })
    await sealAll(owner(), api.config.secret, new AbortController().signal)
    assert.deepEqual(await targetsOf(), ['red'])
    assert.deepEqual(await targetsOf('', bearers.blue), ['blue'])
    const [entry] = (await list('', bearers.blue)).results
    assert.equal((await call(bearers.admin, `/${entry!.id}`)).status, 404)
    const seen = await api.database.postgres.inTeam(red.teamId, async (trx) => {
      const entries = await sql`select target from audit_entries`.execute(trx)
      const seals = await sql`select sequence from audit_seals`.execute(trx)
      return [entries.rows, seals.rows]
    })
    assert.deepEqual(seen, [[{ target: 'red' }], [{ sequence: 1 }]])
  })

  it('prevents a team from changing its audit log and from reading unsealed entries or names of others', async () => {
    await write({ one: { actor: `user:${people.blue.userId}`, teamId: blue.teamId } })
    for (const statement of [
      sql`update audit_entries set actor = 'x'`,
      sql`delete from audit_entries`,
      sql`select * from audit_unsealed`,
      sql`select hash from audit_seals`,
      sql`insert into audit_seals (sequence, entry_id, entry_at, key_id, hash) values (9, 9, now(), '', '')`,
    ])
      await assert.rejects(
        api.database.postgres.inTeam(red.teamId, (trx) => statement.execute(trx)),
        /permission denied/,
      )
    const names = await api.database.postgres.inTeam(red.teamId, (trx) =>
      sql`select * from audit_actor_names(array[${`user:${people.blue.userId}`}])`.execute(trx),
    )
    assert.deepEqual(names.rows, [])
  })
})
