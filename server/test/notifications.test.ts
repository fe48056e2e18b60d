// Personal notifications from their cause to the feed, the stream and the mailbox: the API, the loop of the reconciler
// role and a real SMTP server on loopback. Mails are neither lost nor sent twice, whichever process dies and while the
// mail server is down.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Notification, NotificationSettings } from '@pharos/contract/messages/notification'
import { sql } from 'kysely'
import PostalMime from 'postal-mime'
import { createMailTransport } from '../src/drivers/mail-transports.ts'
import { startSmtpServer, type TestSmtpServer } from '../src/drivers/mail/testing-smtp.ts'
import { sendMails } from '../src/mail/send-mails.ts'
import { reportIncidents } from '../src/events/list/report-incidents.ts'
import { collectNotifications } from '../src/notification/collect.ts'
import { sendDigests } from '../src/notification/send-digests.ts'
import { unsubscribeUrl } from '../src/notification/unsubscribe.ts'
import { addMessage } from '../src/outbox/testing.ts'
import { writeMessages } from '../src/outbox/outbox.ts'
import { letterheadOf } from '../src/mail/parts.ts'
import type { KeyRing } from '../src/runtime/secrets.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { emptyTables } from '../src/db/testing.ts'

type User = { readonly userId: number; readonly email: string }

const never = new AbortController().signal
const publicUrl = 'https://portal.net.example'
let smtp: TestSmtpServer
let api: TestApi
let red: TestTeam
let blue: TestTeam
let anna: User
let ben: User
let eva: User

before(async () => {
  smtp = await startSmtpServer()
  api = await createTestApi({
    PHAROS_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
    PHAROS_MAIL_FROM: 'Example Net <noreply@net.example>',
    PHAROS_PUBLIC_URL: publicUrl,
  })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  anna = await addUser(api, 'anna', [red, blue], { admin: true })
  ben = await addUser(api, 'ben', [red])
  eva = await addUser(api, 'eva', [blue], { staff: true })
  await sql`update memberships set joined = now() - interval '1 year'`.execute(owner())
  await sql`update users set created = now() - interval '1 year'`.execute(owner())
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await smtp.stop()
})
beforeEach(async () => {
  await collect()
  smtp.setRelay('open')
  smtp.mails.length = 0
  await emptyTables(owner(), ['notifications', 'notification_settings', 'notification_mailings', 'mails'])
})

const owner = () => api.database.postgres.owner

const attackOf = (id: string, change: object = {}) => ({
  id,
  network: '203.0.113.0/24',
  direction: 'incoming',
  classification_key: 'udp.amplification.dns',
  start: new Date().toISOString(),
  end: null,
  affected_bps: 12_400_000_000,
  affected_pps: 3_100_000,
  sources: ['fastnetmon'],
  event_count: 1,
  merged_into: null,
  ...change,
})
const attack = (
  id: string,
  change: object = {},
  type: 'incident.started' | 'incident.updated' | 'incident.ended' = 'incident.started',
) => addMessage(owner(), red.teamId, attackOf(id, change), type)

/** Writes notifications until every message was read: transactions of other tests delay them. */
async function collect(now = new Date(), canMail = true): Promise<void> {
  for (;;) {
    await collectNotifications({ db: owner(), canMail, now: () => now, derive: reportIncidents }, never)
    const { rows } = await sql<{ waiting: boolean }>`
      select exists (select from outbox o, notification_position p where (o.xid, o.id) > (p.xid, p.id)
        and o.type <> 'notifications.changed') as waiting`.execute(owner())
    if (!rows[0]!.waiting) return
    await sleep(20)
  }
}

const digest = (now = new Date()) =>
  sendDigests({ db: owner(), ring: api.config.secret, publicUrl, now: () => now }, never)

/** Sends the due mails to the mail server, and returns the received ones. */
async function mails(): Promise<
  { to: string; subject: string; text: string; headers: Map<string, string> }[]
