// The DNSSEC loops of the reconciler role: one asks the parents of all zones, the other moves the states. One process at a time runs each.
import { checkDelegations } from '../dns/dnssec/check-delegations.ts'
import { evaluateDnssec } from '../dns/dnssec/evaluate-dnssec.ts'
import type { FindOptions } from '../dns/dnssec/find-parent.ts'
import { waitsFor } from '../dns/sign/key-state.ts'
import { exchange } from '../drivers/dns-follower/exchange.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import { labelsOf, root, type ZoneName } from '../net/dns/name.ts'
import { objectionToAddress } from '../net/public-address.ts'
import type { Component } from '../runtime/component.ts'
import { createLedLoop } from '../db/led-loop.ts'
import type { Shared } from './shared.ts'

/** How often the loops look for what is due, at least; most runs find nothing. */
const intervalMs = 5000
const askTimeoutMs = 3000

/** Letters and IPv4 addresses of the servers of the root (https://www.iana.org/domains/root/servers). */
const rootServers: Readonly<Record<string, string>> = {
  a: '198.41.0.4',
  b: '170.247.170.2',
  c: '192.33.4.12',
  d: '199.7.91.13',
  e: '192.203.230.10',
  f: '192.5.5.241',
  g: '192.112.36.4',
  h: '198.97.190.53',
  i: '192.36.148.17',
  j: '192.58.128.30',
  k: '193.0.14.129',
  l: '199.7.83.42',
  m: '202.12.27.33',
}

/** Top-level names that are never delegated (RFC 6761, RFC 6762, RFC 9476). */
const undelegated: ReadonlySet<string> = new Set([
  'test',
  'example',
  'invalid',
  'localhost',
  'local',
  'internal',
  'alt',
  'onion',
])

export function dnssecParts(shared: Shared): Component[] {
  const { config, postgres, log } = shared
  const now = (): Date => new Date()
  const cacheSeconds = config.dnsCacheSeconds
  const waits = waitsFor(cacheSeconds)
  const deps = { db: postgres.owner, ring: config.secret, now, waits, cacheSeconds }
  const loop = { intervalMs: Math.min(intervalMs, cacheSeconds * 500) }
  const find = findOptions(config.dnsRoots)
  const states = createLedLoop(shared, {
    name: 'dnssec',
    sends: { gate: shared.gate },
    wakeName: 'dns-published',
    // Its steps are minutes apart.
    delayMs: 200,
    ...loop,
    async run(signal) {
      const moved = await evaluateDnssec(deps, log, signal)
      if (moved > 0) log.info({ zones: moved }, 'DNSSEC states moved')
    },
  })
  const delegations = createLedLoop(shared, {
    name: 'dns-delegation',
    sends: 'nothing',
    ...loop,
    async run(signal) {
      if ((await checkDelegations({ ...deps, find }, log, signal)) > 0) states.wake()
    },
  })
  return [states, delegations]
}

/** A network with roots of its own has private addresses and any names. */
function findOptions(roots: readonly string[]): FindOptions {
  const ask: FindOptions['ask'] = ({ address, port }, question) =>
    exchange(
      { address, port, timeoutMs: askTimeoutMs },
      { questions: [question], edns: { udpSize: 1232, version: 0, do: false, options: [] } },
    )
  if (roots.length > 0) {
    const own = roots.map((text) => ({ name: text, addresses: [addressOf(text)] }))
    return { ask, roots: own, isAllowed: () => true, isDelegable: () => true }
  }
  const internet = Object.entries(rootServers).map(([letter, address]) => ({
    name: `${letter}.root-servers.net.`,
    addresses: [{ address, port: 53 }],
  }))
  return {
    ask,
    roots: internet,
    isAllowed: (address) => objectionToAddress(address) === undefined,
    isDelegable,
  }
}

function addressOf(text: string): { readonly address: string; readonly port: number } {
  const { host, port } = parseListenAddress(text)
  return { address: host, port }
}

const isDelegable = (zone: ZoneName): boolean => zone !== root && !undelegated.has(labelsOf(zone).at(-1)!)
