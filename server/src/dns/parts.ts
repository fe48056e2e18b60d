// Wires the DNS: its operations, and the loops of the reconciler role, which publish zones, notify name servers, follow
// primaries and move the states of DNSSEC.
import { createDueWorker } from '../db/due-work.ts'
import { createLedLoop } from '../db/led-loop.ts'
import { createLoopComponent, type LoopComponent } from '../db/loop-component.ts'
import { exchange } from '../drivers/dns-follower/exchange.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { createPrimary, createTransferSource } from '../drivers/dns-follower/zone-primary.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import { createAddressResolver } from '../drivers/dns/address-resolver.ts'
import type { Mounted } from '../http/mount.ts'
import { parseZoneName } from '../net/dns/name.ts'
import { parseNetworks } from '../net/network-list.ts'
import { parsePorts } from '../net/port-list.ts'
import type { Prefix } from '../net/prefix.ts'
import { isWithin, objectionToAddress } from '../net/public-address.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import { resolveAliases } from './alias/resolve-aliases.ts'
import { dnsRoutes } from './dns.routes.ts'
import { checkDelegations } from './dnssec/check-delegations.ts'
import { dnssecRoutes } from './dnssec/dnssec.routes.ts'
import { evaluateDnssec } from './dnssec/evaluate-dnssec.ts'
import type { FindOptions } from './dnssec/find-parent.ts'
import { enableForNewZone } from './dnssec/request-dnssec.ts'
import { isDelegable, rootServers } from './dnssec/root-servers.ts'
import { createNameserver, type Nameserver } from './nameserver.parts.ts'
import { observeServers } from './observe.parts.ts'
import { powerdnsApi } from './powerdns/powerdns.routes.ts'
import { followZone } from './publish/follow-zone.ts'
import { claimSecondaries, findSealedKey } from './publish/follow.store.ts'
import { OtherNotifier } from './publish/notify-others.ts'
import { publishCatalog } from './publish/publish-catalog.ts'
import { renewalTime, type SignWhole } from './publish/publish-zone.ts'
import { parallelZones, publishZones } from './publish/publish-zones.ts'
import { listUnpublished, requestResigning } from './publish/publish.store.ts'
import { hasDeleted, purge } from './publish/purge.ts'
import { createForwardCheck } from './reverse/forward-check.ts'
import type { StoredStep } from './serve/served.store.ts'
import { openTsigKey } from './settings/sealed-tsig-key.ts'
import { waitsFor } from './sign/key-state.ts'
import { signInThread } from './sign/sign-in-thread.ts'
import { signZone } from './sign/sign-zone.ts'

/** Interval of the publish loop if a notification is lost. */
const publishIntervalMs = 30_000
/** Targets are due after a minute at the earliest. */
const aliasIntervalMs = 5_000
/** Signatures are renewed with 14 days left, deleted zones kept for 7: an hour more does not matter. */
const upkeepIntervalMs = 3_600_000

export function routes(shared: ApiShared): Mounted[] {
  const { config, front, ring } = shared
  const deps = {
    ...shared,
    rules: { allowDocumentation: config.allowDocumentationResources },
    transferSource: createTransferSource(async (id) => {
      const key = await findSealedKey(front, id)
      return key && openTsigKey(ring, key)
    }),
    serverRules: {
      networks: allowedNetworks(config),
      ports: fromSetting('dns_ports_allowed', () => parsePorts(config.dnsPortsAllowed)),
    },
    enableDnssec: enableForNewZone(shared),
    forward: createForwardCheck({
      resolver: createAddressResolver({ servers: config.dnsResolvers, tries: 1 }),
    }),
  }
  shared.addFacade(powerdnsApi(deps))
  return [...dnsRoutes(deps), ...dnssecRoutes({ ...shared, waits: waitsFor(config.dnsCacheSeconds) })]
}

export type DnsParts = Parts & Pick<Nameserver, 'address'>

