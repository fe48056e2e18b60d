// When a port was a member of LAGs that are billed instead of it. Pure.
import { intersect, type Period } from '../usage/billing-month.ts'
import { billingGridMs } from '../usage/bucket.ts'

export type LagPart = Period & { readonly lagPortId: number }

/**
 * Returns the time of a port in each LAG, on the grid and disjoint. A bucket in which a membership begins or ends belongs to the LAG, and
 * to the earlier of two: no octet of the port is billed twice. `facts`: of the port, in order; `lags`: the time of each LAG.
 */
export function lagPartsOf(
  facts: readonly (Period & { readonly lagPortId: number | null })[],
  own: readonly Period[],
  lags: ReadonlyMap<number, readonly Period[]>,
): LagPart[] {
  const parts: LagPart[] = []
  let untilMs = -Infinity
  for (const { lagPortId, ...valid } of facts) {
    if (lagPortId === null) continue
    const whole = { startMs: Math.max(untilMs, floor(valid.startMs)), endMs: ceil(valid.endMs) }
    const inLag = (lags.get(lagPortId) ?? []).flatMap((lag) => intersect(whole, lag) ?? [])
    for (const one of inLag)
      for (const part of own) {
        const both = intersect(one, part)
        if (both) parts.push({ ...both, lagPortId })
      }
    if (inLag.length > 0) untilMs = whole.endMs
  }
  return parts.sort((a, b) => a.startMs - b.startMs)
}

const floor = (ms: number): number => Math.floor(ms / billingGridMs) * billingGridMs
const ceil = (ms: number): number => Math.ceil(ms / billingGridMs) * billingGridMs
