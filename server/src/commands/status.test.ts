// `pharos status` on a real database, beside the real roles in this process.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertApprovalRow, withdrawalsOf } from '../approval/testing.ts'
import { sql } from 'kysely'
import { seedAnnouncement, seedRegions, seedTeam } from '../byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import { openPostgres } from '../db/postgres.ts'
import { runRole, type Serving } from '../process/serve.ts'
import { allRoles } from '../runtime/role.ts'
import { sandboxRegion } from '../drivers/sandbox/speaker.ts'
import type { Environment, Files } from '../runtime/config.ts'
import { readConfiguration } from './configuration.ts'
import { createLog } from '../runtime/log.ts'
import type { Status } from '../status/status.ts'
import { CommandFailure } from './command.ts'
import { migrateCommand } from './migrate.ts'
import { status } from './status.ts'
import { runCommand } from './testing.ts'

const files: Files = { read: () => undefined, mode: () => 0o600, create: () => {} }
const established = [
  { address: '192.0.2.254', asn: 64501, state: 'established', since: new Date(), families: [4, 6] },
] as const

let database: TestDatabase
let serving: Serving | undefined
const owner = () => database.postgres.owner
const envOf = (url: string): Environment => ({
  DATABASE_URL: url,
  PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
  PHAROS_LOG_LEVEL: 'silent',
  PHAROS_PORT: '0',
  PHAROS_DNS_LISTEN: '127.0.0.1:0',
  PHAROS_NETFLOW_LISTEN: 'off',
  PHAROS_SFLOW_LISTEN: 'off',
  PHAROS_RECONCILE_INTERVAL_SECONDS: '1',
})

before(async () => {
  database = await createTestDatabase()
  await seedRegions(database.postgres, ['status-ams'])
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  sandboxRegion('status-ams').neighbors = established
  sandboxRegion('status-ams').down = false
  await emptyTables(owner(), ['approvals', 'processes', 'mails'])
})
afterEach(async () => {
  await serving?.stop()
  serving = undefined
})

async function startRoles(): Promise<void> {
  const config = readConfiguration(envOf(database.databaseUrl), files)
  const postgres = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
  serving = await runRole(config, allRoles, createLog(config), postgres)
}

async function run(args: readonly string[] = [], env = envOf(database.databaseUrl)) {
  let printed = ''
  const code = await status.run({
    args,
    env,
    config: (from = env) => readConfiguration(from, files),
    out: (text) => void (printed += text),
  })
  return { code, printed }
}

const readJson = async () => JSON.parse((await run(['--json'])).printed) as Status & { ok: boolean }
const codes = async () => (await readJson()).problems.map(({ code }) => code)

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 300_000
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail(`${what}: ${(await run()).printed}`)
    await sleep(50)
  }
}

