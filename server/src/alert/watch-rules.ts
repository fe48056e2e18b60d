// Evaluates the alert rules of all teams: one reading for each kind, then the state machine of each rule, then all changes with their messages
// in one transaction. A rule that another process has evaluated or a request has changed meanwhile is left alone, so that two processes
// report each firing once.
import { alertLimitOf, alertModules } from '@pharos/contract/alert/alert-rule'
import type { AlertReason } from '@pharos/contract/reason/alert-reason'
import { alertTrialDays } from '@pharos/contract/alert/alert-rule'
import { recordHeardBy } from '../byoip/visibility/heard-by.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { writeMessages, type NewMessage } from '../outbox/outbox.ts'
import { clearedMessage, firedMessage, unknownMessage } from './alert-message.ts'
import { evaluate, newMemory, type AlertChange, type AlertMemory, type AlertStep } from './evaluate.ts'
import { lateMs, readSeries, stepsOf, valueMsOf, type AlertSeries, type SeriesTarget } from './series.ts'
import {
  clearFiring,
  deleteOldFirings,
  insertFiring,
  listEnabledRules,
  saveEvaluated,
  type RuleEvaluation,
  type WatchedRule,
} from './watch.store.ts'

export type WatchDeps = { readonly postgres: Postgres; readonly now: () => Date }

const minuteMs = 60_000
/** After a longer pause, older values are skipped. */
const catchUpMs = 24 * 60 * minuteMs
const firingDays = 400
/** Rules that are read and saved together. */
const batchSize = 1_000

/** Returns the number of changes that were reported. Rejects after all others if the values of a kind or a bill could not be read. */
export async function watchAlertRules(
  { postgres, now: clock }: WatchDeps,
  signal: AbortSignal,
): Promise<number> {
  const now = clock()
  const { owner } = postgres
  const rules = await listEnabledRules(owner)
  const announcements = rules.filter(({ condition }) => condition.kind === 'visibility')
  await recordHeardBy(
    owner,
    announcements.map(({ object_id: id }) => id),
    now,
    alertTrialDays + 1,
  )
  await deleteOldFirings(owner, firingDays)
  const due = rules.map((rule) => dueOf(rule, now.getTime())).filter((one) => one !== undefined)
  const failures: unknown[] = []
  let count = 0
  for (const batch of batchesOf(due)) {
    signal.throwIfAborted()
    try {
      count += await watchBatch(postgres, batch, now)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0)
    throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'alert rules not evaluated')
  return count
}

/** By kind, bills one by one and last: reading one takes as long as reading the other values of all rules. */
function batchesOf(due: readonly DueRule[]): DueRule[][] {
  const [bills, others] = [true, false].map((isBill) =>
    due.filter(({ rule }) => (rule.condition.kind === 'commit') === isBill),
  ) as [DueRule[], DueRule[]]
  const kinds = Map.groupBy(others, ({ rule }) => rule.condition.kind)
  return [
    ...[...kinds.values()].flatMap((own) =>
      Array.from({ length: Math.ceil(own.length / batchSize) }, (_, at) =>
        own.slice(at * batchSize, (at + 1) * batchSize),
      ),
    ),
    ...bills.map((one) => [one]),
  ]
}

type DueRule = { readonly rule: WatchedRule; readonly target: SeriesTarget }

/** Undefined if no whole value has passed since the last evaluation. */
function dueOf(rule: WatchedRule, nowMs: number): DueRule | undefined {
  const { id, team_id: teamId, condition, evaluated_until: evaluatedUntil } = rule
  const valueMs = valueMsOf(condition.kind)
  // A new rule looks back, so that it fires for what lasts already.
  const firstMs = nowMs - alertLimitOf(condition).forMinutes * minuteMs - lateMs - valueMs
  const sinceMs = Math.max(evaluatedUntil?.getTime() ?? firstMs, nowMs - catchUpMs)
  const startMs = Math.floor(sinceMs / valueMs) * valueMs
  const endMs = Math.floor(nowMs / valueMs) * valueMs
  return startMs + valueMs <= endMs
    ? { rule, target: { key: id, teamId, condition, startMs, endMs, valueMs } }
    : undefined
}

