// Wires personal notifications: a loop of the reconciler role that writes them and queues their mails.
import { reportIncidents } from '../events/list/report-incidents.ts'
import { collectNotifications } from './collect.ts'
import { sendDigests } from './send-digests.ts'
import type { Component } from '../runtime/component.ts'
import { publicUrl } from '../runtime/config.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Shared } from '../process/shared.ts'

/** Letters are found, and digests become due, without a notification. */
const intervalMs = 30_000

export function notificationsPart(shared: Shared): Component {
  const { config, postgres } = shared
  const canMail = config.mailUrl !== null || config.mailFolder !== null
  const deps = {
    db: postgres.owner,
    ring: config.secret,
    publicUrl: publicUrl(config),
    canMail,
    now: () => new Date(),
    derive: reportIncidents,
  }
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
