// Records the examples of alert rules: a rule on the port of the inventory, which fires.
import {
  createAlertRuleRoute,
  deleteAlertRuleRoute,
  getAlertRuleRoute,
  listAlertFiringsRoute,
  listAlertRulesRoute,
  tryAlertConditionRoute,
  updateAlertRuleRoute,
} from '@pharos/contract/alert/alert-rule'
import { alertRule } from '@pharos/contract/examples/world'
import { watchAlertRules } from '../../../src/alert/watch-rules.ts'
import { addDevice, addServices, addTraffic } from './inventory.ts'
import type { Recorder } from './recorder.ts'

const firingId = 902
const inRule = { params: { alert_rule_id: alertRule.id } }

export async function recordAlerts(recorder: Recorder): Promise<void> {
  const { api, record, at, nextId } = recorder
  await addServices(recorder)
  await addDevice(recorder)
  await addTraffic(recorder, '2026-03-13', '2026-03-14T09:30:00Z')
  await nextId('alert_rules', alertRule.id)
  await nextId('alert_firings', firingId)
  const { name, condition } = alertRule
  await at('2026-03-14T09:20:12.000Z')
  await record(createAlertRuleRoute, { body: { name, condition, severity: 'warning' } })
  const now = new Date('2026-03-14T09:30:41.000Z')
  await at(now.toISOString())
  await watchAlertRules({ postgres: api.database.postgres, now: () => now }, AbortSignal.timeout(60_000))
  await record(listAlertRulesRoute, {
    query: { state: ['firing', 'unknown'], ordering: '-severity', limit: 100 },
  })
  await record(getAlertRuleRoute, inRule)
  await record(listAlertFiringsRoute, { ...inRule, query: { limit: 20 } })
  await record(tryAlertConditionRoute, {
    body: { condition, start: '2026-03-14T06:30:00Z', end: '2026-03-14T09:30:00Z' },
  })
  await record(updateAlertRuleRoute, { ...inRule, body: { severity: 'critical', clear_minutes: 30 } })
  await record(deleteAlertRuleRoute, inRule)
}