export function parts(shared: Shared): DnsParts {
  const nameserver = createNameserver(shared)
  return {
    reconciler: () => [
      ...publishLoops(shared, nameserver.applyStep),
      alsoNotifyLoop(shared),
      aliasLoop(shared),
      observeServers(shared),
      followLoop(shared),
      ...dnssecLoops(shared),
    ],
    nameserver: () => [nameserver.part],
    address: nameserver.address,
  }
}

const allowedNetworks = (config: Config): readonly Prefix[] =>
  fromSetting('dns_networks_allowed', () => parseNetworks(config.dnsNetworksAllowed))

/** `onStep` gets each published step of IXFR. */
function publishLoops(shared: Shared, onStep: (step: StoredStep) => void): Component[] {
  const { config, owner, ring, now, log } = shared
  const deps = {
    db: owner,
    ring,
    signWhole,
    now,
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
      read: () => listUnpublished(owner, parallelZones),
      async run(signal, zones) {
        const { created } = await publishZones(deps, zones, log, signal)
        if (created > 0 || (await hasDeleted(owner))) catalogLoop.wake()
      },
    }),
    catalogLoop,
    createLedLoop(shared, {
      name: 'dns-resign',
      sends: { gate: shared.gate },
      intervalMs: upkeepIntervalMs,
      async run() {
        const zones = await requestResigning(owner, renewalTime(now()))
        if (zones > 0) log.info({ zones }, 'signatures are renewed')
      },
    }),
    createLedLoop(shared, {
      name: 'dns-purge',
      sends: { gate: shared.gate },
      intervalMs: upkeepIntervalMs,
      async run(signal) {
        const { zones, versions } = await purge(owner, signal)
        if (zones + versions > 0) log.info({ zones, versions }, 'deleted zones and old versions purged')
      },
    }),
  ]
}

/** Queries the addresses of ALIAS records. */
function aliasLoop(shared: Shared): LoopComponent {
  const { config, owner, now, log } = shared
  const networks = allowedNetworks(config)
  const deps = {
    db: owner,
    resolver: createAddressResolver({ servers: config.dnsResolvers }),
    isAllowed: (address: string) => isWithin(address, networks) || objectionToAddress(address) === undefined,
    now,
  }
  return createLedLoop(shared, {
    name: 'dns-alias',
    // Queries to the resolver have no effects.
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
  const { owner, ring, log } = shared
  const notifier = new OtherNotifier({
    db: owner,
    connect: ({ address, port, ...key }) => createFollower({ address, port, key: openTsigKey(ring, key) }),
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

/** Parallel transfers. */
const transfersAtOnce = 8
const followIntervalMs = 10_000

function followLoop(shared: Shared): Component {
  const { owner, ring, now, log } = shared
  const deps = {
    db: owner,
    connect: ({ address, port, ...key }: Parameters<Parameters<typeof followZone>[0]['connect']>[0]) =>
      createPrimary({ address, port, key: openTsigKey(ring, key) }),
    now,
  }
  let signal = AbortSignal.abort()
  const worker = createDueWorker({
    claim: (limit) => claimSecondaries(owner, limit),
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

/** Maximum intervals of the loops; most runs have no due rows. */
const dnssecIntervalMs = 5000
const askTimeoutMs = 3000

function dnssecLoops(shared: Shared): Component[] {
  const { config, owner, ring, now, log } = shared
  const cacheSeconds = config.dnsCacheSeconds
  const waits = waitsFor(cacheSeconds)
  const deps = { db: owner, ring, now, waits, cacheSeconds }
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

/** A network with its own root servers has private addresses and any names. */
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
  return {
    ask,
    roots: rootServers,
    isAllowed: (address) => objectionToAddress(address) === undefined,
    isDelegable,
  }
}

function addressOf(text: string): { readonly address: string; readonly port: number } {
  const { host, port } = parseListenAddress(text)
  return { address: host, port }
}
