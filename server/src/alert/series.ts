// The values that alert rules compare, by the kind of their condition. Each is read with the functions behind the charts, so that a rule
// compares the figures that people see.
import type { AlertCondition, AlertKind, ConditionOf } from '@pharos/contract/alert/alert-rule'
import type { AlertReason } from '@pharos/contract/reason/alert-reason'
import { heardByGridMs, readHeardBy } from '../byoip/visibility/heard-by.ts'
import type { Postgres, ReadStatement } from '../db/postgres.ts'
import { readCommitShares } from '../inventory/bill/commit-shares.ts'
import { readLightMargins } from '../inventory/optics/light-margins.ts'
import { readPortLoads, type PortLoad } from '../inventory/usage/port-loads.ts'
import type { AlertStep } from './evaluate.ts'

const gridMs = 300_000
const hourMs = 3_600_000

/** The length of a value of a rule. A trial compares the rate of a commit once a day: each needs the samples of a month. */
export const valueMsOf = (kind: AlertKind): number => (kind === 'commit' ? hourMs : gridMs)
export const trialValueMsOf = (kind: AlertKind): number => (kind === 'commit' ? 24 * hourMs : gridMs)

/** Time after which a missing value stays missing: devices are read every few minutes. */
export const lateMs = 600_000

export type SeriesTarget = {
  /** Unique in a call. */
  readonly key: number
  readonly teamId: number
  readonly condition: AlertCondition
  /** Multiples of `valueMs`. */
  readonly startMs: number
  readonly endMs: number
  readonly valueMs: number
}

export type AlertSeries = {
  /** Why there are no values, apart from missing measurements. */
  readonly reason: AlertReason | null
  /** By the start of the value. */
  readonly values: ReadonlyMap<number, AlertValue>
}
/** `isFinal`: false while a later reading may change it. */
type AlertValue = { readonly value: number | null; readonly isFinal: boolean }

export type SeriesDeps = {
  readonly postgres: Postgres
  /** As the team of all targets, or as the owner of the tables. */
  readonly read: ReadStatement
}

const without = (reason: AlertReason): AlertSeries => ({ reason, values: new Map() })
const timesOf = ({ startMs, endMs }: SeriesTarget) => ({ start: new Date(startMs), end: new Date(endMs) })

const ofPort = (one: SeriesTarget & { readonly condition: { readonly port_id: number } }) => ({
  key: one.key,
  teamId: one.teamId,
  portId: one.condition.port_id,
  ...timesOf(one),
})

type TargetOf<K extends AlertKind> = SeriesTarget & { readonly condition: ConditionOf<K> }
type ReadSeries<K extends AlertKind> = (
  deps: SeriesDeps,
  targets: readonly TargetOf<K>[],
) => Promise<ReadonlyMap<number, AlertSeries>>

const readers: { readonly [K in AlertKind]: ReadSeries<K> } = {
  async port_utilisation({ read }, targets) {
    const loads = await readPortLoads(read, targets.map(ofPort))
    return seriesBy(targets, ({ key, condition }) => {
      const { speedBps, buckets } = loads.get(key)!
      if (speedBps === undefined) return without('no_object')
      if (speedBps === null) return without('no_speed')
      return {
        reason: null,
        values: new Map(
          buckets.map((one) => [
            one.startMs,
            { value: loadOf(one, condition.direction), isFinal: one.isWhole },
          ]),
        ),
      }
    })
  },
  async light_margin({ read }, targets) {
    const margins = await readLightMargins(read, targets.map(ofPort))
    return seriesBy(targets, ({ key }) => {
      const { isHeld, hasLimit, values } = margins.get(key)!
      if (!isHeld) return without('no_object')
      if (!hasLimit && values.size === 0) return without('no_limits')
      return {
        reason: null,
        values: new Map([...values].map(([at, value]) => [at, { value, isFinal: true }])),
      }
    })
  },
  async visibility({ read }, targets) {
    const heard = await readHeardBy(
      read,
      targets.map((one) => ({
        key: one.key,
        teamId: one.teamId,
        announcementId: one.condition.announcement_id,
        ...timesOf(one),
      })),
    )
    return seriesBy(targets, ({ key, condition, endMs }) => {
      const { isHeld, isAnnounced, values } = heard.get(key)!
      if (!isHeld) return without('no_object')
      if (!isAnnounced && values.size === 0) return without('not_announced')
      // A lower bound says something only if it is high enough.
      const valueOf = (percent: number, isLeast: boolean): number | null =>
        isLeast && percent < condition.heard_below_percent ? null : percent
      return {
        reason: null,
        values: new Map(
          [...values].map(([at, { percent, isLeast }]) => [
            at,
            { value: valueOf(percent, isLeast), isFinal: at + heardByGridMs <= endMs },
          ]),
        ),
      }
    })
  },
  /** Bill by bill: a bill has rules of its own. */
  async commit({ postgres }, targets) {
    const series = new Map<number, AlertSeries>()
    for (const target of targets) series.set(target.key, await readCommit(postgres, target))
    return series
  },
}

