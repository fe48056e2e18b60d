// The part of the collector role that reads devices.
import { randomUUID } from 'node:crypto'
import { createDeviceSource } from '../drivers/device-sources.ts'
import { listSamples } from '../inventory/collect/sampled-counters.store.ts'
import { DeviceCollector } from '../inventory/collect/collector.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { openFilesMax } from '../runtime/open-files.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import { openDeviceCredential } from './device-credential.ts'
import type { Shared } from './shared.ts'

/** How often devices that are due are looked for. */
const intervalMs = 5_000
const closeMs = 600_000
/** Files and sockets for everything else. */
const otherFiles = 500

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

export function devicesPart(shared: Shared): Component {
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
