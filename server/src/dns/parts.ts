// Wires the DNS: its operations, and the loops of the reconciler role, which publish zones, tell name servers about it, follow primaries and
// move the states of DNSSEC.
import { createLedLoop } from '../db/led-loop.ts'
import { resolveAliases } from './alias/resolve-aliases.ts'
import { hasDeleted, purge } from './publish/purge.ts'
import { OtherNotifier } from './publish/notify-others.ts'
import { publishCatalog } from './publish/publish-catalog.ts'
import { listUnpublished, requestResigning } from './publish/publish.store.ts'
import { type SignWhole, renewalTime } from './publish/publish-zone.ts'
import { parallelZones, publishZones } from './publish/publish-zones.ts'
import type { StoredStep } from './serve/served.store.ts'
import { signZone } from './sign/sign-zone.ts'
import { signInThread } from './sign/sign-in-thread.ts'
import { createAddressResolver } from '../drivers/dns/address-resolver.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { type DomainName, type ZoneName, labelsOf, parseZoneName, root } from '../net/dns/name.ts'
import { isWithin, objectionToAddress } from '../net/public-address.ts'
import type { Component } from '../runtime/component.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import { dnsObservePart } from './observe.parts.ts'
import { type LoopComponent, createLoopComponent } from '../db/loop-component.ts'
import { parseNetworks } from '../webhook/parts.ts'
import type { Shared } from '../process/shared.ts'
import { followZone } from './publish/follow-zone.ts'
import { claimSecondaries } from './publish/follow.store.ts'
import { createDueWorker } from '../db/due-work.ts'
import { createPrimary } from '../drivers/dns-follower/zone-primary.ts'
import { checkDelegations } from './dnssec/check-delegations.ts'
import { evaluateDnssec } from './dnssec/evaluate-dnssec.ts'
import type { FindOptions } from './dnssec/find-parent.ts'
import { waitsFor } from './sign/key-state.ts'
import { exchange } from '../drivers/dns-follower/exchange.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import type { TsigAlgorithm, TsigKey } from '../net/dns/tsig.ts'
import { type KeyRing, open } from '../runtime/secrets.ts'

/** Finds what is to be published within this time if a notification is lost. */
const publishIntervalMs = 30_000
/** Targets are due after a minute at the earliest. */
const aliasIntervalMs = 5_000
/** Signatures are renewed with 14 days left, deleted zones kept for 7: an hour more does not matter. */
const upkeepIntervalMs = 3_600_000

/** `onStep` gets each published step of IXFR. */
export function dnsPublishParts(shared: Shared, onStep: (step: StoredStep) => void): Component[] {
  const { config, postgres, log } = shared
  const deps = {
    db: postgres.owner,
    ring: config.secret,
    signWhole,
    now: () => new Date(),
    onStep,
  }
  const catalog = fromSetting('dns_catalog_zone', () => parseZoneName(config.dnsCatalogZone))
  const catalogLoop = createLedLoop(shared, {
    name: 'dns-catalog',
    sends: { gate: shared.gate },
    intervalMs: publishIntervalMs,
    async run() {
      const { added, removed, held } = await publishCatalog({ ...deps, catalog })
      if (added + removed > 0) log.info({ added, removed }, 'catalog zone changed')
      if (held > 0) log.warn({ held }, 'removals from the catalog zone wait for staff')
    },
  })
  return [
    createLedLoop(shared, {
      name: 'dns-publish',
      sends: { gate: shared.gate },
      wakeName: 'dns',
      intervalMs: publishIntervalMs,
      read: () => listUnpublished(postgres.owner, parallelZones),
      async run(signal, zones) {
        const { created } = await publishZones(deps, zones, log, signal)
        if (created > 0 || (await hasDeleted(postgres.owner))) catalogLoop.wake()
      },
    }),
    catalogLoop,
    createLedLoop(shared, {
      name: 'dns-resign',
      sends: { gate: shared.gate },
      intervalMs: upkeepIntervalMs,
      async run() {
        const zones = await requestResigning(postgres.owner, renewalTime(new Date()))
        if (zones > 0) log.info({ zones }, 'signatures are renewed')
      },
    }),
    createLedLoop(shared, {
      name: 'dns-purge',
      sends: { gate: shared.gate },
      intervalMs: upkeepIntervalMs,
      async run(signal) {
        const { zones, versions } = await purge(postgres.owner, signal)
        if (zones + versions > 0) log.info({ zones, versions }, 'deleted zones and old versions purged')
      },
    }),
    alsoNotifyLoop(shared),
    aliasLoop(shared),
    dnsObservePart(shared),
    dnsFollowPart(shared),
  ]
}

