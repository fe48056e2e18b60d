import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  ConfigError,
  describeConfig,
  loadConfig,
  publicUrl,
  readSettings,
  type Files,
  type SettingChecks,
} from './config.ts'
import { realFiles } from './files.ts'
import { deriveKey } from './secrets.ts'
import { settingNames, variableOf } from './settings.ts'
import { scaled } from './testing-scale.ts'

const secret = 'a-secret-of-at-least-thirty-two-bytes'
const other = 'another-secret-of-at-least-thirty-two'

function memory(texts: Record<string, string> = {}, modes: Record<string, number> = {}): Files {
  const held = new Map(Object.entries(texts))
  return {
    read: (path) => held.get(path),
    mode: (path) => modes[path] ?? 0o600,
    create(path, text, mode) {
      held.set(path, text)
      modes[path] = mode
    },
  }
}

function problemsOf(env: Record<string, string>, files: Files = memory()): readonly string[] {
  try {
    readSettings(env, files)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.problems
  }
  return []
}

test('without any settings, the defaults listen on loopback', () => {
  const config = loadConfig({ PHAROS_SECRET: secret }, memory())
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.port, 8080)
  assert.equal(config.dnsListen, '127.0.0.1:8053')
  assert.equal(config.databaseUrl, null)
  assert.equal(config.accessTokenLifetimeSeconds, 300)
  assert.deepEqual(config.trustedProxies, [])
  assert.equal(config.demo, false)
})

test('a variable overrides the file, and the file the default', () => {
  const files = memory({ 'pharos.yaml': 'port: 1000\nlog_level: debug\n' })
  const { settings, sources } = readSettings({ PHAROS_PORT: '2000' }, files)
  assert.equal(settings.port, 2000)
  assert.equal(sources.port, 'PHAROS_PORT')
  assert.equal(settings.log_level, 'debug')
  assert.equal(sources.log_level, 'pharos.yaml:2')
  assert.equal(sources.host, 'default')
})

test('every kind of value is read from a variable', () => {
  const config = loadConfig(
    {
      PHAROS_SECRET: `${secret}, ${other}`,
      PHAROS_MEMBERS_MAY_TOGGLE: 'false',
      PHAROS_TRUSTED_PROXIES: '10.0.0.0/8,2001:db8::/32',
      DATABASE_URL: 'postgres://a:b@c/d',
    },
    memory(),
  )
  assert.equal(config.membersMayToggle, false)
  assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '2001:db8::/32'])
  assert.equal(config.databaseUrl, 'postgres://a:b@c/d')
})

test('a variable may name a file with the value', () => {
  const files = memory({ '/run/secret': `${secret}\n`, '/run/url': 'postgres://x@y/z\n' })
  const { settings, sources } = readSettings(
    { PHAROS_SECRET_FILE: '/run/secret', DATABASE_URL_FILE: '/run/url' },
    files,
  )
  assert.deepEqual(settings.secret, [secret])
  assert.equal(settings.database_url, 'postgres://x@y/z')
  assert.equal(sources.secret, 'PHAROS_SECRET_FILE')
})

test('all errors are reported at once, each with its place', () => {
  const files = memory({ 'pharos.yaml': 'log_level: loud\nprot: 1\n\ntrusted_proxies: [10.0.0.0/33]\n' })
  const problems = problemsOf(
    {
      PHAROS_PORT: '80 80',
      PHAROS_HOTS: 'x',
      PHAROS_SECRET: 'short',
      PHAROS_DEMO: 'yes',
      PHAROS_PUBLIC_URL: 'x',
    },
    files,
  )
  const expected = [
    /^pharos\.yaml:2: there is no setting prot \(did you mean port\?\)$/,
    /^PHAROS_HOTS: there is no such setting \(did you mean PHAROS_HOST\?\)$/,
    /^PHAROS_PUBLIC_URL: public_url must be an address/,
    /^pharos\.yaml:4: trusted_proxies must contain addresses and networks .* not "10\.0\.0\.0\/33"$/,
    /^PHAROS_PORT: port must be a whole number from 0 to 65535, not "80 80"$/,
    /^PHAROS_SECRET: secret cannot be used: key 1 of the ring has 5 bytes, at least 32 are needed$/,
    /^pharos\.yaml:1: log_level must be one of trace, debug/,
    /^PHAROS_DEMO: demo must be true or false, not "yes"$/,
  ]
  for (const pattern of expected) {
    assert.ok(
      problems.some((problem) => pattern.test(problem)),
      `${pattern} in\n${problems.join('\n')}`,
    )
  }
  assert.equal(problems.length, expected.length)
})

