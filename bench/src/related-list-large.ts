// P2: the related list of one team with three million of ten million events, in the filters and orders that people use,
// down to an offset of a million. Beside each the plain SQL, and the same list among a hundredth of the events: the cost
// must depend on the page, not on the table.
import { median, quantile } from '../../lab/src/measure.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { eventsDatabase } from './events-database.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import { missingPeers } from './packages.ts'
import { signIn } from './people.ts'
import { listRequest, plainList, requireSameList, type ListQuery } from './plain-list.ts'
import { startProduct } from './product.ts'
import { eventsFrom } from './seed-events.ts'
import { milliseconds, times, whole } from './table.ts'

export const relatedListLarge: Benchmark = {
  id: 'P2',
  name: 'related-list-large',
  title: 'the related list of a team with 3 M of 10 M events, 21 shapes',
  missing: () => missingPeers().pgbench,
  run,
}

const goal = 'p99 <= 10 ms (text 50 ms), <= 1.3x of 0.1 M, >= 100x plain'
/** Milliseconds. */
const p99Max = ({ query }: Shape): number => ((query.description ?? query.search) === undefined ? 10 : 50)
const firstShare = 0.3

type Shape = { readonly name: string; readonly query: ListQuery }

/** The shapes; `deep` is the largest offset. */
function shapesOf(deep: number): Shape[] {
  const byDefault = 'event__start,event__end,event__affected_bps,event__affected_pps'
  const shape = (name: string, ordering: string, rest: Partial<ListQuery> = {}): Shape => ({
    name,
    query: { ordering, limit: 100, offset: 0, ...rest },
  })
  const day = (n: number) => new Date(eventsFrom.getTime() + n * 86_400_000).toISOString()
  return [
    shape('first page', byDefault),
    shape('deep', byDefault, { offset: deep }),
    shape('newest first', '-event__start'),
    shape('newest first, deep', '-event__start', { offset: deep }),
    shape('largest first', '-event__affected_bps'),
    shape('largest first, deep', '-event__affected_bps', { offset: deep }),
    shape('last over first', '-event__end'),
    shape('two flags', byDefault, { flag: ['CARPET_BOMB', 'BLACKHOLED'] }),
    shape('last day', '-event__start', { start: day(729), end: day(730) }),
    shape('half a year, deep', byDefault, { start: day(200), end: day(382), offset: Math.floor(deep / 2) }),
    shape('a network', '-event__start', { affected_network: '10.1.77.0/24' }),
    shape('a description', '-event__start', { description: 'fragment' }),
    shape('a status', '-event__start', { status: ['EVENT_ENDED'] }),
    shape('two classes, deep', byDefault, {
      classification_key: ['udp.flood', 'tcp.syn_flood'],
      offset: Math.floor(deep / 10),
    }),
    shape('a source, largest first', '-event__affected_bps', { source_key: ['fastnetmon'] }),
    shape('at least 100 Gbps', '-event__start', { min_bps: 100_000_000_000 }),
    shape('at least 1 Gbps', '-event__start', { min_bps: 1_000_000_000 }),
    shape('ongoing, largest first', '-event__affected_bps', { ongoing: true }),
    shape('ended', byDefault, { ongoing: false }),
    shape('a search', '-event__start', { search: 'amplification' }),
    shape('a search for an address', '-event__start', { search: '10.1.77.13' }),
  ]
}

async function run(bench: Bench): Promise<Line[]> {
  const large = await measureSize(bench, bench.quick ? 100_000 : bench.brief ? 1_000_000 : 10_000_000, true)
  const small = await measureSize(bench, bench.quick ? 10_000 : 100_000, false)
  const lines = large.map((one, at) => lineOf(one, small[at]!))
  return [...lines, summaryOf(large, small)]
}

type Measured = Shape & {
  readonly events: number
  readonly p50: number
  readonly p99: number
  /** Time of the plain SQL; undefined if it was not measured. */
  readonly plain: number | undefined
}

