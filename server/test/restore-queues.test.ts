// Mails and webhook deliveries that a restored database had queued: they wait while the restore is open, and are then discarded or sent as
// staff decided. The mails become files, the deliveries reach an endpoint.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { waitFor } from '@pharos/lab/wait'
import { sql } from 'kysely'
import { restore } from '../src/commands/restore.ts'
import { readConfiguration } from '../src/commands/configuration.ts'
import { UsageError } from '../src/commands/command.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { wake } from '../src/db/wake.ts'
import { startEndpoint, type Endpoint } from '../src/drivers/webhook/testing.ts'
import { queueMail } from '../src/mail/mail.ts'
import { runRole, type Serving } from '../src/process/serve.ts'
import { createLog } from '../src/runtime/log.ts'
import { addDelivery, addWebhook } from '../src/webhook/testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-restore-queues-'))
const mailFolder = join(folder, 'mails')

let database: TestDatabase
let endpoint: Endpoint
let serving: Serving
let webhook: number
before(async () => {
  database = await createTestDatabase()
  endpoint = await startEndpoint()
  const { rows } = await sql<{ id: number }>`
    insert into teams (slug, name, enabled_modules) values ('red', 'Red', '{lighthouse}') returning id`.execute(
    db(),
  )
  webhook = await addWebhook(db(), config().secret, rows[0]!.id, { url: endpoint.url })
  serving = await runRole(
    config(),
    ['reconciler', 'collector'],
    createLog(config()),
    await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' }),
  )
})
after(async () => {
  await serving.stop()
  await endpoint[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const db = () => database.postgres.owner

const env = () => ({
  DATABASE_URL: database.databaseUrl,
  PHAROS_DATA_DIR: folder,
  PHAROS_MAIL_FOLDER: mailFolder,
  PHAROS_OPERATOR_ALERT_EMAILS: 'noc@example.net',
  PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
  PHAROS_WEBHOOK_PORTS_ALLOWED: '1-65535',
  PHAROS_WEBHOOK_NETWORKS_ALLOWED: '127.0.0.0/8',
  PHAROS_LOG_LEVEL: 'silent',
  PHAROS_PORT: '0',
  PHAROS_NETFLOW_LISTEN: 'off',
  PHAROS_SFLOW_LISTEN: 'off',
})
const config = () => readConfiguration(env())

async function run(...args: readonly string[]): Promise<string> {
  let printed = ''
  await restore.run({
    args,
    env: env(),
    config: (from = env()) => readConfiguration(from),
    out: (text) => void (printed += text),
  })
  return printed
}

/** The receivers of all mails. A file gets its name when it is complete. */
const mailed = (): string[] =>
  (existsSync(mailFolder) ? readdirSync(mailFolder) : [])
    .filter((name) => name.endsWith('.eml'))
    .map((name) => /^To: (.*)$/m.exec(readFileSync(join(mailFolder, name), 'utf8'))![1]!)
    .toSorted()

const received = (): string[] =>
  endpoint.received.map(({ headers }) => String(headers['webhook-id'])).toSorted()

/** `due`: minutes from now. */
const queueMailTo = (to: string, due: number) =>
  db()
    .transaction()
    .execute(async (trx) => {
      await queueMail(trx, config().secret, {
        to,
        teamId: null,
        template: 'confirm-email',
        content: { link: 'https://portal.example/confirm-email#x', hours: 24 },
      })
      await sql`update mails set due = now() + make_interval(mins => ${due}) where recipient = ${to}`.execute(
        trx,
      )
    })

/** Queues a mail and a delivery as the backup had them, opens a restore, and waits until the loops have seen both. */
async function begin(name: string): Promise<void> {
  rmSync(mailFolder, { recursive: true, force: true })
  await emptyTables(db(), ['mails', 'webhook_deliveries'])
  // No sending between these statements and the start of the restore.
  await sql`update webhooks set enabled = false, disabled_reason = 'user'`.execute(db())
  await queueMailTo(`${name}@example.net`, 60)
  await addDelivery(db(), webhook, { messageId: `msg_${name}` })
  await run('begin')
  await sql`update webhooks set enabled = true, disabled_reason = null`.execute(db())
  await sql`update mails set due = now()`.execute(db())
  const before = await heldRuns()
  await db()
    .transaction()
    .execute((trx) => wake(trx, 'webhooks'))
  await waitFor('the mail to staff', () => mailed().length > 0)
  await waitFor('a run of webhooks that was held', async () => (await heldRuns()) > before)
  assert.deepEqual(mailed(), ['noc@example.net'])
}

async function heldRuns(): Promise<number> {
  const text = await (await fetch(`${serving.url}/metrics`)).text()
  return Number(/^pharos_loop_runs_total\{loop="webhooks",result="held"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

/** The end of every queued mail and delivery. */
const ended = () =>
  waitFor('the end of both queues', async () => {
    const { rows } = await sql<{ mail: string | null; delivery: string }>`
      select (select coalesce(error, 'sent') from mails where template = 'confirm-email' and (sent is not null or failed is not null)) as mail,
        (select state from webhook_deliveries where state <> 'pending') as delivery`.execute(db())
    const [{ mail, delivery }] = rows as [(typeof rows)[0]]
    return mail !== null && delivery !== null && { mail, delivery }
  })

const discarded = 'discarded: the database was restored'

describe('what a restored database had queued', () => {
  const cases = [
    { name: 'undecided', decisions: [], mail: discarded, delivery: 'cancelled' },
    {
      name: 'discarded',
      decisions: [
        ['send', 'mails'],
        ['discard', 'mails'],
        ['discard', 'deliveries'],
      ],
      mail: discarded,
      delivery: 'cancelled',
    },
    { name: 'mails-only', decisions: [['send', 'mails']], mail: 'sent', delivery: 'cancelled' },
    { name: 'deliveries-only', decisions: [['send', 'deliveries']], mail: discarded, delivery: 'delivered' },
    {
      name: 'both',
      decisions: [
        ['send', 'mails'],
        ['send', 'deliveries'],
      ],
      mail: 'sent',
      delivery: 'delivered',
    },
  ] as const
  for (const { name, decisions, ...expected } of cases)
    it(`waits while the restore is open; ${name}: the mail is ${expected.mail}, the delivery ${expected.delivery}`, async () => {
      const before = received()
      await begin(name)
      assert.deepEqual(received(), before)
      const shown = await run('show')
      assert.match(shown, /^ {2}deliveries {2}1 difference, 0 undecided/m)
      assert.match(shown, /^ {2}mails {2}1 difference, 0 undecided/m)
      for (const decision of decisions) await run(...decision)
      await run('close', '--accept-uncompared')
      assert.deepEqual(await ended(), expected)
      const isSent = (state: string) => state === 'sent' || state === 'delivered'
      const staff = ['noc@example.net']
      assert.deepEqual(mailed(), isSent(expected.mail) ? [`${name}@example.net`, ...staff].toSorted() : staff)
      assert.deepEqual(received(), isSent(expected.delivery) ? [...before, `msg_${name}`].toSorted() : before)
    })

  it('does not concern what is queued later', async () => {
    await begin('early')
    await queueMailTo('late@example.net', 0)
    await addDelivery(db(), webhook, { messageId: 'msg_late' })
    await run('close', '--accept-uncompared')
    await waitFor('the late mail', () => mailed().includes('late@example.net'))
    await waitFor('the late delivery', () => received().includes('msg_late'))
    assert.ok(!mailed().includes('early@example.net'))
    assert.ok(!received().includes('msg_early'))
  })

  it('is not decided as a difference of the network', async () => {
    for (const args of [
      ['apply', 'mails'],
      ['adopt', 'deliveries'],
      ['send', 'routes'],
      ['discard', 'zones'],
    ])
      await assert.rejects(run(...args), UsageError)
  })
})
