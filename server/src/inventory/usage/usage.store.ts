// The SQL of the usage of a port. It is read through the assignment: nothing of before or after it.
import { sql, type RawBuilder } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { completeMs } from './bucket.ts'
import { heldPorts } from '../port/assignment.store.ts'

/** Sums of one bucket of the answer, in the device's view. */
export type UsageRow = {
  readonly bucket: number
  readonly covered_ms: number
  readonly octets_in: number | null
  readonly octets_out: number | null
  readonly packets_in: number | null
  readonly packets_out: number | null
  readonly errors_in: number | null
  readonly errors_out: number | null
  readonly discards_in: number | null
  readonly discards_out: number | null
}

/** The smallest, largest, mean, last and 95th value of the complete buckets of 5 minutes, per second. */
export type FigureRow = {
  readonly name: string
  readonly min: number | null
  readonly max: number | null
  readonly avg: number | null
  readonly last: number | null
  readonly p95: number | null
  readonly total: number | null
}

export type UsageAnswer = {
  readonly since: Date
  readonly rows: readonly UsageRow[]
  readonly figures: readonly FigureRow[]
  readonly samples: number
}

export type CountedColumn = Exclude<keyof UsageRow, 'bucket' | 'covered_ms'>

const sumsOf = (columns: readonly CountedColumn[]) =>
  sql.join(columns.map((name) => sql`sum(b.${sql.ref(name)})::bigint as ${sql.ref(name)}`))

/** `name` of a complete bucket, per second; bits for octets, in integers and rounded down. */
const rateOf = (name: CountedColumn): RawBuilder<unknown> =>
  name.startsWith('octets')
    ? sql`(${sql.ref(name)} * 8000 / covered_ms)`
    : sql`(${sql.ref(name)} * 1000::double precision / covered_ms)`

/** The last value is found by itself: sorting all of them by time takes longer than everything else. */
const figuresOf = (name: CountedColumn) => {
  const measured = sql`fives where covered_ms >= ${sql.lit(completeMs)} and ${sql.ref(name)} is not null`
  return sql`
    select ${sql.lit(name)} as name, min(${rateOf(name)})::double precision, max(${rateOf(name)})::double precision,
      avg(${rateOf(name)}::double precision),
      (select ${rateOf(name)}::double precision from ${measured} order by at desc limit 1) as last,
      (percentile_disc(0.95) within group (order by ${rateOf(name)}))::double precision as p95,
      sum(${sql.ref(name)})::bigint as total
    from ${measured}`
}

/** Sums and figures of these columns. Returns undefined if the port is not the team's now. `borders` are ascending. */
export async function findUsage(
  postgres: Postgres,
  teamId: number,
  portId: number,
  columns: readonly CountedColumn[],
  { borders, seconds }: { readonly borders: readonly Date[]; readonly seconds: 60 | 300 },
): Promise<UsageAnswer | undefined> {
  const sums = sumsOf(columns)
  const isGrid = seconds === 300
  const five = isGrid
    ? sql`b.*`
    : sql`date_bin('5 minutes', b.at, '2000-01-01T00:00:00Z') as at, sum(b.covered_ms)::bigint as covered_ms, ${sums}`
  const [start, end] = [borders[0]!, borders.at(-1)!]
  const query = sql<UsageAnswer>`
    with held as (
      select a.port_id, lower(a.valid) as since, greatest(lower(a.valid), ${start}::timestamptz) as first
      from ${heldPorts(teamId)} a where a.port_id = ${portId}::bigint),
    b as materialized (
      select b.* from held h cross join lateral port_buckets(h.port_id, h.first, ${end}::timestamptz, ${seconds}) b),
    fives as materialized (select ${five} from b ${isGrid ? sql`` : sql`group by 1`})
    select h.since,
      coalesce((select json_agg(r order by r.bucket) from (
        select width_bucket(b.at, ${borders}::timestamptz[]) as bucket, sum(b.covered_ms)::bigint as covered_ms, ${sums}
        from b group by 1) r), '[]') as rows,
      (select json_agg(f) from (${sql.join(columns.map(figuresOf), sql` union all `)}) f) as figures,
      (select count(*) from fives where covered_ms >= ${sql.lit(completeMs)}) as samples
    from held h`
  return (await postgres.readInTeam(teamId, query))[0]
}
