// Clients of other DNS servers against the whole product: lego over the PowerDNS-compatible API and over UPDATE, with a
// certificate from an ACME test server that queries the built-in name server; and nsupdate.
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { freePort } from '@pharos/lab/address'
import { programPath, skipWithout } from '@pharos/lab/program'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { runRole, type Serving } from '../src/process/serve.ts'
import { loadConfig } from '../src/runtime/config.ts'
import { createLog } from '../src/runtime/log.ts'
import { seal } from '../src/runtime/secrets.ts'
import { addTeam, addUser, testPassword, type TestApi } from './api.ts'

const run = promisify(execFile)
const secret = Buffer.alloc(32, 's')
const zones = '/api/v1/servers/localhost/zones'

let database: TestDatabase
let serving: Serving
let folder: string
let key: string
let bearer: string
let dnsPort: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-clients-'))
  database = await createTestDatabase()
  const settings = {
    PHAROS_SECRET: 'c'.repeat(64),
    PHAROS_LOG_LEVEL: 'error',
    PHAROS_PORT: String(await freePort()),
    PHAROS_DNS_LISTEN: '127.0.0.1:0',
    PHAROS_NETFLOW_LISTEN: 'off',
    PHAROS_SFLOW_LISTEN: 'off',
    PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
    PHAROS_DATA_DIR: folder,
  }
  const config = loadConfig(settings, { read: () => undefined, mode: () => 0o600, create: () => {} })
  const api = { database } as TestApi
  const red = await addTeam(api, 'red')
  const blue = await addTeam(api, 'blue')
  const { email } = await addUser(api, 'admin', [red], { admin: true })
  const addKey = (name: string, teamId: number | null, mayUpdate: boolean) =>
    sql`insert into dns_tsig_keys (name, team_id, secret_sealed, may_update)
      values (${name}, ${teamId}, ${seal(config.secret, 'tsig-key', secret, name)}, ${mayUpdate})`.execute(
      database.postgres.owner,
    )
  await addKey('red.example.', red.teamId, true)
  await addKey('blue.example.', blue.teamId, true)
  await addKey('transfer.example.', red.teamId, false)
  await addKey('operator.example.', null, false)
  serving = await runRole(config, ['api', 'reconciler', 'nameserver'], createLog(config), database.postgres)
  dnsPort = serving.dns!.split(':').at(-1)!
  const { access } = await json('POST', '/v3/session/token', { email, password: testPassword }, {})
  bearer = `Bearer ${access}`
  const token = { name: 'dns', scopes: ['dns:read', 'dns:write'], is_admin: true }
  key = (await json('POST', '/v3/tokens', token, { authorization: bearer })).token
})
after(async () => {
  await serving?.stop()
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function json(
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the answer
): Promise<any> {
  const answer = await fetch(`${serving.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(headers ?? { 'x-api-key': key }) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  assert.ok(answer.ok, `${method} ${path}: ${text}`)
  return text === '' ? null : JSON.parse(text)
}

async function connect(port: number, host: string): Promise<void> {
  const socket = createConnection(port, host)
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}

const typesOf = (rrsets: readonly { readonly type: string }[]): string[] =>
  rrsets.map(({ type }) => type).toSorted()

const dig = async (...args: string[]): Promise<string> =>
  (await run('dig', ['@127.0.0.1', '-p', dnsPort, '+tries=1', '+short', ...args])).stdout.trim()

/** Waits until the built-in name server answers with the text. */
async function answers(expected: string, ...question: string[]): Promise<void> {
  for (const start = performance.now(); (await dig(...question)) !== expected; await sleep(50))
    assert.ok(performance.now() - start < 20_000, `${question.join(' ')}: ${await dig(...question)}`)
}

async function addZone(name: string): Promise<void> {
  await json('POST', zones, { name, kind: 'Master', dnssec: false, nameservers: ['ns1.example.net.'] })
  await answers('ns1.example.net.', name, 'NS')
}

type Result = { readonly code: number; readonly text: string }
async function nsupdate(
  lines: string,
  keyName: string | null = 'red.example.',
  udp = true,
  keySecret = secret.toString('base64'),
): Promise<Result> {
  const auth = keyName === null ? [] : ['-y', `hmac-sha256:${keyName}:${keySecret}`]
  const child = spawn(programPath('nsupdate'), [...auth, ...(udp ? [] : ['-v'])])
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (text += part.toString()))
  child.stdin.end(`server 127.0.0.1 ${dnsPort}\n${lines}\nsend\n`)
  const [code] = await once(child, 'exit')
  return { code, text }
}

describe('nsupdate', { skip: skipWithout('nsupdate', 'dig') }, () => {
  it('adds, replaces and deletes, over UDP and TCP', async () => {
    await addZone('update.example.')
    const add =
      'zone update.example.\nupdate add www.update.example. 300 A 192.0.2.1\nupdate add www.update.example. 300 A 192.0.2.2'
    assert.deepEqual(await nsupdate(add), { code: 0, text: '' })
    await answers('192.0.2.1\n192.0.2.2', 'www.update.example.', 'A', '+nocookie').catch(() =>
      answers('192.0.2.2\n192.0.2.1', 'www.update.example.', 'A'),
    )
    const replace =
      'zone update.example.\nupdate delete www.update.example. A\nupdate add www.update.example. 5 A 192.0.2.3'
    assert.deepEqual(await nsupdate(replace, 'red.example.', false), { code: 0, text: '' })
    await answers('192.0.2.3', 'www.update.example.', 'A')
    const [set] = (await json('GET', `${zones}/update.example.?rrset_name=www.update.example.`)).rrsets
    assert.equal(set.ttl, 300)
    assert.deepEqual(await nsupdate('zone update.example.\nupdate delete www.update.example.'), {
      code: 0,
      text: '',
    })
    await answers('', 'www.update.example.', 'A')
    const { rows } = await sql<{ actor: string }>`
      select distinct actor from audit_entries where action = 'recordset.change'`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(rows, [{ actor: 'tsig_key:red.example.' }])
  })

  it('is answered once its change is served, over UDP and TCP', async () => {
    await addZone('atonce.example.')
    for (const udp of [true, false, true, false])
      for (const last of [1, 2]) {
        const name = 'www.atonce.example.'
        const change = `zone atonce.example.\nupdate delete ${name} A\nupdate add ${name} 300 A 192.0.2.${last}`
        assert.deepEqual(await nsupdate(change, 'red.example.', udp), { code: 0, text: '' })
        assert.equal(await dig(name, 'A'), `192.0.2.${last}`)
      }
  })

  it('does not tell which version of the server answers', async () => {
    assert.equal(await dig('version.bind.', 'CH', 'TXT'), '')
    assert.equal(await dig('version.server.', 'CH', 'TXT'), '')
  })

  it('changes nothing if a prerequisite is not met', async () => {
    await addZone('condition.example.')
    const absent =
      'zone condition.example.\nprereq nxdomain lock.condition.example.\nupdate add lock.condition.example. 300 TXT "mine"'
    assert.equal((await nsupdate(absent)).code, 0)
    const again = await nsupdate(absent.replace('mine', 'theirs'))
    assert.match(again.text, /YXDOMAIN/)
    await answers('"mine"', 'lock.condition.example.', 'TXT')
  })

  const refused: readonly [what: string, key: string | null, zone: string, text: RegExp][] = [
    ['without a key', null, 'refused.example.', /REFUSED/],
    ['with the key of another team', 'blue.example.', 'refused.example.', /NOTAUTH/],
    ['with a key for transfers', 'transfer.example.', 'refused.example.', /REFUSED/],
    ['with a key of the provider', 'operator.example.', 'refused.example.', /REFUSED/],
    ['with an unknown key', 'unknown.example.', 'refused.example.', /BADKEY|NOTAUTH/],
    ['of a zone that does not exist', 'red.example.', 'nowhere.example.', /NOTAUTH/],
  ]
  for (const [what, keyName, zone, text] of refused)
    it(`is refused ${what}`, async () => {
      if (what === 'without a key') await addZone('refused.example.')
      const result = await nsupdate(`zone ${zone}\nupdate add x.${zone} 300 A 192.0.2.1`, keyName)
      assert.match(result.text, text)
      assert.equal(await dig('x.refused.example.', 'A'), '')
    })
})

type Key = { readonly id: number; readonly name: string; readonly secret: string }

/** Creates a key as an admin of the team does. */
const createKey = (body: object): Promise<Key> =>
  json('POST', '/v3/dns/tsig-keys', body, { authorization: bearer })

/** A name server that does not know a new key yet answers BADKEY: it reads keys after a notification. */
async function updateWith({ name, secret: text }: Key, lines: string): Promise<string> {
  for (const start = performance.now(); ; await sleep(50)) {
    const result = await nsupdate(lines, name, true, text)
    if (!/BADKEY/.test(result.text) || performance.now() - start > 10_000) return result.text
  }
}

const transfer = async ({ name, secret: text }: Key, zone: string): Promise<string> =>
  (
    await run('dig', [
      '@127.0.0.1',
      '-p',
      dnsPort,
      '-y',
      `hmac-sha256:${name}:${text}`,
      zone,
      'AXFR',
      '+tries=1',
    ])
  ).stdout

describe('a TSIG key of the team', { skip: skipWithout('nsupdate', 'dig') }, () => {
  const acme = { zones: [{ zone: 'limited.example', names: ['_acme-challenge', '*.dyn'], types: ['TXT'] }] }
  const update = (line: string): string => `zone limited.example.\nupdate ${line}`

  it('changes the names and types of its limit by UPDATE, and no others', async () => {
    await addZone('limited.example.')
    await addZone('untouched.example.')
    const limited = await createKey({ label: 'acme-web1', may_update: true, resources: acme })
    assert.match(limited.name, /^acme-web1-[a-z2-7]{8}\.$/)
    assert.equal(await updateWith(limited, update('add _ACME-challenge.limited.example. 60 TXT "one"')), '')
    await answers('"one"', '_acme-challenge.limited.example.', 'TXT')
    assert.equal(await updateWith(limited, update('add a.b.dyn.limited.example. 60 TXT "two"')), '')
    for (const line of [
      'add www.limited.example. 60 TXT "x"',
      'add _acme-challenge.limited.example. 60 CNAME x.example.',
      'add dyn.limited.example. 60 TXT "x"',
      'delete www.limited.example. TXT',
      'delete _acme-challenge.limited.example.',
      'add limited.example. 60 TXT "x"',
    ])
      assert.match(await updateWith(limited, update(line)), /REFUSED/, line)
    const asks =
      'zone limited.example.\nprereq yxdomain www.limited.example.\nupdate add _acme-challenge.limited.example. 60 TXT "y"'
    assert.match(await updateWith(limited, asks), /REFUSED/)
    const other = 'zone untouched.example.\nupdate add _acme-challenge.untouched.example. 60 TXT "x"'
    assert.match(await updateWith(limited, other), /NOTAUTH/)
    assert.match(await transfer(limited, 'limited.example.'), /Transfer failed/)
  })

  it('transfers the zones of its limit, and no zone of which it has names only', async () => {
    const whole = await createKey({
      label: 'secondary',
      may_transfer: true,
      resources: { zones: [{ zone: 'limited.example' }] },
    })
    const names = await createKey({ label: 'names', may_transfer: true, resources: acme })
    await updateWith(whole, update('add x.limited.example. 60 TXT "x"'))
    assert.match(await transfer(whole, 'limited.example.'), /SOA/)
    assert.match(await transfer(whole, 'untouched.example.'), /Transfer failed/)
    assert.match(await transfer(names, 'limited.example.'), /Transfer failed/)
    const all = await createKey({ label: 'all', may_transfer: true })
    await updateWith(all, update('add x.limited.example. 60 TXT "x"'))
    assert.match(await transfer(all, 'untouched.example.'), /SOA/)
    const { id } = await json('GET', '/v3/dns/zones/untouched.example', undefined, { authorization: bearer })
    await json('PUT', `/v3/dns/zones/${id}/settings`, { tsig_key_ids: [names.id] }, { authorization: bearer })
    await sleep(500)
    assert.match(await transfer(names, 'untouched.example.'), /Transfer failed/)
  })

  it('is refused at once after it is deleted, from a network that is not allowed, and once it has expired', async () => {
    const add = update('add t.dyn.limited.example. 60 TXT "t"')
    const gone = await createKey({ label: 'gone', may_update: true })
    assert.equal(await updateWith(gone, add), '')
    const deleted = await fetch(`${serving.url}/v3/dns/tsig-keys/${gone.id}`, {
      method: 'DELETE',
      headers: { authorization: bearer },
    })
    assert.equal(deleted.status, 204)
    assert.match((await nsupdate(add, gone.name, true, gone.secret)).text, /BADKEY|NOTAUTH|REFUSED/)
    const far = await createKey({
      label: 'far',
      may_update: true,
      may_transfer: true,
      allowed_subnets: ['192.0.2.0/24'],
    })
    assert.match(await updateWith(far, add), /REFUSED/)
    assert.match(await transfer(far, 'limited.example.'), /Transfer failed/)
    const brief = await createKey({ label: 'brief', may_update: true, expires: '2030-01-01' })
    assert.equal(await updateWith(brief, add), '')
    await sql`update dns_tsig_keys set expires = now() where id = ${brief.id}`.execute(
      database.postgres.owner,
    )
    assert.match((await nsupdate(add, brief.name, true, brief.secret)).text, /BADKEY|NOTAUTH|REFUSED/)
  })

  it('is listed without its secret beside the keys of the provider, which the team cannot delete', async () => {
    const { results } = await json('GET', '/v3/dns/tsig-keys', undefined, { authorization: bearer })
    const shown = new Map<string, any>(results.map((one: { name: string }) => [one.name, one])) // oxlint-disable-line typescript/no-explicit-any
    assert.equal(JSON.stringify(results).includes('secret'), false)
    assert.equal(shown.get('red.example.').managed_by, 'provider')
    const answer = await fetch(`${serving.url}/v3/dns/tsig-keys/${shown.get('red.example.').id}`, {
      method: 'DELETE',
      headers: { authorization: bearer },
    })
    assert.equal(answer.status, 409)
  })
})

describe('lego', { skip: skipWithout('lego', 'pebble', 'openssl', 'dig') }, () => {
  let pebble: ChildProcess
  let directory: string
  before(async () => {
    const [port, management] = [await freePort(), await freePort()]
    directory = `https://localhost:${port}/dir`
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      join(folder, 'acme.key'),
      '-out',
      join(folder, 'acme.pem'),
    ])
    const config = {
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${management}`,
        certificate: join(folder, 'acme.pem'),
        privateKey: join(folder, 'acme.key'),
        httpPort: 5002,
        tlsPort: 5001,
      },
    }
    writeFileSync(join(folder, 'pebble.json'), JSON.stringify(config))
    pebble = spawn(
      programPath('pebble'),
      ['-config', join(folder, 'pebble.json'), '-dnsserver', `127.0.0.1:${dnsPort}`],
      {
        stdio: 'ignore',
        env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' },
      },
    )
    await addZone('acme.example.')
    const isUp = () =>
      connect(port, '127.0.0.1').then(
        () => true,
        () => false,
      )
    for (const start = performance.now(); !(await isUp()); await sleep(50))
      assert.ok(performance.now() - start < 20_000 && pebble.exitCode === null, 'pebble does not start')
  })
  after(() => pebble?.kill())

  const certify = (provider: string, env: Record<string, string>) =>
    run(
      'lego',
      [
        '--server',
        directory,
        '--accept-tos',
        '--email',
        'ops@acme.example',
        '--path',
        join(folder, provider),
        '--dns',
        provider,
        '--dns.resolvers',
        `127.0.0.1:${dnsPort}`,
        '--dns.disable-cp',
        '--domains',
        'www.acme.example',
        'run',
      ],
      { env: { ...process.env, LEGO_CA_CERTIFICATES: join(folder, 'acme.pem'), ...env }, timeout: 300_000 },
    )

  it('gets a certificate with its provider pdns, and cleans up', async () => {
    await certify('pdns', { PDNS_API_URL: serving.url!, PDNS_API_KEY: key })
    const { rrsets } = await json('GET', `${zones}/acme.example.`)
    assert.deepEqual(typesOf(rrsets), ['NS', 'SOA'])
  })

  it('gets a certificate with its provider rfc2136, and cleans up', async () => {
    await certify('rfc2136', {
      RFC2136_NAMESERVER: `127.0.0.1:${dnsPort}`,
      RFC2136_TSIG_KEY: 'red.example.',
      RFC2136_TSIG_ALGORITHM: 'hmac-sha256.',
      RFC2136_TSIG_SECRET: secret.toString('base64'),
    })
    const { rrsets } = await json('GET', `${zones}/acme.example.`)
    assert.deepEqual(typesOf(rrsets), ['NS', 'SOA'])
  })

  const challenge = { zones: [{ zone: 'acme.example', names: ['_acme-challenge.*'], types: ['TXT'] }] }

  it('gets a certificate with an API token that can do nothing else', async () => {
    const token = { name: 'acme', scopes: ['dns:read', 'dns:write'], resources: challenge }
    const limited = (await json('POST', '/v3/tokens', token, { authorization: bearer })).token
    rmSync(join(folder, 'pdns'), { recursive: true, force: true })
    await certify('pdns', { PDNS_API_URL: serving.url!, PDNS_API_KEY: limited })
    const { rrsets } = await json('GET', `${zones}/acme.example.`, undefined, { 'x-api-key': limited })
    assert.deepEqual(rrsets, [])
    await canDoNothingElse(limited)
  })

  /** Every other use of the key that an ACME client has. */
  async function canDoNothingElse(limited: string): Promise<void> {
    await addZone('beside.example.')
    const before = await json('GET', `${zones}/acme.example.`)
    const status = async (method: string, path: string, body?: object) =>
      (
        await fetch(`${serving.url}${path}`, {
          method,
          headers: { 'content-type': 'application/json', 'x-api-key': limited },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      ).status
    const set = (name: string, type: string, content: string) => ({
      rrsets: [{ name, type, ttl: 60, changetype: 'REPLACE', records: [{ content, disabled: false }] }],
    })
    for (const [name, type, content] of [
      ['www.acme.example.', 'TXT', '"x"'],
      ['acme.example.', 'TXT', '"x"'],
      ['x._acme-challenge.acme.example.', 'TXT', '"x"'],
      ['_acme-challenge.acme.example.', 'CNAME', 'x.example.'],
      ['_acme-challenge.acme.example.', 'CAA', '0 issue "x.example"'],
      ['acme.example.', 'NS', 'ns.mallory.example.'],
    ] as const)
      assert.equal(
        await status('PATCH', `${zones}/acme.example.`, set(name, type, content)),
        403,
        `${name} ${type}`,
      )
    const other = set('_acme-challenge.beside.example.', 'TXT', '"x"')
    assert.equal(await status('PATCH', `${zones}/beside.example.`, other), 404)
    assert.equal(await status('GET', `${zones}/beside.example.`), 404)
    for (const zone of ['acme.example.', 'beside.example.', 'nowhere.example.'])
      assert.equal(await status('DELETE', `${zones}/${zone}`), 403, zone)
    const created = { name: 'new.example.', kind: 'Master', nameservers: ['ns1.example.net.'] }
    assert.equal(await status('POST', zones, created), 403)
    assert.equal(await status('GET', `${zones}/acme.example./export`), 403)
    const listed: { name: string }[] = await json('GET', zones, undefined, { 'x-api-key': limited })
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['acme.example.'],
    )
    assert.deepEqual(await json('GET', `${zones}/acme.example.`), before)
  }

  it('gets a certificate with a TSIG key that can do nothing else', async () => {
    const limited = await createKey({ label: 'lego', may_update: true, resources: challenge })
    rmSync(join(folder, 'rfc2136'), { recursive: true, force: true })
    await updateWith(limited, 'zone acme.example.\nupdate delete _acme-challenge.acme.example. TXT')
    for (const line of [
      'add www.acme.example. 60 TXT "x"',
      'add _acme-challenge.acme.example. 60 CNAME x.example.',
    ])
      assert.match(await updateWith(limited, `zone acme.example.\nupdate ${line}`), /REFUSED/, line)
    assert.match(
      await updateWith(
        limited,
        'zone beside.example.\nupdate add _acme-challenge.beside.example. 60 TXT "x"',
      ),
      /NOTAUTH/,
    )
    assert.match(await transfer(limited, 'acme.example.'), /Transfer failed/)
    await certify('rfc2136', {
      RFC2136_NAMESERVER: `127.0.0.1:${dnsPort}`,
      RFC2136_TSIG_KEY: limited.name,
      RFC2136_TSIG_ALGORITHM: 'hmac-sha256.',
      RFC2136_TSIG_SECRET: limited.secret,
    })
    const { rrsets } = await json('GET', `${zones}/acme.example.`)
    assert.deepEqual(typesOf(rrsets), ['NS', 'SOA'])
  })
})
