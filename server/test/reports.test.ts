// Monthly reports: the figures of a month in the time zone of the team, their PDF, and the mails, which are sent once whatever number of
// processes run, to the members who subscribed. Real PostgreSQL, ClickHouse and SMTP server.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { MonthlyReport } from '@pharos/contract/messages/report'
import { noTrafficTexts } from '@pharos/contract/messages/report-text'
import { sql } from 'kysely'
import PostalMime from 'postal-mime'
import { waitFor } from '../../lab/src/wait.ts'
import type { Event } from '../src/events/event/event.ts'
import { insertEvents } from '../src/events/event/event.store.ts'
import type { FlowStore } from '../src/flow/flow-store.ts'
import { insertFlows, testFlow } from '../src/flow/testing.ts'
import { relateEvents } from '../src/events/relate/relationship.ts'
import { addPrefix } from '../src/events/testing.ts'
import { getDocument } from '../src/byoip/letter/pdf-library.ts'
import { createTestFlowStore, type TestFlowStore } from '../src/drivers/clickhouse/testing.ts'
import { createMailTransport } from '../src/drivers/mail-transports.ts'
import { startSmtpServer, type TestSmtpServer } from '../src/drivers/mail/testing-smtp.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { sendMails } from '../src/mail/send-mails.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { findReportFile } from '../src/report/mailed-report.store.ts'
import { buildReport, createReportDrawer, drawReport } from '../src/report/report.ts'
import { dueMonth, sendReports, type SendReportsDeps } from '../src/report/send-reports.ts'
import { letterheadOf } from '../src/mail/parts.ts'
import { DriverError } from '../src/runtime/driver-error.ts'
import { Failure } from '../src/runtime/error.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { emptyTables } from '../src/db/testing.ts'

type User = { readonly userId: number; readonly email: string }

const never = new AbortController().signal
/** 07:00 in Amsterdam on the second day, an hour after the reports are due. */
const now = new Date('2026-04-02T05:00:00Z')
const zone = 'Europe/Amsterdam'
/** Clocks change on 29 March: the month has 743 hours. */
const [start, end] = [Date.parse('2026-02-28T23:00:00Z'), Date.parse('2026-03-31T22:00:00Z')]

let smtp: TestSmtpServer
let api: TestApi
let store: TestFlowStore
let red: TestTeam
let blue: TestTeam
let anna: User
let ben: User

before(async () => {
  smtp = await startSmtpServer()
  store = await createTestFlowStore()
  api = await createTestApi({
    PHAROS_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
    PHAROS_MAIL_FROM: 'Example Net <noreply@net.example>',
    PHAROS_PUBLIC_URL: 'https://portal.net.example',
  })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  await sql`update teams set timezone = ${zone}`.execute(owner())
  anna = await addUser(api, 'anna', [red, blue])
  ben = await addUser(api, 'ben', [red])
  await addUser(api, 'eva', [red])
  await addPrefix(owner(), red.teamId, '203.0.113.0/24', 'web')
  await addFlows()
  await addAttacks()
  await addChanges()
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  await smtp.stop()
})
beforeEach(async () => {
  smtp.mails.length = 0
  await emptyTables(owner(), ['monthly_reports', 'mails', 'notification_settings'])
})

const owner = () => api.database.postgres.owner

/** 450 MB received and 45 MB sent in each hour of the month, ten times as much in the last 36; the hours around it are another's. */
async function addFlows(): Promise<void> {
  const hours = Array.from({ length: (end - start) / 3_600_000 + 2 }, (_, at) => start + (at - 1) * 3_600_000)
  await insertFlows(
    store,
    hours.flatMap((at) => {
      const isOutside = at < start || at >= end
      const bytes = isOutside ? 900_000_000_000 : at >= end - 36 * 3_600_000 ? 4_500_000_000 : 450_000_000
      const fields = { teamId: red.teamId, time: new Date(at + 60_000), protocol: 6 }
      return [
        testFlow({ ...fields, bytes }),
        testFlow({ ...fields, direction: 'out', srcPort: 443, dstPort: 40_000, bytes: bytes / 10 }),
      ]
    }),
  )
}

