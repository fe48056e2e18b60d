// P9c: a team's series from the rollups, beside the same series from the raw rows of all teams, by the product's own statements.
// P9d: blocks of flows inserted with every rollup, beside COPY of the same rows into PostgreSQL: processor time, and bytes a row.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import { quantile } from '../../lab/src/measure.ts'
import { seriesStatement, type FlowScope, type FlowSource } from '../../server/src/flow/flow-query.ts'
import type { FlowStore } from '../../server/src/flow/flow-store.ts'
import { createFlowStore } from '../../server/src/drivers/clickhouse/flow-store.ts'
import { encodeNativeBlock } from '../../server/src/drivers/clickhouse/native-block.ts'
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, ownMicros, nothing, spend, type HotPath } from './guard/hot-path.ts'
import { cpuMicrosOf } from './processor-time.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const flowSeries: Benchmark = {
  id: 'P9c',
  name: 'flow-series',
  title: "a team's traffic of 3 days from rollups",
  missing: () => undefined,
  run: series,
}

export const flowInsert: Benchmark = {
  id: 'P9d',
  name: 'flow-insert',
  title: 'flows inserted with every rollup; bytes a row',
  missing: () => undefined,
  run: insert,
}

export const flowSeriesPath: HotPath = {
  id: 'P9c',
  unit: 'series of a team from a rollup',
  peer: 'the same from the raw rows of all teams',
  missing: flowSeries.missing,
  async prepare(bench, stack) {
    const { store, cpuMicros } = await openStore(bench, 'flow-series')
    stack.defer(() => store.close())
    const start = startOf()
    await fill(store, 1_000_000, start, bench)
    const [, keys, source] = shapes[0]!
    const turn = (statement: ReturnType<typeof seriesStatement>, runs: number) => () =>
      spend(ownMicros, cpuMicros, async () => (await timesOf(store, statement, runs)).length)
    return {
      ours: turn(statementOf(start, { teamId: 1 }, keys, source), 20),
      peer: turn(rawStatementOf(start, keys), 4),
    }
  },
}

export const flowInsertPath: HotPath = {
  id: 'P9d',
  unit: 'flow inserted',
  peer: 'PostgreSQL COPY, one index',
  missing: flowInsert.missing,
  async prepare(bench, stack) {
    const rows = 100_000
    const { store, cpuMicros } = await openStore(bench, 'flow-insert')
    stack.defer(() => store.close())
    const { client, file } = await openPeer(bench, stack, rows)
    const database = await databaseMeter(bench)
    let number = 0
    return {
      ours() {
        const columns = columnsOf(rows, startOf() + 2 * number, number)
        return spend(ownMicros, cpuMicros, async () => {
          await store.insert('flows', encodeNativeBlock(rows, columns), `bench-${number++}`)
          return rows
        })
      },
      peer: () =>
        spend(nothing, database, async () => {
          await copyFlows(client, file)
          return rows
        }),
    }
  },
}

const daySeconds = 86_400
const days = 3
const teams = 2_000
const startOf = (): number => Math.floor(Date.now() / 1000 / daySeconds) * daySeconds - days * daySeconds

/** An empty store. */
async function openStore(bench: Bench, name: string): Promise<{ store: FlowStore; cpuMicros(): number }> {
  const folder = join(bench.folder, name)
  rmSync(folder, { recursive: true, force: true })
  const options = {
    url: null,
    dataDir: folder,
    retention: { flowDays: 3650, rollupDays: 3650 },
    log: () => {},
  }
  const store = createFlowStore(options)
  await store.probe()
  const pid = Number(readFileSync(join(folder, 'clickhouse.pid'), 'utf8').split('\n')[0])
  return { store, cpuMicros: () => cpuMicrosOf({ pid }) }
}

async function series(bench: Bench): Promise<Line[]> {
  const rows = bench.quick ? 200_000 : bench.full ? 100_000_000 : 10_000_000
  const { store } = await openStore(bench, 'flow-series')
  try {
    const start = startOf()
    await fill(store, rows, start, bench)
    const largest = await teamWith(store, rows)
    const lines: Line[] = []
    for (const [title, keys, source] of shapes) {
      const ours = statementOf(start, { teamId: 1 }, keys, source)
      const scan = rawStatementOf(start, keys)
      // A percentile of few runs is the longest one.
      const runs = bench.quick ? 3 : 100
      const { ours: of, peer } = await takeTurns(
        bench.rounds,
        () => timesOf(store, ours, runs),
        () => timesOf(store, scan, Math.ceil(runs / 50)),
      )
      const p50 = quantile(of.flat(), 0.5)
      const p99 = quantile(of.flat(), 0.99)
      const peerMs = medianOf(peer.flat(), Number)
      const [goal, reached] = goalOf(title, p99, peerMs / p50, rows)
      lines.push({
        what: `${title}, ${whole(largest)} of ${whole(rows)} flows, p50 / p99`,
        result: `${milliseconds(p50)} / ${milliseconds(p99)}`,
        peer: `${milliseconds(peerMs)} raw scan`,
        ratio: times(peerMs / p50),
        goal,
        reached,
      })
    }
    return lines
  } finally {
    await store.close()
  }
}

