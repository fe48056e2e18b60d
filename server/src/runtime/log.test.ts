import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { collectLines, createLog, logRequest, redact, redactedJson, redactText, silentLog } from './log.ts'

function logged(
  write: (log: ReturnType<typeof createLog>) => void,
  logFormat: 'json' | 'text' = 'json',
): string {
  let text = ''
  const log = createLog({ logLevel: 'info', logFormat }, { write: (line: string) => void (text += line) })
  write(log)
  return text
}

const lineOf = (write: (log: ReturnType<typeof createLog>) => void) =>
  JSON.parse(logged(write)) as Record<string, never>

test('a line has a level, a time and a message', () => {
  const line = lineOf((log) => log.info({ region: 'ams', routes: 3 }, 'reconciled'))
  assert.match(line['time']!, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const { time: _, ...rest } = line
  assert.deepEqual(rest, { level: 'info', region: 'ams', routes: 3, message: 'reconciled' })
})

const secrets = 'correct-horse-7-battery'

test('fields with credentials are never written, in any spelling and at any depth', () => {
  const names =
    'authorization Authorization proxy-authorization cookie Set-Cookie password new_password currentPassword token ' +
    'accessToken refresh_token refresh access X-Api-Key apiKey secret clientSecret private_key otp TOKEN database_url'
  for (const name of names.split(' ')) {
    const text = logged((log) => log.info({ request: { headers: [{ [name]: secrets }] } }, 'x'))
    assert.ok(!text.includes(secrets), name)
    assert.ok(text.includes('[redacted]'), name)
  }
})

test('fields with similar names are kept', () => {
  const fields = {
    tokens: 3,
    token_id: 'abc',
    tokenExpires: 'soon',
    access_log: 'x',
    secret: null,
    password: true,
  }
  assert.deepEqual(redact(fields), fields)
})

test('a credential inside a text is redacted', () => {
  const texts = [
    ['/v3/ingest/events/fnm?token=correct-horse-7-battery&x=1', '/v3/ingest/events/fnm?token=[redacted]&x=1'],
    ['/x?Access_Token=correct-horse-7-battery', '/x?Access_Token=[redacted]'],
    ['/x?to%6ben=1', '/x?to%6ben=1'],
    ['url %3Ftoken%3Dcorrect-horse-7-battery', 'url %3Ftoken%3D[redacted]'],
    ['Authorization: Bearer correct-horse-7-battery end', 'Authorization: [redacted] end'],
    ['authorization: correct-horse-7-battery', 'authorization: [redacted]'],
    ['got Token correct-horse-7-battery, no', 'got Token [redacted], no'],
    ['{"password":"correct-horse-7-battery"}', '{"password":"[redacted]"}'],
    ["password: 'correct-horse-7-battery'", "password: '[redacted]'"],
    ['cookie: a=correct; b=horse', 'cookie: [redacted]'],
    ['postgres://user:correct-horse-7-battery@db/pharos failed', 'postgres://[redacted]@db/pharos failed'],
    ['phs_abcdefgh2345_correcthorse7battery is unknown', '[redacted] is unknown'],
    ['phstaff_abcdefgh2345_correcthorse7battery is unknown', '[redacted] is unknown'],
    ['phstaff_abcdefgh2345_correcthorse7battery', '[redacted]'],
    ['phm_invitation.17.correct-horse_7battery is unknown', '[redacted] is unknown'],
    [
      'https://net.example/reset-password#phm_password-reset.0b8f1a2c-0000-4000-8000-0123456789ab.correct-horse',
      'https://net.example/reset-password#[redacted]',
    ],
    ['phr_0b8f1a2c-0000-4000-8000-0123456789ab.7.correct-horse_7battery', '[redacted]'],
    ['whsec_Y29ycmVjdC1ob3JzZS03LWJhdHRlcnk=', '[redacted]'],
    ['scan otpauth://totp/net:a?secret=X now', 'scan [redacted] now'],
    ['jwt eyJhbGciOi.eyJzdWIiOiI3.c2lnbmF0dXJl', 'jwt [redacted]'],
    ['the token presented has expired', 'the token presented has expired'],
    ['wrong password for user 7', 'wrong password for user 7'],
  ] as const
  for (const [text, expected] of texts) assert.equal(redactText(text), expected)
})

test('a value of any depth is printed as JSON without its secrets', () => {
  const list = Array.from({ length: 500 }, () => ({ token: secrets, text: `?token=${secrets}`, kept: 7 }))
  const deep = { a: { b: { c: { d: { e: { f: { g: { list, at: new Date(0) } } } } } } } }
  const text = redactedJson(deep)!
  assert.ok(!text.includes(secrets))
  assert.equal(text.split('"kept":7').length, 501)
  assert.ok(text.includes('"at":"1970-01-01T00:00:00.000Z"'))
})

test('messages, errors, causes and the fields of a child log are redacted too', () => {
  const error = new Error('connect to postgres://u:correct-horse-7-battery@h failed', {
    cause: Object.assign(new Error('password=correct-horse-7-battery'), { token: secrets }),
  })
  const text = logged((log) => {
    log.error(error)
    log.error({ error }, 'failed with ?token=correct-horse-7-battery')
    log.error(error, 'said')
    log.info('?token=%s', '?token=correct-horse-7-battery')
    log.child({ password: secrets, url: '/?token=correct-horse-7-battery' }).info('x')
  })
  assert.equal(text.trim().split('\n').length, 5)
  assert.ok(!text.includes(secrets), text)
  assert.match(text, /"stack":"Error: connect.*"cause":\{.*"token":"\[redacted\]"/)
})

test('unusual values neither crash the log nor fill it', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const line = lineOf((log) =>
    log.info(
      {
        circular,
        big: 1n,
        bytes: Buffer.alloc(3),
        list: Array.from({ length: 500 }),
        socket: new EventTarget(),
        date: new Date(0),
      },
      'x',
    ),
  )
  assert.equal(line['big'], '1')
  assert.equal(line['bytes'], '[3 bytes]')
  assert.equal((line['list'] as unknown as unknown[]).length, 100)
  assert.equal(line['socket'], '[EventTarget]')
  assert.equal(line['date'], '1970-01-01T00:00:00.000Z')
})

test('the text format is one readable line, with the stack of an error below', () => {
  const text = logged((log) => {
    log.warn({ region: 'ams' }, 'held')
    log.error(new Error('broken'))
  }, 'text')
  assert.match(text, /^[\d:.]{12} warn  held region="ams"\n[\d:.]{12} error broken\nError: broken\n/)
})

test('the level is respected', () => {
  assert.equal(
    logged((log) => log.debug('x')),
    '',
  )
})

test('redacting a text ends, whatever the text is', { timeout: 60_000 }, () => {
  for (const part of [
    'token=',
    'a://',
    'bearer ',
    'eyJ',
    'authorization',
    'phs_a',
    'phm_a.',
    'cookie:',
    'a',
    '%3d',
    'password"',
  ])
    redactText(part.repeat(20_000))
  fc.assert(
    fc.property(fc.string(), fc.stringMatching(/^[a-z0-9]{12,40}$/), (before, value) => {
      assert.ok(!redactText(`${before}&token=${value}7zq`).includes(`${value}7zq`))
    }),
  )
})

test('lines of 10 ms are written together, a warning at once with those before it', async () => {
  const writes: string[] = []
  const destination = collectLines({ write: (text: string) => void writes.push(text) })
  const log = createLog({ logLevel: 'info', logFormat: 'json' }, destination)
  const messages = () =>
    writes.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: string }).message),
    )
  log.info('one')
  log.info('two')
  assert.deepEqual(messages(), [])
  await sleep(20)
  assert.deepEqual(messages(), [['one', 'two']])
  log.info('three')
  log.warn('four')
  assert.deepEqual(messages(), [
    ['one', 'two'],
    ['three', 'four'],
  ])
  log.info('five')
  await sleep(20)
  assert.deepEqual(messages().at(-1), ['five'])
})

