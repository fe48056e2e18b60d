import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { inspect } from 'node:util'
import { skipWithout } from '@pharos/lab/program'
import type { MailMessage } from '../../mail/mail-transport.ts'
import { isKind, sample } from '../../mail/mail-transport.conformance.ts'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'
import { parseMailUrl } from './smtp-url.ts'
import { createSmtpTransport, type SmtpOptions } from './smtp-transport.ts'
import { startSmtpServer, type Answers, type TestSmtpOptions, type TestSmtpServer } from './testing-smtp.ts'

async function serve(t: TestContext, options: TestSmtpOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options)
  t.after(() => server.stop())
  return server
}

/** `rest` follows the port, `login` precedes the host. */
function open(
  t: TestContext,
  { port }: TestSmtpServer,
  { scheme = 'smtp', login = '', rest = '', ...options }: Opened = {},
) {
  const url = parseMailUrl(`${scheme}://${login}127.0.0.1:${port}${rest}`)
  const transport = createSmtpTransport(url, options)
  t.after(() => transport.close())
  return transport
}
type Opened = SmtpOptions & { scheme?: string; login?: string; rest?: string }

const secret = 'phm_reset.17.aVeryLongSecretThatNobodyElseMaySee'
const secretive: MailMessage = sample({
  text: `Follow https://net.example/reset-password#${secret}`,
  html: `<a href="https://net.example/reset-password#${secret}">Go</a>`,
})

const answers: readonly (readonly [string, Answers, DriverErrorKind, RegExp])[] = [
  [
    'a recipient that does not exist',
    { rcptTo: { code: 550, text: '5.1.1 no such user' } },
    'refused',
    /RCPT TO: 550 5\.1\.1 no such user/,
  ],
  [
    'a recipient that is deferred',
    { rcptTo: { code: 450, text: '4.2.0 greylisted' } },
    'postponed',
    /450 4\.2\.0 greylisted/,
  ],
  ['a full mailbox', { rcptTo: { code: 452, text: '4.2.2 full' } }, 'postponed', /452/],
  [
    'a sender that is not allowed',
    { mailFrom: { code: 553, text: '5.7.1 not yours' } },
    'protocol',
    /MAIL FROM: 553/,
  ],
  ['a missing login', { mailFrom: { code: 530, text: '5.7.0 who are you' } }, 'protocol', /530/],
  [
    'a missing login, reported for the recipient',
    { rcptTo: { code: 530, text: '5.7.0 who are you' } },
    'protocol',
    /530/,
  ],
  ['content that is rejected', { data: () => ({ code: 554, text: '5.7.1 spam' }) }, 'refused', /DATA: 554/],
  ['content that is deferred', { data: () => ({ code: 451, text: '4.3.0 busy' }) }, 'postponed', /DATA: 451/],
  ['a command out of order', { data: () => ({ code: 503, text: '5.5.1 what' }) }, 'postponed', /503/],
  ['a server that is about to stop', { rcptTo: { code: 421, text: '4.3.2 closing' } }, 'unreachable', /421/],
]
for (const [what, said, kind, message] of answers) {
  test(`${what}: ${kind}, and the next mail is sent`, async (t) => {
    const server = await serve(t)
    const transport = open(t, server)
    Object.assign(server.answers, said)
    await assert.rejects(
      transport.send(sample()),
      (error: Error) => isKind(kind)(error) && message.test(error.message),
    )
    Object.assign(server.answers, { mailFrom: undefined, rcptTo: undefined, data: undefined })
    await transport.send(sample())
    assert.equal(server.mails.length, 1)
  })
}

test('a rejection contains the recipient', async (t) => {
  const server = await serve(t)
  server.answers.rcptTo = { code: 550, text: '5.1.1 no such user' }
  await assert.rejects(open(t, server).send(sample()), (error: DriverError) => {
    assert.equal(error.refused[0]?.subject, sample().to)
    return true
  })
})

test('an error does not contain the mail if the server quotes it', async (t) => {
  const server = await serve(t)
  server.answers.data = (bytes) => ({
    code: 554,
    text: `5.7.1 we do not like ${bytes.toString('latin1').replaceAll(/\s+/g, ' ')}`,
  })
  await assert.rejects(open(t, server).send(secretive), (error: Error) => {
    assert.ok(isKind('refused')(error))
    assert.match(error.message, /DATA: 554 5\.7\.1$/)
    assert.doesNotMatch(inspect(error, { depth: 20 }), /phm_|Secret|we do not like/)
    return true
  })
})

test('the answer to a test mail, which contains no secret, is reported in full', async (t) => {
  const server = await serve(t)
  server.answers.data = () => ({ code: 554, text: '5.7.1 listed at rbl.example' })
  await assert.rejects(open(t, server, { quoteAnswers: true }).send(sample()), /listed at rbl\.example/)
  server.answers.data = undefined
  assert.match(await open(t, server).send(sample()), /^250 2\.0\.0 taken/)
})

test('a rejected login must be fixed by the operator, and is not in the error', async (t) => {
  const server = await serve(t, { login: { user: 'pharos', password: 'right' } })
  await assert.rejects(open(t, server, { login: 'pharos:wr0ngWord@' }).send(sample()), (error: Error) => {
    assert.ok(isKind('protocol')(error))
    assert.match(error.message, /AUTH PLAIN: 535 5\.7\.8$/)
    assert.doesNotMatch(inspect(error, { depth: 20 }), /wr0ngWord/)
    return true
  })
  await open(t, server, { login: 'pharos:right@' }).send(sample())
  assert.equal(server.mails[0]?.user, 'pharos')
})

