// The SQL of the evaluation of alert rules, for all teams, as the owner of the tables.
import type { AlertCondition, AlertSeverity, AlertState } from '@pharos/contract/alert/alert-rule'
import type { AlertReason } from '@pharos/contract/reason/alert-reason'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { unnestRows } from '../db/unnest.ts'
import { objectOfRule } from './alert-rule.store.ts'
import type { AlertMemory } from './evaluate.ts'

const watchedColumns = columns(
  'alert_rules',
  'r',
  [
    'id',
    'team_id',
    'name',
    'object_id',
    'clear_minutes',
    'since',
    'value',
    'evaluated_until',
    'above_ms',
    'below_ms',
    'unknown_ms',
    'run_since',
    'told_unknown',
    'version',
  ],
  {
    modules: sql<string[]>`(select t.enabled_modules from teams t where t.id = r.team_id)`,
    condition: sql<AlertCondition>`r.condition`,
    object: objectOfRule,
    severity: sql<AlertSeverity>`r.severity`,
    state: sql<AlertState>`r.state`,
    reason: sql<AlertReason | null>`r.reason`,
    /** The open firing. */
    firing_id: sql<
      number | null
    >`(select f.id from alert_firings f where f.rule_id = r.id and f.ended is null)`,
  },
)
export type WatchedRule = Readonly<RowOf<typeof watchedColumns>>

export async function listEnabledRules(db: Db): Promise<WatchedRule[]> {
  const { rows } = await sql<WatchedRule>`
    select ${watchedColumns} from alert_rules r where r.enabled order by r.id`.execute(db)
  return rows
}

export type RuleEvaluation = {
  readonly id: number
  readonly version: number
  /** The end of the last evaluated value before. */
  readonly before: Date | null
  readonly until: Date
  readonly memory: AlertMemory
  readonly reason: AlertReason | null
}

/** Saves what has not been evaluated or changed by others meanwhile; returns the ids of these rules. */
export async function saveEvaluated(trx: Trx, evaluations: readonly RuleEvaluation[]): Promise<number[]> {
  const rows = evaluations.map(({ id, version, before, until, memory, reason }) => ({
    id,
    version,
    before,
    until,
    state: memory.state as string,
    since: new Date(memory.sinceMs),
    reason: reason as string | null,
    value: memory.value,
    above: memory.aboveMs,
    below: memory.belowMs,
    unknown: memory.unknownMs,
    run: memory.runSinceMs === null ? null : new Date(memory.runSinceMs),
    told: memory.toldUnknown,
  }))
  const { rows: saved } = await sql<{ id: number }>`
    update alert_rules r set state = n.state, since = n.since, reason = n.reason, value = n.value, evaluated_until = n.until,
      above_ms = n.above, below_ms = n.below, unknown_ms = n.unknown, run_since = n.run, told_unknown = n.told
    from ${unnestRows(rows, {
      id: 'bigint',
      version: 'integer',
      before: 'timestamptz',
      until: 'timestamptz',
      state: 'text',
      since: 'timestamptz',
      reason: 'text',
      value: 'double precision',
      above: 'bigint',
      below: 'bigint',
      unknown: 'bigint',
      run: 'timestamptz',
      told: 'boolean',
    })}
    where r.id = n.id and r.version = n.version and r.evaluated_until is not distinct from n.before
    returning r.id`.execute(trx)
  return saved.map(({ id }) => id)
}

type NewFiring = {
  readonly started: Date
  readonly fired: Date
  readonly value: number
  readonly threshold: number
}

/** Returns the id. */
export async function insertFiring(
  trx: Trx,
  { id, team_id }: Pick<WatchedRule, 'id' | 'team_id'>,
  { started, fired, value, threshold }: NewFiring,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into alert_firings (rule_id, team_id, started, fired, value, threshold)
    values (${id}, ${team_id}, ${started}, ${fired}, ${value}, ${threshold}) returning id`.execute(trx)
  return rows[0]!.id
}

/** Ends the open firing; undefined if there is none. */
export async function clearFiring(
  trx: Trx,
  ruleId: number,
  ended: Date,
): Promise<{ readonly id: number; readonly started: Date } | undefined> {
  const { rows } = await sql<{ id: number; started: Date }>`
    update alert_firings set ended = ${ended}, ending = 'cleared'
    where rule_id = ${ruleId} and ended is null returning id, started`.execute(trx)
  return rows[0]
}

export async function deleteOldFirings(db: Db, days: number): Promise<void> {
  await sql`delete from alert_firings where ended < now() - make_interval(days => ${days})`.execute(db)
}