test('an error never shows a secret', () => {
  const problems = problemsOf({ PHAROS_SECRET: 'hunter2', DATABASE_URL: 'mysql://u:hunter2@h/d' })
  assert.equal(problems.length, 2)
  assert.ok(!problems.join().includes('hunter2'))
})

test('the variables of tests and of other programs are left alone', () => {
  assert.deepEqual(problemsOf({ PHAROS_TEST_SCALE: '1', PATH: '/bin', PHAROSE: 'x' }), [])
})

test('a setting that is the path of a file is that path, and may itself be read from a file', () => {
  const path = { PHAROS_BREACHED_PASSWORDS_FILE: '/srv/hashes.txt' }
  assert.equal(readSettings(path, memory()).settings.breached_passwords_file, '/srv/hashes.txt')
  const inFile = { PHAROS_BREACHED_PASSWORDS_FILE_FILE: '/run/path' }
  const { settings } = readSettings(inFile, memory({ '/run/path': '/srv/hashes.txt\n' }))
  assert.equal(settings.breached_passwords_file, '/srv/hashes.txt')
})

test('an empty variable, a duplicate one and a missing file are errors', () => {
  assert.match(problemsOf({ PHAROS_PORT: '' })[0]!, /^PHAROS_PORT: it is empty; unset it/)
  assert.match(
    problemsOf({ PHAROS_CONFIG: '/none.yaml' })[0]!,
    /^PHAROS_CONFIG: there is no file \/none\.yaml/,
  )
  assert.match(
    problemsOf({ PHAROS_SECRET_FILE: '/none' })[0]!,
    /^PHAROS_SECRET_FILE: there is no file \/none/,
  )
  assert.match(
    problemsOf({ PHAROS_PORT: '1', PHAROS_PORT_FILE: '/x' })[0]!,
    /^PHAROS_PORT_FILE: PHAROS_PORT is set too/,
  )
})

test('a file that is not a list of settings is reported with its line', () => {
  assert.match(problemsOf({}, memory({ 'pharos.yaml': 'port: [1\nhost: x' }))[0]!, /^pharos\.yaml:2: /)
  assert.match(
    problemsOf({}, memory({ 'pharos.yaml': '- port' }))[0]!,
    /^pharos\.yaml:1: settings are written/,
  )
  assert.match(
    problemsOf({}, memory({ 'pharos.yaml': 'port: 1\nport: 2' }))[0]!,
    /^pharos\.yaml:2: .*unique/i,
  )
  assert.match(
    problemsOf({}, memory({ 'pharos.yaml': 'host: &a x\nlog_level: *b' }))[0]!,
    /^pharos\.yaml:2: /,
  )
  assert.deepEqual(problemsOf({}, memory({ 'pharos.yaml': '# nothing\n' })), [])
})

test('any text as settings file yields settings or listed errors, never another error', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .array(
        fc.tuple(fc.constantFrom(...settingNames, 'x'), fc.oneof(fc.json(), fc.string(), fc.constant('*a'))),
      )
      .map((lines) => lines.map(([name, value]) => `${name}: ${value}`).join('\n')),
  )
  fc.assert(
    fc.property(text, (yaml) => {
      for (const problem of problemsOf({}, memory({ 'pharos.yaml': yaml })))
        assert.match(problem, /^pharos\.yaml:\d+: |^default: /)
    }),
    { numRuns: scaled(500) },
  )
})

