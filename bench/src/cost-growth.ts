// G1: how the processor time of lists, polls, reconciliations, publications, ingest and the detector grows with their work: at a
// size, at ten times and at a hundred times of it. Without a peer: a size is compared with the one before.
import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import type { Route } from '@pharos/contract/route'
import { MemoryZone } from '../../server/src/dns/answer/memory-zone.ts'
import { signInThread } from '../../server/src/dns/sign/sign-in-thread.ts'
import { createSandboxSpeaker, sandboxRegion } from '../../server/src/drivers/sandbox/speaker.ts'
import { readRegionRows } from '../../server/src/byoip/regions/plan-row.store.ts'
import { reconcileRegion } from '../../server/src/byoip/regions/reconcile.ts'
import { RegionLock } from '../../server/src/byoip/regions/region-lock.store.ts'
import { routerOf } from '../../server/src/byoip/regions/testing.ts'
import { openGate } from '../../server/src/runtime/testing-gate.ts'
import { lists, openLists, type Statement } from '../../server/test/support/list-statements.ts'
import { seedAnnouncements, seedRegions } from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, nothing, ownMicros, spend } from './guard/hot-path.ts'
import { measureIngest, prepareIngest } from './ingest-events.ts'
import { measureFlows } from './judge-attacks.ts'
import { seedTeams } from './people.ts'
import { preparePoll } from './poll-devices.ts'
import { cpuMicrosOf } from './processor-time.ts'
import { contentOf, createSigning, measureChange, zone } from './sign-zone.ts'
import { milliseconds, whole } from './table.ts'

export const costGrowth: Benchmark = {
  id: 'G1',
  name: 'cost-growth',
  title: 'processor time at 1x, 10x and 100x of the work',
  missing: () => undefined,
  run,
}

/** Work of the same kind at several sizes: what it is, and its microseconds of processor time at each, with its database. */
type Growth = { readonly what: string; readonly sizes: readonly number[]; readonly micros: readonly number[] }

async function run(bench: Bench): Promise<Line[]> {
  const hundred = sizesOf(bench, 100)
  const growths: Growth[] = []
  const measure = async (what: string, sizes: readonly number[], cost: (size: number) => Promise<number>) => {
    const micros: number[] = []
    for (const size of sizes) micros.push(await cost(size))
    growths.push({ what, sizes, micros })
  }
  growths.push(...(await measureReconcile(bench, hundred)))
  await measure('devices of 100 ports polled by SNMP', sizesOf(bench, 1), (size) => costOfPoll(bench, size))
  await measure('deliveries turned into events', hundred, (size) => costOfIngest(bench, size))
  await measure('record sets of a zone signed', sizesOf(bench, 500), costOfSigning)
  await measure('record sets of a signed zone of which one changes', sizesOf(bench, 500), costOfChange)
  await measure('flows of a second added to the detector', sizesOf(bench, 2_500), async (size) =>
    costOfFlows(size, bench.quick),
  )
  growths.push(...(await measureLists(bench, hundred)))
  return growths.map(lineOf)
}

const pageSize = 100
/** PostgreSQL decides about a general plan after five runs. */
const runsBeforePlan = 6
/** Linux counts in hundredths of a second. */
const measuredMicros = 100_000
const runsMax = 1_000

const sizesOf = ({ quick }: Bench, first: number): readonly number[] =>
  quick ? [first, first * 2, first * 4] : [first, first * 10, first * 100]

/** All announcements to the empty router of a region, and a run with nothing to do. */
async function measureReconcile(bench: Bench, sizes: readonly number[]): Promise<Growth[]> {
  const cluster = await bench.cluster()
  const database = await databaseMeter(bench)
  const [cold, idle]: [number[], number[]] = [[], []]
  for (const size of sizes) {
    const postgres = await cluster.database(`growth_routes_${size}`, async (client) => {
      await seedTeams(client, 1)
      await seedRegions(client, ['growth'])
      await seedAnnouncements(client, size, 0)
    })
    sandboxRegion('growth').restart()
    const lock = new RegionLock(postgres, 1)
    const lease = (await lock.hold())!
    const once = () =>
      microsOf(database, () =>
        reconcileRegion(
          {
            db: postgres.owner,
            routers: [routerOf(createSandboxSpeaker({ region: 'growth' }))],
            quorum: null,
            gate: openGate,
            readRows: readRegionRows,
            now: () => new Date(),
            elapsedMs: () => performance.now(),
          },
          lease,
        ),
      )
    cold.push(await once())
    const count = sandboxRegion('growth').table('pharos').size
    if (count !== size) throw new Error(`${count} of ${size} are announced`)
    idle.push(await repeat(once))
    await lock.release()
  }
  return [
    { what: 'announcements to an empty router', sizes, micros: cold },
    { what: 'announcements, nothing to do', sizes, micros: idle },
  ]
}

