// Programs that manage zones as files or objects against the PowerDNS-compatible API: octodns with octodns-powerdns,
// and external-dns with objects of Kubernetes. Each plans, applies, finds no changes, changes and deletes.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { addTeam, createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'

const run = promisify(execFile)

/** Neither program is a Debian package: octodns is installed with pip, with octodns-powerdns beside it, and external-dns with Go. */
const skipWithoutProgram = (name: string): string | false =>
  spawnSync(name, ['--version']).error ? `${name} is not installed` : false

type ServedZone = { readonly api: TestApi; readonly key: string; readonly url: string }

/** Starts a server with a team, and returns its key. */
async function startApi(): Promise<ServedZone> {
  const api = await createTestApi({})
  const { teamId } = await addTeam(api, 'red')
  const key = await addApiToken(api, teamId, { scopes: ['dns:read', 'dns:write'], isAdmin: true })
  return { api, key, url: await api.server.listen({ port: 0, host: '127.0.0.1' }) }
}

type Set = { readonly name: string; readonly type: string; readonly records: readonly { content: string }[] }

async function setsOf({ url, key }: ServedZone, zone: string): Promise<readonly Set[]> {
  const path = `${url}/api/v1/servers/localhost/zones/${zone}`
  const answer = await fetch(path, { headers: { 'x-api-key': key } })
  assert.equal(answer.status, 200)
  return ((await answer.json()) as { rrsets: Set[] }).rrsets
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

describe('octodns', { skip: skipWithoutProgram('octodns-sync') }, () => {
  const zone = 'code.example.'
  let served: ServedZone
  let folder: string
  before(async () => {
    served = await startApi()
    folder = mkdtempSync(join(tmpdir(), 'pharos-octodns-'))
    mkdirSync(join(folder, 'zones'))
    const { hostname, port } = new URL(served.url)
    const powerdns = {
      class: 'octodns_powerdns.PowerDnsProvider',
      host: hostname,
      port: Number(port),
      api_key: served.key,
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
    await served?.api[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Returns the messages about the plan. */
  async function sync(sets: object, ...options: string[]): Promise<string> {
    writeFileSync(join(folder, 'zones', `${zone}yaml`), JSON.stringify(sets))
    const config = join(folder, 'config.yaml')
    const { stdout, stderr } = await run('octodns-sync', ['--config-file', config, ...options])
    return stdout + stderr
  }

  const typesAt = async (): Promise<string[]> =>
    (await setsOf(served, zone)).map(({ name, type }) => `${name} ${type}`)

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

describe('external-dns', { skip: skipWithoutProgram('external-dns') }, () => {
  const zone = 'cluster.example.'
  let served: ServedZone
  let kubernetes: Server
  let folder: string
  let endpoints: object[] = []
  before(async () => {
    served = await startApi()
    const created = await fetch(`${served.url}/api/v1/servers/localhost/zones`, {
      method: 'POST',
      headers: { 'x-api-key': served.key },
      body: JSON.stringify({ name: zone, kind: 'Native' }),
    })
    assert.equal(created.status, 201)
    kubernetes = createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answerOf(request.url ?? '', endpoints)))
    })
    await new Promise<void>((resolve) => kubernetes.listen(0, '127.0.0.1', resolve))
    folder = mkdtempSync(join(tmpdir(), 'pharos-external-dns-'))
    const { port } = kubernetes.address() as AddressInfo
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'test', user: {} }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    }
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config))
  })
  after(async () => {
    kubernetes?.close()
    rmSync(folder, { recursive: true, force: true })
    await served?.api[Symbol.asyncDispose]()
  })

  /** Synchronizes once with these objects; returns the log. */
  async function sync(wanted: object[]): Promise<string> {
    endpoints = wanted
    const { stdout, stderr } = await run('external-dns', [
      '--once',
      '--source=crd',
      `--kubeconfig=${join(folder, 'kubeconfig')}`,
      '--provider=pdns',
      `--pdns-server=${served.url}`,
      `--pdns-api-key=${served.key}`,
      '--domain-filter=cluster.example',
      '--txt-owner-id=test',
      '--txt-prefix=owner-',
      ...['A', 'AAAA', 'CNAME', 'MX', 'TXT'].map((type) => `--managed-record-types=${type}`),
    ])
    return stdout + stderr
  }
  const endpoint = (name: string, recordType: string, ...targets: string[]) => ({
    dnsName: name === '' ? 'cluster.example' : `${name}.cluster.example`,
    recordType,
    recordTTL: 300,
    targets,
  })
  const own = async (): Promise<string[]> =>
    (await setsOf(served, zone))
      .filter(({ name }) => !name.includes('owner-'))
      .map(
        ({ name, type, records }) => `${name} ${type} ${records.map(({ content }) => content).join(' | ')}`,
      )
      .filter((text) => !/ (?:SOA|NS) /.test(text))
      .toSorted()
  // No SRV: external-dns 0.21 requires a final dot of its target in one place and refuses it in another.
  const wanted = [
    endpoint('', 'A', '192.0.2.1'),
    endpoint('www', 'A', '192.0.2.2', '192.0.2.3'),
    endpoint('www', 'AAAA', '2001:db8::2'),
    endpoint('alias', 'CNAME', 'lb.example.net'),
    endpoint('*.wild', 'A', '192.0.2.4'),
    endpoint('mail', 'MX', '10 mx.example.net'),
    endpoint('text', 'TXT', 'v=spf1 -all'),
  ]

  it('creates sets of every type, and has nothing to change afterwards', async () => {
    await sync(wanted)
    assert.deepEqual(await own(), [
      '*.wild.cluster.example. A 192.0.2.4',
      'alias.cluster.example. CNAME lb.example.net.',
      'cluster.example. A 192.0.2.1',
      'mail.cluster.example. MX 10 mx.example.net.',
      'text.cluster.example. TXT "v=spf1 -all"',
      'www.cluster.example. A 192.0.2.2 | 192.0.2.3',
      'www.cluster.example. AAAA 2001:db8::2',
    ])
    assert.match(await sync(wanted), /All records are already up to date/)
  })

  it('changes and deletes', async () => {
    // With a prefix of the owner records, external-dns finds no owner of the apex and of TXT records, and leaves them.
    const left = ['cluster.example. A 192.0.2.1', 'text.cluster.example. TXT "v=spf1 -all"']
    await sync([endpoint('www', 'A', '192.0.2.9')])
    assert.deepEqual(await own(), [...left, 'www.cluster.example. A 192.0.2.9'])
    await sync([])
    assert.deepEqual(await own(), left)
  })
})

/** The answer of a cluster's API server about the objects DNSEndpoint. */
function answerOf(url: string, endpoints: readonly object[]): object {
  const apiVersion = 'externaldns.k8s.io/v1alpha1'
  const verbs = ['get', 'list', 'watch', 'update']
  if (!url.includes('dnsendpoints'))
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersion,
      resources: [
        { name: 'dnsendpoints', singularName: 'dnsendpoint', namespaced: true, kind: 'DNSEndpoint', verbs },
      ],
    }
  const metadata = { name: 'records', namespace: 'default', generation: 1, resourceVersion: '1' }
  const item = { apiVersion, kind: 'DNSEndpoint', metadata, spec: { endpoints } }
  return url.includes('/records')
    ? item
    : { apiVersion, kind: 'DNSEndpointList', metadata: { resourceVersion: '1' }, items: [item] }
}
