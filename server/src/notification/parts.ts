// Wires personal notifications: their operations, and a loop of the reconciler role that writes them and queues their mails.
import { createLoopComponent } from '../db/loop-component.ts'
import { reportIncidents } from '../events/list/report-incidents.ts'
import type { Mounted } from '../http/mount.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import { collectNotifications } from './collect.ts'
import { notificationRoutes } from './notification.routes.ts'
import { sendDigests } from './send-digests.ts'

/** Letters are found, and digests become due, without a notification. */
const intervalMs = 30_000

export const routes = ({ front, now }: Shared): Mounted[] => notificationRoutes({ db: front, now })

export const parts = (shared: Shared): Parts => ({ reconciler: () => [notifications(shared)] })

function notifications(shared: Shared): Component {
  const { config, owner } = shared
  const canMail = config.mailUrl !== null || config.mailFolder !== null
  const deps = { ...shared, db: owner, canMail, derive: reportIncidents }
  return createLoopComponent(shared, {
    name: 'notifications',
    sends: { gate: shared.gate },
    wakeName: 'outbox',
    // Each run is a transaction beside the work that the message is about.
    delayMs: 200,
    intervalMs,
    async run(signal) {
      await collectNotifications(deps, signal)
      if (canMail) await sendDigests(deps, signal)
    },
  })
}
