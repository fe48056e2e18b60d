// Wires the inventory: its operations, and the loops that read devices and check ASNs.
import { randomUUID } from 'node:crypto'
import { createLoopComponent } from '../db/loop-component.ts'
import { createDeviceSource } from '../drivers/device-sources.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import { findEventFile } from '../events/attachment/event-attachment.ts'
import { flowDeps } from '../flow/parts.ts'
import { readPortFlows } from '../flow/port-flows.ts'
import { readFamilyUsage } from '../flow/port-usage.ts'
import type { Mounted } from '../http/mount.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { openFilesMax } from '../runtime/open-files.ts'
import { asnRoutes } from './asn.routes.ts'
import type { StoredFile } from './attachment/attachment.store.ts'
import { closePeriods } from './bill/close-period.ts'
import { DeviceCollector } from './collect/collector.ts'
import { openDeviceCredential } from './collect/open-credential.ts'
import { listSamples } from './collect/sampled-counters.store.ts'
import { crossConnectRoutes } from './cross-connect.routes.ts'
import type { AsnProofSources } from './holding/asn-proof-result.ts'
import { createRefreshLimits } from './holding/asn-proof.ts'
import type { AsnProofDeps } from './holding/asn-proof.ts'
import { recheckAsns } from './holding/asn-recheck.ts'
import { inventoryRoutes } from './inventory.routes.ts'
import { watchOptics } from './optics/watch-optics.ts'
import { compactUsage } from './usage/compact.store.ts'

/** Interval of searches for devices that are due. */
const intervalMs = 5_000
const closeMs = 600_000
const compactMs = 600_000
const hourMs = 3_600_000
/** Files and sockets for everything else. */
const otherFiles = 500

export function routes(shared: Shared): Mounted[] {
  const { postgres, front, flowStore } = shared
  const common = {
    ...shared,
    db: front,
    findEventFile: (file: StoredFile, teamId: number | null) => findEventFile(postgres, file, teamId),
  }
  return [
    ...asnRoutes({ ...asnProofDeps(shared), db: front, refreshes: createRefreshLimits() }),
    ...inventoryRoutes({
      ...common,
      readFamilyUsage: (usage) => readFamilyUsage(flowStore, usage),
      readFlowRecords: (query) => readPortFlows(flowDeps(shared), query),
    }),
    ...crossConnectRoutes(common),
  ]
}

export const parts = (shared: Shared): Parts => ({
  reconciler: () => [asnProofsPart(shared)],
  collector: () => [devices(shared), ...usageLoops(shared)],
})

export type DevicesDeps = Pick<Shared, 'postgres' | 'log'> & {
  readonly config: Pick<Config, 'secret'>
}

export function createDeviceCollector({ config, postgres, log }: DevicesDeps): DeviceCollector {
  return new DeviceCollector({
    postgres,
    log,
    owner: randomUUID(),
    createSource: ({ sealed, ...device }) =>
      createDeviceSource({
        ...device,
        credential: sealed ? openDeviceCredential(config.secret, sealed) : null,
        readSamples: () => listSamples(postgres.owner, device.id),
        now: () => new Date(),
      }),
  })
}

function devices(shared: Shared): Component {
  const { log } = shared
  const collector = createDeviceCollector(shared)
  const loop = createLoopComponent(shared, {
    name: 'devices',
    sends: 'nothing',
    wakeName: 'devices',
    intervalMs,
    run: () => collector.startDue(),
  })
  const closing = createLoopComponent(shared, {
    name: 'unused-devices',
    sends: 'nothing',
    intervalMs: closeMs,
    async run() {
      const devices = await collector.closeUnused()
      const max = await openFilesMax()
      if (max !== undefined && devices + otherFiles > max)
        log.warn({ devices, max }, 'each device needs a socket: raise the limit of open files (ulimit -n)')
    },
  })
  return {
    name: loop.name,
    start() {
      loop.start()
      closing.start()
    },
    async stop() {
      await closing.stop()
      await loop.stop()
      await collector.stop()
    },
  }
}

function asnProofDeps(shared: Shared): AsnProofDeps {
  return {
    ...shared,
    sources: createAsnProofSources(shared),
    allowDocumentationAsns: shared.config.allowDocumentationResources,
    onCheckError: (error) =>
      shared.log.error({ err: error }, 'ASN check failed; it is retried with the next one'),
  }
}

/** Skips the sources that are not configured, so that their methods are reported as such. */
function createAsnProofSources({ config, rpki, irr }: Shared): AsnProofSources {
  return {
    irr: config.irrSources.length > 0 ? irr : undefined,
    rpki: config.rpkiSources.length > 0 ? rpki : undefined,
    txt: createTxtResolver({ servers: config.dnsResolvers }),
  }
}

/** Hourly, because each ASN is checked at its own time of day. */
export function asnProofsPart(shared: Shared): Component {
  const { log } = shared
  const deps = asnProofDeps(shared)
  return createLoopComponent(shared, {
    name: 'asn-proofs',
    sends: 'nothing',
    intervalMs: hourMs,
    run: async (signal) => {
      const { checked, expired, failed } = await recheckAsns(deps, signal)
      if (checked > 0) log.info({ checked, expired, failed }, 'ASNs checked')
    },
  })
}

function usageLoops(shared: Shared): Component[] {
  const { postgres, owner, now, log } = shared
  return [
    createLoopComponent(shared, {
      name: 'compact-usage',
      sends: 'nothing',
      intervalMs: compactMs,
      async run() {
        const days = await compactUsage(owner)
        if (days > 0) log.info({ days }, 'usage of past days compacted')
      },
    }),
    createLoopComponent(shared, {
      name: 'watch-optics',
      sends: 'nothing',
      intervalMs: hourMs,
      async run(signal) {
        const modules = await watchOptics(owner, now(), signal)
        if (modules > 0) log.info({ modules }, 'light levels of past days evaluated')
      },
    }),
    createLoopComponent(shared, {
      name: 'close-period',
      sends: 'nothing',
      intervalMs: hourMs,
      async run(signal) {
        const months = await closePeriods(postgres, now(), signal)
        if (months > 0) log.info({ months }, 'months of services closed')
      },
    }),
  ]
}
