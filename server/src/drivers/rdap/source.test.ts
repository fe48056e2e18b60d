import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startRdapServer, type RdapServer } from '@pharos/lab/rdap-server'
import { rdapSourceConformance, type RdapSourceFixture } from '../../registry/rdap-source.conformance.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createHostResolver } from '../outgoing/resolve-host.ts'
import { basesOf, parseBootstrap } from './source.ts'
import { createRdapSource } from './source.ts'

const resolver = createHostResolver()
const never = new AbortController().signal
const prefix = parsePrefix('203.0.113.0/24')

/** A folder of bootstrap files that contain the server. */
function folderFor(...bases: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-rdap-'))
  const services = [[['0.0.0.0/0'], bases]]
  writeFileSync(join(folder, 'ipv4.json'), JSON.stringify({ services }))
  writeFileSync(join(folder, 'ipv6.json'), JSON.stringify({ services: [[['::/0'], bases]] }))
  return folder
}

function fixtureOf(server: RdapServer, bootstrap: string, clean: () => void = () => {}): RdapSourceFixture {
  return {
    source: createRdapSource({ bootstrap, resolver }),
    setNetworks: (networks) => server.setRegistrations(networks),
    hide: () => server.hide(),
    show: () => server.show(),
    stop: async () => {
      clean()
      await server[Symbol.asyncDispose]()
    },
  }
}

rdapSourceConformance('with bootstrap files over HTTP', async () => {
  const server = await startRdapServer()
  return fixtureOf(server, server.bootstrap)
})

rdapSourceConformance('with bootstrap files in a folder', async () => {
  const server = await startRdapServer()
  const folder = folderFor(`${server.origin}/rdap`)
  return fixtureOf(server, pathToFileURL(folder).href, () => rmSync(folder, { recursive: true }))
})

