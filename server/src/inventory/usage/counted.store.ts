// Reads counted values of ports, bucket by bucket. Days are sent as they are stored and divided here: PostgreSQL takes
// about ten times as long to make rows of them.
import { sql, type RawBuilder } from 'kysely'
import type { Postgres, ReadStatement } from '../../db/postgres.ts'

export type CountedColumn =
  | 'octets_in'
  | 'octets_out'
  | 'packets_in'
  | 'packets_out'
  | 'errors_in'
  | 'errors_out'
  | 'discards_in'
  | 'discards_out'

/** The buckets with a measurement, in order of time; in and out as the device sees them. */
export type Counted = {
  /** Start, ms since 1970. */
  readonly at: readonly number[]
  /** For how long the bucket is measured. */
  readonly coveredMs: readonly number[]
  /** Null: no such counter. Octets of 5 minutes are exact up to 240 Tbit/s. */
  readonly values: Readonly<Partial<Record<CountedColumn, readonly (number | null)[]>>>
}

/** Whose buckets: rows with one `port_id`, and disjoint times from `since` until `until`. */
export type CountedOf = RawBuilder<unknown>

type Row = {
  readonly key: number
  readonly start: number
  readonly firstMs: number
  readonly lastMs: number
} & Record<'at' | 'covered' | CountedColumn, string | null>

/** Buckets of a minute (`seconds` 60, the last 30 days) or of five. */
export async function readCounted(
  postgres: Postgres,
  teamId: number,
  of: CountedOf,
  columns: readonly CountedColumn[],
  seconds: 60 | 300,
): Promise<Counted> {
  const query = countedQuery(sql`select 0 as key, * from (${of}) o`, columns, seconds)
  return countedOf(await postgres.readInTeam(teamId, query), columns, seconds)
}

/** Like `readCounted`, of several ports in one statement: `of` has a `key` for each of them. A key without a bucket is absent. */
export async function readCountedByKey(
  read: ReadStatement,
  of: CountedOf,
  columns: readonly CountedColumn[],
  seconds: 60 | 300,
): Promise<ReadonlyMap<number, Counted>> {
  const rows = Map.groupBy(await read(countedQuery(of, columns, seconds)), ({ key }) => key)
  return new Map([...rows].map(([key, own]) => [key, countedOf(own, columns, seconds)]))
}

function countedQuery(of: CountedOf, columns: readonly CountedColumn[], seconds: 60 | 300): RawBuilder<Row> {
  const names = columns.map((name) => sql.ref(name))
  const arrays = sql.join(names.map((name) => sql`d.${name}::text as ${name}`))
  const texts = sql.join(names.map((name) => sql`array_agg(${name} order by at)::text`))
  const sums = sql.join(names.map((name) => sql`sum(s.${name})::bigint as ${name}`))
  return sql<Row>`
    with h as (select extract(epoch from since)::double precision * 1000 as "firstMs",
      extract(epoch from until)::double precision * 1000 as "lastMs", * from (${of}) o)
    select h.key, h."firstMs", h."lastMs", extract(epoch from d.day::timestamp)::double precision * 1000 as start, null as at,
      d.covered_ms::text as covered, ${arrays}
    from h join port_days d on d.port_id = h.port_id and d.seconds = ${sql.lit(seconds)}
      and d.day between (h.since at time zone 'UTC')::date and (h.until at time zone 'UTC')::date
    union all
    (select h.key, h."firstMs", h."lastMs", null, array_agg(at order by at)::text, array_agg(covered_ms order by at)::text, ${texts}
    from h cross join lateral (
      select extract(epoch from date_bin(make_interval(secs => ${sql.lit(seconds)}), s.minute, '2000-01-01T00:00:00Z'))::bigint * 1000 as at,
        sum(s.covered_ms) as covered_ms, ${sums}
      from port_samples s where s.port_id = h.port_id and s.minute >= h.since and s.minute < h.until
      group by 1) s
    group by h.key, h."firstMs", h."lastMs")
    order by start nulls last, "firstMs"`
}

function countedOf(rows: readonly Row[], columns: readonly CountedColumn[], seconds: number): Counted {
  const at: number[] = []
  const coveredMs: number[] = []
  const values = Object.fromEntries(columns.map((name) => [name, [] as (number | null)[]]))
  for (const row of rows) {
    const covered = parseArray(row.covered)
    const starts = row.at === null ? undefined : parseArray(row.at)
    const slots: number[] = []
    for (let slot = 0; slot < covered.length; slot++) {
      const ms = covered[slot]!
      const start = starts?.[slot] ?? row.start + slot * seconds * 1000
      if (ms === null || (!starts && (start < row.firstMs || start >= row.lastMs))) continue
      slots.push(slot)
      at.push(start)
      coveredMs.push(ms)
    }
    for (const name of columns) {
      const [to, from] = [values[name]!, parseArray(row[name])]
      for (const slot of slots) to.push(from[slot] ?? null)
    }
  }
  return { at, coveredMs, values }
}

/** The text of an array of whole numbers in PostgreSQL, which are not negative and below 2^53. */
function parseArray(text: string | null): (number | null)[] {
  const numbers: (number | null)[] = []
  if (text === null || text === '{}') return numbers
  for (let at = 1; at < text.length; at++) {
    let code = text.charCodeAt(at)
    if (code === nullCode) {
      numbers.push(null)
      at += 4
      continue
    }
    let value = 0
    for (; code >= zeroCode && code <= nineCode; code = text.charCodeAt(++at))
      value = value * 10 + code - zeroCode
    numbers.push(value)
  }
  return numbers
}

const nullCode = 'N'.charCodeAt(0)
const zeroCode = '0'.charCodeAt(0)
const nineCode = '9'.charCodeAt(0)
