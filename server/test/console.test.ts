// The pages of the provider about the installation: a part counts as its list shows it, unknown is never fine, mails keep their content, and
// the audit log of all teams has each entry once.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Mail } from '@pharos/contract/operator/mail'
import type { StaffNameServer, StaffScrubber } from '@pharos/contract/operator/network'
import type { InstallationStatus, StatusPart } from '@pharos/contract/operator/status'
import type { StaffAccount } from '@pharos/contract/operator/user'
import type { StaffAuditEntry } from '@pharos/contract/team/audit'
import { sql, type RawBuilder } from 'kysely'
import { lockClass } from '../src/db/lock-class.ts'
import { SessionLock } from '../src/db/session-lock.ts'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let authorization: string

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { access } = await openSession(api, fixtures.people.staff.userId, fixtures.red.teamId)
  authorization = `Bearer ${access}`
})
after(() => api[Symbol.asyncDispose]())

type Page<T> = { readonly results: readonly T[]; readonly count: number }

async function get<T>(path: string): Promise<T> {
  const response = await api.server.inject({ url: `/v3/admin/${path}`, headers: { authorization } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
const run = (statement: RawBuilder<unknown>) => statement.execute(api.database.postgres.owner)

async function countsOf(part: StatusPart) {
  const { parts } = await get<InstallationStatus>('status')
  const { part: _part, ...counts } = parts.find((one) => one.part === part)!
  return counts
}

async function statesOf(path: string): Promise<Record<string, string>> {
  const { results } = await get<Page<{ name?: string; address?: string; state: string }>>(path)
  return Object.fromEntries(results.map(({ name, address, state }) => [name ?? address, state]))
}

describe('the console of the provider', () => {
  it('has name servers that answer, are behind, do not answer, or are not asked', async () => {
    await run(sql`
      insert into dns_servers (name, address, checked, seen, error) values
        ('ok.example.', '192.0.2.1', now(), now(), null), ('late.example.', '192.0.2.2', now(), now(), null),
        ('down.example.', '192.0.2.3', now(), null, 'unreachable'), ('new.example.', '192.0.2.4', null, null, null),
        ('left.example.', '192.0.2.5', now() - interval '1 hour', now() - interval '1 hour', null)`)
    await run(sql`
      with zone as (insert into dns_zones (team_id, name, name_key) values (${fixtures.red.teamId}, 'red.example.', '\\x00') returning id)
      insert into dns_server_zones (server_id, zone_id, state, checked, since)
      select s.id, z.id, case s.name when 'late.example.' then 'behind' else 'serving' end, now(), now() - interval '1 minute'
      from dns_servers s, zone z where s.name in ('ok.example.', 'late.example.')`)
    const { results } = await get<Page<StaffNameServer>>('dns/servers')
    assert.deepEqual(Object.fromEntries(results.map(({ name, state }) => [name, state])), {
      'down.example': 'failing',
      'late.example': 'failing',
      'left.example': 'unknown',
      'new.example': 'unknown',
      'ok.example': 'ok',
    })
    const late = results.find(({ name }) => name === 'late.example')!
    assert.deepEqual([late.zones, late.zones_behind, late.late_zones], [1, 1, ['red.example']])
    assert.deepEqual(await countsOf('name_servers'), { ok: 1, failing: 2, unknown: 2, paused: 0 })
    const failing = await get<Page<StaffNameServer>>('dns/servers?state=failing&search=DOWN')
    assert.deepEqual(
      failing.results.map(({ name }) => name),
      ['down.example'],
    )
  })

  it('has scrubbers that nobody works on, and that cannot be reached', async () => {
    await run(sql`insert into scrubbers (name, driver) values ('edge', '{"kind":"sandbox"}')`)
    assert.deepEqual(await statesOf('shield/scrubbers'), { edge: 'unknown' })
    const lock = new SessionLock(api.database.postgres, [lockClass.leadership, 'shield:edge'])
    assert.ok(await lock.hold())
    try {
      assert.deepEqual(await statesOf('shield/scrubbers'), { edge: 'ok' })
      assert.deepEqual(await countsOf('scrubbers'), { ok: 1, failing: 0, unknown: 0, paused: 0 })
      await run(sql`
        with list as (
          insert into shield_lists (team_id, prefix, version) values (${fixtures.red.teamId}, '203.0.113.0/24', 1) returning id, team_id)
        insert into shield_installs (list_id, team_id, scrubber, version, state, rule_count)
        select id, team_id, 'edge', 1, 'unreachable', 3 from list`)
      const { results } = await get<Page<StaffScrubber>>('shield/scrubbers?ordering=-rules')
      const { state, lists, lists_failing: failing, rules } = results[0]!
      assert.deepEqual([state, lists, failing, rules], ['failing', 1, 1, 3])
    } finally {
      await lock.release()
    }
  })

  it('does not know whether a silent exporter sends while no collector runs', async () => {
    await run(sql`
      insert into flow_exporters (address, last_seen) values ('192.0.2.1', now()), ('192.0.2.2', now() - interval '1 hour')`)
    assert.deepEqual(await statesOf('flows/exporters'), { '192.0.2.1': 'ok', '192.0.2.2': 'unknown' })
    await run(sql`
      insert into processes (id, host, pid, version, roles, started, seen, loops, registries)
      values (gen_random_uuid(), 'a', 1, '1', '{collector}', now(), now(), '[]', '[]')`)
    assert.deepEqual(await statesOf('flows/exporters'), { '192.0.2.1': 'ok', '192.0.2.2': 'failing' })
    assert.deepEqual(await countsOf('exporters'), { ok: 1, failing: 1, unknown: 0, paused: 0 })
  })

  it('lists mails with what became of them, and never what they say', async () => {
    await run(sql`
      insert into mails (recipient, template, content_sealed, attempts, sent, failed, error, team_id) values
        ('queued@customer.example', 'password-reset', 'sealed link', 1, null, null, 'connection refused', null),
        ('sent@customer.example', 'invitation', null, 1, now(), null, null, ${fixtures.red.teamId}),
        ('failed@customer.example', 'invitation', null, 9, null, now(), '550 no such user', null)`)
    const { results } = await get<Page<Mail>>('mails?search=customer.example&ordering=id')
    assert.deepEqual(
      results.map(({ state, attempts, error, due, ended }) => [
        state,
        attempts,
        error,
        due === null,
        ended === null,
      ]),
      [
        ['queued', 1, 'connection refused', false, true],
        ['sent', 1, null, true, false],
        ['failed', 9, '550 no such user', true, false],
      ],
    )
    assert.equal(JSON.stringify(results).includes('sealed'), false)
    const { count } = await get<Page<Mail>>('mails?state=queued&search=customer.example')
    assert.equal(count, 1)
    const { queues } = await get<InstallationStatus>('status')
    const queued = await get<Page<Mail>>('mails?state=queued&limit=1')
    assert.equal(queues.find(({ name }) => name === 'mails')!.waiting, queued.count)
  })

  it('lists users with their teams, and nothing that they sign in with', async () => {
    const { results, count } = await get<Page<StaffAccount>>('users?is_staff=true')
    assert.equal(results.length, count)
    assert.ok(results.every((account) => account.is_staff))
    const signedIn = results.find(({ id }) => id === fixtures.people.staff.userId)!
    assert.ok(signedIn.sessions > 0 && signedIn.last_active !== null)
    const members = await get<Page<StaffAccount>>(`users?team_id=${fixtures.red.teamId}`)
    assert.ok(members.results.every(({ teams }) => teams.some(({ id }) => id === fixtures.red.teamId)))
    assert.doesNotMatch(JSON.stringify(members), /password|hash|secret|argon/)
  })

  it('lists the audit entries of all teams and of the provider, of the last days without a start', async () => {
    const { red, blue } = fixtures
    await run(sql`
      insert into audit_entries (at, team_id, actor, action, target) values
        (now(), ${red.teamId}, 'operator', 'console.test', 'red:1'), (now(), ${blue.teamId}, 'operator', 'console.test', 'blue:1'),
        (now(), null, 'operator', 'console.test', 'provider:1'),
        (now() - interval '8 days', null, 'operator', 'console.test', 'provider:0')`)
    const targets = async (query: string) =>
      (await get<Page<StaffAuditEntry>>(`audit?action=console.*&${query}`)).results.map(
        ({ target }) => target,
      )
    assert.deepEqual((await targets('')).toSorted(), ['blue:1', 'provider:1', 'red:1'])
    assert.deepEqual(await targets(`team_id=${blue.teamId}`), ['blue:1'])
    assert.equal((await targets('start=2000-01-01T00:00:00Z')).length, 4)
    const [entry] = (await get<Page<StaffAuditEntry>>(`audit?target=red:1`)).results
    assert.deepEqual(entry!.team, { id: red.teamId, name: 'Team red' })
  })
})
