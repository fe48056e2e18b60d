// The loop that transfers secondary zones from their primaries. Any number of processes may run it: each claims zones that no other has.
import { followZone } from '../dns/publish/follow-zone.ts'
import { claimSecondaries } from '../dns/publish/follow.store.ts'
import { createDueWorker } from '../db/due-work.ts'
import { createPrimary } from '../drivers/dns-follower/zone-primary.ts'
import type { Component } from '../runtime/component.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Shared } from './shared.ts'
import { openTsigKey } from './tsig-keys.ts'

/** Transfers at once. */
const parallel = 8
const intervalMs = 10_000

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
    parallel,
    onError: (error) =>
      log.error({ err: error }, 'secondary zone not followed; it is due when its lease ends'),
  })
  return createLoopComponent(shared, {
    name: 'dns-follow',
    sends: 'nothing',
    wakeName: 'dns',
    // Every change of a zone wakes it, and few are of secondary zones.
    delayMs: 20,
    intervalMs,
    async run(running) {
      signal = running
      await worker.drain(running)
    },
  })
}
