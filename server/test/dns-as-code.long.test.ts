// Programs that keep zones as files against the PowerDNS-compatible API: octodns with octodns-powerdns plans, applies, finds nothing to change,
// changes and deletes.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { addTeam, createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'

const run = promisify(execFile)

/** octodns is no Debian package: it is installed with pip, with octodns-powerdns beside it. */
function reasonToSkip(): string | false {
  if (spawnSync('octodns-sync', ['--version']).error) return 'octodns-sync is not installed'
  return false
}

/** A set of every type that octodns-powerdns and Pharos have, with values that are written in several ways. */
const everyType = {
  '': [
    { type: 'NS', values: ['ns1.example.net.', 'ns2.example.net.'] },
    { type: 'ALIAS', value: 'LB.example.net.' },
    { type: 'CAA', values: [{ flags: 0, tag: 'issue', value: 'ca.example.net; account=1' }] },
    {
      type: 'MX',
      values: [
        { preference: 10, exchange: 'MX1.example.net.' },
        { preference: 20, exchange: 'mx2.example.net.' },
      ],
    },
    {
      type: 'TXT',
      values: ['v=spf1 include:example.net -all', `k=rsa\\; p=${'AbC1'.repeat(100)}`, 'a text'],
    },
  ],
  '_sip._tcp': { type: 'SRV', values: [{ priority: 1, weight: 2, port: 5060, target: 'sip.example.net.' }] },
  '_25._tcp': {
    type: 'TLSA',
    values: [
      {
        certificate_usage: 3,
        selector: 1,
        matching_type: 1,
        certificate_association_data: 'AB'.repeat(32),
      },
    ],
  },
  '_ftp._tcp': { type: 'URI', values: [{ priority: 10, weight: 1, target: 'ftp://ftp.example.net/public' }] },
  '*': { type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.1'] },
  alias: { type: 'CNAME', value: 'WWW.example.net.' },
  child: [
    { type: 'NS', values: ['ns1.child.example.'] },
    {
      type: 'DS',
      values: [{ key_tag: 12345, algorithm: 13, digest_type: 2, digest: 'ab'.repeat(32) }],
    },
  ],
  host: { type: 'SSHFP', values: [{ algorithm: 4, fingerprint_type: 2, fingerprint: 'cd'.repeat(32) }] },
  number: {
    type: 'NAPTR',
    values: [
      {
        order: 100,
        preference: 10,
        flags: 'U',
        service: 'E2U+sip',
        regexp: '!^.*$!sip:info@example.net!',
        replacement: '.',
      },
    ],
  },
  place: {
    type: 'LOC',
    values: [
      {
        lat_degrees: 52,
        lat_minutes: 22,
        lat_seconds: 23.5,
        lat_direction: 'N',
        long_degrees: 4,
        long_minutes: 53,
        long_seconds: 32.125,
        long_direction: 'E',
        altitude: -2,
        size: 1,
        precision_horz: 10_000,
        precision_vert: 10,
      },
    ],
  },
  ptr: { type: 'PTR', values: ['host.example.net.'] },
  six: { type: 'AAAA', values: ['2001:DB8:0:0:0:0:0:1'] },
  svc: [
    {
      type: 'HTTPS',
      values: [{ svcpriority: 1, targetname: '.', svcparams: { alpn: ['h2', 'h3'], port: 8443 } }],
    },
    { type: 'SVCB', values: [{ svcpriority: 2, targetname: 'svc.example.net.', svcparams: { port: 53 } }] },
  ],
  under_score: { type: 'A', values: ['192.0.2.3'] },
}

describe('octodns', { skip: reasonToSkip() }, () => {
  const zone = 'code.example.'
  let api: TestApi
  let folder: string
  let key: string
  let url: string
  before(async () => {
    api = await createTestApi({})
    const { teamId } = await addTeam(api, 'red')
    key = await addApiToken(api, teamId, { scopes: ['dns:read', 'dns:write'], isAdmin: true })
    url = await api.server.listen({ port: 0, host: '127.0.0.1' })
    folder = mkdtempSync(join(tmpdir(), 'pharos-octodns-'))
    mkdirSync(join(folder, 'zones'))
    const { hostname, port } = new URL(url)
    const powerdns = {
      class: 'octodns_powerdns.PowerDnsProvider',
      host: hostname,
      port: Number(port),
      api_key: key,
      timeout: 60,
      notify: true,
    }
    const files = {
      class: 'octodns.provider.yaml.YamlProvider',
      directory: join(folder, 'zones'),
      default_ttl: 3600,
      enforce_order: false,
    }
    const zones = { [zone]: { sources: ['files'], targets: ['powerdns'] } }
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ providers: { files, powerdns }, zones }))
  })
  after(async () => {
    await api?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Returns the messages about the plan. */
  async function sync(sets: object, ...options: string[]): Promise<string> {
    writeFileSync(join(folder, 'zones', `${zone}yaml`), JSON.stringify(sets))
    const config = join(folder, 'config.yaml')
    const { stdout, stderr } = await run('octodns-sync', ['--config-file', config, ...options])
    return stdout + stderr
  }

  async function typesAt(): Promise<string[]> {
    const answer = await fetch(`${url}/api/v1/servers/localhost/zones/${zone}`, {
      headers: { 'x-api-key': key },
    })
    assert.equal(answer.status, 200)
    const { rrsets } = (await answer.json()) as { rrsets: { name: string; type: string }[] }
    return rrsets.map(({ name, type }) => `${name} ${type}`)
  }

  it('plans a zone that does not exist, and creates it with sets of every type', async () => {
    assert.match(await sync(everyType), /Creates=\d+/)
    await sync(everyType, '--doit')
    const wanted = Object.values(everyType)
      .flat()
      .map(({ type }) => type)
    const written = new Set((await typesAt()).map((set) => set.split(' ')[1]))
    assert.deepEqual(
      wanted.filter((type) => !written.has(type)),
      [],
    )
  })

  it('finds nothing to change afterwards', async () => {
    assert.match(await sync(everyType), /No changes were planned/)
  })

  it('changes, creates and deletes', async () => {
    const { alias: _, svc: _svc, place: _place, ...rest } = everyType
    const sets = {
      ...rest,
      '*': { type: 'A', ttl: 900, values: ['192.0.2.9'] },
      new: { type: 'A', value: '192.0.2.4' },
    }
    await sync(sets, '--doit', '--force')
    const names = await typesAt()
    assert.ok(names.includes(`new.${zone} A`))
    for (const name of ['alias', 'svc', 'place'])
      assert.ok(!names.some((set) => set.startsWith(`${name}.`)), name)
    assert.match(await sync(sets), /No changes were planned/)
  })
})
