// A database that goes back in time under a running installation: all sending stops until staff decide, and then the
// decisions are applied. The backup is a copy of the database, which replaces it.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Restore, RestoreItem } from '@pharos/contract/operator/restore'
import { waitFor } from '@pharos/lab/wait'
import { sql } from 'kysely'
import { Client } from 'pg'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import { operationOf, seedAnnouncement, seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { restore as restoreCommand } from '../src/commands/restore.ts'
import { status as statusCommand } from '../src/commands/status.ts'
import { readConfiguration } from '../src/commands/configuration.ts'
import { openPostgres, type Postgres } from '../src/db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { insertTestZone, writeZoneVersion } from '../src/dns/publish/testing.ts'
import { sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { runRole, type Serving } from '../src/process/serve.ts'
import { allRoles } from '../src/runtime/role.ts'
import { createWitnessFile } from '../src/restore/witness.ts'
import type { Files } from '../src/runtime/config.ts'
import { createLog } from '../src/runtime/log.ts'
import { hashPassword } from '../src/session/password.ts'

const files: Files = { read: () => undefined, mode: () => 0o600, create: () => {} }
const password = 'a-password-for-tests'
const [kept, disabled, enabled] = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'] as const
const slug = 'restore-ams'
const router = sandboxRegion(slug)
const onRouter = () => [...router.table('pharos').keys()].sort()

let database: TestDatabase
let name: string
let postgres: Postgres
let serving: Serving
let folder: string
let team: number
const ids: Record<string, number> = {}
let zone: number

const db = () => postgres.owner

const envOf = (dataDir = 'first') => ({
  DATABASE_URL: database.databaseUrl,
  PHAROS_DATA_DIR: join(folder, dataDir),
  PHAROS_MAIL_FOLDER: join(folder, 'mails'),
  PHAROS_OPERATOR_ALERT_EMAILS: 'noc@example.net',
  PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
  PHAROS_LOG_LEVEL: process.env['PHAROS_LOG_LEVEL'] ?? 'silent',
  PHAROS_PORT: '0',
  PHAROS_DNS_LISTEN: '127.0.0.1:0',
  PHAROS_NETFLOW_LISTEN: 'off',
  PHAROS_SFLOW_LISTEN: 'off',
  PHAROS_RECONCILE_INTERVAL_SECONDS: '1',
})

async function start(dataDir?: string): Promise<void> {
  const config = readConfiguration(envOf(dataDir), files)
  serving = await runRole(config, allRoles, createLog(config))
}

async function admin(...statements: readonly string[]): Promise<void> {
  const client = new Client(database.databaseUrl.replaceAll(name, 'postgres'))
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Copies the database while it has no connections. */
async function backUp(): Promise<void> {
  await serving.stop()
  await postgres.stop()
  await admin(`drop database if exists ${name}_backup`, `create database ${name}_backup template ${name}`)
  postgres = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
  await start()
}

/** Replaces the database by its backup while everything runs. */
async function restoreBackup(): Promise<void> {
  await postgres.stop()
  await admin(`drop database ${name} with (force)`, `create database ${name} template ${name}_backup`)
  postgres = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
}

async function patch(prefix: string, isEnabled: boolean): Promise<void> {
  await patchAnnouncement(
    { postgres, memberToggle: true, now: () => new Date() },
    operationOf(team),
    ids[prefix]!,
    { enabled: isEnabled },
  )
}

/** Waits until the process remembers every change. */
const remembered = () =>
  waitFor('the witness', async () => {
    const { rows } = await sql<{ waiting: number; sequence: number | null }>`
      select (select count(*)::integer from audit_unsealed) as waiting, (select max(sequence) from audit_seals) as sequence`.execute(
      db(),
    )
    const [{ waiting, sequence }] = rows as [(typeof rows)[0]]
    if (waiting > 0 || sequence === null) return false
    const head = createWitnessFile(join(folder, 'first', 'witness.json')).read()?.head
    return head !== undefined && head.sequence >= sequence
  })

const findOpen = async (): Promise<Restore | undefined> => {
  const { body } = await call('GET', '/v3/admin/restores?state=open')
  return (body as { results: Restore[] }).results[0]
}

const compared = () =>
  waitFor('the comparison', async () => {
    const open = await findOpen().catch(() => undefined)
    return open?.sources.every((one) => one.compared !== null) && open
  })

const itemsOf = async (id: number): Promise<RestoreItem[]> =>
  ((await call('GET', `/v3/admin/restores/${id}/items?limit=100`)).body as { results: RestoreItem[] }).results

const bearers = new Map<string, string>()

async function signIn(email: string): Promise<void> {
  const response = await fetch(`${serving.url}/v3/session/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  assert.equal(response.status, 200)
  bearers.set(email, ((await response.json()) as { access: string }).access)
}

async function call(method: string, path: string, body?: object, email = 'staff@example.net') {
  if (!bearers.has(email)) await signIn(email)
  const response = await fetch(`${serving.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${bearers.get(email)}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (response.status === 401) bearers.delete(email)
  return { status: response.status, body: (await response.json()) as { code?: string } }
}

async function runCommand(command: typeof restoreCommand, args: readonly string[]) {
  let printed = ''
  const code = await command.run({
    args,
    env: envOf(),
    config: (from = envOf()) => readConfiguration(from, files),
    out: (text) => void (printed += text),
  })
  return { code, printed }
}

async function addUser(email: string, isStaff: boolean): Promise<void> {
  await sql`
    with u as (
      insert into users (email, username, password_hash, email_confirmed, is_staff)
      values (${email}, ${email}, ${await hashPassword(password)}, now(), ${isStaff}) returning id)
    insert into memberships (team_id, user_id, is_admin, roles) select ${team}, id, true, '{admin}' from u`.execute(
    db(),
  )
}

const serialOf = async (): Promise<number> => {
  const { rows } = await sql<{ serial: number | null }>`
    select serial::float8 as serial from dns_zones where id = ${zone}`.execute(db())
  return rows[0]!.serial ?? 0
}

/** The serial that the name server in memory has. */
const servedSerial = async (): Promise<number> => {
  const { rows } = await sql<{ serial: number | null }>`
    select serial::float8 as serial from dns_server_zones where zone_id = ${zone}`.execute(db())
  return rows[0]?.serial ?? 0
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-restore-'))
  database = await createTestDatabase()
  name = /pharos_test_\w+/.exec(database.databaseUrl)![0]
  const regions = await seedRegions(database.postgres, [slug])
  team = await seedTeam(database.postgres, 'ours')
  for (const prefix of [kept, disabled, enabled])
    ids[prefix] = await seedAnnouncement(database.postgres, {
      teamId: team,
      prefix,
      enabled: prefix !== enabled,
      regions: [regions[slug]!],
    })
  await database.postgres.stop()
  postgres = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
  await addUser('staff@example.net', true)
  await addUser('admin@example.net', false)
  await sql`insert into dns_servers (name, kind) values ('ns1.example.net.', 'sandbox')`.execute(db())
  await sql`insert into scrubbers (name, driver) values ('edge', '{"kind": "sandbox"}')`.execute(db())
  zone = await insertTestZone(db(), 'first.example', 'www 300 A 192.0.2.1')
  await start()
  await waitFor('the first routes', () => onRouter().length === 2)
  await waitFor('the first zone', async () => (await servedSerial()) > 0)
  // A mail that waits in the backup, and was sent after it.
  await sql`
    insert into mails (recipient, template, content_sealed, due)
    values ('old@example.net', 'test', '', now() + interval '1 hour')`.execute(db())
  await backUp()
  await waitFor('the routes', () => onRouter().length === 2)
})
after(async () => {
  await serving.stop()
  await postgres.stop()
  await admin(`drop database if exists ${name}_backup`)
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

describe('a restored database', () => {
  let observed = 0

  it('is noticed, and announces nothing that was disabled after the backup', async () => {
    await patch(disabled, false)
    await patch(enabled, true)
    await waitFor('the changes', () => onRouter().join() === [kept, enabled].join())
    const before = await serialOf()
    await writeZoneVersion(db(), zone, { added: 'www 300 A 192.0.2.2' })
    await waitFor('the zone', async () => {
      observed = await servedSerial()
      return observed > before && observed === (await serialOf())
    })
    await remembered()
    const changes = router.changes
    await restoreBackup()
    const open = await compared()
    assert.equal(open.reason, 'head_missing')
    assert.notEqual(open.known_head, open.found_head)
    assert.deepEqual(onRouter(), [kept, enabled])
    assert.equal(router.changes, changes)
    const items = await itemsOf(open.id)
    assert.deepEqual(
      items.map(({ area, subject, kind, decision }) => [area, subject, kind, decision]).sort(),
      [
        ['mails', 'queued', 'queued', 'discard'],
        ['routes', disabled, 'add', null],
        ['routes', enabled, 'remove', null],
        ['zones', 'first.example.', 'change', null],
      ],
    )
  })

  it('sends the mail to staff, and no other', async () => {
    const mails = join(folder, 'mails')
    const [mail, ...others] = await waitFor('the mail', () => {
      // A file gets this name when it is complete.
      const names = (existsSync(mails) ? readdirSync(mails) : []).filter((name) => name.endsWith('.eml'))
      return names.length > 0 && names.map((name) => readFileSync(join(mails, name), 'utf8'))
    })
    assert.match(mail!, /^Subject: The database was restored/m)
    assert.deepEqual(others, [])
  })

  it('refuses changes of customers, and lets them read', async () => {
    const path = `/v3/ipam/announcements/${ids[kept]}`
    const refused = await call('PATCH', path, { enabled: false }, 'admin@example.net')
    assert.deepEqual([refused.status, refused.body.code], [503, 'restoring'])
    assert.equal((await call('GET', path, undefined, 'admin@example.net')).status, 200)
  })

  it('is shown by pharos status, which exits with 1', async () => {
    const { code, printed } = await runCommand(statusCommand, [])
    assert.equal(code, 1)
    assert.match(
      printed,
      /restore \d+: nothing is sent since .*, 3 differences are undecided: pharos restore show/,
    )
  })

  it('cannot be closed while a difference has no decision', async () => {
    const { id } = (await findOpen())!
    const { status, body } = await call('POST', `/v3/admin/restores/${id}/close`, {})
    assert.deepEqual([status, body.code], [409, 'undecided'])
    const wrong = await call('POST', `/v3/admin/restores/${id}/decide`, { area: 'mails', action: 'apply' })
    assert.deepEqual([wrong.status, wrong.body.code], [409, 'conflict'])
  })

  it('becomes as the network if that is adopted', async () => {
    const { id } = (await findOpen())!
    const changes = router.changes
    await call('POST', `/v3/admin/restores/${id}/decide`, { area: 'routes', action: 'adopt' })
    await call('POST', `/v3/admin/restores/${id}/decide`, { area: 'zones', action: 'apply' })
    const closed = await call('POST', `/v3/admin/restores/${id}/close`, {})
    assert.equal(closed.status, 200, JSON.stringify(closed.body))
    const { rows } = await sql<{ prefix: string; enabled: boolean }>`
      select prefix::text, enabled from announcements order by prefix`.execute(db())
    assert.deepEqual(rows, [
      { prefix: kept, enabled: true },
      { prefix: disabled, enabled: false },
      { prefix: enabled, enabled: true },
    ])
    await waitFor('the next serial', async () => (await servedSerial()) > observed)
    await waitFor('the routes are observed', async () => {
      const { rows } =
        await sql`select from announcement_regions where state not in ('announced', 'withdrawn')`.execute(
          db(),
        )
      return rows.length === 0
    })
    assert.deepEqual(onRouter(), [kept, enabled])
    assert.equal(router.changes, changes)
    const mail = await sql<{
      error: string
    }>`select error from mails where recipient = 'old@example.net'`.execute(db())
    assert.match(mail.rows[0]!.error, /^discarded/)
  })

  it('gives a restarted router what it had and the database confirms', async () => {
    await remembered()
    await restoreBackup()
    await compared()
    router.restart()
    await waitFor('the confirmed route', () => onRouter().length > 0)
    const { id } = await compared()
    const subjects = (await itemsOf(id)).filter(({ area }) => area === 'routes').map(({ subject }) => subject)
    assert.deepEqual(subjects.sort(), [disabled, enabled].sort())
    assert.deepEqual(onRouter(), [kept])
  })

  it('is applied to the network if that is decided', async () => {
    for (const args of [['apply', 'routes'], ['apply', 'zones'], ['close']])
      await runCommand(restoreCommand, args)
    await waitFor('the routes of the backup', () => onRouter().join() === [kept, disabled].join())
    assert.equal(await findOpen(), undefined)
  })

  it('is no restore if it was moved with its newest entries', async () => {
    await remembered()
    await serving.stop()
    await postgres.stop()
    await admin(
      `create database ${name}_moved template ${name}`,
      `drop database ${name} with (force)`,
      `alter database ${name}_moved rename to ${name}`,
    )
    postgres = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
    await start()
    const { rows } = await sql`
      select from installation where database_oid = (select oid::bigint from pg_database where datname = current_database())`.execute(
      db(),
    )
    assert.equal(rows.length, 1)
    assert.equal(await findOpen(), undefined)
  })

  it('is noticed by its place if every data directory is lost, and no loop that sends is left out', async () => {
    await serving.stop()
    await restoreBackup()
    await start('second')
    const open = await compared()
    assert.equal(open.reason, 'other_database')
    const held = await waitFor('the first run of every loop', async () => {
      const runs = await loopRuns()
      return [...waiting, ...comparing].every((loop) => runs.has(loop)) && runs
    })
    for (const [loop, results] of held) {
      // A run that failed, on a busy machine, proves neither.
      if (results.has('ok'))
        assert.ok(
          sendsNothing.includes(loop),
          `the loop ${loop} runs while a restore is open: is that right?`,
        )
      if (results.has('held'))
        assert.ok([...waiting, ...comparing].includes(loop), `the loop ${loop} waits while a restore is open`)
    }
  })
})

/** Loops without a run while a restore is open. */
const waiting = [
  'blackholes',
  'dns-also-notify',
  'dns-catalog',
  'dns-publish',
  'dns-purge',
  'dns-resign',
  'dnssec',
  'approval-alerts',
  'notifications',
  'reports',
  'shield',
  'webhooks',
]
/** Loops that only read; the loop of mails sends the mail to staff. */
const comparing = ['dns-observe:ns1.example.net.', 'mails', `reconcile:${slug}`, 'shield:edge']
/** Loops that change only the database, or only ask. A new loop belongs here if it has no effect outside of it. */
const sendsNothing = [
  'alert-rules',
  'announced-prefixes',
  'asn-proofs',
  'close-period',
  'compact-usage',
  'devices',
  'dns-alias',
  'dns-delegation',
  'dns-follow',
  'dns-observe',
  'domains',
  'event-flows',
  'flow-attack-octets',
  'flow-counter-check',
  'flow-counters',
  'flow-detector',
  'flow-exporters',
  'flow-learned',
  'flow-listen',
  'flow-ownership',
  'flow-packets',
  'flow-peers',
  'flow-delay',
  'flow-rates',
  'flow-silent-attacks',
  'ingest',
  'maintenance',
  'nameserver-access',
  'nameserver-snapshot',
  'nameserver-zones',
  'process-report',
  'regions',
  'rematch',
  'restore-witness',
  'seal',
  'shield-mitigations',
  'shield-scrubbers',
  'stream',
  'unused-devices',
  'validate',
  'watch-optics',
]

/** The results of the runs of each loop. */
async function loopRuns(): Promise<Map<string, Set<string>>> {
  const text = await (await fetch(`${serving.url}/metrics`)).text()
  const runs = new Map<string, Set<string>>()
  for (const [, loop, result] of text.matchAll(/^pharos_loop_runs_total\{loop="([^"]+)",result="(\w+)"\}/gm))
    runs.set(loop!, (runs.get(loop!) ?? new Set()).add(result!))
  return runs
}