async function costOfPoll(bench: Bench, devices: number): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const { poll } = await preparePoll(bench, stack, { devices, ports: 100, delayMs: 0 })
  const database = await databaseMeter(bench)
  return await repeat(() => microsOf(database, () => poll(0)))
}

async function costOfIngest(bench: Bench, deliveries: number): Promise<number> {
  const { postgres, cache } = await prepareIngest(bench)
  const { cpuMicros } = await bench.cluster()
  await measureIngest(postgres, cache, cpuMicros, { round: -1, deliveries: 100, perEvent: 1 })
  let round = 0
  return repeat(async () => {
    const plan = { round: round++, deliveries, perEvent: 1 }
    const { nodeUs, postgresUs } = await measureIngest(postgres, cache, cpuMicros, plan)
    return (nodeUs + postgresUs) * deliveries
  })
}

async function costOfSigning(count: number): Promise<number> {
  const signing = createSigning()
  const sets = contentOf(count, signing)
  return repeat(() => microsOf(nothing, () => signInThread(zone, sets, signing)))
}

async function costOfChange(count: number): Promise<number> {
  const signing = createSigning()
  const served = new MemoryZone(zone, await signInThread(zone, contentOf(count, signing), signing))
  const changes = 200
  return repeat(() =>
    microsOf(nothing, () => measureChange(served, signing, changes)).then((all) => all / changes),
  )
}

function costOfFlows(flows: number, quick: boolean): number {
  const hosts = flows / 2.5
  return (measureFlows({ hosts, flows, warm: quick ? 1 : 10, rounds: quick ? 2 : 30 }).ns * flows) / 1_000
}

/** Every list of a team whose tables have this many rows each. */
async function measureLists({ report }: Bench, sizes: readonly number[]): Promise<Growth[]> {
  await using opened = await openLists()
  await opened.addRows(1, sizes[0]!)
  const measured: Route[] = []
  for (const route of lists) if ((await opened.statementsOf(route, pageSize)).length > 0) measured.push(route)
  const others = lists.filter((route) => !measured.includes(route)).map(({ name }) => name)
  report(`read on other connections than those of the teams, and not measured: ${others.join(', ')}`)
  const { postgres } = opened.api.database
  const reader = await postgres.directConnection()
  const { rows } = await reader.query<{ pid: number }>('select pg_backend_pid() as pid')
  await reader.query(`set role pharos_tenant; set pharos.team_id = ${opened.teamId}`)
  const micros = new Map<string, number[]>(measured.map(({ name }) => [name, []]))
  for (const [at, size] of sizes.entries()) {
    if (at > 0) await opened.addRows(sizes[at - 1]! + 1, size)
    await reader.query('reset role; analyze; set role pharos_tenant')
    for (const route of measured) {
      const statements = await opened.statementsOf(route, pageSize)
      micros.get(route.name)!.push(await costOfStatements(reader, rows[0]!, statements))
    }
  }
  await reader.end()
  return measured.map(({ name }) => ({ what: `rows, ${name}`, sizes, micros: micros.get(name)! }))
}

/** Processor time of PostgreSQL, with the plans that it keeps. */
async function costOfStatements(
  client: Client,
  backend: { readonly pid: number },
  statements: readonly Statement[],
): Promise<number> {
  const runAll = async () => {
    for (const { sql: text, parameters } of statements) {
      const name = createHash('sha256').update(text).digest('hex')
      await client.query({ name: name.slice(0, 60), text, values: [...parameters] })
    }
  }
  for (let run = 0; run < runsBeforePlan; run++) await runAll()
  const before = cpuMicrosOf(backend)
  for (let run = 1; ; run++) {
    await runAll()
    const used = cpuMicrosOf(backend) - before
    if (used >= measuredMicros || run === runsMax) return used / run
  }
}

/** Microseconds of this process and of the database. */
async function microsOf(database: () => number, work: () => Promise<unknown>): Promise<number> {
  const { program, database: ofDatabase } = await spend(ownMicros, database, async () => {
    await work()
    return 1
  })
  return program + ofDatabase
}

/** The least of three: what else the process does, such as a collection of its garbage, only adds. */
async function repeat(cost: () => Promise<number>): Promise<number> {
  return Math.min(await cost(), await cost(), await cost())
}

function lineOf({ what, sizes, micros }: Growth): Line {
  const [before, last] = [micros.at(-2)!, micros.at(-1)!]
  const [small, large] = [sizes.at(-2)!, sizes.at(-1)!]
  const bound = (large * Math.log2(large + 1)) / (small * Math.log2(small + 1))
  return {
    what: `${sizes.map(whole).join(', ')} ${what}`,
    result: micros.map((value) => milliseconds(value / 1_000)).join(', '),
    peer: '-',
    ratio: `n^${(Math.log(last / before) / Math.log(large / small)).toFixed(2)}`,
    goal: '<= n log n',
    reached: last / before <= bound,
  }
}
