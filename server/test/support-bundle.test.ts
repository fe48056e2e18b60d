// `pharos support-bundle`: its contents, the absence of secrets, and its size.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { Client } from 'pg'
import { anEntry, tamper } from '../src/audit/testing.ts'
import { CommandFailure, UsageError } from '../src/commands/command.ts'
import { readConfiguration } from '../src/commands/configuration.ts'
import { supportBundle } from '../src/commands/support-bundle.ts'
import { writeAudit } from '../src/db/audit.ts'
import { migrate } from '../src/db/migrate.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { skipWithoutDebianPostgres, startDebianPostgres } from '../src/db/testing-debian.ts'
import { runRole, type Serving } from '../src/process/serve.ts'
import { createLog } from '../src/runtime/log.ts'
import { mac, seal } from '../src/runtime/secrets.ts'
import { totpSecretText } from '../src/session/totp.ts'
import { addWebhook } from '../src/webhook/testing.ts'
import { createSecret, formatSecret } from '../src/webhook/webhook-secret.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import { addApiToken, addStaffToken, openSession } from './support/credentials.ts'
import { addSecondFactor } from './support/second-factor.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-support-'))
const random = () => randomBytes(24).toString('base64url')

/** Secrets of the settings. */
const passwords = { database: random(), key: random() + random(), mail: random(), webhookPath: random() }
const operatorSecret = formatSecret(createSecret())

let api: TestApi
let serving: Serving | undefined
/** A planted secret of each kind. */
let planted: Readonly<Record<string, string>>

