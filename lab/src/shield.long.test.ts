// Shield end to end: a rule of the customer reaches a real router and a real host, and the packets of an attack no longer arrive.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import type { FlowPacket } from '../../server/src/net/flow-match.ts'
import { freePort } from './address.ts'
import { startFlowspecPeers } from './flowspec-peers.ts'
import { skipWithoutNamespaces } from './namespace.ts'
import { createPacketPath } from './packet-path.ts'
import { Pharos } from './pharos.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const skip = skipWithoutNamespaces() || skipWithout('gobgpd', 'gobgp', 'bird', 'birdc', 'nft')
const prefixes = ['203.0.113.0/24', '2001:db8:a::/48'].map(parsePrefix)

it('drops the packets of an attack at the host, and has the rule at the router', { skip }, async () => {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp('/tmp/pharos-shield-')
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const path = await createPacketPath(prefixes)
  stack.defer(() => path.stop())
  const { gobgpd, bird } = stack.use(await startFlowspecPeers({ folder }))
  const platformFile = join(folder, 'platform.yaml')
  await writeFile(platformFile, platform(gobgpd.apiAddress, path.nft))
  const pharos = stack.use(
    new Pharos({ folder, platformFile, port: await freePort(), settings: { TMPDIR: folder } }),
  )
  await pharos.start()
  await pharos.apply()
  const call = await signIn(pharos.url)

  const attack = packet(53)
  await path.send([attack], 5)
  await waitFor('packets arrive without a rule', async () => (await path.received()) === 5)

  const deny = { action: 'deny', protocol: 'udp', source_port: '53', destination: '203.0.113.9' }
  const rules = [{ action: 'allow', protocol: 'udp', source: '198.51.100.8' }, deny]
  await call('PUT', '/v3/lighthouse/security/shield/rules', { prefix: '203.0.113.0/24', rules, force: true })
  type Rules = { results: { action: string; status: string; hits: { packets: number } | null }[] }
  const read = async () => (await call('GET', '/v3/lighthouse/security/shield/rules?include=hits')) as Rules
  await waitFor('both scrubbers hold the rules', async () =>
    (await read()).results.every(({ status }) => status === 'active'),
  )
  const held = await bird.birdc('show route all table flow4tab')
  assert.match(held, /dst 203\.0\.113\.9\/32; proto 17; sport 53;/)
  // FlowSpec evaluates the longer prefix first: the exception is added for it.
  assert.match(held, /dst 203\.0\.113\.9\/32; src 198\.51\.100\.8\/32; proto 17; sport 53;/)

  await path.send([attack], 50)
  await path.send([{ ...attack, source: parsePrefix('198.51.100.8/32') }], 3)
  await waitFor('hits are counted', async () =>
    (await read()).results.some(({ action, hits }) => action === 'deny' && hits?.packets === 50),
  )
  assert.equal(await path.received(), 5 + 3)

  await call('PUT', '/v3/lighthouse/security/shield/rules', { prefix: '203.0.113.0/24', rules: [] })
  await waitFor(
    'the router has no rule',
    async () => !(await bird.birdc('show route table flow4tab')).includes('flow4 {'),
  )
  await waitFor('the host has no rule', async () => {
    const before = await path.received()
    await path.send([attack])
    return (await path.received()) > before
  })
})

function packet(sourcePort: number): FlowPacket {
  return {
    source: parsePrefix('198.51.100.7/32'),
    destination: parsePrefix('203.0.113.9/32'),
    protocol: 17,
    sourcePort,
    destinationPort: 4_000,
    packetLength: 400,
    dscp: 0,
    fragment: false,
  }
}

/** Returns a function that calls the API and resolves with the answer; it throws on a problem. */
async function signIn(url: string) {
  const request = async (method: string, path: string, body: unknown, access?: string): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(access ? { Authorization: `Bearer ${access}` } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const credentials = { email: 'demo@demo.example', password: 'pharos-demo-password' }
  const { access } = (await request('POST', '/v3/session/token', credentials)) as { access: string }
  return (method: string, path: string, body?: unknown) => request(method, path, body, access)
}

function platform(gobgpd: string, nft: readonly string[]): string {
  return `
locations: [{ key: ams, name: Amsterdam, country: NL, timezone: Europe/Amsterdam }]
teams: [{ slug: demo, name: Demo Networks, modules: [ipam, lighthouse, shield] }]
users:
  - email: demo@demo.example
    first_name: Demo
    password: pharos-demo-password
    demo: true
    teams: [{ team: demo, admin: true }]
prefixes: [{ team: demo, prefix: 203.0.113.0/24, name: Web, location: ams }]
scrubbers:
  - { name: routers, driver: { kind: flowspec, address: '${gobgpd}', owner: '64500:2:1' } }
  - { name: host, driver: { kind: nftables, command: ${JSON.stringify(nft)} } }
`
}
