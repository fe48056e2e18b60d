// Wires the mails about holds: a loop of the reconciler role.
import { sendHoldAlerts } from '../byoip/reconcile/hold-alerts.ts'
import type { Component } from '../runtime/component.ts'
import { publicUrl } from '../runtime/config.ts'
import { createLoopComponent } from './loop-component.ts'
import type { Shared } from './shared.ts'

/** Reminders become due without a notification. */
const intervalMs = 60_000

export function holdAlertsPart(shared: Shared): Component {
  const { config, postgres, log } = shared
  return createLoopComponent(shared, {
    name: 'hold-alerts',
    wakeName: 'hold-alerts',
    intervalMs,
    run: (signal) =>
      sendHoldAlerts(
        {
          db: postgres.owner,
          ring: config.secret,
          publicUrl: publicUrl(config),
          recipients: config.operatorAlertEmails,
          onAlert: (alert) =>
            alert.recipients > 0
              ? log.warn({ ...alert }, 'hold waits for a decision')
              : log.error({ ...alert }, 'hold waits for a decision, and no mail about it has a recipient'),
        },
        signal,
      ),
  })
}
