// I4: the usage and the bill of a port with 400 days of samples, through the use cases of the API, beside the same questions to rows of
// 5 minutes as monitoring systems store them.
import { performance } from 'node:perf_hooks'
import type { Client } from 'pg'
import { median, quantile } from '../../lab/src/measure.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { listBillablePorts } from '../../server/src/inventory/bill/billable-port.ts'
import { getPortUsage } from '../../server/src/inventory/usage/usage.ts'
import type { Operation } from '../../server/src/operation/operation.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, ownMicros, spend, type HotPath } from './guard/hot-path.ts'
import { seedTeams } from './people.ts'
import { milliseconds, times, whole } from './table.ts'

export const portUsage: Benchmark = {
  id: 'I4',
  name: 'port-usage',
  title: 'usage of ports with 400 days of samples',
  missing: () => undefined,
  run,
}

const days = 400
const dayMs = 86_400_000
const actor = { actor: { teamId: 1 } } as Operation

type Question = {
  readonly what: string
  readonly p99Max: number
  /** Days of the window. */
  readonly days: number
  readonly seconds: number
  ours(
    deps: { postgres: Postgres; now: () => Date },
    port: number,
    start: string,
    end: string,
  ): Promise<unknown>
}

const usageOf =
  (points: number): Question['ours'] =>
  (deps, port, start, end) =>
    getPortUsage(deps, actor, port, { start, end, points })

const questions: readonly Question[] = [
  { what: '24 hours', p99Max: 5, days: 1, seconds: 300, ours: usageOf(300) },
  { what: '30 days in 300 points', p99Max: 20, days: 30, seconds: 9_000, ours: usageOf(300) },
  { what: '400 days by day', p99Max: 20, days, seconds: 86_400, ours: usageOf(400) },
  {
    what: "a month's bill, 95th",
    p99Max: 20,
    days: 30,
    seconds: 300,
    // Service n has port n.
    ours: (deps, port, start) =>
      listBillablePorts(deps, actor, port, {
        period: start.slice(0, 7),
        ordering: 'name',
        limit: 1,
        offset: 0,
      }),
  },
]

const thirtyDays = questions[1]!

export const portUsagePath: HotPath = {
  id: 'I4',
  unit: 'usage of 30 days in 300 points',
  peer: 'rows of 5 minutes in the same PostgreSQL',
  missing: portUsage.missing,
  async prepare(bench, stack) {
    const ports = 5
    const { client, deps, today } = await prepare(bench, stack, ports, 31)
    const { days, seconds, ours } = thirtyDays
    const [from, until] = [today - days * dayMs, today].map((at) => new Date(at).toISOString()) as [
      string,
      string,
    ]
    const database = await databaseMeter(bench)
    const turn = (asks: number, ask: (port: number) => Promise<unknown>) => () =>
      spend(ownMicros, database, async () => (await measure(asks, ports, ask)).length)
    return {
      ours: turn(60, (port) => ours(deps, port, from, until)),
      peer: turn(10, (port) => askRows(client, port, from, until, seconds)),
    }
  },
}

async function prepare(bench: Bench, stack: AsyncDisposableStack, ports: number, days: number) {
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const cluster = await bench.cluster()
  const postgres = await cluster.database(`usage_${ports}_${days}_v1_${today}`, (client) =>
    seed(client, ports, days),
  )
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  return { client, today, deps: { postgres, now: () => new Date(today) } }
}

async function run(bench: Bench): Promise<Line[]> {
  const ports = bench.quick ? 3 : 100
  const asks = bench.quick ? 20 : 200
  await using stack = new AsyncDisposableStack()
  const { client, deps, today } = await prepare(bench, stack, ports, days)
  const lines: Line[] = []
  for (const question of questions) {
    const end = question.what.startsWith('a month') ? startOfMonth(today) : today
    const start = question.what.startsWith('a month')
      ? startOfMonth(end - dayMs)
      : end - question.days * dayMs
    const [from, until] = [new Date(start).toISOString(), new Date(end).toISOString()]
    const ours = await measure(asks, ports, (port) => question.ours(deps, port, from, until))
    const rows = await measure(Math.max(10, asks / 10), ports, (port) =>
      askRows(client, port, from, until, question.seconds),
    )
    const p99 = quantile(ours, 0.99)
    lines.push({
      what: `${question.what}, ${whole(ports)} ports`,
      result: `p50 ${milliseconds(median(ours))}, p99 ${milliseconds(p99)}`,
      peer: `p50 ${milliseconds(median(rows))} rows of 5 minutes`,
      ratio: `${times(median(rows) / median(ours))} faster`,
      goal: `p99 <= ${question.p99Max} ms`,
      reached: p99 <= question.p99Max,
    })
  }
  lines.push(await sizes(client, ports))
  return lines
}

