// Alerts about approvals of every area: mails to staff, messages to the operator's webhook, and the requester of each withdrawal. Real
// database, real endpoint.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { messageOf, type OperatorMessageType } from '@pharos/contract/messages/webhook-message'
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
import { sendApprovalAlerts, type ApprovalAlert } from '../src/approval/approval-alerts.ts'
import { getApproval } from '../src/approval/approval.ts'
import { evidenceOf, type PlannedApproval, type StoredItem } from '../src/approval/coverage.ts'
import { planApprovalsIn } from '../src/approval/plan-approvals.ts'
import { decideApproval, insertApprovalRow, valuesOf, withdrawalsOf } from '../src/approval/testing.ts'
import { routeApprovals } from '../src/byoip/regions/approval-area.ts'
import { planRemovals, zoneApprovals } from '../src/dns/publish/approval-area.ts'
import { basicApprovalAreas as areas } from '../src/approval/parts.ts'
import { saveApprovals } from '../src/shield/approval-area.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createHostResolver } from '../src/drivers/outgoing/resolve-host.ts'
import { createWebhookSender } from '../src/drivers/webhook/sender.ts'
import { loopback, startEndpoint } from '../src/drivers/webhook/testing.ts'
import { fillTemplate } from '../src/mail/templates.ts'
import type { MailContents } from '../src/mail/mail.ts'
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
  await emptyTables(owner(), ['announcements', 'approvals', 'mails', 'outbox', 'webhook_deliveries'])
  await sql`delete from webhooks`.execute(owner())
  await emptyAudit(owner())
})

const owner = () => database.postgres.owner

const waiting = (prefixes: readonly string[], changes: readonly StoredItem[] = []): PlannedApproval => {
  const items = [...withdrawalsOf(prefixes), ...changes]
  return {
    kind: 'changes',
    regionId: ams,
    findings: [{ reason: 'too_many_withdrawals', attrs: { max: 3, team_max: 2, minutes: 10, recent: 0 } }],
    items,
    evidence: evidenceOf(items),
  }
}
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `10.0.${at}.0/24`)
const plan = (...planned: PlannedApproval[]) =>
  planApprovalsIn(owner(), routeApprovals, { regionId: ams }, planned)
const openOne = (planned: PlannedApproval) => plan(planned)
const closeOne = () => plan()
const read = (id: number) => getApproval({ db: owner(), areas }, null, id)

async function last(): Promise<number> {
  const { rows } = await sql<{ id: number }>`select max(id) as id from approvals`.execute(owner())
  return rows[0]!.id
}

async function sendAlerts(recipients: readonly string[] = []): Promise<ApprovalAlert[]> {
  const alerts: ApprovalAlert[] = []
  const onAlert = (alert: ApprovalAlert) => void alerts.push(alert)
  const deps = { db: owner(), areas, ring, publicUrl: 'https://pharos.example', recipients, onAlert }
  await sendApprovalAlerts(deps, new AbortController().signal)
  return alerts
}

async function mails(): Promise<{ to: string; content: MailContents['approval-open'] }[]> {
  const rows = await owner().selectFrom('mails').selectAll().orderBy('id').execute()
  return rows.map(({ recipient, template, content_sealed }) => ({
    to: recipient,
    content: JSON.parse(
      open(ring, 'mail', content_sealed!, template).toString(),
    ) as MailContents['approval-open'],
  }))
}

const messages = async () =>
  (
    await sql<{ type: OperatorMessageType; data: { id: number; area: string; state: string } }>`
      select type, data from outbox where team_id is null order by id`.execute(owner())
  ).rows

/** Moves all times of alerts into the past. */
const pass = (minutes: number) =>
  sql`update approvals set alert_due = alert_due - make_interval(mins => ${minutes}),
    alerted = alerted - make_interval(mins => ${minutes})`.execute(owner())

const isReminder = async (): Promise<boolean[]> => {
  const before = (await mails()).length
  const alerts = await sendAlerts()
  const sent = (await mails()).slice(before)
  return alerts.map((_, at) => sent[at * 2]!.content.isReminder)
}