> {
  const transport = createMailTransport({ url: api.config.mailUrl, folder: null })!
  const letterhead = letterheadOf(api.config)
  await sendMails({ db: owner(), ring: api.config.secret, transport, letterhead, onOutcome: () => {} }, never)
  await transport.close()
  const arrived = await Promise.all(
    smtp.mails.splice(0).map(async ({ to, bytes }) => {
      const { subject = '', text = '', headers } = await PostalMime.parse(bytes)
      return { to: to[0]!, subject, text, headers: new Map(headers.map(({ key, value }) => [key, value])) }
    }),
  )
  return arrived.toSorted((a, b) => (a.to < b.to ? -1 : 1))
}

const mailAfter = async (now = new Date()) => {
  await collect(now)
  await digest(now)
  return mails()
}

async function call(user: User, method: 'GET' | 'PUT' | 'POST', path: string, payload?: object) {
  const { access } = (await api.signIn(user.email)) as { access: string }
  return api.server.inject({
    method,
    url: `/v3/session/notifications${path}`,
    headers: { authorization: `Bearer ${access}` },
    ...(payload ? { payload } : {}),
  })
}
const settingsOf = async (user: User) => (await call(user, 'GET', '')).json<NotificationSettings>()
const feedOf = async (user: User, query = '') =>
  (await call(user, 'GET', `/feed${query}`)).json<{ results: Notification[]; count: number }>()

async function change(user: User, change: Partial<NotificationSettings>): Promise<void> {
  const response = await call(user, 'PUT', '', { ...(await settingsOf(user)), ...change })
  assert.equal(response.statusCode, 200, response.body)
}

const minutes = (count: number) => new Date(Date.now() + count * 60_000)

