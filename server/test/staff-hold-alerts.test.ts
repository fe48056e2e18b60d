// Alerts about holds of DNS and shield: mails to staff and messages to the operator's webhook, from the rows alone. Real database.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { messageOf, type OperatorMessageType } from '@pharos/contract/webhook-message'
import { sql } from 'kysely'
import { Value } from 'typebox/value'
import { decideShieldHoldAs, describeShieldHold } from '../src/shield/shield-hold.ts'
import { saveHolds } from '../src/shield/reconcile.store.ts'
import { seedTeam, seedUser } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { closeHold, openHold } from '../src/dns/publish/hold.ts'
import { describeZoneHold } from '../src/dns/publish/zone-hold.ts'
import { sendStaffHoldAlerts, type AlertedArea, type StaffHoldAlert } from '../src/hold/hold-alerts.ts'
import type { MailContents } from '../src/mail/mail.ts'
import { fillTemplate } from '../src/mail/templates.ts'
import { createKeyRing, open } from '../src/runtime/secrets.ts'

const ring = createKeyRing(['a secret of the tests that is long enough'])
const dns: AlertedArea = { name: 'dns', describe: describeZoneHold }
const shield: AlertedArea = { name: 'shield', describe: describeShieldHold }
let database: TestDatabase
let blue: number

before(async () => {
  database = await createTestDatabase()
  blue = await seedTeam(database.postgres, 'blue')
  for (const email of ['noc@net.example', 'eva@net.example']) await seedUser(database.postgres, email, true)
  await sql`update users set email_confirmed = now()`.execute(owner())
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(owner(), ['shield_holds', 'dns_holds', 'mails', 'outbox'])
  await emptyAudit(owner())
})

const owner = () => database.postgres.owner

/** Holds removals of the lists of so many prefixes at the scrubber. */
const hold = (scrubber: string, count: number) =>
  owner()
    .transaction()
    .execute((trx) =>
      saveHolds(trx, scrubber, [
        {
          listId: null,
          teamId: blue,
          reason: 'unexplained_removals',
          attrs: {
            count,
            rules: count,
            prefixes: Array.from({ length: count }, (_, at) => `10.0.${at}.0/24`),
          },
          evidence: `${scrubber} ${count}`,
        },
      ] as never),
    )

async function alert(area: AlertedArea): Promise<StaffHoldAlert[]> {
  const alerts: StaffHoldAlert[] = []
  const deps = { db: owner(), ring, publicUrl: 'https://pharos.example', recipients: [] }
  await sendStaffHoldAlerts(
    { ...deps, onAlert: (one) => alerts.push(one) },
    area,
    new AbortController().signal,
  )
  return alerts
}

async function mails() {
  const rows = await owner().selectFrom('mails').selectAll().orderBy('id').execute()
  return rows.map(({ recipient, template, content_sealed }) => ({
    to: recipient,
    content: JSON.parse(
      open(ring, 'mail', content_sealed!, template).toString(),
    ) as MailContents['staff-holds-open'],
  }))
}

const messages = async () =>
  (
    await sql<{ type: OperatorMessageType; data: { area: string; id: number; state: string } }>`
      select type, data from outbox where team_id is null order by id`.execute(owner())
  ).rows

const pass = (minutes: number) =>
  sql`update shield_holds set alert_due = alert_due - make_interval(mins => ${minutes}),
    alerted = alerted - make_interval(mins => ${minutes})`.execute(owner())

describe('alerts about holds of shield', () => {
  it('are one mail to each employee for all that are due, then reminders', async () => {
    await hold('ams', 2)
    await hold('fra', 30)
    const all = await Promise.all([alert(shield), alert(shield), alert(shield)])
    assert.deepEqual(all.flat().flatMap(({ ids }) => ids).length, 2, 'whatever number of processes send them')
    assert.deepEqual(await alert(shield), [])
    const [first, second] = await mails()
    assert.deepEqual([first!.to, second!.to], ['noc@net.example', 'eva@net.example'])
    const { subject, text } = fillTemplate('staff-holds-open', first!.content, {
      provider: 'Example Net',
      contact: 'noc@net.example',
    })
    assert.equal(subject, '2 changes of shield rules need approval')
    for (const part of ['of ams', 'of fra', '10.0.1.0/24', 'and 10 more', 'pharos holds shield list'])
      assert.ok(text.includes(part), `${part} in ${text}`)
    await pass(29)
    assert.deepEqual(await alert(shield), [])
    await pass(1)
    assert.equal((await alert(shield)).length, 1)
    assert.equal((await mails()).at(-1)!.content.isReminder, true)
  })

  it('are messages to the operator for what was opened, decided and closed, as defined by the contract', async () => {
    const [ams] = await hold('ams', 2)
    await alert(shield)
    await decideShieldHoldAs({ db: owner() }, { actor: 'operator' }, ams!, 'approved')
    await alert(shield)
    const [former] = await hold('fra', 2)
    await alert(shield)
    const [next] = await hold('fra', 3)
    await alert(shield)
    await hold('unheard', 1)
    await sql`update shield_holds set state = 'closed' where scrubber = 'unheard'`.execute(owner())
    await alert(shield)
    const written = await messages()
    assert.deepEqual(
      written.map(({ type, data: { id, state } }) => [type, id, state]),
      [
        ['staff_hold.opened', ams, 'open'],
        ['staff_hold.decided', ams, 'approved'],
        ['staff_hold.opened', former, 'open'],
        ['staff_hold.decided', former, 'closed'],
        ['staff_hold.opened', next, 'open'],
      ],
    )
    for (const { type, data } of written) {
      const message = { type, timestamp: new Date().toISOString(), data }
      assert.deepEqual([...Value.Errors(messageOf(type), message)], [])
    }
    assert.equal((await mails()).length, 4, 'none about the hold that replaced another within the hour')
    await pass(30)
    assert.deepEqual(
      (await alert(shield)).map(({ ids }) => ids),
      [[next]],
      'the reminder of the first hold is due for its replacement',
    )
  })
})

describe('alerts about holds of DNS', () => {
  it('are a mail and messages', async () => {
    const planned = { kind: 'catalog', reason: 'many_removals', sets: ['a.example.', 'b.example.'] } as const
    await openHold(owner(), planned)
    await alert(dns)
    await closeHold(owner(), planned)
    await alert(dns)
    assert.deepEqual(
      (await messages()).map(({ type, data: { area, state } }) => [type, area, state]),
      [
        ['staff_hold.opened', 'dns', 'open'],
        ['staff_hold.decided', 'dns', 'closed'],
      ],
    )
    assert.deepEqual((await mails())[0]!.content.holds[0]!.items, ['a.example.', 'b.example.'])
  })
})
