// The state of an alert rule as a pill.
import type { AlertRule, AlertSeverity } from '@pharos/contract/alert/alert-rule'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

export const severityColors: Readonly<Record<AlertSeverity, StateColor>> = {
  info: 'info',
  warning: 'warn',
  critical: 'bad',
}

export function AlertPill({
  rule: { state, severity, enabled, firing_since: firingSince },
}: {
  readonly rule: Pick<AlertRule, 'state' | 'severity' | 'enabled' | 'firing_since'>
}) {
  if (!enabled) return <StatePill color="idle">{words.disabled}</StatePill>
  if (state === 'ok') return <StatePill color="ok">{words.states.ok}</StatePill>
  if (state === 'firing') return <StatePill color={severityColors[severity]}>{words.states.firing}</StatePill>
  if (firingSince !== null) return <StatePill color="warn">{words.firingUnknown}</StatePill>
  return <StatePill color="idle">{words.states.unknown}</StatePill>
}
