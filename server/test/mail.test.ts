// Mail from a request to a mailbox: the API, the loop of the reconciler role, and a real SMTP server on loopback. While
// that server is down or silent, requests are not delayed, and all mails stay queued.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import PostalMime from 'postal-mime'
import { wake } from '../src/db/wake.ts'
import { startSmtpServer, type TestSmtpServer } from '../src/drivers/mail/testing-smtp.ts'
import { letterheadOf, mailPart } from '../src/mail/parts.ts'
import type { Component } from '../src/runtime/component.ts'
import type { Config } from '../src/runtime/config.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

let smtp: TestSmtpServer
let api: TestApi
let email: string
before(async () => {
  smtp = await startSmtpServer()
  api = await createTestApi({
    PHAROS_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
    PHAROS_MAIL_FROM: 'Example Net <noreply@net.example>',
    PHAROS_MAIL_REPLY_TO: 'help@net.example',
    PHAROS_PROVIDER_NAME: 'Example Net',
    PHAROS_PUBLIC_URL: 'https://portal.net.example',
  })
  email = (await addUser(api, 'anna', [await addTeam(api, 'blue')])).email
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await smtp.stop()
})
beforeEach(async () => {
  smtp.setRelay('open')
  smtp.mails.length = 0
  await sql`delete from mails`.execute(api.database.postgres.owner)
})

type Sending = {
  readonly part: Component
  readonly metrics: ReturnType<typeof createMetrics>
  /** All log entries. */
  readonly lines: Record<string, unknown>[]
}

let sending: Sending | undefined
afterEach(async () => {
  await sending?.part.stop?.()
  sending = undefined
})

