// Early warnings of a lane: the rules of margin, step and trend for each metric, the cause that they point at, and hysteresis, so that a
// warning does not come and go with the weather. It knows no rows and no texts: warnings are codes with attributes.
import type { OpticReading } from '../collect/device-source.ts'
import { type DaySeries, daysBefore } from './levels.ts'
import { findLowMargin, lowLevelOf, type LowLimit } from './margin.ts'
import { findStep } from './step.ts'
import { fallOf, findTrend } from './trend.ts'

/** Daily medians of one lane of one module. */
export type LaneHistory = {
  readonly rx: DaySeries
  readonly tx: DaySeries
  readonly bias: DaySeries
  /** Transmit level of the module at the other end; null if that device is not known. */
  readonly farTx: DaySeries | null
  readonly limits: OpticReading['limits']
}

/** `module`: the laser of this port. `far_module`: that of the other end. `path`: fibre, connectors and patch panels between them. */
export type Cause = 'module' | 'path' | 'far_module' | 'path_or_far_module'

type Subject = { readonly metric: 'rx_power' | 'tx_power' | 'bias'; readonly cause: Cause }

export type OpticFinding = Subject &
  (
    | { readonly code: 'low_margin'; readonly marginDb: number; readonly limit: LowLimit }
    /** The level dropped abruptly, since this day. It ends when the new level has become the usual one. */
    | { readonly code: 'step'; readonly stepDb: number; readonly day: number }
    /** dB or mA a day; days until the warning level, or else the alarm level, is reached. */
    | { readonly code: 'trend'; readonly perDay: number; readonly daysLeft: number }
  )

/** A finding over days. It is a warning if it is raised. */
export type WarningState = {
  readonly finding: OpticFinding
  /** First day of the finding. */
  readonly since: number
  /** The day that was counted last. */
  readonly day: number
  readonly foundDays: number
  /** Days without the finding, since it was found last. */
  readonly missedDays: number
  readonly isRaised: boolean
}

/** A step already needs two days. */
const raiseDays = { low_margin: 2, step: 1, trend: 2 } as const
const clearDays = 2

/** Returns the findings of the rules for a lane with the days up to `today`. */
export function findingsOf(lane: LaneHistory, today: number): OpticFinding[] {
  return [
    ...powerFindings(lane.rx, lane, { metric: 'rx_power', cause: causeOf(lane.farTx, today) }, today),
    ...powerFindings(lane.tx, lane, { metric: 'tx_power', cause: 'module' }, today),
    ...biasFindings(lane, today),
  ]
}

function powerFindings(
  series: DaySeries,
  { limits }: LaneHistory,
  subject: Subject,
  today: number,
): OpticFinding[] {
  const margin = findLowMargin(series, limits[subject.metric], today)
  const step = findStep(series, today)
  const trend = findTrend(series, lowLevelOf(limits[subject.metric])?.dbm, today)
  return [
    ...(margin ? [{ ...subject, code: 'low_margin' as const, ...margin }] : []),
    ...(step && step.stepDb < 0 ? [{ ...subject, code: 'step' as const, ...step }] : []),
    ...(trend ? [{ ...subject, code: 'trend' as const, ...trend }] : []),
  ]
}

/** A laser that ages needs more current for the same light: a fall of the negative towards the negative high level. */
function biasFindings({ bias, limits }: LaneHistory, today: number): OpticFinding[] {
  const high = limits.bias?.warnHigh ?? limits.bias?.alarmHigh ?? null
  if (high === null) return []
  const trend = findTrend(
    bias.map(({ day, value }) => ({ day, value: -value })),
    -high,
    today,
  )
  if (!trend) return []
  return [{ metric: 'bias', cause: 'module', code: 'trend', perDay: -trend.perDay, daysLeft: trend.daysLeft }]
}

/** The receive level falls with the far transmit level, or else because of the path. */
function causeOf(farTx: DaySeries | null, today: number): Cause {
  if (!farTx || daysBefore(farTx, today + 1, 3).length === 0) return 'path_or_far_module'
  const hasFallen = (findStep(farTx, today)?.stepDb ?? 0) < 0 || fallOf(farTx, today) !== undefined
  return hasFallen ? 'far_module' : 'path'
}

/**
 * Returns the states after a closed day; each day is given once and in order, repeating it has no effect. A metric
 * without a value on that day, such as on a port that is down, keeps its states. States of a module do not apply to its
 * successor.
 */
export function advanceWarnings(
  states: readonly WarningState[],
  lane: LaneHistory,
  today: number,
): WarningState[] {
  const findings = findingsOf(lane, today).filter(({ metric }) => isMeasured(lane, metric, today))
  const known = states.flatMap((state) => {
    const finding = findings.find((one) => isSame(one, state.finding))
    if (state.day >= today || !isMeasured(lane, state.finding.metric, today)) return [state]
    return finding ? [foundAgain(state, finding, today)] : missed(state, today)
  })
  const isNew = (finding: OpticFinding) => !states.some((state) => isSame(state.finding, finding))
  return [...known, ...findings.filter(isNew).map((finding) => firstFound(finding, today))]
}

const isSame = (a: OpticFinding, b: OpticFinding): boolean => a.code === b.code && a.metric === b.metric

const seriesNames = { rx_power: 'rx', tx_power: 'tx', bias: 'bias' } as const

function isMeasured(lane: LaneHistory, metric: Subject['metric'], today: number): boolean {
  return lane[seriesNames[metric]].some(({ day }) => day === today)
}

function firstFound(finding: OpticFinding, today: number): WarningState {
  const isRaised = raiseDays[finding.code] === 1
  const since = finding.code === 'step' ? finding.day : today
  return { finding, since, day: today, foundDays: 1, missedDays: 0, isRaised }
}

/** The first day of a step comes from the first finding: later findings have another baseline. */
function foundAgain(state: WarningState, finding: OpticFinding, today: number): WarningState {
  const foundDays = state.foundDays + 1
  const isRaised = state.isRaised || foundDays >= raiseDays[finding.code]
  return { finding, since: state.since, day: today, foundDays, missedDays: 0, isRaised }
}

function missed(state: WarningState, today: number): WarningState[] {
  const missedDays = state.missedDays + 1
  if (!state.isRaised || missedDays >= clearDays) return []
  return [{ ...state, day: today, missedDays }]
}
