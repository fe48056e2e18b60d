// Alert rules of a team: reading them, and the changes that their team makes.
import { isDeepStrictEqual } from 'node:util'
import {
  alertLimitOf,
  alertModules,
  alertObjectOf,
  alertRulesMax,
  type AlertCondition,
  type AlertEnding,
  type AlertFiring,
  type AlertRule,
  type listAlertFiringsRoute,
  type listAlertRulesRoute,
} from '@pharos/contract/alert/alert-rule'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import type { createAlertRuleRoute, updateAlertRuleRoute } from '@pharos/contract/alert/alert-rule'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import { fieldsOf } from '../operation/fields.ts'
import { actorName, type Operation } from '../operation/operation.ts'
import { writeMessages } from '../outbox/outbox.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import { clearedMessage } from './alert-message.ts'
import {
  countAlertRules,
  deleteAlertRuleRow,
  endFiring,
  findAlertRule,
  hasObject,
  insertAlertRule,
  listAlertRuleRows,
  listFiringRows,
  lockAlertRule,
  saveAlertRule,
  type AlertRuleRow,
  type AlertSettings,
  type StoredAlertSettings,
} from './alert-rule.store.ts'

type Deps = { readonly postgres: Postgres }

export async function listAlertRules(
  { postgres }: Deps,
  { actor }: Operation,
  query: QueryOf<typeof listAlertRulesRoute>,
): Promise<{ results: AlertRule[]; count: number }> {
  const { page, count } = await listAlertRuleRows(postgres, actor.teamId, query)
  return { results: page.map(presentRule), count }
}

/** Throws `not_found`. */
export async function getAlertRule(
  { postgres }: Deps,
  { actor }: Operation,
  id: number,
): Promise<ChangeAnswer<AlertRule>> {
  const row = await findAlertRule(postgres, actor.teamId, id)
  if (!row) throw notFound('alert rule')
  return answerWith(row)
}

/** Throws `not_found`. */
export async function listAlertFirings(
  { postgres }: Deps,
  { actor }: Operation,
  id: number,
  query: QueryOf<typeof listAlertFiringsRoute>,
): Promise<{ results: AlertFiring[]; count: number }> {
  const { page, count } = await listFiringRows(postgres, actor.teamId, id, query)
  const results = page.map((row) => ({
    ...row,
    started: row.started.toISOString(),
    fired: row.fired.toISOString(),
    ended: row.ended?.toISOString() ?? null,
  }))
  return { results, count }
}

/** Throws `invalid`, `module_disabled` and `quota_exceeded`. */
export function createAlertRule(
  { postgres }: Deps,
  operation: Operation,
  {
    name,
    condition,
    severity = 'warning',
    enabled = true,
    clear_minutes,
  }: BodyOf<typeof createAlertRuleRoute>,
): Promise<ChangeAnswer<AlertRule>> {
  const { teamId } = operation.actor
  requireModule(operation, condition)
  return runChange(postgres, operation, async (trx) => {
    await requireObject(trx, teamId, condition)
    if ((await countAlertRules(trx, teamId)) >= alertRulesMax)
      throw fail('quota_exceeded', 'alertRules', { limit: alertRulesMax })
    const settings = {
      name,
      condition,
      severity,
      enabled,
      clear_minutes: clear_minutes ?? clearMinutesOf(condition),
    }
    const row = await insertAlertRule(trx, teamId, storedOf(settings), actorName(operation.actor))
    await note(trx, operation, row.id, 'create', { after: recordedOf(row) })
    return answerWith(row)
  })
}

/** A bill moves slowly; other values are compared every 5 minutes. */
export const clearMinutesOf = ({ kind }: AlertCondition): number => (kind === 'commit' ? 60 : 15)

