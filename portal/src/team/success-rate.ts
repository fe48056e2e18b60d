// The share of a webhook's deliveries that arrived. Pure.
import type { Delivery } from '@pharos/contract/messages/webhook'

export type SuccessRate = { readonly percent: number; readonly count: number }

/** Returns the rate of the finished deliveries; undefined without any. Pending and canceled deliveries are not counted. */
export function successRate(deliveries: readonly Pick<Delivery, 'state'>[]): SuccessRate | undefined {
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length
  const count = delivered + deliveries.filter(({ state }) => state === 'failed').length
  // Rounded down: 100 means no failures.
  return count === 0 ? undefined : { percent: Math.floor((delivered / count) * 100), count }
}

const pointsMax = 20

/** Returns the rate over time in percent, oldest first: each point is the share of the same number of finished deliveries. */
export function successSeries(deliveries: readonly Pick<Delivery, 'state'>[]): number[] {
  const finished = deliveries.filter(({ state }) => state === 'delivered' || state === 'failed').toReversed()
  const size = Math.max(1, Math.ceil(finished.length / pointsMax))
  return Array.from({ length: Math.ceil(finished.length / size) }, (_, at) => {
    const part = finished.slice(at * size, (at + 1) * size)
    return (part.filter(({ state }) => state === 'delivered').length / part.length) * 100
  })
}