async function measureSize(bench: Bench, events: number, withPlain: boolean): Promise<Measured[]> {
  const postgres = await eventsDatabase(bench, { events, teams: 50, firstShare })
  // An offset of a million with 3 M events, of a third with fewer.
  const shapes = shapesOf(Math.floor((events * firstShare) / 3))
  await using product = await startProduct({
    roles: ['api'],
    databaseUrl: postgres.databaseUrl,
    folder: bench.folder,
  })
  const [{ access } = { access: '' }] = await signIn(product.url, 1)
  const requests = bench.quick ? 20 : 300
  const measured: Measured[] = []
  for (const shape of shapes) {
    const plain = withPlain ? await timePlain(postgres, shape.query, bench.quick ? 1 : 3) : undefined
    await requireSameList(postgres, product.url, access, 1, shape.query)
    const samples = await timeRequests(product.url, access, shape.query, requests)
    const [p50, p99] = [median(samples), quantile(samples, 0.99)]
    measured.push({ ...shape, events, p50, p99, plain })
    bench.report(`${whole(events)} events, ${shape.name}: p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`)
  }
  return measured
}

/** One after the other on one connection, after some requests that warm up the statement. */
async function timeRequests(url: string, access: string, query: ListQuery, count: number): Promise<number[]> {
  const connection = await HttpConnection.open(url)
  const samples: number[] = []
  for (let n = -Math.ceil(count / 10); n < count; n++) {
    const request = renderRequest(new URL(url).host, listRequest(nextPage(query, n), access))
    const start = performance.now()
    const { status, body } = await ask(connection, request)
    if (status !== 200) throw new Error(`list: ${status} ${body}`)
    if (n >= 0) samples.push(performance.now() - start)
  }
  connection.close()
  return samples
}

/** Deep pages are not the same one every time. */
function nextPage(query: ListQuery, n: number): ListQuery {
  return { ...query, offset: query.offset - ((n + 1000) % Math.min(1000, query.offset + 1)) }
}

/** The plain SQL of some shapes takes minutes: two are enough. */
const plainMsMax = 20_000

async function timePlain(postgres: Postgres, query: ListQuery, count: number): Promise<number> {
  const client = await postgres.directConnection()
  const { sql, parameters } = plainList(1, query)
  const samples: number[] = []
  for (let n = 0; n < count; n++) {
    const start = performance.now()
    await client.query(sql, [...parameters])
    samples.push(performance.now() - start)
    if (samples.reduce((sum, ms) => sum + ms, 0) > plainMsMax) break
  }
  await client.end()
  return median(samples)
}

function lineOf(large: Measured, small: Measured): Line {
  const flatness = large.p50 / small.p50
  const plain = large.plain ?? 0
  return {
    what: `${large.name}, ${whole(large.events)} events`,
    result: `p50 ${milliseconds(large.p50)}, p99 ${milliseconds(large.p99)}, ${times(flatness)} of ${whole(small.events)}`,
    peer: `${milliseconds(plain)} plain SQL`,
    ratio: `${times(plain / large.p50)} faster`,
    goal,
    reached: large.p99 <= p99Max(large) && flatness <= 1.3 && plain / large.p50 >= 100,
  }
}

function summaryOf(large: readonly Measured[], small: readonly Measured[]): Line {
  const worst = large.reduce((a, b) => (a.p99 > b.p99 ? a : b))
  const within = large.filter((one) => one.p99 <= p99Max(one)).length
  const flat = large.filter(({ p50 }, at) => p50 / small[at]!.p50 <= 1.3).length
  return {
    what: 'all shapes',
    result: `${within} of ${large.length} within their limit, ${flat} flat; worst ${worst.name}, p99 ${milliseconds(worst.p99)}`,
    peer: '-',
    ratio: '-',
    goal: 'all',
    reached: within === large.length && flat === large.length,
  }
}
