// Tries a condition against the past: the values that a rule would have compared, and when it would have fired.
import {
  alertLimitOf,
  alertTrialDays,
  type AlertCondition,
  type AlertLimit,
  type AlertTrial,
  type tryAlertConditionRoute,
} from '@pharos/contract/alert/alert-rule'
import type { Series } from '@pharos/contract/timeseries'
import type { BodyOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import type { Operation } from '../operation/operation.ts'
import { invalid } from '../runtime/error.ts'
import { seriesFiguresOf, windowOf } from '../timeseries/buckets.ts'
import { clearMinutesOf, requireModule } from './alert-rule.ts'
import { evaluate, newMemory, type AlertChange, type AlertStep } from './evaluate.ts'
import { readSeries, stepsOf, trialValueMsOf } from './series.ts'

export type TryDeps = { readonly postgres: Postgres; readonly now: () => Date }

const dayMs = 86_400_000
/** Values of the chart. */
const pointsMax = 360

/** Throws `invalid` for a window that is too long, and `module_disabled`. An object that the team does not have has no values. */
export async function tryAlertCondition(
  { postgres, now: clock }: TryDeps,
  operation: Operation,
  { condition, clear_minutes, start, end }: BodyOf<typeof tryAlertConditionRoute>,
): Promise<AlertTrial> {
  const { teamId } = operation.actor
  requireModule(operation, condition)
  const now = clock()
  const window = windowOfTrial(start, end, now, condition)
  const target = { key: 0, teamId, condition, ...window }
  const deps = {
    postgres,
    read: <R>(query: Parameters<typeof postgres.readInTeam<R>>[1]) => postgres.readInTeam(teamId, query),
  }
  const series = (await readSeries(deps, [target])).get(0)!
  const steps = stepsOf(series, window, now.getTime())
  const limit = alertLimitOf(condition)
  const timing = { limit, clearMinutes: clear_minutes ?? clearMinutesOf(condition) }
  const values = steps.flatMap(({ value }) => value ?? [])
  const { threshold, unit, comparison } = limit
  return {
    threshold,
    unit,
    comparison,
    firings: firingsOf(evaluate(timing, newMemory(window.startMs), steps).changes),
    measured_percent: steps.length === 0 ? 0 : Math.round((1000 * values.length) / steps.length) / 10,
    value_interval: window.valueMs / 1000,
    proposed_threshold: proposedOf(condition, limit, values),
    reason: values.length > 0 ? null : (series.reason ?? 'no_data'),
    timeseries: timeseriesOf(steps, window, limit),
  }
}

type TrialWindow = { readonly startMs: number; readonly endMs: number; readonly valueMs: number }

function windowOfTrial(
  start: string | undefined,
  end: string | undefined,
  now: Date,
  { kind }: AlertCondition,
): TrialWindow {
  const asked = windowOf(start, end, 'body')
  const valueMs = trialValueMsOf(kind)
  const until = Math.min((asked.end ?? now).getTime(), now.getTime())
  const since = asked.start?.getTime() ?? until - alertTrialDays * dayMs
  if (until - since > (alertTrialDays + 1) * dayMs)
    throw invalid(['body', 'start'], 'alertWindow', { days: alertTrialDays })
  // The figure of a bill at this moment counts too.
  const endMs = kind === 'commit' ? until : Math.floor(until / valueMs) * valueMs
  const count = Math.max(0, Math.floor((endMs - since) / valueMs))
  return { startMs: endMs - count * valueMs, endMs, valueMs }
}

function firingsOf(changes: readonly AlertChange[]): AlertTrial['firings'] {
  const firings: AlertTrial['firings'] = []
  for (const change of changes)
    if (change.kind === 'fired')
      firings.push({ started: isoOf(change.startedMs), fired: isoOf(change.atMs), ended: null })
    else if (change.kind === 'cleared') firings.at(-1)!.ended = isoOf(change.atMs)
  return firings
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** Room beside the usual values: a tenth of them, or one dB. */
const room = 1.1
const roomDb = 1
/** Part of the values that counts as usual. */
const usualPart = 0.99

/** A limit beyond 99 % of the values, which is still possible: at most 100 % of a port or of the collectors. */
function proposedOf(
  { kind }: AlertCondition,
  { unit, comparison }: AlertLimit,
  values: readonly number[],
): number | null {
  if (values.length === 0) return null
  const ordered = values.toSorted((a, b) => (comparison === 'above' ? a - b : b - a))
  const usual = ordered[Math.ceil(usualPart * ordered.length) - 1]!
  if (unit === 'dB') return Math.round(2 * (usual - roomDb)) / 2
  if (comparison === 'below') return Math.max(1, Math.floor(usual / room))
  const wanted = Math.max(1, Math.ceil(usual * room))
  return kind === 'port_utilisation' ? Math.min(100, wanted) : wanted
}

/** Of several values in a bucket the one that is closest to firing: the mean would hide that it was beyond the limit. */
function timeseriesOf(
  steps: readonly AlertStep[],
  { startMs, endMs, valueMs }: TrialWindow,
  { unit, comparison }: AlertLimit,
): AlertTrial['timeseries'] {
  const size = Math.max(1, Math.ceil((endMs - startMs) / valueMs / pointsMax))
  const worst = comparison === 'above' ? Math.max : Math.min
  const buckets: (number | null)[] = []
  for (let at = 0; at < steps.length; at += size) {
    const known = steps.slice(at, at + size).flatMap(({ value }) => value ?? [])
    buckets.push(known.length === 0 ? null : worst(...known))
  }
  const series: Series = {
    key: {},
    label: 'Value',
    unit,
    values: buckets,
    ...seriesFiguresOf(steps.map(({ value }) => value)),
  }
  return {
    start: isoOf(startMs),
    end: isoOf(endMs),
    interval: (size * valueMs) / 1000,
    timestamps: buckets.map((_, at) => isoOf(startMs + at * size * valueMs)),
    series: [series],
  }
}
