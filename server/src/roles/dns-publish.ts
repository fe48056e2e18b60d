// The DNS loops of the reconciler role: they publish zones, tell name servers about it and observe what those serve. One process at a time runs
// each of them.
import { Leadership } from '../db/leadership.ts'
import { publishZones } from '../dns/publish/publish-zones.ts'
import { signInThread } from '../dns/sign/sign-in-thread.ts'
import type { Component } from '../runtime/component.ts'
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
  return [
    createLedLoop(shared, {
      name: 'dns-publish',
      wakeName: 'dns',
      intervalMs: publishIntervalMs,
      run: async (signal) => void (await publishZones(deps, log, signal)),
    }),
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
