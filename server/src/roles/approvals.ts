// Wires approvals: their areas, and the mails about them, a loop of the reconciler role.
import { sendApprovalAlerts, type ApprovalAlert } from '../approval/approval-alerts.ts'
import type { ApprovalAreas } from '../approval/area.ts'
import { routeApprovals } from '../byoip/regions/approval-area.ts'
import { zoneApprovals } from '../dns/publish/approval-area.ts'
import { platformApprovals } from '../platform/approval-area.ts'
import type { Component } from '../runtime/component.ts'
import { publicUrl } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import { shieldApprovals } from '../shield/approval-area.ts'
import { createLoopComponent } from './loop-component.ts'
import type { Shared } from './shared.ts'

/** Without the effects of shield rules, which need flows. */
export const approvalAreas: ApprovalAreas = {
  routes: routeApprovals,
  dns: zoneApprovals,
  shield: shieldApprovals,
  platform: platformApprovals,
}

/** Reminders become due without a notification. */
const intervalMs = 60_000

export function approvalAlertsPart(shared: Shared): Component {
  const { config, postgres, log } = shared
  return createLoopComponent(shared, {
    name: 'approval-alerts',
    sends: { gate: shared.gate },
    wakeName: 'approval-alerts',
    intervalMs,
    run: (signal) =>
      sendApprovalAlerts(
        {
          db: postgres.owner,
          areas: approvalAreas,
          ring: config.secret,
          publicUrl: publicUrl(config),
          recipients: config.operatorAlertEmails,
          onAlert: report(log),
        },
        signal,
      ),
  })
}

const report = (log: Log) => (alert: ApprovalAlert) =>
  alert.recipients > 0
    ? log.warn({ ...alert }, 'changes need approval')
    : log.error({ ...alert }, 'changes need approval, and no mail about them has a recipient')
