// The messages about firings of alert rules. Pure.
import {
  alertLimitOf,
  type AlertCondition,
  type AlertEnding,
  type AlertSeverity,
} from '@pharos/contract/alert/alert-rule'
import { alertReasonText, type AlertReason } from '@pharos/contract/reason/alert-reason'
import type { NewMessage } from '../outbox/outbox.ts'
import type { AlertObjectRow } from './alert-rule.store.ts'

export type ReportedRule = {
  readonly id: number
  readonly team_id: number
  readonly name: string
  readonly condition: AlertCondition
  readonly severity: AlertSeverity
  readonly object: AlertObjectRow
}

/** Time that the chart of a link shows before the start. */
const leadMs = 6 * 3_600_000

/** As addresses of the portal have times. */
const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`

function ruleData({ id, name, condition, severity, object }: ReportedRule, started: Date, at: Date) {
  const { threshold, unit, comparison } = alertLimitOf(condition)
  return {
    alert_rule_id: id,
    name,
    kind: condition.kind,
    severity,
    object,
    threshold,
    unit,
    comparison,
    portal_path: `/alerts/${id}?from=${minuteOf(started.getTime() - leadMs)}&to=${minuteOf(at.getTime())}`,
  }
}

type Firing = { readonly id: number; readonly started: Date }

export const firedMessage = (
  rule: ReportedRule,
  { id, started, fired, value }: Firing & { readonly fired: Date; readonly value: number },
): NewMessage => ({
  teamId: rule.team_id,
  type: 'alert.fired',
  data: {
    ...ruleData(rule, started, fired),
    firing_id: id,
    value,
    started: started.toISOString(),
    at: fired.toISOString(),
  },
})

export const clearedMessage = (
  rule: ReportedRule,
  { id, started, ended, ending }: Firing & { readonly ended: Date; readonly ending: AlertEnding },
): NewMessage => ({
  teamId: rule.team_id,
  type: 'alert.cleared',
  data: {
    ...ruleData(rule, started, ended),
    firing_id: id,
    started: started.toISOString(),
    ending,
    at: ended.toISOString(),
  },
})

export const unknownMessage = (
  rule: ReportedRule,
  { reason, since, at }: { readonly reason: AlertReason; readonly since: Date; readonly at: Date },
): NewMessage => ({
  teamId: rule.team_id,
  type: 'alert.unknown',
  data: {
    ...ruleData(rule, since, at),
    reason,
    message: alertReasonText(reason),
    since: since.toISOString(),
    at: at.toISOString(),
  },
})