const shapes: readonly (readonly [string, readonly FlowKey[], FlowSource])[] = [
  ['bps by direction, minutes', ['direction'], { family: 'protocol', step: 60, isCut: false }],
  ['bps by direction, hours', ['direction'], { family: 'protocol', step: 3600, isCut: false }],
  ['top 10 service ports, hours', ['service_port'], { family: 'service', step: 3600, isCut: false }],
  ['top 10 source ports, raw', ['src_port'], { family: 'flows', step: 1, isCut: false }],
]

/** The ratio applies to the size at which it was set: a scan of fewer rows is mostly fixed cost. */
function goalOf(title: string, p99: number, ratio: number, rows: number): [string, boolean] {
  if (title.endsWith('raw')) return ['p99 <= 100 ms', p99 <= 100]
  if (rows < 100_000_000) return ['p99 <= 20 ms', p99 <= 20]
  return ['p99 <= 20 ms, >= 50x', p99 <= 20 && ratio >= 50]
}

function statementOf(start: number, scope: FlowScope, groupBy: readonly FlowKey[], source: FlowSource) {
  const seconds = source.step === 60 ? 900 : 3600
  const count = (days * daySeconds) / seconds
  return seriesStatement({
    selection: {
      scope,
      metric: 'bps',
      direction: 'both',
      filters: [],
      groupBy,
      names: { prefixes: [], devices: [], ports: [], asns: new Map() },
    },
    source,
    borders: Array.from({ length: count + 1 }, (_, at) => new Date((start + at * seconds) * 1000)),
    seconds,
    limit: 10,
    limitBy: 'avg',
    includeOther: true,
    now: new Date(),
  })
}

const rawStatementOf = (start: number, groupBy: readonly FlowKey[]) =>
  statementOf(start, { teamId: 'all' }, groupBy, { family: 'flows', step: 1, isCut: false })

async function timesOf(
  store: FlowStore,
  { sql, params }: ReturnType<typeof seriesStatement>,
  runs: number,
): Promise<number[]> {
  const found: number[] = []
  for (let run = 0; run < runs; run++) {
    const at = performance.now()
    // A scan of all teams may read more than one query of the product may.
    const rows = await store.query(sql, params, { seconds: 60, rowsToRead: 2e9, memoryBytes: 4e9 })
    found.push(performance.now() - at)
    if (rows.length === 0) throw new Error('the series is empty')
  }
  return found
}

async function teamWith(store: FlowStore, rows: number): Promise<number> {
  const [row] = await store.query<{ count: number; flows: number }>(
    `select (select count() from flows where team_id = 1) as count, (select sum(flows) from flows_by_protocol_1h) as flows`,
    {},
  )
  if (row!.flows !== rows) throw new Error(`${row!.flows} flows in a rollup of ${rows} rows`)
  return row!.count
}

/** Made by ClickHouse itself. Team 1 has 8 % of the flows, the others fewer and fewer. */
async function fill(store: FlowStore, rows: number, start: number, { report }: Bench): Promise<void> {
  const step = Math.min(rows, 2_000_000)
  for (let from = 0; from < rows; from += step) {
    await store.command(`insert into flows (team_id, time, direction, is_primary, exporter_id, in_if, out_if, port_id, prefix_id,
        src_addr, dst_addr, src_port, dst_port, protocol, src_as, dst_as, src_country, dst_country, bytes, packets, sampling_rate)
      with cityHash64(number) as h, rand(1) as r, rand(2) as q
      select if(r % 100 < 8, 1, 2 + intDiv(${teams - 2} * (q % 10000) * (q % 10000), 100000000)) as team,
        toDateTime(${start} + intDiv(number * ${days * daySeconds}, ${rows}), 'UTC'), 1 + (h % 10 < 3), 1, h % 8, h % 16, h % 16, h % 64,
        team * 4 + h % 4, toIPv6(concat('::ffff:', IPv4NumToString(toUInt32(r)))), toIPv6(concat('::ffff:198.51.100.', toString(h % 256))),
        32768 + q % 28000, [443, 443, 443, 80, 53, 22, 123, 8443][1 + h % 8], [6, 6, 6, 17][1 + h % 4], r % 5000, 64500, 'NL', 'DE',
        40 + q % 60000, 1 + q % 40, 1000
      from numbers(${from}, ${Math.min(step, rows - from)})`)
    report(`${whole(Math.min(from + step, rows))} flows`)
  }
}