async function watchBatch(postgres: Postgres, due: readonly DueRule[], now: Date): Promise<number> {
  const isReadable = ({ rule }: DueRule) => rule.modules.includes(alertModules[rule.condition.kind])
  const series = await readSeries(
    { postgres, read: async (query) => (await query.execute(postgres.owner)).rows },
    due.filter(isReadable).map(({ target }) => target),
  )
  const closed: AlertSeries = { reason: 'module_disabled', values: new Map() }
  const evaluated = due.flatMap((one) => {
    const own = series.get(one.rule.id) ?? closed
    return evaluatedOf(one, own, now.getTime()) ?? []
  })
  if (evaluated.length === 0) return 0
  return postgres.owner.transaction().execute((trx) => save(trx, evaluated))
}

type Evaluated = RuleEvaluation & { readonly rule: WatchedRule; readonly changes: readonly AlertChange[] }

/** Undefined if no value has become final. */
function evaluatedOf({ rule, target }: DueRule, series: AlertSeries, nowMs: number): Evaluated | undefined {
  const steps = sinceStart(rule, series, stepsOf(series, target, nowMs))
  const last = steps.at(-1)
  if (!last) return undefined
  const timing = { limit: alertLimitOf(rule.condition), clearMinutes: rule.clear_minutes }
  const { memory, changes } = evaluate(timing, memoryOf(rule), steps)
  return {
    rule,
    changes,
    id: rule.id,
    version: rule.version,
    before: rule.evaluated_until,
    until: new Date(last.endMs),
    memory,
    reason: memory.state === 'unknown' ? reasonOf(series, rule, memory) : null,
  }
}

/** A new rule looks back for values, but has not waited for them: missing ones before it count as nothing. */
function sinceStart(
  { evaluated_until: until, since }: WatchedRule,
  { reason }: AlertSeries,
  steps: readonly AlertStep[],
): readonly AlertStep[] {
  if (until !== null || reason !== null) return steps
  const first = steps.findIndex(({ value, endMs }) => value !== null || endMs > since.getTime())
  return first === -1 ? [] : steps.slice(first)
}

/** A rule whose first values are missing is new until it is known that there are none. */
function reasonOf({ reason }: AlertSeries, rule: WatchedRule, { unknownMs }: AlertMemory): AlertReason {
  if (reason !== null) return reason
  return rule.reason === 'new' && unknownMs === 0 ? 'new' : 'no_data'
}

const memoryOf = (rule: WatchedRule): AlertMemory => ({
  ...newMemory(rule.since.getTime()),
  state: rule.state,
  isFiring: rule.firing_id !== null,
  value: rule.value,
  aboveMs: rule.above_ms,
  belowMs: rule.below_ms,
  unknownMs: rule.unknown_ms,
  runSinceMs: rule.run_since?.getTime() ?? null,
  toldUnknown: rule.told_unknown,
})

/** The rows are locked by their update; the messages follow in the order of the changes. */
async function save(trx: Trx, evaluated: readonly Evaluated[]): Promise<number> {
  const saved = new Set(await saveEvaluated(trx, evaluated))
  const messages: NewMessage[] = []
  for (const { rule, changes, reason } of evaluated)
    if (saved.has(rule.id))
      for (const change of changes) messages.push(...(await messageOf(trx, rule, change, reason)))
  await writeMessages(trx, messages)
  return messages.length
}

async function messageOf(
  trx: Trx,
  rule: WatchedRule,
  change: AlertChange,
  reason: AlertReason | null,
): Promise<NewMessage[]> {
  const at = new Date(change.atMs)
  switch (change.kind) {
    case 'fired': {
      const firing = { started: new Date(change.startedMs), fired: at, value: change.value }
      const { threshold } = alertLimitOf(rule.condition)
      const id = await insertFiring(trx, rule, { ...firing, threshold })
      return [firedMessage(rule, { id, ...firing })]
    }
    case 'cleared': {
      const firing = await clearFiring(trx, rule.id, at)
      return firing ? [clearedMessage(rule, { ...firing, ended: at, ending: 'cleared' })] : []
    }
    case 'unknown':
      return [unknownMessage(rule, { reason: reason ?? 'no_data', since: new Date(change.sinceMs), at })]
  }
}
