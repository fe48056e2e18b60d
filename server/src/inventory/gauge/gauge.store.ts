// The SQL of the history of gauges: from the values of 5 minutes, or from daily figures of older times.
import type { GaugeStatistic } from '@pharos/contract/inventory/gauge'
import { sql, type RawBuilder } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'

/** Below this level a reading is noise of the detector, or no light: an outage, not a weak signal. */
export const leastDbm = -35

/** Values of 5 minutes are kept for these days, daily figures for 400. */
export const valueDays = 90

/** The figures of one gauge in one bucket, from 1. */
export type GaugePoint = {
  readonly metric: string
  readonly lane: number
  readonly part: string
  readonly bucket: number
} & { readonly [S in GaugeStatistic]: number }

/**
 * `gauges` selects `id`, `metric`, `lane`, `part` and `since`, the start of the returned history. `isDaily`: uses the
 * daily figures for past days.
 */
export function listPoints(
  postgres: Postgres,
  teamId: number,
  gauges: RawBuilder<unknown>,
  { borders, isDaily }: { readonly borders: readonly Date[]; readonly isDaily: boolean },
): Promise<GaugePoint[]> {
  const [start, end] = [borders[0]!, borders.at(-1)!]
  const days = sql`d.gauge_id = g.id and d.day between (${start}::timestamptz at time zone 'UTC')::date
    and (${end}::timestamptz at time zone 'UTC')::date`
  const midnight = sql`(d.day::timestamp at time zone 'UTC')`
  const query = sql<GaugePoint>`
    with g as materialized (${gauges}),
    v as (
      select g.metric, g.lane, g.part, g.since, ${midnight} + make_interval(mins => 5 * (u.n::integer - 1)) as at,
        u.value as median, u.value as least, u.value as greatest
      from g join gauge_days d on ${days} cross join lateral unnest(d.slots) with ordinality u (value, n)
      where u.value is not null and (not ${isDaily}::boolean
        or (d.samples is null and (g.metric not in ('rx_power', 'tx_power') or u.value >= ${sql.lit(leastDbm)})))
      union all
      select g.metric, g.lane, g.part, g.since, ${midnight}, d.median, d.least, d.greatest
      from g join gauge_days d on ${days} where ${isDaily}::boolean and d.samples > 0)
    select metric, lane, part, width_bucket(at, ${borders}::timestamptz[]) as bucket,
      (percentile_cont(0.5) within group (order by median))::real as median, min(least) as min, max(greatest) as max
    from v where at >= greatest(since, ${start}::timestamptz) and at < ${end}::timestamptz group by 1, 2, 3, 4`
  return postgres.readInTeam(teamId, query)
}