/** Throws `not_found`, `precondition_failed`, `invalid` and `module_disabled`. */
export function updateAlertRule(
  { postgres }: Deps,
  operation: Operation,
  id: number,
  change: BodyOf<typeof updateAlertRuleRoute>,
): Promise<ChangeAnswer<AlertRule>> {
  const { teamId } = operation.actor
  if (change.condition) requireModule(operation, change.condition)
  return runChange(postgres, operation, async (trx) => {
    const before = await lockForChange(trx, operation, id)
    const next: AlertSettings = {
      name: change.name ?? before.name,
      condition: change.condition ?? before.condition,
      severity: change.severity ?? before.severity,
      enabled: change.enabled ?? before.enabled,
      clear_minutes: change.clear_minutes ?? before.clear_minutes,
    }
    if (isDeepStrictEqual(recordedOf(before), recordedOf(next))) return answerWith(before)
    const isOther = !isDeepStrictEqual(before.condition, next.condition)
    if (isOther) await requireObject(trx, teamId, next.condition)
    const isToggled = before.enabled !== next.enabled
    if (isOther || isToggled)
      await end(trx, teamId, before, isToggled && !next.enabled ? 'disabled' : 'changed')
    const anew = isOther || isToggled ? (next.enabled ? 'new' : 'disabled') : undefined
    const after = await saveAlertRule(trx, teamId, id, storedOf(next), anew)
    await note(trx, operation, id, 'update', { before: recordedOf(before), after: recordedOf(after) })
    return { ...answerWith(after), before: presentRule(before) }
  })
}

/** Throws `not_found` and `precondition_failed`. */
export function deleteAlertRule(
  { postgres }: Deps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    const before = await lockForChange(trx, operation, id)
    await end(trx, teamId, before, 'deleted')
    await deleteAlertRuleRow(trx, teamId, id)
    await note(trx, operation, id, 'delete', { before: recordedOf(before) })
    return { body: null, before: presentRule(before) }
  })
}

/** Receivers of the firing get its end. */
async function end(trx: Trx, teamId: number, rule: AlertRuleRow, ending: AlertEnding): Promise<void> {
  const firing = await endFiring(trx, teamId, rule.id, ending)
  if (firing) await writeMessages(trx, [clearedMessage({ ...rule, team_id: teamId }, { ...firing, ending })])
}

async function lockForChange(trx: Trx, operation: Operation, id: number): Promise<AlertRuleRow> {
  const found = await lockAlertRule(trx, operation.actor.teamId, id)
  if (!found) throw notFound('alert rule')
  requireMatch(operation.ifMatch, etagOf(found.version))
  return found
}

/** Throws `module_disabled`. */
export function requireModule({ actor }: Operation, condition: AlertCondition): void {
  const module = alertModules[condition.kind]
  if (!actor.modules.includes(module)) throw fail('module_disabled', 'module', { module })
}

async function requireObject(trx: Trx, teamId: number, condition: AlertCondition): Promise<void> {
  const { type, id } = alertObjectOf(condition)
  if (!(await hasObject(trx, teamId, type, id)))
    throw invalid(['body', 'condition', `${type}_id`], 'alertObject', { type })
}

const storedOf = (settings: AlertSettings): StoredAlertSettings => ({
  ...settings,
  kind: settings.condition.kind,
  objectId: alertObjectOf(settings.condition).id,
})

/** The evaluation changes the shown state of a rule but not its version. */
const tagOf = ({
  version,
  state,
  since,
  reason,
  value,
  firing_since,
  evaluated_until,
  object,
}: AlertRuleRow): string =>
  etagOf(version, [state, since, reason, value, firing_since, evaluated_until, object])

const answerWith = (row: AlertRuleRow) => ({ body: presentRule(row), etag: tagOf(row) })

function presentRule({ version: _version, ...row }: AlertRuleRow): AlertRule {
  const { threshold, unit, comparison } = alertLimitOf(row.condition)
  return {
    ...row,
    since: row.since.toISOString(),
    firing_since: row.firing_since?.toISOString() ?? null,
    evaluated_until: row.evaluated_until?.toISOString() ?? null,
    created: row.created.toISOString(),
    modified: row.modified.toISOString(),
    threshold,
    unit,
    comparison,
  }
}

/** The part recorded in the audit log, as one list of fields. */
const recordedOf = ({ condition, ...settings }: AlertSettings) => ({
  ...fieldsOf(settings, ['name', 'severity', 'enabled', 'clear_minutes']),
  ...condition,
})

function note(
  trx: Trx,
  operation: Operation,
  id: number,
  verb: string,
  change: { readonly before?: unknown; readonly after?: unknown },
): Promise<void> {
  return writeAudit(trx, {
    ...auditOf(operation),
    action: `alert_rule.${verb}`,
    target: `alert_rule:${id}`,
    ...change,
  })
}
