// The level that the guard demands of each path, as the processor time of the peer divided by that of Pharos, each with its database: 2x is half of
// the peer's time. A path below its threshold fails. Pure.
import type { PathId } from './hot-path.ts'

export type Level = {
  /** Null for a path whose goal is a latency: only its fall is noticed. */
  readonly goal: number | null
  /** The median of some runs: see the reason. */
  readonly reached: number
  /** Share of noise: the largest distance of these runs from their median, rounded up, and at least a tenth. */
  readonly margin: number
  readonly reason: string
}

const reason = 'five runs at loads of 2 to 50 on two cores, 2026-11-29 (bench/HISTORY.md)'

export const levels: Readonly<Record<PathId, Level>> = {
  P1: { goal: 0.6, reached: 0.78, margin: 0.1, reason },
  P3: { goal: 1, reached: 0.61, margin: 0.25, reason },
  P4: { goal: 0.7, reached: 0.51, margin: 0.45, reason },
  P5: { goal: null, reached: 0.2, margin: 0.15, reason },
  P7: { goal: 0.35, reached: 0.35, margin: 0.35, reason },
  D8: {
    goal: 1,
    reached: 0.4,
    margin: 0.25,
    reason: 'five runs on the slower of two processors, 2026-11-30',
  },
  D1: { goal: null, reached: 0.09, margin: 0.25, reason },
  I2: { goal: null, reached: 0.56, margin: 0.25, reason },
  I4: { goal: null, reached: 1.53, margin: 0.1, reason },
  P9d: { goal: null, reached: 0.98, margin: 0.45, reason },
  P9c: { goal: null, reached: 5.46, margin: 0.2, reason },
}

/** The lowest ratio that passes: the lower of the goal and the reached ratio, without the noise. */
export function thresholdOf({ goal, reached, margin }: Level): number {
  return Math.min(goal ?? reached, reached) * (1 - margin)
}