before(async () => {
  api = await createTestApi({ PHAROS_SECRET: passwords.key })
  planted = await plant()
  await writeAudit(db(), anEntry)
  const config = readConfiguration({ ...env(), PHAROS_PORT: '0' })
  serving = await runRole(
    config,
    ['api'],
    createLog(config),
    await openPostgres({ databaseUrl: api.database.databaseUrl, dataDir: '' }),
  )
})
after(async () => {
  await serving?.stop()
  await api[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const db = () => api.database.postgres.owner

const env = (): Record<string, string> => ({
  // Connections by the socket need no password: any is accepted.
  DATABASE_URL: api.database.databaseUrl.replace('@localhost', `:${passwords.database}@localhost`),
  PHAROS_SECRET: passwords.key,
  PHAROS_MAIL_URL: `smtp://pharos:${passwords.mail}@127.0.0.1:1`,
  PHAROS_MAIL_FROM: 'noreply@net.example',
  PHAROS_OPERATOR_WEBHOOK_URL: `https://chat.example/services/${passwords.webhookPath}`,
  PHAROS_OPERATOR_WEBHOOK_SECRET: operatorSecret,
  PHAROS_DATA_DIR: folder,
  PHAROS_LOG_LEVEL: 'silent',
  ...(serving?.url ? { PHAROS_PORT: new URL(serving.url).port } : {}),
})

async function plant(): Promise<Record<string, string>> {
  const { secret: ring } = api.config
  const team = await addTeam(api, 'red')
  const user = await addUser(api, 'admin', [team], { admin: true })
  const [community, tsig, source] = [random(), random(), random()]
  await sql`insert into device_credentials (name, version, community_sealed)
    values ('core', 'v2c', ${seal(ring, 'device-credential', Buffer.from(community), 'core')})`.execute(db())
  await sql`insert into dns_tsig_keys (name, secret_sealed)
    values ('transfer.example.net.', ${seal(ring, 'tsig-key', Buffer.from(tsig), 'transfer.example.net.')})`.execute(
    db(),
  )
  await sql`insert into sources (key, kind, name, secret_mac)
    values ('fnm', 'fastnetmon', 'FastNetMon', ${mac(ring, 'source-secret', source)})`.execute(db())
  const webhookSecret = createSecret()
  await addWebhook(db(), ring, team.teamId, {
    secret: webhookSecret,
    url: `https://hooks.example/${random()}`,
  })
  const factor = await addSecondFactor(api, user.userId)
  const session = await openSession(api, user.userId, team.teamId)
  return {
    'password in DATABASE_URL': passwords.database,
    PHAROS_SECRET: passwords.key,
    'SNMP community': community,
    'TSIG key': tsig,
    'webhook secret': formatSecret(webhookSecret),
    'API token': await addApiToken(api, team.teamId),
    'staff token': await addStaffToken(api, { scopes: ['admin:read'] }),
    'SMTP password': passwords.mail,
    'source secret': source,
    'TOTP secret': totpSecretText(factor.secret),
    'recovery code': factor.recoveryCodes[0]!,
    'session token': session.access,
    'refresh token': session.refresh,
    'path of the operator webhook': passwords.webhookPath,
    'secret of the operator webhook': operatorSecret,
  }
}

let files = 0

async function run(args: readonly string[] = [], given = env()) {
  const path = join(folder, `${(files += 1)}.json.gz`)
  let printed = ''
  await supportBundle.run({
    args: ['--out', path, ...args],
    env: given,
    config: (from = given) => readConfiguration(from),
    out: (text) => void (printed += text),
  })
  const text = gunzipSync(readFileSync(path)).toString()
  return { path, printed, text, document: JSON.parse(text) as Document }
}

type Document = Record<string, unknown> & {
  readonly problems: readonly { readonly part: string; readonly problem: string }[]
}

const parts = [
  'host',
  'settings',
  'server',
  'migrations',
  'status',
  'queues',
  'changes',
  'tables',
  'table_use',
  'sessions',
  'slow_statements',
  'metrics',
]

/** A process whose report has this text, as an older or a foreign version might store it. */
const reportError = (error: string) =>
  sql`
  insert into processes (id, host, pid, version, roles, started, seen, loops, registries)
  values (${randomUUID()}, 'other', 1, '0.2.0', '{api}', now(), now(), '[]',
    ${JSON.stringify([{ kind: 'irr', name: 'irr', ok: false, answered: null, error }])})`.execute(db())

describe('a support bundle', () => {
  it('has every part, and is readable by its owner only', async () => {
    const { path, printed, document } = await run()
    assert.deepEqual(Object.keys(document), ['format', 'version', 'created', 'since', 'problems', ...parts])
    assert.deepEqual(
      document.problems.map(({ part }) => part),
      ['slow_statements'],
    )
    assert.match(
      printed,
      /^not read: slow_statements: relation "pg_stat_statements" does not exist\n\S+: \d+ KB\. /,
    )
    assert.equal(statSync(path).mode & 0o777, 0o600)
    for (const part of parts.filter((one) => one !== 'slow_statements'))
      assert.ok(Object.keys(document[part] as object).length > 0, part)
    const metrics = document['metrics'] as string[]
    assert.ok(
      metrics.some((line) => line.startsWith('pharos_postgres_up ')),
      metrics.join('\n'),
    )
    const sizes = document['tables'] as { name: string }[]
    assert.ok(sizes.some(({ name }) => name === 'announcements'))
  })

  it('contains none of the planted secrets', async () => {
    const { text } = await run()
    for (const [kind, secret] of Object.entries(planted)) {
      assert.ok(secret.length >= 8, kind)
      for (const spelling of [
        secret,
        JSON.stringify(secret).slice(1, -1),
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('hex'),
      ])
        assert.ok(!text.includes(spelling), kind)
    }
    assert.ok(!text.includes('hooks.example') && !text.includes('admin@red.example'))
  })

  it('contains none of them if the error of a component repeats a request or an address', async () => {
    const {
      'SNMP community': community,
      'TSIG key': tsig,
      'source secret': source,
      'recovery code': code,
      'TOTP secret': totp,
      'path of the operator webhook': path,
      ...known
    } = planted
    const inContext = [
      ...Object.values(known),
      `snmp://${community}@192.0.2.1`,
      `secret: ${tsig}`,
      `/v3/ingest/events/fnm?token=${source}`,
      `otpauth://totp/red:admin?secret=${totp}`,
      `password=${code}`,
      `https://chat.example/services/${path}`,
    ]
    await reportError(inContext.join(' failed, then '))
    const { text, document } = await run()
    assert.ok(JSON.stringify(document['status']).includes(' failed, then '))
    for (const [kind, secret] of Object.entries(planted)) assert.ok(!text.includes(secret), kind)
  })

  it('counts what was written since the given time', async () => {
    const entry = { teamId: null, actor: 'operator', action: 'support.test', target: 'test:1' }
    await writeAudit(db(), entry, entry)
    const countsOf = async (since: string) => {
      const counts = (await run(['--since', since])).document['changes'] as { what: string }[]
      return counts.filter(({ what }) => what === 'support.test')
    }
    const expected = { area: 'audit', what: 'support.test', state: 'operator', count: 2 }
    assert.deepEqual(await countsOf('1h'), [expected])
    await tamper(
      db(),
      sql`update audit_entries set at = now() - interval '2 hours' where action = 'support.test'`,
    )
    assert.deepEqual(await countsOf('1h'), [])
    assert.deepEqual(await countsOf('3h'), [expected])
  })

  it('is smaller than 20 MB without compression: a part that is too large is left out', async () => {
    await reportError(randomBytes(3_000_000).toString('base64'))
    const { text, document } = await run()
    assert.ok(Buffer.byteLength(text) < 20_000_000)
    assert.match(document.problems.find(({ part }) => part === 'status')!.problem, /^too large: \d+ bytes$/)
    assert.equal(document['status'], null)
    assert.notEqual(document['queues'], null)
    assert.ok(parts.length * 1_400_000 < 20_000_000)
  })

  it('is written without a database and without a process', async () => {
    const given = { ...env(), DATABASE_URL: 'postgres://x@127.0.0.1:1/x', PHAROS_PORT: '1' }
    const { document } = await run([], given)
    assert.deepEqual(
      document.problems.map(({ part }) => part),
      parts.filter((part) => part !== 'host' && part !== 'settings'),
    )
  })

  it('never replaces a file', async () => {
    const path = join(folder, 'kept')
    writeFileSync(path, 'kept')
    await assert.rejects(run(['--out', path]), CommandFailure)
    assert.equal(readFileSync(path, 'utf8'), 'kept')
    await assert.rejects(
      supportBundle.run({ args: [], env: env(), config: () => readConfiguration(env()), out: () => {} }),
      UsageError,
    )
  })
})

describe('slow statements', { skip: skipWithoutDebianPostgres() }, () => {
  it('are listed if the extension exists, without constants and without statements that could contain a password', async () => {
    await using server = await startDebianPostgres("shared_preload_libraries = 'pg_stat_statements'\n")
    const client = new Client(server.databaseUrl)
    await client.connect()
    await migrate(client)
    const [constant, password] = [random(), random()]
    await client.query('create extension pg_stat_statements')
    await client.query('select pg_stat_statements_reset()')
    await client.query(`select '${constant}'::text as of_the_test`)
    await client.query(`create role planted password '${password}'`)
    await client.end()
    const { text, document } = await run([], { ...env(), DATABASE_URL: server.databaseUrl })
    const statements = document['slow_statements'] as { query: string; calls: number }[]
    assert.deepEqual(
      statements
        .filter(({ query }) => query.endsWith('as of_the_test'))
        .map(({ query, calls }) => [query, calls]),
      [['select $1::text as of_the_test', 1]],
    )
    assert.ok(!text.includes(constant) && !text.includes(password))
  })
})