const attack = (id: string, from: string, bps: number, classificationKey: string): Event => ({
  id,
  sourceKey: 'test',
  sourceEventId: id,
  flags: ['INCOMING'],
  status: ['EVENT_ENDED'],
  affectedNetwork: parsePrefix('203.0.113.25/32'),
  start: new Date(from),
  end: new Date(Date.parse(from) + 600_000),
  classificationKey,
  description: '',
  sourceTimezone: 'UTC',
  sourceResourceId: '',
  sourceLocationId: '',
  sourceCountry: '',
  sourceLocation: '',
  affectedBps: bps,
  affectedPps: 1_000,
  parsedData: {},
  hasAttachment: false,
  sourceDelivery: null,
  sourceReceived: null,
  mergeState: { signals: ['pending'], stamps: {} },
})

async function addAttacks(): Promise<void> {
  const events = [
    attack('february0001', '2026-02-28T20:00:00Z', 9e9, 'udp.flood'),
    attack('march0000001', '2026-02-28T23:10:00Z', 2e9, 'udp.flood'),
    attack('march0000002', '2026-03-31T21:30:00Z', 140e9, 'udp.amplification.dns'),
    attack('march0000003', '2026-03-15T12:00:00Z', 3e8, 'udp.flood'),
    attack('april0000001', '2026-03-31T22:30:00Z', 9e9, 'udp.flood'),
  ]
  const cache = createOwnershipCache()
  await owner()
    .transaction()
    .execute(async (trx) => {
      const ownership = await cache.lock(trx)
      await insertEvents(trx, events)
      await relateEvents(trx, events, ownership, { isObserved: false })
    })
}

