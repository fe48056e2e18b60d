// A sudden change of a level that stays: a fibre that was bent, soiled or patched again.
import { type DaySeries, daysBefore, medianOf } from './levels.ts'

const lastDays = 2
const baselineDays = 25
/** Fewer days do not show how much the level varies. */
const baselineDaysMin = 10
const stepMinDb = 1

export type Step = {
  /** Negative: the level fell. */
  readonly stepDb: number
  /** First day of the new level. */
  readonly day: number
}

/**
 * Returns the step if both last days differ from the median of the 25 days before by more than 1 dB and more than 5 times their
 * median absolute deviation.
 */
export function findStep(series: DaySeries, today: number): Step | undefined {
  const last = daysBefore(series, today + 1, lastDays)
  const before = daysBefore(series, today + 1 - lastDays, baselineDays).map(({ value }) => value)
  if (last.length < lastDays || before.length < baselineDaysMin) return undefined
  const baseline = medianOf(before)
  const deviation = medianOf(before.map((value) => Math.abs(value - baseline)))
  const differences = last.map(({ value }) => value - baseline)
  const isStep = differences.every((db) => Math.abs(db) > Math.max(stepMinDb, 5 * deviation))
  if (!isStep || Math.sign(differences[0]!) !== Math.sign(differences[1]!)) return undefined
  return {
    stepDb: Math.round(medianOf(differences) * 100) / 100,
    day: firstDayOf(daysBefore(series, today + 1, Infinity), baseline, differences[0]!),
  }
}

/** The day from which on the level is on the new side of half of the step. */
function firstDayOf(series: DaySeries, baseline: number, differenceDb: number): number {
  const isNew = ({ value }: { readonly value: number }) => (value - baseline) / differenceDb > 0.5
  const old = series.findLastIndex((one) => !isNew(one))
  return series[old + 1]!.day
}
