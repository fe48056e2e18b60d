// Alerts about holds: mails to staff, messages to the operator's webhook, and the requester of each withdrawal. Real database, real
// endpoint.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { messageOf, type OperatorMessageType } from '@pharos/contract/webhook-message'
import { sql } from 'kysely'
import { Webhook as Verifier } from 'standardwebhooks'
import { Value } from 'typebox/value'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
  seedUser,
} from '../src/byoip/announcement/testing.ts'
import { sendHoldAlerts, type HoldAlert } from '../src/byoip/regions/hold-alerts.ts'
import { closeHold, decideAs, getHold, openHold } from '../src/byoip/regions/hold.ts'
import type { HeldChange, PlannedHold } from '../src/byoip/regions/guard.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createHostResolver } from '../src/drivers/webhook/resolve-host.ts'
import { createWebhookSender } from '../src/drivers/webhook/sender.ts'
import { loopback, startEndpoint } from '../src/drivers/webhook/testing.ts'
import { fillTemplate } from '../src/mail/templates.ts'
import type { MailContents } from '../src/mail/mail.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { createKeyRing, open } from '../src/runtime/secrets.ts'
import { applyOperatorWebhook } from '../src/webhook/operator-webhook.ts'
import { createSecret, formatSecret } from '../src/webhook/webhook-secret.ts'
import { createWebhookSending } from '../src/webhook/send-webhooks.ts'

const ring = createKeyRing(['a secret of the tests that is long enough'])
let database: TestDatabase
let ams: number
let blue: number
let red: number
let anna: number

before(async () => {
  database = await createTestDatabase()
  ams = (await seedRegions(database.postgres, ['ams']))['ams']!
  blue = await seedTeam(database.postgres, 'blue')
  red = await seedTeam(database.postgres, 'red')
  anna = await seedUser(database.postgres, 'anna@blue.example')
  for (const email of ['noc@net.example', 'eva@net.example', 'new@net.example'])
    await seedUser(database.postgres, email, true)
  await sql`update users set email_confirmed = now() where email <> 'new@net.example'`.execute(owner())
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(owner(), ['announcements', 'holds', 'mails', 'outbox', 'webhook_deliveries'])
  await sql`delete from webhooks`.execute(owner())
  await emptyAudit(owner())
})

const owner = () => database.postgres.owner

const held = (prefixes: readonly string[], changes: readonly HeldChange[] = []): PlannedHold => ({
  findings: [{ reason: 'too_many_withdrawals', attrs: { max: 3, team_max: 2, minutes: 10, recent: 0 } }],
  withdrawals: prefixes.map(parsePrefix),
  changes,
})
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `10.0.${at}.0/24`)
const openOne = (planned: PlannedHold) => openHold(owner(), ams, planned, [])

async function lastHold(): Promise<number> {
  const { rows } = await sql<{ id: number }>`select max(id) as id from holds`.execute(owner())
  return rows[0]!.id
}

async function sendAlerts(recipients: readonly string[] = []): Promise<HoldAlert[]> {
  const alerts: HoldAlert[] = []
  await sendHoldAlerts(
    {
      db: owner(),
      ring,
      publicUrl: 'https://pharos.example',
      recipients,
      onAlert: (alert) => alerts.push(alert),
    },
    new AbortController().signal,
  )
  return alerts
}

async function mails(): Promise<{ to: string; content: MailContents['hold-open'] }[]> {
  const rows = await owner().selectFrom('mails').selectAll().orderBy('id').execute()
  return rows.map(({ recipient, template, content_sealed }) => ({
    to: recipient,
    content: JSON.parse(
      open(ring, 'mail', content_sealed!, template).toString(),
    ) as MailContents['hold-open'],
  }))
}

const messages = async () =>
  (
    await sql<{ type: OperatorMessageType; data: { id: number; state: string } }>`
      select type, data from outbox where team_id is null order by id`.execute(owner())
  ).rows

/** Moves all timestamps of the open hold into the past. */
const pass = (minutes: number) =>
  sql`update holds set alert_due = alert_due - make_interval(mins => ${minutes}),
    alerted = alerted - make_interval(mins => ${minutes}) where state = 'open'`.execute(owner())