async function addChanges(): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    insert into announcements (team_id, prefix, origin_asn) values (${red.teamId}, '203.0.113.0/24', 64496) returning id`.execute(
    owner(),
  )
  await sql`insert into announcement_history (announcement_id, team_id, kind, actor, at) values
    (${rows[0]!.id}, ${red.teamId}, 'enabled', 'user:1', '2026-03-09T10:00:00Z'),
    (${rows[0]!.id}, ${red.teamId}, 'announced', 'reconciler', '2026-03-09T10:00:01Z'),
    (${rows[0]!.id}, ${red.teamId}, 'disabled', 'user:1', '2026-04-01T10:00:00Z')`.execute(owner())
  await sql`with list as (insert into shield_lists (team_id, prefix) values (${red.teamId}, '203.0.113.0/24') returning id)
    insert into shield_versions (list_id, version, team_id, rules, cause, actor, created)
    select id, 1, ${red.teamId}, '[{}, {}]', 'put', 'user:1', '2026-03-10T10:00:00Z'::timestamptz from list`.execute(
    owner(),
  )
}

/** A store that does not answer. */
const down: FlowStore = {
  ...({} as FlowStore),
  query: async () => {
    throw new DriverError('unreachable', 'not there')
  },
}

const depsOf = (flowStore: FlowStore, change: Partial<SendReportsDeps> = {}): SendReportsDeps => ({
  postgres: api.database.postgres,
  flows: {
    db: api.database.postgres.front,
    flowStore,
    retention: { days: 3_000, rollupDays: 3_000 },
    now: () => now,
  },
  readBrand: async () => ({ name: 'Example Net', accent: null, support: null, logo: null, asn: null }),
  drawer: createReportDrawer(),
  ring: api.config.secret,
  publicUrl: 'https://portal.net.example',
  keepsFlows: true,
  now: () => now,
  onError: (_team, error) => {
    throw error
  },
  ...change,
})

const everything = () => ({ teamId: red.teamId, sees: () => true })

async function textOf(bytes: Uint8Array): Promise<string> {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise
  const pages: string[] = []
  for (let number = 1; number <= document.numPages; number++) {
    const { items } = await (await document.getPage(number)).getTextContent()
    pages.push(items.map((item) => ('str' in item ? `${item.str} ` : '')).join(''))
  }
  return pages.join('\n').replace(/\s+/g, ' ')
}

async function subscribe(user: User, team: TestTeam, isOn = true): Promise<void> {
  await sql`insert into notification_settings (user_id, team_id, mail, digest, kinds, monthly_report)
    values (${user.userId}, ${team.teamId}, true, 'immediate', '{}', ${isOn})`.execute(owner())
}

const outcomes = async () =>
  (
    await sql<{ team_id: number; month: string; outcome: string | null }>`
      select team_id, month, outcome from monthly_reports order by team_id, month`.execute(owner())
  ).rows

async function mails() {
  const transport = createMailTransport({ url: api.config.mailUrl, folder: null })!
  const failures: string[] = []
  await sendMails(
    {
      db: owner(),
      ring: api.config.secret,
      transport,
      letterhead: letterheadOf(api.config),
      attachments: { 'monthly-report': (content) => findReportFile(owner(), content) },
      onOutcome: ({ error }) => error !== '' && failures.push(error),
    },
    never,
  )
  await transport.close()
  assert.deepEqual(failures, [])
  const arrived = await Promise.all(
    smtp.mails.splice(0).map(async ({ to, bytes }) => ({ ...(await PostalMime.parse(bytes)), to: to[0]! })),
  )
  return arrived.toSorted((a, b) => (a.to < b.to ? -1 : 1))
}

/** Draws it again if the machine was too busy, which is a 503. */
async function drawnReport(...args: Parameters<typeof drawReport>): Promise<Buffer> {
  return waitFor('the report is drawn', () =>
    drawReport(...args).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'unavailable') return undefined
      throw error
    }),
  )
}

describe('the report of a month', () => {
  let report: MonthlyReport
  before(async () => {
    report = await buildReport(depsOf(store), everything(), '2026-03')
  })

  it('has the traffic of the month in the time zone of the team, with totals and 95th percentiles', () => {
    const { traffic } = report
    assert.deepEqual([report.start, report.end], [new Date(start).toISOString(), new Date(end).toISOString()])
    assert.equal(traffic.state, 'measured')
    assert.equal(traffic.hours!.timestamps.length, 743)
    const received = 707 * 450_000_000 + 36 * 4_500_000_000
    assert.deepEqual([traffic.bytes_in, traffic.bytes_out], [received, received / 10])
    // 36 of 743 hours are less than 5 %: the 95th percentile is the value of all others.
    const series = traffic.hours!.series.find(({ key }) => key['direction'] === 'in')!
    assert.deepEqual([series.p95, series.max], [1_000_000, 10_000_000])
    assert.deepEqual(traffic.protocols, [{ label: 'TCP', bytes: received + received / 10 }])
  })

  it('has the attacks and changes of the month, and none of the days around it', () => {
    const { attacks, changes } = report
    assert.deepEqual([attacks.count, attacks.count_before], [3, 1])
    assert.deepEqual(
      attacks.largest.map(({ id }) => id),
      ['march0000002', 'march0000001', 'march0000003'],
    )
    assert.deepEqual(attacks.kinds, [
      { classification_key: 'udp.flood', count: 2 },
      { classification_key: 'udp.amplification.dns', count: 1 },
    ])
    assert.equal(attacks.days.timestamps.length, 31)
    assert.deepEqual(
      changes!.map(({ kind, rules }) => [kind, rules]),
      [
        ['announcement_enabled', null],
        ['shield_changed', 2],
      ],
    )
  })

  it('leaves out what its readers may not see', async () => {
    const { services, changes } = await buildReport(
      depsOf(store),
      { teamId: red.teamId, sees: (permission) => 'module' in permission && permission.module === 'shield' },
      '2026-03',
    )
    assert.equal(services, null)
    assert.deepEqual(
      changes!.map(({ kind }) => kind),
      ['shield_changed'],
    )
  })

  it('is a PDF with its figures as text', async () => {
    const text = await textOf(await drawnReport(depsOf(store), report))
    for (const part of [
      'March 2026',
      'Team red',
      'Example Net',
      '140 Gbps',
      '203.0.113.25',
      'Announcement enabled',
      '1 / 2',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`)
  })

  it('without a flow store has everything else, and the reason', async () => {
    const without = await buildReport(depsOf(down), everything(), '2026-03')
    assert.equal(without.traffic.state, 'unavailable')
    assert.equal(without.attacks.count, 3)
    const text = await textOf(await drawnReport(depsOf(down), without))
    assert.ok(text.includes(noTrafficTexts.unavailable.slice(0, 40)), text)
  })
})

describe('the month of a mail', () => {
  it('is due at 06:00 on the second day in the time zone of the team, and once', () => {
    const at = (time: string, last: string | null = null) =>
      dueMonth({ timezone: zone, last }, Date.parse(time))
    assert.equal(at('2026-04-02T03:59:00Z'), undefined)
    assert.equal(at('2026-04-02T04:00:00Z'), '2026-03')
    assert.equal(at('2026-04-29T12:00:00Z'), '2026-03')
    assert.equal(at('2026-04-29T12:00:00Z', '2026-03'), undefined)
    // The report of March is never sent after April is over.
    assert.equal(at('2026-05-01T12:00:00Z', '2026-02'), undefined)
    assert.equal(at('2026-05-02T12:00:00Z', '2026-02'), '2026-04')
  })
})