const startOfMonth = (ms: number): number => {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)
}

/** Bytes of a sample of both, with their indexes. */
async function sizes(client: Client, ports: number): Promise<Line> {
  const { rows } = await client.query<{ days: number; rows: number }>(
    `select pg_total_relation_size('port_days')::double precision as days,
       pg_total_relation_size('peer_rows')::double precision as rows`,
  )
  const samples = ports * days * 288
  const [ours, peer] = [rows[0]!.days / samples, rows[0]!.rows / samples]
  return {
    what: 'bytes a sample of 8 values, with index',
    result: ours.toFixed(1),
    peer: `${peer.toFixed(1)} rows of 5 minutes`,
    ratio: times(ours / peer),
    goal: '<= 30',
    reached: ours <= 30,
  }
}

/** One team with a service for each port; days and rows with the same values. */
async function seed(client: Client, ports: number, days: number): Promise<void> {
  await seedTeams(client, 1)
  await client.query(`insert into devices (name) values ('r1')`)
  await client.query(
    `insert into services (team_id, name, type, billing_method) select 1, 'S' || n, 'transit', 'p95'
     from generate_series(1, $1::integer) n order by n`,
    [ports],
  )
  await client.query(
    `insert into ports (circuit_id, name, device_id, interface_key) select 'C' || n, 'et' || n, 1, 'et' || n
     from generate_series(1, $1::integer) n order by n`,
    [ports],
  )
  await client.query(
    `insert into port_assignments (port_id, service_id, team_id, valid)
     select n, n, 1, tstzrange(now() - make_interval(days => $2::integer + 1), null) from generate_series(1, $1::integer) n`,
    [ports, days],
  )
  await client.query(
    `create table peer_rows (port_id integer, at timestamptz, octets_in bigint, octets_out bigint, packets_in bigint, packets_out bigint,
       errors_in bigint, errors_out bigint, discards_in bigint, discards_out bigint, primary key (port_id, at))`,
  )
  // The rows arrive as polls write them: all ports of one time together.
  await client.query(
    `insert into peer_rows
     select p, d + make_interval(secs => s * 300), v, v / 2, v / 850, v / 1700, 0, 0, 0, 0
     from generate_series((now() at time zone 'UTC')::date - $2::integer, (now() at time zone 'UTC')::date - 1, interval '1 day') x
       cross join lateral (select x::timestamp at time zone 'UTC' as d) y cross join generate_series(0, 287) s
       cross join generate_series(1, $1::integer) p
       cross join lateral (select (37500000.0 * (100 + 60 * sin(s / 45.8) + 40 * random()))::bigint as v) r`,
    [ports, days],
  )
  await client.query(
    `insert into port_days (port_id, seconds, day, covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in, errors_out,
       discards_in, discards_out)
     select port_id, 300, (at at time zone 'UTC')::date, array_agg(300000 order by at), array_agg(octets_in order by at),
       array_agg(octets_out order by at), array_agg(packets_in order by at), array_agg(packets_out order by at),
       array_agg(errors_in order by at), array_agg(errors_out order by at), array_agg(discards_in order by at),
       array_agg(discards_out order by at)
     from peer_rows group by 1, 3`,
  )
  await client.query('vacuum analyze port_days')
  await client.query('vacuum analyze peer_rows')
}

async function askRows(
  client: Client,
  port: number,
  from: string,
  until: string,
  seconds: number,
): Promise<void> {
  await client.query(
    `with fives as materialized (
       select at, octets_in * 8000.0 / 300000 as bps_in, octets_out * 8000.0 / 300000 as bps_out
       from peer_rows where port_id = $1 and at >= $2 and at < $3)
     select date_bin(make_interval(secs => $4), at, $2::timestamptz) as bucket, avg(bps_in), avg(bps_out),
       (select percentile_disc(0.95) within group (order by bps_in) from fives),
       (select percentile_disc(0.95) within group (order by bps_out) from fives)
     from fives group by 1 order by 1`,
    [port, from, until, seconds],
  )
}

/** Each question to another port, so that its pages are not the last ones. */
async function measure(
  asks: number,
  ports: number,
  ask: (port: number) => Promise<unknown>,
): Promise<number[]> {
  const samples: number[] = []
  for (let at = 0; at < asks; at++) {
    const begun = performance.now()
    await ask(((at * 37) % ports) + 1)
    samples.push(performance.now() - begun)
  }
  return samples
}