/** Starts the loop as the reconciler role does. */
async function startSending(change: Partial<Config> = {}, graceMs?: number): Promise<Sending> {
  const lines: Record<string, unknown>[] = []
  const log = createLog(
    { logLevel: 'trace', logFormat: 'json' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const metrics = createMetrics()
  const { waker, database } = api
  const config = { ...api.config, ...change }
  const part = mailPart({ config, postgres: database.postgres, waker, log, metrics, gate: openGate }, graceMs)
  await part.start!()
  return (sending = { part, metrics, lines })
}

async function askForReset(): Promise<void> {
  const response = await api.server.inject({
    method: 'POST',
    url: '/v3/session/password-reset',
    payload: { email },
  })
  assert.equal(response.statusCode, 202, response.body)
}

/** Waits until the condition is met; otherwise the test times out. */
async function until<T>(what: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const found = await what()
    if (found) return found
    await sleep(10)
  }
}

type Row = {
  attempts: number
  sent: Date | null
  failed: Date | null
  error: string | null
  has_content: boolean
}

const row = async (): Promise<Row | undefined> => {
  const { rows } = await sql<Row>`
    select attempts, sent, failed, error, content_sealed is not null as has_content from mails order by id limit 1`.execute(
    api.database.postgres.owner,
  )
  return rows[0]
}

const tokenPattern = /https:\/\/portal\.net\.example\/reset-password#(phm_\S+)/

it('mails come from the provider, and name its support address unless the settings name another one', () => {
  const settings = {
    mailUrl: null,
    mailFolder: 'mails',
    mailFrom: null,
    mailReplyTo: null,
    providerName: 'Pharos',
  } as unknown as Parameters<typeof letterheadOf>[0]
  const brand = { name: 'Example Transit', support: 'mailto:noc@example.net?subject=Help' }
  assert.deepEqual(letterheadOf(settings, brand), {
    from: { name: 'Example Transit', address: 'pharos@localhost' },
    replyTo: { name: '', address: 'noc@example.net' },
    provider: 'Example Transit',
  })
  const chosen = { ...settings, mailFrom: 'Mails <no@example.net>', mailReplyTo: 'help@example.net' }
  assert.deepEqual(letterheadOf(chosen, { ...brand, support: 'https://example.net/help' }), {
    from: { name: 'Mails', address: 'no@example.net' },
    replyTo: { name: '', address: 'help@example.net' },
    provider: 'Example Transit',
  })
})

describe('a mail', () => {
  it('that a request caused is delivered, and its link works', async () => {
    const { metrics } = await startSending()
    await askForReset()
    const arrived = await until(() => smtp.mails[0])
    assert.deepEqual(arrived.to, [email])
    const mail = await PostalMime.parse(arrived.bytes)
    assert.deepEqual(mail.from, { name: 'Example Net', address: 'noreply@net.example' })
    assert.deepEqual(mail.replyTo, [{ name: '', address: 'help@net.example' }])
    assert.equal(mail.subject, 'Reset your password')
    const [, token] = tokenPattern.exec(mail.text!)!
    assert.ok(mail.html!.includes(token!))
    const response = await api.server.inject({
      method: 'POST',
      url: '/v3/session/password-reset/confirm',
      payload: { token, new_password: 'another-long-passphrase-of-anna' },
    })
    assert.equal(response.statusCode, 200, response.body)
    const next = await until(() => smtp.mails[1])
    assert.equal((await PostalMime.parse(next.bytes)).subject, 'Your password was changed')
    await until(async () => (await row())?.sent)
    assert.equal((await row())?.has_content, false)
    assert.match(
      await metrics.registry.metrics(),
      /^pharos_mails_total\{template="password-reset",outcome="sent"\} 1$/m,
    )
  })

  it('waits while the server is down, without delaying the API, and is sent when the server is back', async () => {
    smtp.setRelay('away')
    const { metrics, lines } = await startSending()
    await askForReset()
    const waiting = await until(async () => {
      const found = await row()
      return found?.error ? found : undefined
    })
    assert.equal(waiting.sent ?? waiting.failed, null)
    assert.equal(waiting.has_content, true)
    await askForReset()
    assert.equal((await api.server.inject('/readyz')).statusCode, 200)
    smtp.setRelay('open')
    const { owner } = api.database.postgres
    await until(async () => {
      // Simulates that the next attempt is due.
      await sql`update mails set due = now() where error is not null and sent is null`.execute(owner)
      await wake(owner, 'mails')
      return smtp.mails.length >= 2
    })
    await until(async () => {
      const { rows } = await sql`select 1 from mails where sent is null`.execute(owner)
      return rows.length === 0
    })
    const said = `${JSON.stringify(lines)}\n${await metrics.registry.metrics()}`
    assert.match(said, /mail not accepted; it is retried/)
    assert.match(said, /pharos_mails_total\{template="password-reset",outcome="postponed"\} [1-9]/)
    assert.doesNotMatch(said, /phm_|reset-password#/)
  })

  it('to a silent server delays no request, and no process from stopping', async () => {
    smtp.setRelay('silent')
    const { part } = await startSending({}, 50)
    await askForReset()
    await until(async () => (await row())?.attempts)
    await askForReset()
    const { access } = await api.signIn(await anotherUser())
    const list = await api.server.inject({
      url: '/v3/ipam/announcements',
      headers: { authorization: `Bearer ${access}` },
    })
    assert.equal(list.statusCode, 200, list.body)
    await part.stop!()
    const left = await row()
    assert.deepEqual([left?.sent, left?.failed, left?.has_content], [null, null, true])
  })

  it('that is permanently rejected has failed, and is logged without its content', async () => {
    const { lines } = await startSending()
    smtp.answers.data = (bytes) => ({
      code: 554,
      text: `5.7.1 no ${bytes.toString('latin1').replaceAll(/\s+/g, ' ')}`,
    })
    await askForReset()
    const given = await until(async () => {
      const found = await row()
      return found?.failed ? found : undefined
    })
    smtp.answers.data = undefined
    assert.equal(given.has_content, false)
    assert.match(given.error!, /DATA: 554 5\.7\.1$/)
    const line = lines.find(({ level }) => level === 'error')
    assert.equal(line?.['message'], 'mail failed')
    assert.doesNotMatch(JSON.stringify(lines), /phm_|reset-password#|Choose a new password/)
  })
})

describe('without a server and without a folder', () => {
  it('one warning is logged, and mails wait', async () => {
    const { lines } = await startSending({ mailUrl: null })
    await askForReset()
    await wake(api.database.postgres.owner, 'mails')
    await until(row)
    assert.deepEqual(
      lines.filter(({ level }) => level === 'warn').map(({ message }) => message),
      ['mail is disabled: set mail_url or mail_folder; mails wait in the database until then'],
    )
    const { attempts, error, has_content } = (await row())!
    assert.deepEqual({ attempts, error, has_content }, { attempts: 0, error: null, has_content: true })
  })
})

async function anotherUser(): Promise<string> {
  return (await addUser(api, 'berta', [await addTeam(api, 'green')])).email
}