describe('the mails of reports', () => {
  it('go once to each member who subscribed, whatever number of processes send them', async () => {
    await subscribe(anna, red)
    await subscribe(ben, red, false)
    const runs = await Promise.all([1, 2, 3].map(() => sendReports(depsOf(store), never)))
    assert.equal(
      runs.reduce((sum, count) => sum + count, 0),
      1,
    )
    assert.equal(await sendReports(depsOf(store), never), 0)
    const arrived = await mails()
    assert.deepEqual(
      arrived.map(({ to, subject }) => [to, subject]),
      [[anna.email, 'Monthly report: March 2026']],
    )
    const [{ html, text, attachments, headers }] = arrived as [(typeof arrived)[0]]
    assert.match(text!, /Attacks +3 \(1 in the month before\)/)
    assert.match(html!, /140 Gbps on 203\.0\.113\.25/)
    assert.equal(attachments.length, 1)
    assert.deepEqual(
      [attachments[0]!.filename, attachments[0]!.mimeType],
      ['report-2026-03.pdf', 'application/pdf'],
    )
    assert.ok((await textOf(new Uint8Array(attachments[0]!.content as ArrayBuffer))).includes('March 2026'))
    const link = headers.find(({ key }) => key === 'list-unsubscribe')!.value.slice(1, -1)
    await api.server.inject({ method: 'POST', url: new URL(link).pathname })
    const { rows } = await sql<{ mail: boolean; monthly_report: boolean }>`
      select mail, monthly_report from notification_settings where user_id = ${anna.userId}`.execute(owner())
    assert.deepEqual(rows, [{ mail: true, monthly_report: false }])
  })

  it('are not sent to a team without any data, nor for a member who subscribes later', async () => {
    await subscribe(anna, blue)
    assert.equal(await sendReports(depsOf(store), never), 0)
    await subscribe(ben, red)
    assert.equal(await sendReports(depsOf(store), never), 0)
    assert.deepEqual(await outcomes(), [
      { team_id: red.teamId, month: '2026-03', outcome: 'no_subscribers' },
      { team_id: blue.teamId, month: '2026-03', outcome: 'no_data' },
    ])
  })

  it('wait a day for a flow store that is down, and not where there is none', async () => {
    await subscribe(anna, red)
    assert.equal(await sendReports(depsOf(down), never), 0)
    assert.deepEqual((await outcomes())[0], { team_id: red.teamId, month: '2026-03', outcome: null })
    assert.equal(await sendReports(depsOf(store), never), 0, 'it is tried again after an hour')
    await sql`update monthly_reports set due = now(), created = now() - interval '25 hours'`.execute(owner())
    assert.equal(await sendReports(depsOf(down), never), 1)
    await emptyTables(owner(), ['monthly_reports'])
    assert.equal(await sendReports(depsOf(down, { keepsFlows: false }), never), 1)
    assert.match((await mails())[0]!.text!, /Flow records were not available/)
    // Blue had no other activity in the month: its traffic may be missing.
    await emptyTables(owner(), ['monthly_reports'])
    await subscribe(anna, blue)
    await sendReports(depsOf(down), never)
    await sql`update monthly_reports set due = now(), created = now() - interval '25 hours'`.execute(owner())
    await sendReports(depsOf(down), never)
    assert.equal((await outcomes()).find(({ team_id }) => team_id === blue.teamId)!.outcome, 'mailed')
    await emptyTables(owner(), ['monthly_reports'])
    await sendReports(depsOf(down, { keepsFlows: false }), never)
    assert.equal((await outcomes()).find(({ team_id }) => team_id === blue.teamId)!.outcome, 'no_data')
  })

  it('are repeated after a process that died, and not by the process that lost its claim', async () => {
    await subscribe(anna, red)
    let isDead = false
    const stalled = depsOf(store, {
      readBrand: async () => {
        // Another process takes over while this one is still at work.
        if (!isDead) {
          isDead = true
          await sql`update monthly_reports set due = now()`.execute(owner())
          assert.equal(await sendReports(depsOf(store), never), 1)
        }
        return { name: 'Example Net', accent: null, support: null, logo: null, asn: null }
      },
    })
    assert.equal(await sendReports(stalled, never), 0)
    assert.equal((await mails()).length, 1)
  })
})