describe('the mails of an attack', () => {
  it('are sent at once to the members of the team, and name prefix, peak and page', async () => {
    await attack('e1')
    const arrived = await mailAfter()
    assert.deepEqual(
      arrived.map(({ to }) => to),
      [anna.email, ben.email],
    )
    const { subject, text, headers } = arrived[0]!
    assert.equal(subject, 'Attack on 203.0.113.0/24: UDP amplification (DNS), peak 12.4 Gbps, 3.1 Mpps')
    assert.match(text, /Team "Team red"/)
    assert.match(text, /https:\/\/portal\.net\.example\/events\/e1/)
    assert.match(headers.get('list-unsubscribe')!, /^<https:\/\/portal\.net\.example\/unsubscribe\/[\w.-]+>$/)
    assert.equal(headers.get('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  })

  it('are one digest for all that follow within the pause', async () => {
    await attack('e1')
    assert.equal((await mailAfter()).length, 2)
    for (const at of [2, 3, 4, 5]) await attack(`e${at}`)
    assert.equal((await mailAfter()).length, 0)
    await attack('e2', { end: new Date().toISOString() }, 'incident.ended')
    const [first, ...others] = await mailAfter(minutes(16))
    assert.match(first!.subject, /^4 attacks since \d\d:\d\d UTC$/)
    assert.equal(first!.text.match(/Attack on/g)!.length, 4)
    assert.match(first!.text, /ended/)
    assert.equal(others.length, 1)
    assert.equal((await mailAfter(minutes(40))).length, 0)
  })

  it('report its end to those who want it and got the beginning', async () => {
    await change(ben, { kinds: { ...(await settingsOf(ben)).kinds, attack_ended: false } })
    await attack('e1')
    await mailAfter()
    await attack('e2')
    await attack('e1', { end: new Date().toISOString() }, 'incident.ended')
    await attack('e2', { end: new Date().toISOString() }, 'incident.ended')
    const [ofAnna, ofBen] = await mailAfter(minutes(16))
    assert.match(ofBen!.subject, /^Attack on .*, ended$/)
    assert.match(ofAnna!.subject, /^1 attack and 1 other since/)
    assert.equal(
      ofAnna!.text.replaceAll(/\n(> )?/g, ' ').match(/The attack on 203.0.113.0\/24 ended: peak/g)!.length,
      1,
    )
  })

  it('are not sent below the thresholds, and once it grows above them', async () => {
    await attack('e1', { affected_bps: 10, affected_pps: 10 })
    assert.equal((await mailAfter()).length, 0)
    assert.equal((await feedOf(ben)).count, 0)
    await attack('e1', {}, 'incident.updated')
    assert.equal((await mailAfter()).length, 2)
  })

  it('wait for the full hour if the user wants that', async () => {
    await change(ben, { digest: 'hourly' })
    await attack('e1')
    assert.deepEqual(
      (await mailAfter()).map(({ to }) => to),
      [anna.email],
    )
    assert.deepEqual(
      (await mailAfter(minutes(61))).map(({ to }) => to),
      [ben.email],
    )
  })
})

describe('mails of notifications', () => {
  it('are not sent to members who left the team meanwhile', async () => {
    const leaving = await addUser(api, 'leo', [red])
    await sql`update memberships set joined = now() - interval '1 year'`.execute(owner())
    await attack('e1')
    await collect()
    await digest()
    await sql`delete from memberships where user_id = ${leaving.userId}`.execute(owner())
    assert.deepEqual(
      (await mails()).map(({ to }) => to),
      [anna.email, ben.email],
    )
    const { rows } = await sql`select from notifications where user_id = ${leaving.userId}`.execute(owner())
    assert.equal(rows.length, 0)
  })

  it('are not sent to addresses that are not confirmed, and without the second factor that the team requires', async () => {
    await sql`update users set email_confirmed = null where id = ${ben.userId}`.execute(owner())
    await attack('e1')
    assert.deepEqual(
      (await mailAfter()).map(({ to }) => to),
      [anna.email],
    )
    await sql`update users set email_confirmed = now() where id = ${ben.userId}`.execute(owner())
    await sql`update teams set require_2fa = true where id = ${red.teamId}`.execute(owner())
    await attack('e2')
    assert.equal((await mailAfter(minutes(20))).length, 0)
    await sql`update teams set require_2fa = false where id = ${red.teamId}`.execute(owner())
  })

  it('do not pile up while the mail server is down: one waits, and one has everything else', async () => {
    smtp.setRelay('away')
    for (let hour = 0; hour < 30; hour++) {
      await attack(`e${hour}`)
      await mailAfter(minutes(hour * 60))
    }
    const { rows } = await sql<{ count: number }>`select count(*) as count from mails`.execute(owner())
    assert.equal(rows[0]!.count, 2)
    smtp.setRelay('open')
    await sql`update mails set due = now()`.execute(owner())
    assert.equal((await mails()).length, 2)
    const [next] = await mailAfter(minutes(31 * 60))
    assert.match(next!.subject, /^29 attacks since/)
  })

  it('are not composed without a mail server, nor later for what happened then', async () => {
    await attack('e1')
    await collect(new Date(), false)
    assert.equal((await mailAfter()).length, 0)
    assert.equal((await feedOf(ben)).count, 1)
  })

  it('are sent once, whichever transaction fails', async () => {
    await attack('e1')
    await collect()
    const broken = { db: owner(), ring: {} as KeyRing, publicUrl, now: () => new Date() }
    await assert.rejects(sendDigests(broken, never), /not a key ring/)
    await Promise.all([digest(), digest(), collect(), collect()])
    assert.equal((await mails()).length, 2)
    assert.equal((await mailAfter(minutes(60))).length, 0)
  })

  it('are deleted unsent when the user turns mails off', async () => {
    await attack('e1')
    await collect()
    await digest()
    const { rows } = await sql<{
      token: string
    }>`select 1 as token from mails where user_id = ${ben.userId}`.execute(owner())
    assert.equal(rows.length, 1)
    await change(ben, { mail: false })
    assert.deepEqual(
      (await mails()).map(({ to }) => to),
      [anna.email],
    )
  })
})

describe('the link to unsubscribe', () => {
  const urlOf = (user: User, team: number | null, now = new Date()) =>
    unsubscribeUrl(api.config.secret, '', { userId: user.userId, teamId: team, from: 'notifications' }, now)
  const oneClick = (url: string) =>
    api.server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'List-Unsubscribe=One-Click',
    })

  it('asks on GET and changes nothing', async () => {
    const response = await api.server.inject({ url: urlOf(ben, red.teamId) })
    assert.equal(response.statusCode, 200)
    assert.match(response.body, /<form method="post">/)
    assert.equal((await settingsOf(ben)).mail, true)
  })

  it('ends the mails of the team with one POST, of any form and any number of times', async () => {
    assert.equal((await oneClick(urlOf(ben, red.teamId))).statusCode, 200)
    assert.equal((await api.server.inject({ method: 'POST', url: urlOf(ben, red.teamId) })).statusCode, 200)
    const settings = await settingsOf(ben)
    assert.equal(settings.mail, false)
    assert.equal(settings.kinds.attack, true, 'the other settings are kept')
    await attack('e1')
    assert.deepEqual(
      (await mailAfter()).map(({ to }) => to),
      [anna.email],
    )
    assert.equal((await feedOf(ben)).count, 1)
    const { rows } = await sql<{ actor: string }>`
      select actor from audit_entries where action = 'notifications.unsubscribe'`.execute(owner())
    assert.deepEqual(rows, [{ actor: `user:${ben.userId}` }])
  })

  it('is rejected if it was forged or has expired', async () => {
    const forged = urlOf(ben, red.teamId).replace(`/${ben.userId}.`, `/${anna.userId}.`)
    const expired = urlOf(ben, red.teamId, new Date(Date.now() - 400 * 86_400_000))
    for (const url of [forged, expired, '/unsubscribe/x'])
      for (const method of ['GET', 'POST'] as const)
        assert.equal((await api.server.inject({ method, url })).statusCode, 404, `${method} ${url}`)
    assert.equal((await settingsOf(anna)).mail, true)
    assert.equal((await settingsOf(ben)).mail, true)
  })

  it('has no effect for a user who left the team', async () => {
    assert.equal((await oneClick(urlOf(eva, red.teamId))).statusCode, 200)
    const { rows } = await sql`select from notification_settings`.execute(owner())
    assert.equal(rows.length, 0)
  })
})

describe('the feed', () => {
  it('lists what happened in the current team, newest first, and what was read', async () => {
    await attack('e1')
    await attack('e2', {}, 'incident.started')
    await collect()
    const { results, count } = await feedOf(ben, '?unread=true')
    assert.equal(count, 2)
    assert.deepEqual(results[0]!.resource, { type: 'event', id: 'e2' })
    assert.equal(results[0]!.kind, 'attack')
    assert.ok(results[0]!.id > results[1]!.id)
    const read = await call(ben, 'POST', '/read', { up_to: results[1]!.id })
    assert.deepEqual(read.json(), { unread: 1, newest_id: results[0]!.id })
    assert.equal((await feedOf(ben, '?unread=true')).count, 1)
    assert.equal((await feedOf(ben, '?unread=false')).count, 1)
  })

  it('has one notification for an attack, with its last state', async () => {
    await attack('e1')
    await collect()
    await attack('e1', { affected_bps: 5e10, end: new Date().toISOString() }, 'incident.ended')
    await collect()
    const { results, count } = await feedOf(ben)
    assert.equal(count, 1)
    assert.match(results[0]!.text, /peak 50 Gbps.*ended/)
  })

  it('shows no other user and no other team', async () => {
    await attack('e1')
    await collect()
    assert.equal((await feedOf(eva)).count, 0)
    const { rows } = await sql<{ id: number }>`select max(id) as id from notifications`.execute(owner())
    await call(eva, 'POST', '/read', { up_to: rows[0]!.id })
    assert.equal((await feedOf(ben, '?unread=true')).count, 1)
  })

  it('has approvals for staff, and paused changes for the team', async () => {
    const subjects = { routes: 'ams', dns: 'evil.example', shield: '203.0.113.0/24', platform: 'NetBox' }
    const team = { id: red.teamId, name: 'red' }
    await owner()
      .transaction()
      .execute((trx) =>
        writeMessages(
          trx,
          Object.entries(subjects).map(([area, name], at) => ({
            teamId: null,
            type: 'approval.opened' as const,
            data: {
              area,
              id: 17 + at,
              subject: { name },
              team: area === 'dns' || area === 'shield' ? team : null,
              item_count: area === 'shield' ? 1 : 5,
              teams: area === 'routes' ? [{ team, withdrawal_count: 5 }] : [],
            } as never,
          })),
        ),
      )
    await collect()
    assert.deepEqual(
      (await feedOf(eva)).results.map(({ kind, resource, text }) => [kind, resource, text]).toReversed(),
      [
        ['approval_opened', { type: 'approval', id: '17' }, '5 changes of routes in ams need approval'],
        [
          'approval_opened',
          { type: 'approval', id: '18' },
          '5 changes of DNS of evil.example need approval (team "red")',
        ],
        [
          'approval_opened',
          { type: 'approval', id: '19' },
          '1 change of shield rules of 203.0.113.0/24 needs approval (team "red")',
        ],
        [
          'approval_opened',
          { type: 'approval', id: '20' },
          '5 changes of the inventory by NetBox need approval',
        ],
      ],
    )
    assert.deepEqual(
      (await feedOf(ben)).results.map(({ kind }) => kind),
      ['changes_paused'],
    )
    await sql`update users set is_staff = false where id = ${eva.userId}`.execute(owner())
    assert.equal((await feedOf(eva)).count, 0)
    await sql`update users set is_staff = true where id = ${eva.userId}`.execute(owner())
  })
})

describe('letters', () => {
  const letter = async (status: string, validUntil: Date | null) => {
    const decided = status === 'pending_review' ? null : new Date()
    const { rows } = await sql<{ id: number }>`
      with a as (insert into announcements (team_id, prefix, origin_asn) values
          (${red.teamId}, ('2001:db8:' || to_hex(floor(random() * 65535)::integer) || '::/48')::cidr, 64496) returning id),
        l as (insert into letters (team_id, filename, media_type, size, sha256, status, valid_until, reviewed, uploaded_by, reason)
          values (${red.teamId}, 'letter.pdf', 'application/pdf', 1, decode(repeat('00', 32), 'hex'), ${status}, ${validUntil},
            ${decided}, 'user:1', ${status === 'rejected' ? 'See https://evil.example' : null}) returning id)
      insert into letter_announcements (letter_id, announcement_id, team_id, origin_asn)
      select l.id, a.id, ${red.teamId}, 64496 from l, a returning letter_id as id`.execute(owner())
    return rows[0]!.id
  }
  beforeEach(() => emptyTables(owner(), ['letters', 'announcements']))

  it('are reported when they are uploaded, decided and about to expire, once', async () => {
    await letter('pending_review', null)
    await letter('rejected', null)
    await letter('accepted', minutes(10 * 1440))
    await collect()
    await collect()
    assert.deepEqual((await feedOf(ben)).results.map(({ kind }) => kind).toSorted(), [
      'letter_decided',
      'letter_decided',
      'letter_expiring',
    ])
    await digest()
    const arrived = await mails()
    assert.deepEqual(
      arrived.map(({ to, subject }) => `${to} ${subject.replace(/ since.*/, '')}`),
      [
        `${anna.email} 2 letters decided and 1 other`,
        `${ben.email} 2 letters decided and 1 other`,
        `${eva.email} 1 letter to review`,
      ],
    )
    assert.match(arrived[0]!.text, /https\[:\]\/\/evil\[\.\]example/)
  })
})

describe('a credential that expires', () => {
  const reported = async ({ userId }: typeof anna): Promise<string[]> => {
    const { rows } = await sql<{ key: string }>`
      select key from notifications where user_id = ${userId} and team_id = ${red.teamId} and kind = 'token_expiring'
      order by id`.execute(owner())
    return rows.map(({ key }) => key)
  }
  const expiresIn = (hours: number) =>
    sql`update api_tokens set expires = now() + make_interval(hours => ${hours}) where id = 'expiringaaaa'`.execute(
      owner(),
    )

  it('is reported to admins 30, 7 and 1 days before, once each, and not to other members', async () => {
    await sql`
      insert into api_tokens (id, team_id, name, secret_mac, scopes, created, expires)
      values ('expiringaaaa', ${red.teamId}, 'backup', '', '{ipam:read}', now() - interval '1 year', now() + interval '40 days')`.execute(
      owner(),
    )
    await collect()
    assert.deepEqual(await reported(anna), [])
    for (const [days, expected] of [
      [20, 1],
      [6, 2],
      [0.5, 3],
    ] as const) {
      await expiresIn(days * 24)
      await collect()
      await collect()
      assert.equal((await reported(anna)).length, expected)
    }
    assert.deepEqual(
      (await reported(anna)).map((key) => key.split(' ')[2]),
      ['30', '7', '1'],
    )
    assert.deepEqual(await reported(ben), [])
    // She signs in to another team.
    const { access } = (await api.signIn(anna.email)) as { access: string }
    const inject = (method: 'GET' | 'POST', url: string, bearer: string, payload?: object) =>
      api.server.inject({
        method,
        url,
        headers: { authorization: `Bearer ${bearer}` },
        ...(payload && { payload }),
      })
    const switched = await inject('POST', '/v3/session/token', access, { team_id: red.teamId })
    const feed = await inject(
      'GET',
      '/v3/session/notifications/feed',
      switched.json<{ access: string }>().access,
    )
    const kinds = feed.json<{ results: Notification[] }>().results.map(({ kind }) => kind)
    assert.deepEqual(kinds.slice(0, 3), Array(3).fill('token_expiring'))
    await sql`delete from api_tokens where id = 'expiringaaaa'`.execute(owner())
  })
})

describe('a sampling rate that cannot be right', () => {
  const reported = async (person: typeof eva) =>
    (await feedOf(person)).results
      .filter(({ kind }) => kind === 'sampling_implausible')
      .map(({ text }) => text)

  it('is reported to staff once, after three hours', async () => {
    await sql`with d as (insert into devices (name, driver) values ('r9', 'none') returning id)
      insert into ports (circuit_id, name, device_id, interface_key) select 'C9', 'xe-9', id, 'xe-9' from d`.execute(
      owner(),
    )
    await sql`insert into flow_exporters (address) values ('192.0.2.9')`.execute(owner())
    await sql`insert into flow_counter_checks (exporter_id, port_id, hour, ratio, outside_hours, outside_since)
      select e.id, p.id, now(), 0.001, 2, now() from flow_exporters e, ports p`.execute(owner())
    await collect()
    assert.deepEqual(await reported(eva), [])
    await sql`update flow_counter_checks set outside_hours = 3, checked = now()`.execute(owner())
    await collect()
    await sql`update flow_counter_checks set outside_hours = 4, checked = now()`.execute(owner())
    await collect()
    assert.deepEqual(await reported(eva), [
      'Flows of exporter 192.0.2.9 have 0.0010 times the octets of the interface of port C9',
    ])
    assert.deepEqual(await reported(ben), [])
  })
})

describe('the settings', () => {
  it('have defaults, are saved by team, and reject those of staff from others', async () => {
    const settings = await settingsOf(ben)
    assert.deepEqual(
      [settings.mail, settings.digest, settings.attack_bps, settings.kinds.attack_ended, settings.staff],
      [true, 'immediate', 1_000_000_000, true, null],
    )
    const staff = (await settingsOf(eva)).staff!
    assert.deepEqual(staff.kinds, {
      approval_opened: false,
      letter_to_review: true,
      sampling_implausible: true,
    })
    assert.equal((await call(ben, 'PUT', '', { ...settings, staff })).statusCode, 403)
    await change(eva, { staff: { ...staff, digest: 'daily' } })
    assert.equal((await settingsOf(eva)).staff!.digest, 'daily')
  })
})

describe('the position in the outbox', () => {
  it('of another database server does not stop notifications', async () => {
    await emptyTables(owner(), ['outbox', 'letters'])
    await sql`update notification_position set xid = '9000000000000000000'`.execute(owner())
    await collectNotifications(
      { db: owner(), canMail: true, now: () => new Date(), derive: reportIncidents },
      never,
    )
    await attack('e1')
    await collect()
    assert.equal((await feedOf(ben)).count, 1)
  })
})
