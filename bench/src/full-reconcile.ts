// P6: all announcements from the database to empty routers in four regions, by the product's own reconciler, and then a
// run without changes: its duration, and that it writes no rows. Compared with the gobgp client, prefix by prefix.
import { readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { createLab, type Lab } from '../../lab/src/network.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { deleteRuns, originAsn, seedAnnouncements, seedRegions, useRouters } from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPeers } from './packages.ts'
import { seedTeams } from './people.ts'
import { startProduct, type Product } from './product.ts'
import { milliseconds, perSecond, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

const regions = ['ams', 'fra', 'lon', 'nyc'] as const

export const fullReconcile: Benchmark = {
  id: 'P6',
  name: 'full-reconcile',
  title: 'every announcement to empty routers in 4 regions, and a run with nothing to do',
  missing: () => missingPeers().routers,
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const sizes = bench.quick ? [250] : [2_500, 10_000]
  const lines: Line[] = []
  for (const size of sizes) lines.push(...(await measureSize(bench, size)))
  return lines
}

type World = { readonly client: Client; readonly lab: Lab; readonly product: Product; readonly size: number }

async function measureSize(bench: Bench, size: number): Promise<Line[]> {
  const postgres = await (
    await bench.cluster()
  ).database(`routes_${size}`, async (client) => {
    await seedTeams(client, 1)
    await seedRegions(client, regions)
    await seedAnnouncements(client, size, 0)
  })
  await using stack = new AsyncDisposableStack()
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  const lab = stack.use(await createLab({ regions }))
  await useRouters(client, lab, size)
  const { databaseUrl } = postgres
  const startedAt = Date.now()
  const product = stack.use(
    await startProduct({
      roles: ['reconciler'],
      databaseUrl,
      folder: bench.folder,
      // Its runs are timed by its log; idle runs are logged at this level only.
      settings: { PHAROS_LOG_LEVEL: 'debug' },
    }),
  )
  const world = { client, lab, product, size }
  const cold = await untilReconciled(world, startedAt, size)
  const { ours, peer } = await takeTurns(
    bench.rounds,
    () => reconcileFromEmpty(world),
    () => addByClient(lab, bench.quick ? 50 : 500),
  )
  await requireAllAtPeers(world)
  const idle = await measureIdle(world, bench.quick ? 2 : 10)
  bench.report(
    `${whole(size)} in each of ${regions.length}: a new process took ${milliseconds(cold)} from its start`,
  )
  return linesOf(size, medianOf(ours, Number), medianOf(peer, Number), idle)
}

/** Empties the routers, resets the rows, wakes the loops, and waits for the last region. */
async function reconcileFromEmpty(world: World): Promise<number> {
  const { client, lab, product, size } = world
  await deleteRuns(client, size)
  // It would repair a router while the others are still being emptied.
  await product.whilePaused(() => Promise.all(lab.regions.map(({ name }) => emptyRouter(lab, name))))
  const startedAt = Date.now()
  await client.query(`select pg_notify('pharos', 'announcements')`)
  return untilReconciled(world, startedAt, size)
}

async function emptyRouter(lab: Lab, name: string): Promise<void> {
  const { gobgpd, bird } = lab.region(name)
  for (const family of ['ipv4', 'ipv6']) await gobgpd.gobgp('global', 'rib', 'del', 'all', '-a', family)
  await waitFor(`${name} is empty`, async () => (await bird.routes()).length === 0)
}

type Reconciled = {
  readonly region: string
  readonly announced: number
  readonly withdrawn: number
  readonly time: string
}

/**
 * Milliseconds until the runs of each region since then have announced the given number together: a run can begin between the deletion of
 * IPv4 and that of IPv6, and a region is also woken when the connection to its router comes up.
 */
async function untilReconciled({ product }: World, since: number, announced: number): Promise<number> {
  const last = await waitFor(
    'every region is reconciled',
    () => {
      const runs = readRuns(product.logFile).filter(({ time }) => Date.parse(time) >= since)
      const wrong = runs.find((run) => run.announced > announced || run.withdrawn !== 0)
      if (wrong) throw new Error(`${announced} were to be announced, but: ${JSON.stringify(wrong)}`)
      const found = regions.map((name) =>
        findComplete(
          runs.filter((run) => run.region === name),
          announced,
        ),
      )
      return found.every((run) => run !== undefined) && found
    },
    { timeoutMs: 120_000, everyMs: 100 },
  )
  return Math.max(...last.map(({ time }) => Date.parse(time))) - since
}

/** The run of a region with which all are announced. */
function findComplete(runs: readonly Reconciled[], announced: number): Reconciled | undefined {
  let sum = 0
  return runs.find((run) => (sum += run.announced) >= announced)
}

function readRuns(logFile: string): Reconciled[] {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"message":"region reconciled"'))
    .map((line) => JSON.parse(line) as Reconciled)
}

async function requireAllAtPeers({ lab, size }: World): Promise<void> {
  for (const { name } of lab.regions) {
    const count = async () => (await lab.birdRoutes(name)).length
    await waitFor(`the peer of ${name} has ${size} routes`, async () => (await count()) === size)
  }
}

type Idle = { readonly ms: number; readonly rowsWritten: number; readonly routesWritten: number }

/** A rewritten row has another position or transaction, a route that is sent again another age. */
async function measureIdle(world: World, ticks: number): Promise<Idle> {
  const { client, lab } = world
  const before = { rows: await rowVersions(client), routes: await routeAges(lab) }
  let ms = 0
  for (let tick = 0; tick < ticks; tick++) {
    const startedAt = Date.now()
    // As after the decision about an approval: `announcements` would only select changed ones, and no announcement has
    // changed.
    await client.query(`select pg_notify('pharos', 'approvals')`)
    ms += await untilReconciled(world, startedAt, 0)
  }
  return {
    ms: ms / ticks,
    rowsWritten: differences(before.rows, await rowVersions(client)),
    routesWritten: differences(before.routes, await routeAges(lab)),
  }
}

async function rowVersions(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ key: string; version: string }>(`
    select 'a' || id as key, concat(ctid, ' ', xmin) as version from announcements
    union all select concat(announcement_id, ' ', region_id), concat(ctid, ' ', xmin) from announcement_regions`)
  return new Map(rows.map(({ key, version }) => [key, version]))
}

async function routeAges(lab: Lab): Promise<Map<string, string>> {
  const ages = new Map<string, string>()
  for (const { name, gobgpd } of lab.regions) {
    for (const family of ['ipv4', 'ipv6']) {
      const text = await gobgpd.gobgp('global', 'rib', '-j', '-a', family)
      const table = JSON.parse(text) as Record<string, { age: number }[]>
      for (const [prefix, paths] of Object.entries(table))
        ages.set(`${name} ${prefix}`, String(paths[0]?.age))
    }
  }
  return ages
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  const keys = new Set([...before.keys(), ...after.keys()])
  return keys
    .values()
    .filter((key) => before.get(key) !== after.get(key))
    .toArray().length
}

/** Routes per second, one call of the client after the other, as an operator's script does it. */
async function addByClient(lab: Lab, count: number): Promise<number> {
  const { gobgpd } = lab.regions[0]!
  const start = performance.now()
  for (let n = 0; n < count; n++) {
    const prefix = `172.${16 + (n >> 8)}.${n & 255}.0/24`
    await gobgpd.gobgp('global', 'rib', 'add', prefix, 'aspath', String(originAsn), '-a', 'ipv4')
  }
  return count / ((performance.now() - start) / 1000)
}

function linesOf(size: number, fullMs: number, clientRate: number, idle: Idle): Line[] {
  const routes = size * regions.length
  const clientMs = (routes / clientRate) * 1000
  return [
    {
      what: `${whole(routes)} routes, ${whole(size)} in each of ${regions.length} regions`,
      result: milliseconds(fullMs),
      peer: `${milliseconds(clientMs)} gobgp client, at ${perSecond(clientRate)}`,
      ratio: `${times(clientMs / fullMs)} faster`,
      goal: '<= 2 s',
      reached: fullMs <= 2000,
    },
    {
      what: `nothing to do, ${whole(routes)} routes`,
      result: `${milliseconds(idle.ms)}, ${idle.routesWritten} routes and ${idle.rowsWritten} rows written`,
      peer: '-',
      ratio: '-',
      goal: '0 writes',
      reached: idle.routesWritten + idle.rowsWritten === 0,
    },
  ]
}
