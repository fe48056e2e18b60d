// The loop of black holes in the reconciler role: ends those whose time is over, and marks the events whose black hole a router shows. The
// loops of the regions announce and withdraw the routes.
import { markBlackholed } from '../events/relate/event-mark.ts'
import { expireBlackholes } from '../byoip/blackhole/expire-blackholes.ts'
import { listBlackholed } from '../byoip/blackhole/expire-blackholes.store.ts'
import type { Component } from '../runtime/component.ts'
import { createLedLoop } from '../db/led-loop.ts'
import type { Shared } from './shared.ts'

/** How late the end of a black hole is noticed, if no other loop runs before. */
const intervalMs = 2_000

export function blackholePart(shared: Shared): Component {
  const { postgres, log } = shared
  return createLedLoop(shared, {
    name: 'blackholes',
    sends: { gate: shared.gate },
    wakeName: 'blackholes',
    intervalMs,
    async run() {
      const ended = await expireBlackholes(postgres.owner)
      if (ended > 0) log.info({ ended }, 'black holes ended')
      await markBlackholed(postgres.owner, await listBlackholed(postgres.owner))
    },
  })
}
