// The DNS loops of the reconciler role: they publish zones, tell name servers about it and observe what those serve. One process at a time runs
// each of them.
import { Leadership } from '../db/leadership.ts'
import { publishCatalog } from '../dns/publish/publish-catalog.ts'
import { publishZones } from '../dns/publish/publish-zones.ts'
import { signInThread } from '../dns/sign/sign-in-thread.ts'
import { parseZoneName } from '../net/dns/name.ts'
import type { Component } from '../runtime/component.ts'
import { fromSetting } from './config-error.ts'
import { dnsObservePart } from './dns-observe.ts'
import { createLoopComponent, type LoopSettings } from './loop-component.ts'
import type { Shared } from './shared.ts'

/** Finds what is to be published within this time if a notification is lost. */
const publishIntervalMs = 30_000

export function dnsPublishParts(shared: Shared): Component[] {
  const { config, postgres, log } = shared
  const deps = {
    db: postgres.owner,
    ring: config.secret,
    signWhole: signInThread,
    now: () => new Date(),
  }
  const catalog = fromSetting('dns_catalog_zone', () => parseZoneName(config.dnsCatalogZone))
  return [
    createLedLoop(shared, {
      name: 'dns-publish',
      wakeName: 'dns',
      intervalMs: publishIntervalMs,
      run: async (signal) => void (await publishZones(deps, log, signal)),
    }),
    createLedLoop(shared, {
      name: 'dns-catalog',
      wakeName: 'dns-published',
      intervalMs: publishIntervalMs,
      async run() {
        const { added, removed, held } = await publishCatalog({ ...deps, catalog })
        if (added + removed > 0) log.info({ added, removed }, 'catalog zone changed')
        if (held > 0) log.warn({ held }, 'removals from the catalog zone wait for staff')
      },
    }),
    dnsObservePart(shared),
  ]
}

/** A loop that runs in the process that leads it. */
function createLedLoop(shared: Shared, settings: LoopSettings): Component {
  const leadership = new Leadership(shared.postgres, settings.name)
  const loop = createLoopComponent(shared, {
    ...settings,
    async run(signal) {
      if (await leadership.hold()) await settings.run(signal)
    },
  })
  return {
    name: settings.name,
    start: loop.start,
    async stop() {
      await loop.stop()
      await leadership.release()
    },
  }
}