test('the demo is refused on an interface that others can reach', () => {
  const problems = problemsOf({ PHAROS_DEMO: 'true', PHAROS_HOST: '0.0.0.0' })
  assert.match(problems.join(), /^PHAROS_HOST: host is 0\.0\.0\.0, but the demo has published passwords/)
  assert.deepEqual(problemsOf({ PHAROS_DEMO: 'true', PHAROS_HOST: '::1' }), [])
})

test('a secret is generated once, and is the same at the next start', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pharos-'))
  try {
    const env = { PHAROS_DATA_DIR: join(directory, 'data') }
    const first = loadConfig(env, realFiles)
    const second = loadConfig(env, realFiles)
    assert.deepEqual(deriveKey(first.secret, 'api-token'), deriveKey(second.secret, 'api-token'))
    assert.equal(statSync(join(directory, 'data/secret')).mode & 0o777, 0o600)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('two processes that start at the same time get one secret', () => {
  const files = memory()
  const late: Files = {
    ...files,
    create() {
      files.create('data/secret', `${secret}\n`, 0o600)
      throw Object.assign(new Error('exists'), { code: 'EEXIST' })
    },
  }
  const config = loadConfig({}, late)
  const again = loadConfig({ PHAROS_SECRET: secret }, memory())
  assert.deepEqual(deriveKey(config.secret, 'api-token'), deriveKey(again.secret, 'api-token'))
})

test('a generated secret that others may read is refused', () => {
  const files = memory({ 'data/secret': secret }, { 'data/secret': 0o644 })
  assert.throws(() => loadConfig({}, files), /data\/secret: others may read it \(mode 644\); run chmod 600/)
})

test('a description shows every setting with its source and no secret', () => {
  const env = {
    PHAROS_SECRET: secret,
    DATABASE_URL: 'postgres://user:hunter2@db.example:5432/pharos?sslkey=hunter2',
    PHAROS_OPERATOR_WEBHOOK_URL: 'https://chat.example/services/hunter2',
    PHAROS_OPERATOR_WEBHOOK_SECRET: `whsec_${'hunter2='.repeat(4)}`,
  }
  const described = describeConfig(env, memory())
  assert.deepEqual(
    described.map(({ name }) => name),
    settingNames,
  )
  const shown = JSON.stringify(described)
  assert.ok(!shown.includes('hunter2') && !shown.includes(secret))
  assert.ok(shown.includes('postgres://***@db.example:5432/pharos'))
  assert.ok(shown.includes('https://chat.example/***'))
  assert.equal(described.find(({ name }) => name === 'secret')?.value, '(1 key)')
})

test('the contact for vulnerabilities is a URI of RFC 9116', () => {
  const contacts: Record<string, boolean> = {
    'mailto:security@net.example': true,
    'https://net.example/report?to=security': true,
    'tel:+31-20-555-0100': true,
    'security@net.example': false,
    'mailto:security': false,
    'http://net.example/report': false,
    'https:net.example': false,
    'mailto:security@net.example\nContact: mailto:other@net.example': false,
    'ftp://net.example': false,
  }
  for (const [contact, isValid] of Object.entries(contacts)) {
    const read = () => readSettings({ PHAROS_SECURITY_CONTACT: contact }, memory())
    if (isValid) assert.equal(read().settings.security_contact, contact)
    else assert.throws(read, /security_contact must be mailto:/, contact)
  }
})

test('describing the configuration creates no file', () => {
  const files: Files = { ...memory(), create: () => assert.fail('a file was created') }
  assert.equal(describeConfig({}, files).find(({ name }) => name === 'secret')?.value, '(in data/secret)')
})

test('variables have one spelling each', () => {
  assert.equal(variableOf('database_url'), 'DATABASE_URL')
  assert.equal(variableOf('clickhouse_url'), 'CLICKHOUSE_URL')
  assert.equal(variableOf('data_dir'), 'PHAROS_DATA_DIR')
  assert.equal(new Set(settingNames.map(variableOf)).size, settingNames.length)
})

test('the public address follows from host and port unless it is given', () => {
  assert.equal(publicUrl({ publicUrl: null, host: '::1', port: 80 }), 'http://[::1]:80')
  assert.equal(publicUrl({ publicUrl: 'https://p.example', host: '::1', port: 80 }), 'https://p.example')
})

test('mail: a server needs a sender, excludes a folder, and never shows its password', () => {
  const url = { PHAROS_MAIL_URL: 'smtp://pharos:s3cret@mail.net.example:587' }
  const from = { PHAROS_MAIL_FROM: 'Example Net <noreply@net.example>' }
  assert.match(problemsOf(url).join(), /^PHAROS_MAIL_URL: mail_url needs mail_from/)
  assert.match(problemsOf({ ...url, ...from, PHAROS_MAIL_FOLDER: './mails' }).join(), /set one of them/)
  assert.deepEqual(problemsOf({ ...url, ...from }), [])
  const described = describeConfig({ ...url, ...from }, memory())
  assert.equal(described.find(({ name }) => name === 'mail_url')?.value, 'smtp://***@mail.net.example:587')
  const bad = problemsOf({ PHAROS_MAIL_FROM: 'nobody' })
  assert.match(bad.join(), /^PHAROS_MAIL_FROM: mail_from must be like noreply@net.example/)
})

test('authorization proofs: known kinds only, and RDAP only with its bootstrap', () => {
  const proofs = (kinds: string, rest = {}) => problemsOf({ PHAROS_AUTHORIZATION_PROOFS: kinds, ...rest })
  assert.deepEqual(proofs('letter,roa,dns_txt'), [])
  assert.match(
    proofs('letter,fax').join(),
    /authorization_proofs must be one of letter, roa, dns_txt, rdap, not "fax"/,
  )
  assert.match(proofs('rdap').join(), /^PHAROS_AUTHORIZATION_PROOFS: rdap needs rdap_bootstrap/)
  assert.deepEqual(proofs('rdap', { PHAROS_RDAP_BOOTSTRAP: 'file:/etc/pharos/rdap/' }), [])
})

test('the ASN of the provider is a number, and unset by default', () => {
  assert.equal(readSettings({}, memory()).settings.provider_asn, null)
  assert.equal(readSettings({ PHAROS_PROVIDER_ASN: '64500' }, memory()).settings.provider_asn, 64500)
  const file = memory({ 'pharos.yaml': 'provider_asn: 64500\n' })
  assert.equal(readSettings({}, file).settings.provider_asn, 64500)
  for (const wrong of ['0', 'AS64500', '4294967296'])
    assert.deepEqual(problemsOf({ PHAROS_PROVIDER_ASN: wrong }), [
      `PHAROS_PROVIDER_ASN: provider_asn must be a whole number from 1 to 4294967295, not ${/^\d+$/.test(wrong) ? wrong : `"${wrong}"`}`,
    ])
})

test('a check of another module is reported with the other errors, and never gets null', () => {
  const checks: SettingChecks = {
    clamd_url: (url) => {
      throw new Error(`no scanner at ${url}`)
    },
    mail_url: () => assert.fail('checked although it is null'),
  }
  const read = () => readSettings({ PHAROS_CLAMD_URL: 'unix:/x', PHAROS_PORT: 'x' }, memory(), checks)
  assert.throws(read, (error: ConfigError) => {
    assert.deepEqual(error.problems, [
      'PHAROS_PORT: port must be a whole number from 0 to 65535, not "x"',
      'PHAROS_CLAMD_URL: clamd_url: no scanner at unix:/x',
    ])
    return true
  })
})
