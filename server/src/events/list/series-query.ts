// The question and the rows of a time series of a team's events. Types only.
import type { EventGrouping, EventMetric } from '@pharos/contract/events/event'
import type { EventQuery } from './event-query.ts'

export type EventSeriesRow = {
  /** The group; null if there is no grouping. */
  readonly key: string | null
  /** 1 is the first. */
  readonly bucket: number
  readonly value: number | null
}

export type EventSeriesQuery = {
  readonly of: 'events' | 'incidents'
  readonly filter: EventQuery
  /** One more than there are buckets, in order. */
  readonly borders: readonly Date[]
  readonly now: Date
  readonly metric: EventMetric
  readonly groupBy: EventGrouping | undefined
}