/** Blocks as the collector makes them; each differs, so that answers do not come from a cache. */
const blockRows = 500_000

async function insert(bench: Bench): Promise<Line[]> {
  const blocks = bench.quick ? 1 : bench.full ? 20 : 6
  const rows = bench.quick ? 50_000 : blockRows
  const { store, cpuMicros } = await openStore(bench, 'flow-insert')
  await using stack = new AsyncDisposableStack()
  const { client, file } = await openPeer(bench, stack, rows)
  try {
    const [backend] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows
    let number = 0
    const { ours, peer } = await takeTurns(
      blocks,
      async () => {
        const columns = columnsOf(rows, startOf() + 2 * number, number)
        const { program, database } = await spend(ownMicros, cpuMicros, async () => {
          await store.insert('flows', encodeNativeBlock(rows, columns), `bench-${number++}`)
          return rows
        })
        return { store: database / 1_000, client: program / 1_000 }
      },
      async () => {
        const before = cpuMicrosOf(backend!)
        await copyFlows(client, file)
        return (cpuMicrosOf(backend!) - before) / 1_000
      },
    )
    const total = blocks * rows
    const all = await store.query<{ counts: number[] }>(
      `select [(select count() from flows), (select sum(flows) from flows_by_protocol_1m), (select sum(flows) from flows_by_service_1h),
        (select sum(flows) from flows_by_interface_1h)] as counts`,
      {},
    )
    if (all[0]!.counts.some((count) => count !== total))
      throw new Error(`stored ${all[0]!.counts.join()} of ${total}`)
    const insertMs = ours.reduce((sum, one) => sum + one.store + one.client, 0)
    const copyMs = peer.reduce((sum, ms) => sum + ms, 0)
    bench.report(`processor time of the client ${milliseconds(medianOf(ours, (one) => one.client))} a block`)
    const perSecond = total / insertMs / 1000
    await store.command('optimize table flows final')
    const [size] = await store.query<{ bytes: number }>(
      `select sum(bytes_on_disk) / sum(rows) as bytes from system.parts where active and database = currentDatabase() and table = 'flows'`,
      {},
    )
    const { rows: table } = await client.query<{ bytes: string }>(
      `select pg_total_relation_size('bench_flows')::float8 / ${total} as bytes`,
    )
    const peerBytes = Number(table[0]!.bytes)
    return [
      {
        what: `${whole(total)} flows in blocks of ${whole(rows)}, six rollups, M rows a CPU-second`,
        result: perSecond.toFixed(2),
        peer: `${(total / copyMs / 1000).toFixed(2)} PostgreSQL COPY, one index`,
        ratio: times(copyMs / insertMs),
        goal: '>= 0.6',
        reached: perSecond >= 0.6,
      },
      {
        what: 'bytes a row on disk',
        result: size!.bytes.toFixed(1),
        peer: `${peerBytes.toFixed(1)} PostgreSQL`,
        ratio: times(size!.bytes / peerBytes),
        goal: '<= 25',
        reached: size!.bytes <= 25,
      },
    ]
  } finally {
    await store.close()
  }
}

/** An empty table of PostgreSQL, and a file with the rows of one block for it. */
async function openPeer(bench: Bench, stack: AsyncDisposableStack, rows: number) {
  const cluster = await bench.cluster()
  const postgres = await cluster.database(
    'flow_rows',
    async (client) => void (await client.query(postgresTable)),
  )
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  await client.query('truncate bench_flows')
  const file = join(bench.folder, 'flows.csv')
  writeFileSync(file, csvOf(rows, columnsOf(rows, startOf(), 0)), { mode: 0o644 })
  return { client, file }
}

const copyFlows = (client: Client, file: string) =>
  client.query(`copy bench_flows from '${file}' (format csv)`)

type Columns = Parameters<typeof encodeNativeBlock>[1]

