// Wires the mails about holds: a loop of the reconciler role.
import { sendHoldAlerts, type HoldAlert } from '../byoip/regions/hold-alerts.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import { describeZoneHold } from '../dns/publish/zone-hold.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { describeShieldHold } from '../shield/shield-hold.ts'
import { sendStaffHoldAlerts, type AlertedArea, type StaffHoldAlert } from './hold-alerts.ts'

/** Reminders become due without a notification. */
const intervalMs = 60_000

export const parts = (shared: Shared): Parts => ({ reconciler: () => [holdAlerts(shared)] })

function holdAlerts(shared: Shared): Component {
  const { config, owner, log } = shared
  const deps = {
    ...shared,
    db: owner,
    recipients: config.operatorAlertEmails,
    onAlert: report(log),
  }
  return createLoopComponent(shared, {
    name: 'hold-alerts',
    sends: { gate: shared.gate },
    wakeName: 'hold-alerts',
    intervalMs,
    async run(signal) {
      await sendHoldAlerts(deps, signal)
      for (const area of areas) await sendStaffHoldAlerts(deps, area, signal)
    },
  })
}

const areas: readonly AlertedArea[] = [
  { name: 'dns', describe: describeZoneHold },
  { name: 'shield', describe: describeShieldHold },
]

const report = (log: Log) => (alert: HoldAlert | StaffHoldAlert) =>
  alert.recipients > 0
    ? log.warn({ ...alert }, 'hold waits for a decision')
    : log.error({ ...alert }, 'hold waits for a decision, and no mail about it has a recipient')
