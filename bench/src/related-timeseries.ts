// E1: the time series of a team with 30 % of the events, from its last day to a year, over HTTP on one connection, and of a small team.
// Beside each the naive join of buckets and events in SQL; where that ends in time, its values must be the same.
import { isDeepStrictEqual } from 'node:util'
import { median, quantile } from '../../lab/src/measure.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { eventsDatabase } from './events-database.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import { signIn } from './people.ts'
import { startProduct } from './product.ts'
import { eventsFrom } from './seed-events.ts'
import { milliseconds, times, whole } from './table.ts'

export const relatedTimeseries: Benchmark = {
  id: 'E1',
  name: 'related-timeseries',
  title: 'the time series of a team with 30 % of the events',
  missing: () => undefined,
  run,
}

const dayMs = 86_400_000
const seededUntil = eventsFrom.getTime() + 730 * dayMs

type Shape = {
  readonly name: string
  readonly team: 1 | 2
  readonly days: number
  readonly interval: number
  readonly metric?: 'max_bps'
  readonly timezone?: string
  readonly byClass?: true
}

const shapes: readonly Shape[] = [
  { name: '24 h by 5 min', team: 1, days: 1, interval: 300 },
  { name: '7 d by 1 h', team: 1, days: 7, interval: 3_600 },
  { name: '30 d by 2 h', team: 1, days: 30, interval: 7_200 },
  { name: '365 d by 1 d', team: 1, days: 365, interval: 86_400 },
  {
    name: '365 d by 1 d, highest peak by class',
    team: 1,
    days: 365,
    interval: 86_400,
    metric: 'max_bps',
    byClass: true,
  },
  {
    name: '365 d by 1 d, highest peak, Kathmandu',
    team: 1,
    days: 365,
    interval: 86_400,
    metric: 'max_bps',
    timezone: 'Asia/Kathmandu',
  },
  { name: 'small team, 24 h by 5 min', team: 2, days: 1, interval: 300 },
  { name: 'small team, 365 d by 1 d', team: 2, days: 365, interval: 86_400 },
]

type Answer = { timestamps: string[]; end: string; series: { values: (number | null)[] }[] }

async function run(bench: Bench): Promise<Line[]> {
  const events = bench.quick ? 50_000 : bench.full ? 10_000_000 : 1_000_000
  const postgres = await eventsDatabase(bench, { events, teams: 50, firstShare: 0.3 })
  await using product = await startProduct({
    roles: ['api'],
    databaseUrl: postgres.databaseUrl,
    folder: bench.folder,
  })
  const access = (await signIn(product.url, 2)).map((person) => person.access)
  const lines: Line[] = []
  for (const shape of shapes) {
    const { samples, answer } = await timeRequests(
      product.url,
      access[shape.team - 1]!,
      shape,
      bench.quick ? 20 : 200,
    )
    const peer = await timePeer(postgres, shape, answer, bench.quick ? 5_000 : bench.full ? 60_000 : 20_000)
    const [p50, p99] = [median(samples), quantile(samples, 0.99)]
    const goalMs = shape.days <= 7 ? 50 : 20
    lines.push({
      what: `${shape.name}, ${whole(events)} events`,
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `${peer.isComplete ? '' : 'over '}${milliseconds(peer.ms)} naive join`,
      ratio: `${times(peer.ms / p50)} faster`,
      goal: `p99 <= ${goalMs} ms`,
      reached: p99 <= goalMs,
    })
  }
  return lines
}

/** One after the other, after some requests that warm up the statement. */
async function timeRequests(
  url: string,
  access: string,
  { days, interval, metric, timezone = 'UTC', byClass }: Shape,
  count: number,
): Promise<{ samples: number[]; answer: Answer }> {
  const query = new URLSearchParams({
    start: new Date(seededUntil - days * dayMs).toISOString(),
    end: new Date(seededUntil).toISOString(),
    interval: String(interval),
    metric: metric ?? 'count',
    timezone,
    ...(byClass && { group_by: 'classification_key' }),
  })
  const request = renderRequest(new URL(url).host, {
    method: 'GET',
    path: `/v3/lighthouse/security/events/related/timeseries?${query}`,
    authorization: `Bearer ${access}`,
  })
  const connection = await HttpConnection.open(url)
  const samples: number[] = []
  let text = ''
  for (let n = -Math.ceil(count / 10); n < count; n++) {
    const start = performance.now()
    const { status, body } = await ask(connection, request)
    if (status !== 200) throw new Error(`time series: ${status} ${body}`)
    if (n >= 0) samples.push(performance.now() - start)
    text = body
  }
  connection.close()
  return { samples, answer: JSON.parse(text) as Answer }
}

/** Every bucket joined with every event of the team that overlaps it. Throws if its values differ. */
async function timePeer(
  postgres: Postgres,
  { team, metric, byClass }: Shape,
  { timestamps, end, series }: Answer,
  limitMs: number,
): Promise<{ ms: number; isComplete: boolean }> {
  const client = await postgres.directConnection()
  await client.query(`set statement_timeout = ${limitMs}`)
  const start = performance.now()
  try {
    const { rows } = await client.query<{ value: number | null }>(
      `select ${metric ? 'max(e.affected_bps)' : 'count(e.event_id)'} as value
       from unnest($2::timestamptz[], $3::timestamptz[]) with ordinality b (since, until, n)
         left join team_events e on e.team_id = $1 and e.start_at < b.until and (e.end_at >= b.since or e.end_at is null)
       group by b.n order by b.n`,
      [team, timestamps, [...timestamps.slice(1), end]],
    )
    const ms = performance.now() - start
    const values = byClass
      ? timestamps.map((_, at) => Math.max(...series.map((one) => one.values[at] ?? 0)))
      : series[0]!.values
    const expected = rows.map(({ value }) => (byClass ? (value ?? 0) : value))
    if (!isDeepStrictEqual(values, expected)) throw new Error('the naive join has other values')
    return { ms, isComplete: true }
  } catch (error) {
    if ((error as { code?: unknown }).code !== '57014') throw error
    return { ms: limitMs, isComplete: false }
  } finally {
    await client.end()
  }
}