const postgresTable = `create table bench_flows (time int8, team_id int4, direction int2, is_primary int2, exporter_id int4, in_if int4,
  out_if int4, port_id int4, prefix_id int4, src_addr int8, dst_addr int8, src_port int4, dst_port int4, protocol int2, tcp_flags int2,
  src_as int8, dst_as int8, bytes int8, packets int8, sampling_rate int4);
  create index on bench_flows (team_id, time)`

/** A second of a network: few prefixes have most of the traffic, service ports repeat, sources and ephemeral ports do not. */
function columnsOf(rows: number, time: number, seed: number): Columns {
  const random = createRandom(seed)
  const skewed = (count: number) => Math.floor(count * random() ** 3)
  const of = <A extends Uint8Array | Uint16Array | Uint32Array>(
    values: A,
    next: (row: number) => number,
  ): A => {
    for (let row = 0; row < rows; row++) values[row] = next(row)
    return values
  }
  const words = (next: () => number): Uint32Array => {
    const all = new Uint32Array(4 * rows)
    for (let row = 0; row < rows; row++) all.set([0, 0, 0xffff, next()], 4 * row)
    return all
  }
  const team = of(new Uint32Array(rows), () => 1 + skewed(teams))
  const zero = new Uint32Array(rows)
  const packets = of(new Uint32Array(rows), () => 1 + Math.floor(40 * random() ** 6))
  const services = [443, 443, 443, 443, 80, 53, 22, 123, 8443, 25]
  return [
    {
      name: 'time',
      type: `DateTime('UTC')`,
      values: of(new Uint32Array(rows), () => time + Math.floor(random() * 2)),
    },
    { name: 'team_id', type: 'UInt32', values: team },
    {
      name: 'direction',
      type: `Enum8('in' = 1, 'out' = 2, 'internal' = 3)`,
      values: of(new Uint8Array(rows), () => (random() < 0.7 ? 1 : 2)),
    },
    { name: 'is_primary', type: 'UInt8', values: new Uint8Array(rows).fill(1) },
    { name: 'exporter_id', type: 'UInt32', values: of(new Uint32Array(rows), () => skewed(8)) },
    { name: 'in_if', type: 'UInt32', values: of(new Uint32Array(rows), () => skewed(16)) },
    { name: 'out_if', type: 'UInt32', values: of(new Uint32Array(rows), () => skewed(16)) },
    { name: 'port_id', type: 'UInt32', values: of(new Uint32Array(rows), (row) => team[row]! % 64) },
    {
      name: 'prefix_id',
      type: 'UInt32',
      values: of(new Uint32Array(rows), (row) => 4 * team[row]! + skewed(4)),
    },
    { name: 'src_addr', type: 'IPv6', words: words(() => 0x0b000000 + skewed(2 ** 22)) },
    { name: 'dst_addr', type: 'IPv6', words: words(() => 0xc6336400 + skewed(65_536)) },
    {
      name: 'src_port',
      type: 'UInt16',
      values: of(new Uint16Array(rows), () => 32_768 + Math.floor(28_000 * random())),
    },
    {
      name: 'dst_port',
      type: 'UInt16',
      values: of(new Uint16Array(rows), () => services[skewed(services.length)]!),
    },
    { name: 'protocol', type: 'UInt8', values: of(new Uint8Array(rows), () => (random() < 0.8 ? 6 : 17)) },
    { name: 'tcp_flags', type: 'UInt8', values: of(new Uint8Array(rows), () => (random() < 0.8 ? 0x18 : 0)) },
    { name: 'src_as', type: 'UInt32', values: of(new Uint32Array(rows), () => 1 + skewed(70_000)) },
    { name: 'dst_as', type: 'UInt32', values: new Uint32Array(rows).fill(64_500) },
    {
      name: 'bytes',
      type: 'UInt64',
      low: of(new Uint32Array(rows), (row) => packets[row]! * (40 + skewed(1_460))),
      high: zero,
    },
    { name: 'packets', type: 'UInt64', low: packets, high: zero },
    { name: 'sampling_rate', type: 'UInt32', values: new Uint32Array(rows).fill(1000) },
  ]
}

/** The rows as PostgreSQL has them; addresses are their last word. */
function csvOf(rows: number, columns: Columns): string {
  const cells = columns.map((column) => {
    if ('words' in column) return (row: number) => column.words[4 * row + 3]!
    if ('low' in column) return (row: number) => column.low[row]!
    if ('values' in column) return (row: number) => column.values[row]!
    throw new Error(`no cells of ${column.name}`)
  })
  const lines: string[] = []
  for (let row = 0; row < rows; row++) lines.push(cells.map((cell) => cell(row)).join(','))
  return `${lines.join('\n')}\n`
}

/** The same numbers in every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
