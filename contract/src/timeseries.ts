// The shape of every time series: one column of times, and one column of values for each series.
import { Type, type Static } from 'typebox'
import { Component, Nullable, Optional, Time } from './scalar.ts'

export const timeseriesPointsMax = 2000

const Value = (description: string) => Nullable(Type.Number({ description }))

export const Series = Component('Series', {
  key: Type.Record(Type.String(), Nullable(Type.String()), {
    description:
      'the values of `group_by` that the series has; null: all others together; empty without `group_by`',
  }),
  label: Type.String({ description: 'name for people' }),
  unit: Type.String({
    description:
      '`events`, `bps`, `pps`, `bytes`, `dBm`, `dB`, `mA`, `V`, `Cel`, `percent`, `rpm`, `W`, `ms` or `s`',
  }),
  values: Type.Array(Nullable(Type.Number()), {
    description: 'one for each timestamp; null: nothing is known of that time',
  }),
  min: Value('smallest value; null if there is none'),
  max: Value('largest value'),
  avg: Value('mean of the values'),
  last: Value('the last value'),
  p95: Value('95th percentile of the values, by nearest rank'),
})
export type Series = Static<typeof Series>

export const Timeseries = Component('Timeseries', {
  start: { ...Time, description: 'start of the first bucket' },
  end: { ...Time, description: 'end of the last bucket' },
  interval: Type.Integer({
    minimum: 1,
    description:
      'seconds of a bucket; a day of the time zone counts as 86400, although it may have 23 or 25 hours',
  }),
  timestamps: Type.Array(Time, { description: 'the start of each bucket' }),
  series: Type.Array(Series),
})
export type Timeseries = Static<typeof Timeseries>

/** The parameters that choose the buckets. */
export const bucketQuery = {
  interval: Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      description:
        'seconds of a bucket; not with `points`. A multiple of 86400 is that many days of `timezone`',
    }),
  ),
  points: Optional(
    Type.Integer({
      minimum: 5,
      maximum: timeseriesPointsMax,
      description: 'about how many buckets: the next longer usual interval is used; 300 by default',
    }),
  ),
  timezone: Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'IANA name, such as Europe/Amsterdam: buckets begin at its hours and midnights; UTC by default',
    }),
  ),
}