describe('a faulty RDAP registry', () => {
  let server: RdapServer
  let folder: string
  before(async () => {
    server = await startRdapServer()
    server.setRegistrations([{ prefix, handle: 'NET', remarks: [] }])
    folder = folderFor(`${server.origin}/rdap`)
  })
  afterEach(() => {
    server.intercept = () => false
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await server[Symbol.asyncDispose]()
  })

  const find = (bootstrap = pathToFileURL(folder).href, timeoutMs = 2_000) =>
    createRdapSource({ bootstrap, resolver, timeoutMs }).findIpNetwork(prefix, never)

  const failsAs = (kind: string, message = /./) =>
    assert.rejects(
      find(),
      (error: unknown) => error instanceof DriverError && error.kind === kind && message.test(error.message),
    )

  /** Sets the response to every query about an address. */
  function answer(with_: (response: ServerResponse) => void): void {
    server.intercept = ({ url }, response) => {
      if (!url!.startsWith('/rdap/ip/')) return false
      with_(response)
      return true
    }
  }

  it('may redirect to another address of a listed server', async () => {
    server.intercept = ({ url }, response) => {
      if (url !== '/rdap/ip/203.0.113.0/24') return false
      response.writeHead(301, { location: `${server.origin}/rdap/ip/203.0.113.0/25` }).end()
      return true
    }
    assert.equal((await find())?.handle, 'NET')
  })

  it('has a handle that can be stored, whatever it contains', async () => {
    const network = {
      objectClassName: 'ip network',
      startAddress: '203.0.113.0',
      endAddress: '203.0.113.255',
    }
    answer((response) => void response.end(JSON.stringify({ ...network, handle: 'N\0E\ud800T' })))
    assert.equal((await find())?.handle, 'N E\ufffdT')
  })

  it('may not redirect into internal networks, to plain HTTP, or endlessly', async () => {
    const to = (location: string) => answer((response) => void response.writeHead(302, { location }).end())
    for (const internal of [
      'http://127.0.0.1:1/rdap/ip/203.0.113.0/24',
      'http://127.1:1/',
      'https://[::1]:1/',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest/meta-data',
    ]) {
      to(internal)
      await failsAs('protocol', /not public/)
    }
    to('http://198.41.0.4/')
    await failsAs('protocol', /without TLS/)
    to('file:///etc/passwd')
    await failsAs('protocol')
    answer((response) => void response.writeHead(302, { location: `${server.origin}/rdap/ip/loop` }).end())
    await failsAs('protocol', /more than 3 redirects/)
  })

  it('is unreachable for a temporary status, and a protocol error for a permanent one', async () => {
    for (const [status, kind] of [
      [429, 'unreachable'],
      [503, 'unreachable'],
      [400, 'protocol'],
      [204, 'protocol'],
    ] as const) {
      answer((response) => void response.writeHead(status).end())
      await failsAs(kind)
    }
  })

  it('may not answer with more than a megabyte, compressed, or in another format', async () => {
    answer((response) => void response.end(`"${'x'.repeat(2_000_000)}"`))
    await failsAs('protocol', /longer than/)
    answer((response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'))
    await failsAs('protocol', /compressed/)
    for (const text of ['', '[]', 'null', '{}', '{"objectClassName":"ip network"}', '<html>']) {
      answer((response) => void response.end(text))
      await failsAs('protocol', /not an RDAP answer/)
    }
    const swapped = { objectClassName: 'ip network', startAddress: '203.0.113.9', endAddress: '203.0.113.1' }
    answer((response) => void response.end(JSON.stringify(swapped)))
    await failsAs('protocol', /not a range/)
  })

  it('times out', async () => {
    answer(() => {})
    await assert.rejects(find(undefined, 50), (error: unknown) => {
      assert.ok(error instanceof DriverError)
      assert.match(error.message, /no answer within 50 ms/)
      return true
    })
  })

  it('is queried with the last valid bootstrap file while that cannot be read', async () => {
    let now = 0
    const source = createRdapSource({ bootstrap: server.bootstrap, resolver, now: () => now })
    await source.findIpNetwork(prefix, never)
    now = 25 * 3_600_000
    server.intercept = ({ url }, response) => {
      if (!url!.startsWith('/bootstrap/')) return false
      response.writeHead(200).end('no JSON')
      return true
    }
    assert.equal((await source.findIpNetwork(prefix, never))?.handle, 'NET')
    await assert.rejects(find(server.bootstrap), { kind: 'protocol' })
  })
})

describe('the bootstrap', () => {
  it('is rejected unless it is HTTPS, a folder, or on this machine', () => {
    for (const bootstrap of [
      'http://rdap.example/',
      'ftp://rdap.example/',
      'nonsense',
      'https://u:p@rdap.example/',
    ])
      assert.throws(() => createRdapSource({ bootstrap, resolver }), TypeError)
    for (const bootstrap of ['https://rdap.example/x', 'file:/etc/pharos/rdap', 'http://127.0.0.1:8/'])
      createRdapSource({ bootstrap, resolver })
  })

  it('returns the servers of the most specific entry, secure ones first, and leaves out unknown entries', () => {
    const text = JSON.stringify({
      services: [
        [['203.0.0.0/8'], ['https://wide.example/']],
        [
          ['203.0.113.0/24', 'nonsense', 5],
          ['http://plain.example', 'https://near.example/x'],
        ],
        [['198.51.100.0/24'], ['ftp://no.example']],
        'nonsense',
      ],
    })
    const services = parseBootstrap(text)
    const hrefs = (of: string) => basesOf(services, parsePrefix(of)).map(({ href }) => href)
    assert.deepEqual(hrefs('203.0.113.0/25'), ['https://near.example/x/', 'http://plain.example/'])
    assert.deepEqual(hrefs('203.0.112.0/22'), ['https://wide.example/'])
    assert.deepEqual(hrefs('198.51.100.0/24'), [])
    for (const bad of ['', '[]', '{}', 'null']) assert.throws(() => parseBootstrap(bad), TypeError)
  })
})
