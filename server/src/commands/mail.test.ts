import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import PostalMime from 'postal-mime'
import { startSmtpServer } from '../drivers/mail/testing-smtp.ts'
import { ConfigError } from '../runtime/config.ts'
import { readConfiguration } from './configuration.ts'
import { CommandFailure, UsageError } from './command.ts'
import { mail } from './mail.ts'

/** Returns the output of `pharos mail`; it needs no database. */
async function pharos(settings: Record<string, string>, ...args: readonly string[]): Promise<string> {
  let printed = ''
  const env = { PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes', ...settings }
  const files = { read: () => undefined, mode: () => 0o600, create: () => {} }
  await mail.run({
    args,
    env,
    config: (from = env) => readConfiguration(from, files),
    out: (text) => void (printed += text),
  })
  return printed
}

async function serve(t: TestContext) {
  const server = await startSmtpServer()
  t.after(() => server.stop())
  const settings = {
    PHAROS_MAIL_URL: `smtp://127.0.0.1:${server.port}`,
    PHAROS_MAIL_FROM: 'Example Net <noreply@net.example>',
    PHAROS_MAIL_REPLY_TO: 'help@net.example',
    PHAROS_PROVIDER_NAME: 'Example Net',
  }
  return { server, settings }
}

test('sends a mail at once, and prints the answer of the server', async (t) => {
  const { server, settings } = await serve(t)
  const printed = await pharos(settings, 'test', 'anna@customer.example')
  assert.match(
    printed,
    /^smtp 127\.0\.0\.1:\d+ accepted the mail to anna@customer\.example:\n250 2\.0\.0 taken/,
  )
  const [arrived] = server.mails
  assert.deepEqual(arrived?.to, ['anna@customer.example'])
  const parsed = await PostalMime.parse(arrived.bytes)
  assert.deepEqual(parsed.from, { name: 'Example Net', address: 'noreply@net.example' })
  assert.equal(parsed.subject, 'Test of the mail settings')
  assert.match(parsed.text!, /help@net\.example/)
})

test('prints the reply of a server that refuses, in full, and what it means for other mails', async (t) => {
  const { server, settings } = await serve(t)
  server.answers.data = () => ({ code: 554, text: '5.7.1 listed at rbl.example' })
  await assert.rejects(pharos(settings, 'test', 'anna@customer.example'), (error) => {
    assert.ok(error instanceof CommandFailure)
    assert.match(
      error.message,
      /^The mail was not accepted \(refused; .*not try its mails again\)\.\n.*554 5\.7\.1 listed at rbl/,
    )
    return true
  })
  server.setRelay('away')
  await assert.rejects(pharos(settings, 'test', 'anna@customer.example'), /not reached; .*would wait/)
})

test('writes it to the folder, and prints the path', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'mails-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'mails')
  const printed = await pharos({ PHAROS_MAIL_FOLDER: folder }, 'test', 'anna@customer.example')
  const [name] = readdirSync(folder)
  assert.ok(printed.includes(join(folder, name!)))
  assert.match(readFileSync(join(folder, name!), 'utf8'), /^To: anna@customer\.example\r$/m)
})

test('missing and invalid arguments are reported', async () => {
  const nowhere = { PHAROS_MAIL_FOLDER: '/nowhere' }
  for (const args of [[], ['send'], ['test'], ['test', 'nobody'], ['test', 'a@b.example', 'c@d.example']])
    await assert.rejects(pharos(nowhere, ...args), UsageError, args.join(' '))
  await assert.rejects(pharos({}, 'test', 'a@b.example'), /Neither mail_url nor mail_folder is set/)
  const url = { PHAROS_MAIL_URL: 'smtps://net.example?ca=/nowhere.pem', PHAROS_MAIL_FROM: 'a@b.example' }
  await assert.rejects(pharos(url, 'test', 'a@b.example'), (error) => {
    assert.ok(error instanceof ConfigError)
    assert.match(error.message, /^mail_url: .*nowhere\.pem/)
    return true
  })
})