test('many logs of a process add no listener each for its exit, and each writes its last lines there', () => {
  const listeners = process.listenerCount('exit')
  for (let at = 0; at < 20; at++) createLog({ logLevel: 'info', logFormat: 'json' })
  assert.equal(process.listenerCount('exit'), listeners)
  const script = `
    const { createLog } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)})
    for (let at = 0; at < 20; at++) createLog({ logLevel: 'info', logFormat: 'json' }).info('line ' + at)
    process.exit()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  assert.deepEqual(String(stdout).match(/line \d+/g)?.length, 20)
  assert.equal(String(stderr), '')
})

test('the line of an answered request is written as any other line', () => {
  const request = {
    id: 'abc',
    method: 'GET',
    route: '/v3/x/:id',
    status: 200,
    seconds: 0.25,
    actor: 'user:7',
  }
  const write = (actor: string | null) => lineOf((log) => logRequest(log, { ...request, actor }))
  const { time, ...line } = write('user:7')
  assert.match(time!, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const { id, ...rest } = request
  assert.deepEqual(line, { level: 'info', request_id: id, ...rest, message: 'request' })
  assert.equal(write(null)['actor'], null)
  assert.match(
    logged((log) => logRequest(log, { ...request, actor: null }), 'text'),
    /info .*request .*status=200/,
  )
  logRequest(silentLog, { ...request, actor: null })
})