describe('the details of a hold', () => {
  it('contain the team of each withdrawal and its last requester', async () => {
    const asked = await seedAnnouncement(database.postgres, {
      teamId: blue,
      prefix: '203.0.113.0/24',
      enabled: true,
      regions: [ams],
    })
    const unasked = await seedAnnouncement(database.postgres, {
      teamId: red,
      prefix: '198.51.100.0/24',
      enabled: true,
      regions: [ams],
    })
    await patchAnnouncement(
      { postgres: database.postgres, memberToggle: true, now: () => new Date() },
      operationOf(blue, { actor: { userId: anna } }),
      asked,
      { enabled: false },
    )
    await disableWithoutRequest(database.postgres, [unasked])
    await openOne(held(['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24']))
    const { items, items_truncated, withdrawals } = await getHold({ db: owner() }, null, await lastHold())
    assert.deepEqual([items.map(({ cidr }) => cidr), items_truncated], [withdrawals, false])
    const [first, second, third] = items
    assert.ok(first!.requested_at)
    assert.deepEqual(
      { ...first, requested_at: null },
      {
        cidr: '203.0.113.0/24',
        team: { id: blue, name: 'blue' },
        announcement_id: asked,
        action: 'announcement.update',
        requested_by: `user:${anna}`,
        requested_by_name: 'anna@blue.example',
        requested_by_staff: false,
        requested_at: null,
      },
    )
    assert.deepEqual(
      [second!.team, second!.announcement_id, second!.action, second!.requested_by],
      [{ id: red, name: 'red' }, unasked, null, null],
    )
    assert.deepEqual([third!.team, third!.announcement_id, third!.requested_by], [null, null, null])
  })

  it('list the prefixes of changes, each once, with the team and the last request', async () => {
    const prefix = '203.0.113.0/24'
    await seedAnnouncement(database.postgres, { teamId: blue, prefix, enabled: true, regions: [ams] })
    const to = { from: 'AS64496 via 192.0.2.1', to: 'AS64497 via 192.0.2.1' }
    await sql`
      insert into holds (region_id, reason, withdrawals, findings, changes)
      select id, 'too_many_changes', '{}', '[]', ${JSON.stringify([
        { router: 'r1', prefix, ...to },
        { router: 'r2', prefix, ...to },
        { router: 'r1', prefix: '192.0.2.128/25', ...to },
      ])}::jsonb from regions limit 1`.execute(owner())
    const { change_items, change_items_truncated, items } = await getHold(
      { db: owner() },
      null,
      await lastHold(),
    )
    assert.deepEqual(
      change_items.map(({ cidr, team }) => [cidr, team?.name]),
      [
        [prefix, 'blue'],
        ['192.0.2.128/25', undefined],
      ],
    )
    assert.deepEqual([change_items_truncated, items], [false, []])
  })

  it('list at most a thousand items', async () => {
    await openOne(held(Array.from({ length: 1001 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`)))
    const { items, items_truncated, withdrawals } = await getHold({ db: owner() }, null, await lastHold())
    assert.deepEqual([items.length, items_truncated, withdrawals.length], [1000, true, 1001])
  })
})

describe('mails about a hold', () => {
  it('go to all staff with a confirmed address, once', async () => {
    await openOne(held(numbered(25)))
    const [alert] = await sendAlerts()
    assert.deepEqual(alert, { id: await lastHold(), region: 'ams', isReminder: false, recipients: 2 })
    assert.deepEqual(await sendAlerts(), [])
    const sent = await mails()
    assert.deepEqual(
      sent.map(({ to }) => to),
      ['noc@net.example', 'eva@net.example'],
    )
    const { content } = sent[0]!
    const { text } = fillTemplate('hold-open', content, { provider: 'Example Net', contact: 'a@b.example' })
    assert.match(text, /25 prefixes/)
    assert.match(text, /no team: 25/)
    assert.match(text, /The first 20 withdrawals:/)
    assert.equal(text.match(/^> 10\.0\.\d+\.0\/24,/gm)?.length, 20)
    assert.match(text, /https:\/\/pharos\.example\/staff\/holds/)
    assert.match(text, new RegExp(`pharos holds approve ${content.id}`))
  })

  it('go to the addresses of the settings instead', async () => {
    await openOne(held(numbered(1)))
    await sendAlerts(['duty@net.example'])
    assert.deepEqual(
      (await mails()).map(({ to }) => to),
      ['duty@net.example'],
    )
  })

  it('remind after half an hour and then every four hours, while the hold is open', async () => {
    await openOne(held(numbered(1)))
    await sendAlerts()
    await pass(29)
    assert.deepEqual(await sendAlerts(), [])
    await pass(1)
    assert.deepEqual(
      (await sendAlerts()).map(({ isReminder }) => isReminder),
      [true],
    )
    await pass(239)
    assert.deepEqual(await sendAlerts(), [])
    await pass(1)
    assert.equal((await sendAlerts()).length, 1)
    await decideAs({ db: owner() }, { actor: 'operator' }, await lastHold(), 'rejected')
    await pass(240)
    assert.deepEqual(await sendAlerts(), [])
  })

  it('are not repeated for a hold that replaces one within the hour, unless it has twice the prefixes', async () => {
    await openOne(held(numbered(4)))
    await sendAlerts()
    await pass(20)
    const change = { router: 'r1', prefix: parsePrefix('192.0.2.0/24'), from: 'AS1 via a', to: 'AS2 via a' }
    await openOne(held(numbered(6), [change]))
    assert.deepEqual(await sendAlerts(), [])
    await openOne(held(numbered(8)))
    assert.deepEqual(
      (await sendAlerts()).map(({ isReminder }) => isReminder),
      [false],
    )
    await openOne(held(numbered(9)))
    await pass(30)
    assert.deepEqual(
      (await sendAlerts()).map(({ isReminder }) => isReminder),
      [true],
      'the reminder of the first hold is due for its replacement',
    )
    await pass(61)
    await openOne(held(numbered(10)))
    assert.deepEqual(
      (await sendAlerts()).map(({ isReminder }) => isReminder),
      [false],
    )
  })

  it('are sent once by concurrent processes', async () => {
    await openOne(held(numbered(1)))
    const all = await Promise.all([sendAlerts(), sendAlerts(), sendAlerts()])
    assert.equal(all.flat().length, 1)
    assert.equal((await mails()).length, 2)
  })
})

describe('messages to the operator', () => {
  it('are sent for every hold, reminder and decision, as defined by the contract', async () => {
    await openOne(held(numbered(2)))
    const first = await lastHold()
    await openOne(held(numbered(3)))
    const second = await lastHold()
    await sendAlerts()
    await pass(30)
    await sendAlerts()
    await decideAs({ db: owner() }, { actor: 'operator' }, second, 'approved')
    await decideAs({ db: owner() }, { actor: 'operator' }, second, 'approved')
    await openOne(held(numbered(1)))
    await closeHold(owner(), ams)
    await closeHold(owner(), ams)
    const third = await lastHold()
    const all = await messages()
    assert.deepEqual(
      all.map(({ type, data }) => [type, data.id, data.state]),
      [
        ['hold.opened', first, 'open'],
        ['hold.decided', first, 'closed'],
        ['hold.opened', second, 'open'],
        ['hold.reminder', second, 'open'],
        ['hold.decided', second, 'approved'],
        ['hold.opened', third, 'open'],
        ['hold.decided', third, 'closed'],
      ],
    )
    for (const { type, data } of all) {
      const message = { type, timestamp: new Date().toISOString(), data }
      assert.deepEqual([...Value.Errors(messageOf(type), message)], [])
    }
  })

  it('are delivered to the URL of the settings, signed, and retried without disabling the webhook', async () => {
    let status = 410
    await using endpoint = await startEndpoint((_heard, response) => response.writeHead(status).end())
    const secret = createSecret()
    await applyOperatorWebhook(owner(), ring, { url: endpoint.url, secret })
    await openOne(held(numbered(2)))
    const resolver = createHostResolver()
    const errors: unknown[] = []
    let ended = () => {}
    const sending = createWebhookSending({
      db: owner(),
      ring,
      sender: createWebhookSender({ resolver, allowed: [] }),
      operatorSender: createWebhookSender({ resolver, allowed: loopback }),
      parallel: 4,
      now: () => new Date(),
      random: () => 0,
      onOutcome: () => {},
      onError: (error) => errors.push(error),
      onEnd: () => ended(),
    })
    const once = async () => {
      const idle = Promise.withResolvers<void>()
      ended = () => sending.sending === 0 && idle.resolve()
      await sending.run()
      if (sending.sending > 0) await idle.promise
    }
    await once()
    const gone = await owner().selectFrom('webhooks').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual([gone.enabled, gone.disabled_reason, gone.team_id], [true, null, null])
    status = 204
    await sql`update webhooks set resting_until = null`.execute(owner())
    await closeHold(owner(), ams)
    await once()
    assert.deepEqual(errors, [])
    const verifier = new Verifier(formatSecret(secret))
    const received = endpoint.received.map(
      ({ headers, body }) =>
        verifier.verify(body, headers as Record<string, string>) as {
          type: string
          data: { region: string }
        },
    )
    assert.deepEqual(
      received.map(({ type, data }) => [type, data.region]),
      [
        ['hold.opened', 'ams'],
        ['hold.decided', 'ams'],
      ],
    )
  })

  it('are not delivered to webhooks of teams, and nothing is sent without a webhook of the operator', async () => {
    await openOne(held(numbered(1)))
    assert.equal((await owner().selectFrom('webhook_deliveries').selectAll().execute()).length, 0)
    await assert.rejects(
      sql`insert into webhooks (team_id, url, events, created_by, secret_sealed)
        values (${blue}, 'https://a.example', '{hold.opened}', '', '')`.execute(owner()),
      /webhooks_events_check/,
    )
  })

  it('follow changes of the settings', async () => {
    const [one, two] = [createSecret(), createSecret()]
    const row = () =>
      sql<{ id: number; url: string; events: string[]; secret: string }>`
        select id, url, events, md5(secret_sealed) as secret from webhooks`.execute(owner())
    await applyOperatorWebhook(owner(), ring, { url: 'https://a.example/', secret: one })
    const [first] = (await row()).rows
    await applyOperatorWebhook(owner(), ring, { url: 'https://a.example/', secret: one })
    assert.deepEqual((await row()).rows, [first])
    await applyOperatorWebhook(owner(), ring, { url: 'https://b.example/', secret: two })
    const [changed] = (await row()).rows
    assert.deepEqual([changed!.id, changed!.url], [first!.id, 'https://b.example/'])
    assert.notEqual(changed!.secret, first!.secret)
    await applyOperatorWebhook(owner(), ring, undefined)
    assert.deepEqual((await row()).rows, [])
  })
})
