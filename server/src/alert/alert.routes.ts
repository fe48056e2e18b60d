// HTTP routes of alert rules: one line per operation.
import {
  createAlertRuleRoute,
  deleteAlertRuleRoute,
  getAlertRuleRoute,
  listAlertFiringsRoute,
  listAlertRulesRoute,
  tryAlertConditionRoute,
  updateAlertRuleRoute,
} from '@pharos/contract/alert/alert-rule'
import { handle, type Mounted } from '../http/mount.ts'
import {
  createAlertRule,
  deleteAlertRule,
  getAlertRule,
  listAlertFirings,
  listAlertRules,
  updateAlertRule,
} from './alert-rule.ts'
import { tryAlertCondition, type TryDeps } from './try-condition.ts'

export const alertRoutes = (deps: TryDeps): Mounted[] => [
  handle(listAlertRulesRoute, listAlertRules, deps),
  handle(getAlertRuleRoute, getAlertRule, deps),
  handle(createAlertRuleRoute, createAlertRule, deps),
  handle(updateAlertRuleRoute, updateAlertRule, deps),
  handle(deleteAlertRuleRoute, deleteAlertRule, deps),
  handle(listAlertFiringsRoute, listAlertFirings, deps),
  handle(tryAlertConditionRoute, tryAlertCondition, deps),
]
