// The parameters of a history of gauges, which are measured every five minutes.
import { Enumeration, Optional, Repeatable, Time } from '../scalar.ts'
import { bucketQuery } from '../timeseries.ts'

export const gaugeStatistics = ['median', 'min', 'max'] as const
export type GaugeStatistic = (typeof gaugeStatistics)[number]

export const gaugeQuery = {
  start: Optional({ ...Time, description: 'start of the window' }),
  end: Optional({ ...Time, description: 'end of the window' }),
  ...bucketQuery,
  statistic: Optional(
    Repeatable({
      ...Enumeration('GaugeStatistic', gaugeStatistics),
      description: 'of the values of a bucket; `median` by default',
    }),
  ),
}
