// D10: a tick of all DNS loops with 100,000 zones without changes, which must not write a row; and the serials of all
// zones read from one follower. The latter is compared with dnsperf, which sends the same questions once to the same
// server.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from 'pg'
import { startPeer } from '../../lab/src/authoritative-peer.ts'
import { programPath } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { createFollower } from '../../server/src/drivers/dns-follower/name-server.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { startDnsProduct } from './dns-product.ts'
import { readLag } from './event-loop-lag.ts'
import { missingPrograms } from './packages.ts'
import { seededFile, seededZone, seedZones } from './seed-zones.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const idleZones: Benchmark = {
  id: 'D10',
  name: 'idle-zones',
  title: '100,000 zones with nothing to do, and their serials read from a follower',
  missing: () => missingPrograms('nsd', 'dnsperf'),
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 2_000 : 100_000
  return [...(await measureTick(bench, count)), ...(await measureSweep(bench, count))]
}

async function measureTick(bench: Bench, count: number): Promise<Line[]> {
  await using ours = await startDnsProduct(bench, {
    roles: ['reconciler', 'nameserver'],
    seed: (client) => seedZones(client, count, true),
  })
  const { product, client } = ours
  const members = `select count(*)::integer as n from dns_served s join dns_zones z on z.id = s.zone_id where z.is_catalog and s.type = 12`
  await waitFor('the catalog zone is complete', async () => (await numberOf(client, members)) === count, {
    timeoutMs: 300_000,
    everyMs: 200,
  })
  await untilTicked(product.url, client)
  const before = await rowsOf(client)
  await readLag(product.url)
  const micros = product.cpuMicros()
  await untilTicked(product.url, client)
  const used = product.cpuMicros() - micros
  const lagMs = await readLag(product.url)
  const written = changesBetween(before, await rowsOf(client))
  bench.report(
    `processor time of the product from one run of every loop to the next: ${milliseconds(used / 1_000)}; longest delay of its event loop ${milliseconds(lagMs)} by the wall clock`,
  )
  return [
    {
      what: `tick, ${whole(count)} zones, nothing to do`,
      result: written.length === 0 ? '0 writes' : written.join(', '),
      peer: '-',
      ratio: '-',
      goal: '0 writes',
      reached: written.length === 0,
    },
  ]
}

const loops = [
  'dns-publish',
  'dns-catalog',
  'nameserver-zones',
  'nameserver-access',
  'dns-observe',
  'dns-follow',
  'dnssec',
]

/** Resolves when each of the loops has run once more, woken or by its interval of at most 30 s. */
async function untilTicked(url: string, client: Client): Promise<void> {
  const runs = async (): Promise<Map<string, number>> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    const found = text.matchAll(/^pharos_loop_runs_total\{loop="([^"]+)",result="ok"\} (\d+)$/gm)
    return new Map([...found].map(([, name = '', n]) => [name, Number(n)]))
  }
  const before = await runs()
  for (const name of ['dns', 'dns-published']) await client.query(`select pg_notify('pharos', $1)`, [name])
  const known = loops.filter((name) => before.has(name))
  const isDone = async (): Promise<boolean> => {
    const now = await runs()
    return known.every((name) => (now.get(name) ?? 0) > before.get(name)!)
  }
  await waitFor('every loop has run', isDone, { timeoutMs: 120_000, everyMs: 250 })
}

const numberOf = async (client: Client, statement: string): Promise<number> =>
  (await client.query<{ n: number }>(statement)).rows[0]!.n

/** Number, last transaction and positions of the rows of each table of DNS: a row that is written again has another position. */
async function rowsOf(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_stat_user_tables where relname like 'dns\\_%' order by 1`,
  )
  const states = new Map<string, string>()
  for (const { name } of rows) {
    const { rows: found } = await client.query<{ state: string }>(
      `select count(*) || ' ' || coalesce(sum(hashtext(ctid::text || ' ' || xmin::text)), 0) as state from ${name}`,
    )
    states.set(name, found[0]!.state)
  }
  return states
}

const changesBetween = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...after].flatMap(([name, state]) => (before.get(name) === state ? [] : [`${name} was written`]))

async function measureSweep(bench: Bench, count: number): Promise<Line[]> {
  const zones = Array.from({ length: count }, (_, n) => seededZone(n))
  const nsd = await startPeer('nsd', Object.fromEntries(zones.map((zone) => [zone, seededFile])))
  const questions = join(bench.folder, 'serials')
  await writeFile(questions, `${zones.map((zone) => `${zone} SOA`).join('\n')}\n`)
  const client = createFollower({ address: '127.0.0.1', port: nsd.port })
  const run = promisify(execFile)
  const peerArgs = [
    '-s',
    '127.0.0.1',
    '-p',
    String(nsd.port),
    '-d',
    questions,
    '-n',
    '1',
    '-c',
    '1',
    '-q',
    '100',
  ]
  try {
    const { ours, peer } = await takeTurns(
      bench.rounds,
      async () => {
        const start = performance.now()
        const before = process.threadCpuUsage()
        const serials = await client.serials(zones)
        const { user, system } = process.threadCpuUsage(before)
        if (serials.size !== count || [...serials.values()].some((serial) => serial !== 1))
          throw new Error('the follower has other serials')
        return { ms: performance.now() - start, cpuMs: (user + system) / 1_000 }
      },
      async () => {
        const start = performance.now()
        await run(programPath('dnsperf'), peerArgs)
        return performance.now() - start
      },
    )
    const [ms, peerMs] = [medianOf(ours, (sample) => sample.ms), medianOf(peer, Number)]
    bench.report(
      `processor time of reading ${whole(count)} serials: ${milliseconds(medianOf(ours, ({ cpuMs }) => cpuMs))}`,
    )
    return [
      {
        what: `serials of ${whole(count)} zones read from NSD`,
        result: milliseconds(ms),
        peer: `${milliseconds(peerMs)} dnsperf`,
        ratio: `${times(ms / peerMs)} its time`,
        goal: '<= 15 s',
        reached: ms <= 15_000,
      },
    ]
  } finally {
    await client.close()
    await nsd.stop()
  }
}