test('a configured login is always used: no mail is sent to a server without authentication', async (t) => {
  const server = await serve(t)
  await assert.rejects(open(t, server, { login: 'pharos:right@' }).send(sample()), isKind('protocol'))
  assert.deepEqual(server.mails, [])
})

test('no mail is sent without a login to a server that requires one', async (t) => {
  const server = await serve(t, { login: { user: 'pharos', password: 'right' } })
  await assert.rejects(open(t, server).send(sample()), isKind('protocol'))
  assert.deepEqual(server.mails, [])
})

test('if STARTTLS is required, neither login nor mail is sent to a server without it', async (t) => {
  const server = await serve(t, { login: { user: 'pharos', password: 'right' } })
  const transport = open(t, server, { login: 'pharos:right@', rest: '?starttls=required' })
  await assert.rejects(transport.send(sample()), isKind('protocol'))
  assert.deepEqual([server.logins, server.mails], [[], []])
})

const skip = skipWithout('openssl')

for (const [scheme, rest] of [
  ['smtp', '?starttls=required&'],
  ['smtps', '?'],
] as const) {
  test(
    `${scheme} with TLS: login and mail are sent only to a server with a trusted certificate`,
    { skip },
    async (t) => {
      const [own, other] = [certificate(t), certificate(t)]
      const login = { user: 'pharos', password: 'right' }
      const server = await serve(t, { login, tls: { ...own, implicit: scheme === 'smtps' } })
      const vouched = (ca: string) =>
        open(t, server, { scheme, login: 'pharos:right@', rest: `${rest}${ca}` })
      for (const ca of ['', `ca=${other.file}`]) {
        await assert.rejects(vouched(ca).send(sample()), isKind('protocol', 'unreachable'))
        assert.deepEqual([server.logins, server.mails], [[], []])
      }
      await vouched(`ca=${own.file}`).send(sample())
      assert.deepEqual(
        server.mails.map(({ secure, user }) => [secure, user]),
        [[true, 'pharos']],
      )
    },
  )
}

test('a missing file of certificates is reported before the first mail', () => {
  assert.throws(
    () => createSmtpTransport(parseMailUrl('smtps://net.example?ca=/nowhere.pem')),
    /nowhere\.pem/,
  )
})

test('a server that does not answer times out, and the next mail is sent once it answers again', async (t) => {
  const server = await serve(t)
  const transport = open(t, server, { timeoutMs: 300 })
  server.setRelay('silent')
  await assert.rejects(transport.send(sample()), isKind('unreachable'))
  server.setRelay('open')
  server.dropConnections()
  const patient = open(t, server)
  await patient.send(sample())
  assert.equal(server.mails.length, 1)
})

test('the transport reconnects to a server that was unreachable', async (t) => {
  const server = await serve(t)
  const transport = open(t, server)
  await transport.send(sample())
  server.setRelay('away')
  await assert.rejects(transport.send(sample()), isKind('unreachable'))
  server.setRelay('open')
  await transport.send(sample())
  assert.equal(server.mails.length, 2)
})

test('a server that answers endlessly times out', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 test\r\n')
    socket.on('data', (bytes) => {
      if (!String(bytes).startsWith('MAIL')) return void socket.write('250 test\r\n')
      const trickle = setInterval(() => socket.write('250-\r\n'), 20)
      socket.on('close', () => clearInterval(trickle))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const transport = createSmtpTransport(parseMailUrl(`smtp://127.0.0.1:${port}`), { timeoutMs: 300 })
  t.after(() => transport.close())
  await assert.rejects(transport.send(sample()), isKind('unreachable'))
})

test('a mail is sent again if an idle connection ends before the server received any of it', async (t) => {
  const server = await serve(t)
  const transport = open(t, server)
  await transport.send(sample())
  server.answers.dropsNextMail = true
  await transport.send(sample())
  assert.equal(server.answers.dropsNextMail, false)
  assert.equal(server.mails.length, 2)
})

test('no mail is lost if the server closed the idle connection', async (t) => {
  const server = await serve(t)
  const transport = open(t, server)
  for (let times = 0; times < 5; times++) {
    await transport.send(sample())
    server.dropConnections()
  }
  assert.equal(server.mails.length, 5)
})

test('many mails share a few connections', async (t) => {
  const server = await serve(t)
  const transport = open(t, server)
  await Promise.all(Array.from({ length: 60 }, () => transport.send(sample())))
  assert.equal(server.mails.length, 60)
  assert.ok(server.connectionsMost <= 4, `${server.connectionsMost} connections`)
})

test('closing cancels mails that are being sent', async (t) => {
  const server = await serve(t)
  const transport = open(t, server)
  server.setRelay('silent')
  const sent = Promise.allSettled(Array.from({ length: 8 }, () => transport.send(sample())))
  await transport.close()
  for (const outcome of await sent) {
    assert.equal(outcome.status, 'rejected')
    assert.ok(isKind('unreachable')((outcome as PromiseRejectedResult).reason))
  }
})

test('the fields of an error do not contain the login', async (t) => {
  const server = await serve(t)
  server.setRelay('away')
  const transport = open(t, server, { login: 'pharos:s3cretWord@' })
  await assert.rejects(transport.send(sample()), (error: Error) => {
    assert.doesNotMatch(inspect(error, { depth: 20 }), /s3cretWord/)
    return error instanceof DriverError
  })
})

/** A self-signed certificate, created for this run. */
function certificate(t: TestContext): { cert: string; key: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-smtp-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=mail', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1', '-nodes']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', keyFile, '-out', file], {
    stdio: 'ignore',
  })
  return { cert: readFileSync(file, 'utf8'), key: readFileSync(keyFile, 'utf8'), file }
}
