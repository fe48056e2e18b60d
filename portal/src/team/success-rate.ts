// The share of a webhook's deliveries that arrived. Pure.
import type { Delivery } from '@pharos/contract/webhook'

export type SuccessRate = { readonly percent: number; readonly count: number }

/** Returns the rate of the finished deliveries; undefined if there is none. Pending and canceled ones say nothing. */
export function successRate(deliveries: readonly Pick<Delivery, 'state'>[]): SuccessRate | undefined {
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length
  const count = delivered + deliveries.filter(({ state }) => state === 'failed').length
  // Rounded down: 100 means that none failed.
  return count === 0 ? undefined : { percent: Math.floor((delivered / count) * 100), count }
}
