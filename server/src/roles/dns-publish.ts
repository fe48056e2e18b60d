// The DNS loops of the reconciler role: they publish zones, tell name servers about it and observe what those serve. One process at a time runs
// each of them.
import { createLedLoop } from '../db/led-loop.ts'
import { resolveAliases } from '../dns/alias/resolve-aliases.ts'
import { hasDeleted, purge } from '../dns/publish/purge.ts'
import { OtherNotifier } from '../dns/publish/notify-others.ts'
import { publishCatalog } from '../dns/publish/publish-catalog.ts'
import { listUnpublished, requestResigning } from '../dns/publish/publish.store.ts'
import { renewalTime, type SignWhole } from '../dns/publish/publish-zone.ts'
import { parallelZones, publishZones } from '../dns/publish/publish-zones.ts'
import type { StoredStep } from '../dns/serve/served.store.ts'
import { signZone } from '../dns/sign/sign-zone.ts'
import { signInThread } from '../dns/sign/sign-in-thread.ts'
import { createAddressResolver } from '../drivers/dns/address-resolver.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { parseZoneName } from '../net/dns/name.ts'
import { isWithin, objectionToAddress } from '../net/public-address.ts'
import type { Component } from '../runtime/component.ts'
import { fromSetting } from './config-error.ts'
import { dnsFollowPart } from './dns-follow.ts'
import { dnsObservePart } from './dns-observe.ts'
import type { LoopComponent } from '../db/loop-component.ts'
import { parseNetworks } from './webhooks.ts'
import type { Shared } from './shared.ts'
import { openTsigKey } from './tsig-keys.ts'

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