describe('the details of an approval about routes', () => {
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
    const prefixes = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24']
    await openOne(waiting(prefixes))
    const { items, items_truncated } = await read(await last())
    assert.deepEqual([valuesOf({ items }), items_truncated], [prefixes, false])
    const [first, second, third] = items
    assert.ok(first!.requested?.at)
    assert.deepEqual(
      { ...first, requested: { ...first!.requested, at: null } },
      {
        change: 'withdraw',
        value: '203.0.113.0/24',
        router: null,
        from: null,
        to: null,
        team: { id: blue, name: 'blue' },
        announcement_id: asked,
        requested: {
          action: 'announcement.update',
          by: `user:${anna}`,
          by_name: 'anna@blue.example',
          by_staff: false,
          at: null,
        },
      },
    )
    assert.deepEqual(
      [second!.team, second!.announcement_id, second!.requested],
      [{ id: red, name: 'red' }, unasked, null],
    )
    assert.deepEqual([third!.team, third!.announcement_id, third!.requested], [null, null, null])
  })

  it('list each change with its router and team', async () => {
    const prefix = '203.0.113.0/24'
    await seedAnnouncement(database.postgres, { teamId: blue, prefix, enabled: true, regions: [ams] })
    const changed = { change: 'replace', from: 'AS64496 via 192.0.2.1', to: 'AS64497 via 192.0.2.1' } as const
    await openOne(
      waiting(
        [],
        [
          { router: 'r1', value: prefix, ...changed },
          { router: 'r2', value: prefix, ...changed },
          { router: 'r1', value: '192.0.2.128/25', ...changed },
        ],
      ),
    )
    const { items, items_truncated, item_count } = await read(await last())
    assert.deepEqual(
      items.map(({ change, value, router, to, team }) => [change, value, router, to, team?.name]),
      [
        ['replace', prefix, 'r1', changed.to, 'blue'],
        ['replace', prefix, 'r2', changed.to, 'blue'],
        ['replace', '192.0.2.128/25', 'r1', changed.to, undefined],
      ],
    )
    assert.deepEqual([items_truncated, item_count], [false, 3])
  })

  it('list at most a thousand items', async () => {
    await openOne(waiting(Array.from({ length: 1001 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`)))
    const { items, items_truncated, item_count } = await read(await last())
    assert.deepEqual([items.length, items_truncated, item_count], [1000, true, 1001])
  })
})

/** Shield rules of a scrubber that need approval, for so many prefixes. */
const removals = (scrubber: string, count: number) =>
  owner()
    .transaction()
    .execute((trx) =>
      saveApprovals(trx, scrubber, [
        {
          kind: 'unexplained_removals',
          findings: [{ reason: 'unexplained_removals', attrs: { count, rules: count } }],
          items: numbered(count).map((value) => ({ change: 'remove', value })),
          evidence: `${scrubber} ${count}`,
        },
      ]),
    )
const zones = (...sets: string[]) => {
  const slot = { kind: 'catalog', zoneId: null } as const
  const planned = sets.length > 0 ? [planRemovals(slot, 'many_removals', sets)] : []
  return planApprovalsIn(owner(), zoneApprovals, slot, planned)
}

describe('mails about approvals', () => {
  it('go to all staff with a confirmed address, once', async () => {
    await openOne(waiting(numbered(25)))
    const [alert] = await sendAlerts()
    assert.deepEqual(alert, { ids: [await last()], recipients: 2 })
    assert.deepEqual(await sendAlerts(), [])
    const sent = await mails()
    assert.deepEqual(
      sent.map(({ to }) => to),
      ['noc@net.example', 'eva@net.example'],
    )
    const { subject, text } = fillTemplate('approval-open', sent[0]!.content, {
      provider: 'Example Net',
      contact: 'a@b.example',
    })
    assert.equal(subject, 'Changes of routes need approval')
    assert.match(text, /no team: 25/)
    assert.match(text, /The first 20 of 25 changes:/)
    assert.equal(text.match(/^> withdraw 10\.0\.\d+\.0\/24, no team, no request found/gm)?.length, 20)
    assert.match(text, /https:\/\/pharos\.example\/staff\/inbox/)
    assert.match(text, /pharos approvals approve <id>/)
  })

  it('go to the addresses of the settings instead', async () => {
    await openOne(waiting(numbered(1)))
    await sendAlerts(['duty@net.example'])
    assert.deepEqual(
      (await mails()).map(({ to }) => to),
      ['duty@net.example'],
    )
  })

  it('are one mail for approvals of all areas that are due together', async () => {
    await openOne(waiting(numbered(1)))
    await zones('a.example.', 'b.example.')
    await removals('edge', 30)
    assert.equal((await sendAlerts())[0]!.ids.length, 3)
    const { content } = (await mails())[0]!
    const { subject, text } = fillTemplate('approval-open', content, {
      provider: 'Example Net',
      contact: 'a@b.example',
    })
    assert.equal(subject, 'Changes of routes, DNS, shield rules need approval')
    for (const part of [
      'of routes, ams',
      'catalog zone',
      'edge',
      '> remove 10.0.1.0/24 on edge',
      'of 30 changes',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`)
  })

  it('remind after half an hour and then every four hours, while the approval is open', async () => {
    await openOne(waiting(numbered(1)))
    await sendAlerts()
    await pass(29)
    assert.deepEqual(await sendAlerts(), [])
    await pass(1)
    assert.deepEqual(await isReminder(), [true])
    await pass(239)
    assert.deepEqual(await sendAlerts(), [])
    await pass(1)
    assert.equal((await sendAlerts()).length, 1)
    await decideApproval(owner(), await last(), 'rejected')
    await pass(240)
    assert.deepEqual(await sendAlerts(), [])
  })

  it('are not repeated for one that replaces another within the hour, unless it has twice the changes', async () => {
    await openOne(waiting(numbered(4)))
    await sendAlerts()
    await pass(20)
    const change = { change: 'replace', router: 'r1', value: '192.0.2.0/24', from: 'AS1', to: 'AS2' } as const
    await openOne(waiting(numbered(6), [change]))
    assert.deepEqual(await sendAlerts(), [])
    await openOne(waiting(numbered(8)))
    assert.deepEqual(await isReminder(), [false])
    await openOne(waiting(numbered(9)))
    await pass(30)
    assert.deepEqual(await isReminder(), [true], 'the reminder of the first one is due for its replacement')
    await pass(61)
    await openOne(waiting(numbered(10)))
    assert.deepEqual(await isReminder(), [false])
  })

  it('have the same rule for shield rules and DNS, also if the plan was gone in between', async () => {
    for (const count of [4, 7]) await removals('edge', count).then(() => sendAlerts())
    assert.equal((await mails()).length, 2)
    await owner()
      .transaction()
      .execute((trx) => saveApprovals(trx, 'edge', []))
    await removals('edge', 7)
    assert.deepEqual(await sendAlerts(), [], 'a plan that comes and goes is one mail')
    await removals('edge', 8)
    assert.equal((await sendAlerts()).length, 1)
    await zones('a.example.')
    await sendAlerts()
    const before = (await mails()).length
    await decideApproval(owner(), await last(), 'approved')
    await zones('a.example.', 'b.example.')
    await sendAlerts()
    assert.equal((await mails()).length, before + 2, 'what comes after a decision is new')
  })

  it('are sent once by concurrent processes', async () => {
    await openOne(waiting(numbered(1)))
    const all = await Promise.all([sendAlerts(), sendAlerts(), sendAlerts()])
    assert.equal(all.flat().length, 1)
    assert.equal((await mails()).length, 2)
  })

  it('are queued by a later run if they could not be written', async () => {
    await openOne(waiting(numbered(1)))
    await sql`alter table mails add constraint refused check (false)`.execute(owner())
    await assert.rejects(sendAlerts(), /refused/)
    await sql`alter table mails drop constraint refused`.execute(owner())
    assert.equal((await sendAlerts()).length, 1)
  })
})

describe('messages to the operator', () => {
  it('are sent for every approval, reminder and decision, as defined by the contract', async () => {
    await openOne(waiting(numbered(2)))
    const first = await last()
    await openOne(waiting(numbered(3)))
    const second = await last()
    await sendAlerts()
    await pass(30)
    await sendAlerts()
    await decideApproval(owner(), second, 'approved')
    await decideApproval(owner(), second, 'approved')
    await openOne(waiting(numbered(1)))
    await closeOne()
    await closeOne()
    const third = await last()
    const [fourth] = await removals('edge', 2)
    const [fifth] = await zones('a.example.')
    await zones()
    const platform = { area: 'platform', kind: 'import', reason: 'many_deletions' } as const
    const attrs = { source: 'NetBox', deletions: [] }
    const sixth = await insertApprovalRow(owner(), { ...platform, attrs })
    await decideApproval(owner(), sixth, 'rejected', 'Not before Monday.')
    const all = await messages()
    assert.deepEqual(
      all.map(({ type, data }) => [type, data.area, data.id, data.state]),
      [
        ['approval.opened', 'routes', first, 'open'],
        ['approval.decided', 'routes', first, 'closed'],
        ['approval.opened', 'routes', second, 'open'],
        ['approval.reminder', 'routes', second, 'open'],
        ['approval.decided', 'routes', second, 'approved'],
        ['approval.opened', 'routes', third, 'open'],
        ['approval.decided', 'routes', third, 'closed'],
        ['approval.opened', 'shield', fourth, 'open'],
        ['approval.opened', 'dns', fifth, 'open'],
        ['approval.decided', 'dns', fifth, 'closed'],
        ['approval.decided', 'platform', sixth, 'rejected'],
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
    await openOne(waiting(numbered(2)))
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
    await closeOne()
    await once()
    assert.deepEqual(errors, [])
    const verifier = new Verifier(formatSecret(secret))
    const received = endpoint.received.map(
      ({ headers, body }) =>
        verifier.verify(body, headers as Record<string, string>) as {
          type: string
          data: { subject: { name: string } }
        },
    )
    assert.deepEqual(
      received.map(({ type, data }) => [type, data.subject.name]),
      [
        ['approval.opened', 'ams'],
        ['approval.decided', 'ams'],
      ],
    )
  })

  it('are not delivered to webhooks of teams, and nothing is sent without a webhook of the operator', async () => {
    await openOne(waiting(numbered(1)))
    assert.equal((await owner().selectFrom('webhook_deliveries').selectAll().execute()).length, 0)
    await assert.rejects(
      sql`insert into webhooks (team_id, url, events, created_by, secret_sealed)
        values (${blue}, 'https://a.example', '{approval.opened}', '', '')`.execute(owner()),
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
