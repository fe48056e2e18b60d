// Mails about holds, wired: a loop of the reconciler role.
import { sendHoldAlerts } from '../byoip/reconcile/hold-alerts.ts'
import type { Component } from '../runtime/component.ts'
import { publicUrl } from '../runtime/config.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

/** Reminders become due by themselves: nobody is woken for them. */
const intervalMs = 60_000

export function holdAlertsPart({ config, postgres, waker, log, metrics }: Shared): Component {
  const loop = createLoop({
    name: 'hold-alerts',
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
              : log.error({ ...alert }, 'hold waits for a decision, and nobody gets mail about it'),
        },
        signal,
      ),
    log,
    metrics,
  })
  let off = () => {}
  return {
    name: 'hold-alerts',
    start: () => {
      off = waker.on('hold-alerts', () => loop.wake())
      loop.start()
    },
    stop: () => {
      off()
      return loop.stop()
    },
  }
}
