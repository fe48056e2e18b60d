// What the traffic of an event and that of a shield list have in common: the unit, the window, and what an answer lacks.
import { Type } from 'typebox'
import { Enumeration, Optional, Time } from '../scalar.ts'
import { bucketQuery } from '../timeseries.ts'

const eventTrafficMetrics = ['bps', 'pps'] as const
export type EventTrafficMetric = (typeof eventTrafficMetrics)[number]

/** Codes of what an answer lacks. */
const eventTrafficNotes = ['uncounted'] as const

export const TrafficNotes = Type.Array(Enumeration('EventTrafficNote', eventTrafficNotes), {
  description:
    "limits of the series. `uncounted`: a scrubber that applies the team's lists for the network counts no packets (FlowSpec), so that its drops are missing in " +
    '`dropped` and are counted as `passed`; if none of them counts, both are null',
})

/** The parameters that choose the window, the buckets and the unit. */
export const trafficQuery = {
  start: Optional({ ...Time, description: 'start of the window' }),
  end: Optional({ ...Time, description: 'end of the window' }),
  ...bucketQuery,
  metric: {
    ...Enumeration('EventTrafficMetric', eventTrafficMetrics),
    default: 'bps',
    description: '`bps`, `pps`: bits and packets per second',
  },
} as const
