// Wires alert rules: their operations, and the loop of the reconciler role that evaluates them.
import { createLedLoop } from '../db/led-loop.ts'
import type { Mounted } from '../http/mount.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import { alertRoutes } from './alert.routes.ts'
import { watchAlertRules } from './watch-rules.ts'

/** Values are of 5 minutes: a firing is at most this much later. */
const intervalMs = 60_000

export const routes = (shared: Shared): Mounted[] => alertRoutes(shared)

export const parts = (shared: Shared): Parts => ({ reconciler: () => [alertRules(shared)] })

function alertRules(shared: Shared): Component {
  const { log } = shared
  return createLedLoop(shared, {
    name: 'alert-rules',
    sends: 'nothing',
    intervalMs,
    async run(signal) {
      const changes = await watchAlertRules(shared, signal)
      if (changes > 0) log.info({ changes }, 'alert rules changed')
    },
  })
}
