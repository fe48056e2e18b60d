// The level that the guard demands of each path, as the processor time of the peer divided by that of Pharos, each with its database: 2x is half of
// the peer's time. A path below its threshold fails. Pure.
import type { PathId } from './hot-path.ts'

export type Level = {
  /** Null for a path whose goal is a latency: only its fall is noticed. */
  readonly goal: number | null
  /** The level of one run, or a bound below what was measured elsewhere: see the reason. */
  readonly reached: number
  /** Share of noise: the largest distance of one of those runs from their median, rounded up, and at least a tenth. */
  readonly margin: number
  readonly reason: string
}

/** The noise is known after five runs. */
const provisional = {
  margin: 0.25,
  reason: 'the first complete run, at load 3 (bench/HISTORY.md); provisional',
}

export const levels: Readonly<Record<PathId, Level>> = {
  P1: { goal: 0.6, reached: 0.73, ...provisional },
  P3: { goal: 1, reached: 0.6, ...provisional },
  P4: { goal: 0.7, reached: 0.42, ...provisional },
  P5: { goal: null, reached: 0.15, ...provisional },
  P7: { goal: 0.35, reached: 0.25, ...provisional },
  D8: { goal: 1, reached: 0.2, ...provisional },
  D1: { goal: null, reached: 0.06, ...provisional },
  I2: { goal: null, reached: 0.45, ...provisional },
  I4: { goal: null, reached: 1.96, ...provisional },
  P9d: { goal: null, reached: 1.54, ...provisional },
  P9c: { goal: null, reached: 5.03, ...provisional },
}

/** The lowest ratio that passes: the goal, or what is reached if that is less, without the noise. */
export function thresholdOf({ goal, reached, margin }: Level): number {
  return Math.min(goal ?? reached, reached) * (1 - margin)
}