/** Asks for the addresses of ALIAS records. */
function aliasLoop(shared: Shared): LoopComponent {
  const { config, postgres, log } = shared
  const networks = fromSetting('dns_networks_allowed', () => parseNetworks(config.dnsNetworksAllowed))
  const deps = {
    db: postgres.owner,
    resolver: createAddressResolver({ servers: config.dnsResolvers }),
    isAllowed: (address: string) => isWithin(address, networks) || objectionToAddress(address) === undefined,
    now: () => new Date(),
  }
  return createLedLoop(shared, {
    name: 'dns-alias',
    // Questions to the resolver change nothing.
    sends: 'nothing',
    wakeName: 'dns',
    // Every change of a zone wakes it, and few are of ALIAS records.
    delayMs: 100,
    intervalMs: aliasIntervalMs,
    run: async (signal) => void (await resolveAliases(deps, log, signal)),
  })
}

/** NOTIFY to the servers that the settings of zones name. */
function alsoNotifyLoop(shared: Shared): LoopComponent {
  const { config, postgres, log } = shared
  const notifier = new OtherNotifier({
    db: postgres.owner,
    connect: ({ address, port, ...key }) =>
      createFollower({ address, port, key: openTsigKey(config.secret, key) }),
    onFailure: ({ address, port }, error) =>
      log.info({ address, port, err: error }, 'NOTIFY not acknowledged; the server asks after SOA refresh'),
  })
  return createLedLoop(shared, {
    name: 'dns-also-notify',
    sends: { gate: shared.gate },
    wakeName: 'dns-published',
    // Most zones name no such servers.
    delayMs: 20,
    intervalMs: publishIntervalMs,
    run: async (signal) => void (await notifier.run(signal)),
  })
}

/** A thread takes longer to start than a few sets to sign; sets without signatures are only sorted. */
const signWhole: SignWhole = (zone, rrsets, signing, previous) => {
  const sets = [...rrsets]
  const isShort = !signing || sets.length < 200
  return isShort ? signZone(zone, sets, signing, previous) : signInThread(zone, sets, signing, previous)
}

/** Transfers at once. */
const transfersAtOnce = 8
const followIntervalMs = 10_000

export function dnsFollowPart(shared: Shared): Component {
  const { config, postgres, log } = shared
  const deps = {
    db: postgres.owner,
    connect: ({ address, port, ...key }: Parameters<Parameters<typeof followZone>[0]['connect']>[0]) =>
      createPrimary({ address, port, key: openTsigKey(config.secret, key) }),
    now: () => new Date(),
  }
  let signal = AbortSignal.abort()
  const worker = createDueWorker({
    claim: (limit) => claimSecondaries(postgres.owner, limit),
    work: (zone) => followZone(deps, zone, signal),
    parallel: transfersAtOnce,
    onError: (error) =>
      log.error({ err: error }, 'secondary zone not followed; it is due when its lease ends'),
  })
  return createLoopComponent(shared, {
    name: 'dns-follow',
    sends: 'nothing',
    wakeName: 'dns',
    // Every change of a zone wakes it, and few are of secondary zones.
    delayMs: 20,
    intervalMs: followIntervalMs,
    async run(running) {
      signal = running
      await worker.drain(running)
    },
  })
}

/** How often the loops look for what is due, at least; most runs find nothing. */
const dnssecIntervalMs = 5000
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
  const loop = { intervalMs: Math.min(dnssecIntervalMs, cacheSeconds * 500) }
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

export type SealedKey = {
  readonly keyName: DomainName | null
  readonly keyAlgorithm: string | null
  readonly keySealed: Buffer | null
}

/** Returns the key; undefined if the row has none. Throws if it does not open: nothing is sent unsigned instead. */
export function openTsigKey(
  ring: KeyRing,
  { keyName: name, keyAlgorithm: algorithm, keySealed: sealed }: SealedKey,
): TsigKey | undefined {
  if (name === null || sealed === null) return undefined
  return { name, algorithm: algorithm as TsigAlgorithm, secret: open(ring, 'tsig-key', sealed, name) }
}
