// Wires approvals: their areas, their operations, and the mails about them, a loop of the reconciler role.
import { routeApprovals } from '../byoip/regions/approval-area.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import { zoneApprovals } from '../dns/publish/approval-area.ts'
import type { Mounted } from '../http/mount.ts'
import { platformApprovals } from '../platform/approval-area.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { shieldApprovals, shieldApprovalsWithEffect } from '../shield/approval-area.ts'
import { sendApprovalAlerts, type ApprovalAlert } from './approval-alerts.ts'
import { approvalRoutes } from './approval.routes.ts'
import type { ApprovalAreas } from './area.ts'

/** Without the effects of shield rules, which need flows. */
export const basicApprovalAreas: ApprovalAreas = {
  routes: routeApprovals,
  dns: zoneApprovals,
  shield: shieldApprovals,
  platform: platformApprovals,
}

export const routes = ({ front, estimate, now }: ApiShared): Mounted[] =>
  approvalRoutes({
    db: front,
    areas: { ...basicApprovalAreas, shield: shieldApprovalsWithEffect({ db: front, estimate, now }) },
  })

export const parts = (shared: Shared): Parts => ({ reconciler: () => [approvalAlerts(shared)] })

/** Reminders become due without a notification. */
const intervalMs = 60_000

function approvalAlerts(shared: Shared): Component {
  const { config, owner, log } = shared
  const deps = {
    ...shared,
    db: owner,
    areas: basicApprovalAreas,
    recipients: config.operatorAlertEmails,
    onAlert: report(log),
  }
  return createLoopComponent(shared, {
    name: 'approval-alerts',
    sends: { gate: shared.gate },
    wakeName: 'approval-alerts',
    intervalMs,
    run: (signal) => sendApprovalAlerts(deps, signal),
  })
}

const report = (log: Log) => (alert: ApprovalAlert) =>
  alert.recipients > 0
    ? log.warn({ ...alert }, 'changes need approval')
    : log.error({ ...alert }, 'changes need approval, and no mail about them has a recipient')