describe('pharos status', () => {
  test('reports no problems, with an exit code of 0, in aligned columns', async () => {
    const team = await seedTeam(database.postgres, 'ours')
    const { rows } = await sql<{ id: number }>`select id from regions`.execute(owner())
    await seedAnnouncement(database.postgres, {
      teamId: team,
      prefix: '203.0.113.0/24',
      enabled: true,
      regions: [rows[0]!.id],
    })
    await startRoles()
    await until('no problems', async () => (await run()).code === 0)
    await until('the route is counted', async () => (await readJson()).regions[0]!.announced === 1)
    await until('loops are reported', async () => ((await readJson()).processes[0]?.loops.length ?? 0) > 5)
    const { printed } = await run()
    assert.match(
      printed,
      /^REGION {6}STATE {2}CHECKED +ROUTES {2}LEADER\nstatus-ams {2}ok {5}\d+ s ago +1\/1 +yes\n/,
    )
    assert.match(printed, /^status-ams\/status-ams {2}up {5}1\/1 {7}1$/m)
    assert.match(printed, /^\S+:\d+ +api,reconciler,collector,nameserver {2}\d\S+ +\d+ s +(\d+)\/\1$/m)
    assert.match(printed, /^mails +0 +-$/m)
    assert.match(printed, /\nNo problems found\.\n$/)
    assert.doesNotMatch(printed, / $/m)
    const read = await readJson()
    assert.deepEqual([read.ok, read.leaders.works.toSorted()], [true, ['audit', 'validator']])
  })

  test('exits with 1 and names what needs attention: a router without a session, one that is down, an approval', async () => {
    await startRoles()
    await until('no problems', async () => (await run()).code === 0)
    const end = { reason: 'notification_received', detail: 'code 6, subcode 1' } as const
    sandboxRegion('status-ams').neighbors = [{ ...established[0], state: 'idle', families: [], end }]
    await until('the lost session', async () => (await codes()).includes('router_without_neighbor'))
    const withoutSession = (await run()).printed
    assert.match(withoutSession, /^SESSION DOWN +ROUTER +SINCE +REASON$/m)
    assert.match(withoutSession, /^192\.0\.2\.254 AS64501 .* NOTIFICATION.*\(code 6, subcode 1\)$/m)
    await until('the missing routes', async () => {
      // Each run of the region counts them again.
      await sql`update regions set routes_missing = 2`.execute(owner())
      return /status-ams: 2 desired routes do not reach its neighbors/.test((await run()).printed)
    })
    sandboxRegion('status-ams').down = true
    await until('the router', async () => (await codes()).includes('router_down'))
    assert.ok((await codes()).includes('region_failed'))
    const { rows } = await sql<{ id: number }>`select id from regions`.execute(owner())
    const changes = { area: 'routes', kind: 'changes', reason: 'too_many_withdrawals' } as const
    for (const { id } of rows)
      await insertApprovalRow(owner(), { ...changes, regionId: id, items: withdrawalsOf(['192.0.2.0/24']) })
    const { code, printed } = await run()
    assert.equal(code, 1)
    assert.match(printed, /\nNeeds attention:\n/)
    assert.match(printed, /\n {2}status-ams\/status-ams: .*disabled/)
    assert.match(printed, /\n {2}status-ams: changes need approval: pharos approvals show \d+\n/)
    assert.match(printed, /^\d+ +routes +status-ams +too_many_withdrawals +1 +\d+ s ago$/m)
  })

  test('reports processes that ended, checks that are old, and queues that wait', async () => {
    await startRoles()
    await until('no problems', async () => (await run()).code === 0)
    await serving!.stop()
    serving = undefined
    await sql`update regions set last_check = now() - interval '10 minutes', last_check_result = true`.execute(
      owner(),
    )
    await sql`insert into mails (recipient, template, content_sealed, created)
      values ('a@b.example', 'test', '', now() - interval '6 minutes')`.execute(owner())
    const found = await codes()
    for (const code of ['region_stale', 'region_unled', 'role_missing', 'lag'] as const)
      assert.ok(found.includes(code), `${code} is not in ${found.join()}`)
    assert.equal((await run()).code, 1)
  })

  test('reports an upgrade that is not finished', async () => {
    await startRoles()
    await until('no problems', async () => (await run()).code === 0)
    for (const floor of [null, '0.0.9']) {
      await sql`update installation set schema_floor = ${floor}`.execute(owner())
      assert.ok((await codes()).includes('upgrade_unfinished'), String(floor))
    }
    assert.match(
      (await run()).printed,
      /\n {2}database: run pharos migrate --finish when every process runs Pharos \d/,
    )
    await sql`update installation set schema_floor = '0.0.9'`.execute(owner())
    await runCommand(database, migrateCommand, '--finish')
    assert.ok(!(await codes()).includes('upgrade_unfinished'))
  })

  test('reports messages that could be sent to webhooks, and none that wait for a disabled or paused one', async () => {
    await sql`insert into teams (slug, name) values ('status', 'Status')`.execute(owner())
    await sql`
      insert into webhooks (team_id, url, events, enabled, disabled_reason, resting_until, secret_sealed, created_by)
      select t.id, 'https://' || n.host, '{event.started}', n.enabled, n.reason, n.rests, '', 'user:1'
      from teams t, (values ('a.example', true, null, now() + interval '5 minutes'), ('b.example', false, 'user', null))
        as n (host, enabled, reason, rests) where t.slug = 'status'`.execute(owner())
    await sql`insert into webhook_deliveries (webhook_id, team_id, message_id, type, body, due)
      select id, team_id, 'msg_' || id, 'event.started', '{}', now() - interval '6 minutes' from webhooks`.execute(
      owner(),
    )
    const lagging = async () => (await readJson()).problems.map(({ subject }) => subject).includes('webhooks')
    assert.equal(await lagging(), false)
    await sql`update webhooks set resting_until = now() - interval '4 minutes'`.execute(owner())
    assert.equal(await lagging(), false)
    await sql`update webhooks set resting_until = null where enabled`.execute(owner())
    assert.equal(await lagging(), true)
    await sql`delete from webhooks`.execute(owner())
  })

  test('reports a process that was killed, a late loop, a registry and a flow store that are down', async () => {
    const insert = (id: string, seen: string, loops: object[]) =>
      sql`insert into processes (id, host, pid, version, roles, started, seen, loops, registries,
          flow_store)
        values (${id}, 'h', 1, '1', '{api,reconciler,collector}', now() - interval '1 hour', now() - ${seen}::interval,
          ${JSON.stringify(loops)}, '[{"kind":"rpki","name":"rtr","ok":false,"answered":null},
            {"kind":"rpki","name":"file","ok":true,"answered":null,"doubt":"it disagrees with rtr"}]',
          '{"state":"down","kind":"server","error":"no answer","since":"2026-01-01T00:00:00.000Z"}')`.execute(
        owner(),
      )
    await insert('00000000-0000-4000-8000-000000000001', '46 seconds', [])
    assert.ok((await codes()).includes('role_missing'))
    await insert('00000000-0000-4000-8000-000000000002', '1 second', [
      { name: 'late', interval_seconds: 10, last_success: new Date(Date.now() - 120_000).toISOString() },
      { name: 'on time', interval_seconds: 3600, last_success: new Date(Date.now() - 120_000).toISOString() },
    ])
    const { problems } = await readJson()
    assert.deepEqual(
      problems.filter(({ code }) => code === 'loop_late').map(({ subject }) => subject),
      ['late on h:1'],
    )
    assert.deepEqual(
      problems.filter(({ code }) => code === 'registry_down').map(({ subject }) => subject),
      ['rpki rtr on h:1'],
    )
    assert.deepEqual(
      problems
        .filter(({ code }) => code === 'registry_doubtful')
        .map(({ subject, message }) => [subject, message]),
      [['rpki file on h:1', 'it disagrees with rtr']],
    )
    assert.deepEqual(
      problems.filter(({ code }) => code === 'flow_store_down').map(({ message }) => message),
      ['down since 2026-01-01T00:00:00.000Z: no answer'],
    )
  })

  test('warns of flows without ClickHouse, which is no problem', async () => {
    await sql`delete from processes`.execute(owner())
    const before = await codes()
    await sql`
      update processes set flow_store = null`.execute(owner())
    await sql`
      insert into processes (id, host, pid, version, roles, started, seen, loops, registries, flow_store)
      values ('00000000-0000-4000-8000-000000000009', 'h', 9, '1', '{}', now(), now(), '[]', '[]',
        '{"state":"missing","kind":"embedded","error":"no chDB","since":"2026-01-01T00:00:00.000Z"}')`.execute(
      owner(),
    )
    const { problems, warnings } = await readJson()
    assert.deepEqual(problems.map(({ code }) => code).toSorted(), before.toSorted())
    assert.deepEqual(warnings, [
      {
        code: 'flow_store_missing',
        subject: 'flow store of h:9',
        message: 'flows are not kept, since no ClickHouse is installed or configured (CLICKHOUSE_URL)',
      },
    ])
    assert.match((await run()).printed, /Warnings:\n  flow store of h:9: flows are not kept/)
    await sql`delete from processes`.execute(owner())
  })

  test('exits with 2 if the state cannot be determined', async () => {
    const nowhere = new URL(database.databaseUrl)
    nowhere.pathname = '/no_such_database'
    await assert.rejects(
      run([], envOf(nowhere.href)),
      (error) =>
        error instanceof CommandFailure &&
        error.exitCode === 2 &&
        /could not be determined/.test(error.message),
    )
  })
})