function seriesBy<T extends SeriesTarget>(
  targets: readonly T[],
  seriesOf: (target: T) => AlertSeries,
): ReadonlyMap<number, AlertSeries> {
  return new Map(targets.map((target) => [target.key, seriesOf(target)]))
}

function loadOf(
  { inPercent, outPercent }: PortLoad,
  direction: ConditionOf<'port_utilisation'>['direction'],
): number | null {
  if (direction === 'in') return inPercent
  if (direction === 'out') return outPercent
  return inPercent === null || outPercent === null ? null : Math.max(inPercent, outPercent)
}

/** The value of a time is the figure of the bill at its end. */
async function readCommit(
  postgres: Postgres,
  { teamId, condition, startMs, endMs, valueMs }: TargetOf<'commit'>,
): Promise<AlertSeries> {
  const starts = Array.from(
    { length: Math.floor((endMs - startMs) / valueMs) },
    (_, at) => startMs + at * valueMs,
  )
  const shares = await readCommitShares(postgres, {
    teamId,
    serviceId: condition.service_id,
    portId: condition.port_id,
    measure: condition.measure,
    times: starts.map((at) => new Date(at + valueMs)),
  })
  if (!shares) return without('no_object')
  if (!shares.hasCommit) return without('no_commit')
  return {
    reason: null,
    values: new Map(starts.map((at, index) => [at, { value: shares.percents[index]!, isFinal: true }])),
  }
}

/** Reads the series of all targets by their keys: one kind after the other, each for all of its targets. */
export async function readSeries(
  deps: SeriesDeps,
  targets: readonly SeriesTarget[],
): Promise<ReadonlyMap<number, AlertSeries>> {
  const series = new Map<number, AlertSeries>()
  for (const [kind, own] of Map.groupBy(targets, ({ condition }) => condition.kind)) {
    const read = readers[kind] as (
      deps: SeriesDeps,
      targets: readonly SeriesTarget[],
    ) => Promise<ReadonlyMap<number, AlertSeries>>
    for (const [key, one] of await read(deps, own)) series.set(key, one)
  }
  return series
}

/**
 * Returns the steps of a series from `startMs` on. The last ones are left out as long as a value may still come or change; after that a
 * missing value is null.
 */
export function stepsOf(
  { reason, values }: AlertSeries,
  { startMs, endMs, valueMs }: Pick<SeriesTarget, 'startMs' | 'endMs' | 'valueMs'>,
  nowMs: number,
): AlertStep[] {
  const steps: AlertStep[] = []
  for (let at = startMs; at + valueMs <= endMs; at += valueMs) {
    const found = values.get(at)
    const isLate = reason !== null || at + valueMs <= nowMs - lateMs
    if (!isLate && !found?.isFinal) break
    steps.push({ startMs: at, endMs: at + valueMs, value: found?.value ?? null })
  }
  return steps
}
