// K2: resident memory of a process of each role: idle on an empty database, idle on a database with the sizes of
// docs/capacity.md, and its peak under load; the source of that page. It has no peer.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { freePort } from '../../lab/src/address.ts'
import { createLab } from '../../lab/src/network.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { seedAnnouncements, seedRegions, useRouters } from './announcements.ts'
import type { Role } from '../../server/src/runtime/role.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { runLoad } from './load.ts'
import { missingPeers } from './packages.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { startProduct, type Product, type ProductOptions } from './product.ts'
import { seedEvents } from './seed-events.ts'
import { seedZones } from './seed-zones.ts'
import { whole } from './table.ts'

export const memory: Benchmark = {
  id: 'K2',
  name: 'memory',
  title: 'resident memory of a process of each role, idle and under load',
  missing: () => (process.platform === 'linux' ? missingPeers().routers : 'memory is read from /proc'),
  run,
}

/** Idle time after which the heap of the start has been collected. */
const idleMs = 10_000
const teams = 50
const flowsOfDatagram = 20

type Load = {
  readonly role: Role
  readonly what: string
  /** Number of rows of `what`. */
  readonly count: number
  readonly load: string
  readonly settings?: () => Promise<Readonly<Record<string, string>>>
  readonly seed: (client: Client, bench: Bench) => Promise<void>
  /** Starts the dependencies of the product; returns a function that resolves when their work is done. */
  readonly prepare?: (postgres: Postgres, stack: AsyncDisposableStack) => Promise<() => Promise<void>>
  /** Puts the product under load; resolves at the end of it. */
  readonly run?: (product: Product, bench: Bench, settings: Readonly<Record<string, string>>) => Promise<void>
}

const loadsOf = ({ quick, clients }: Bench): readonly Load[] => {
  const [events, announcements, zones] = quick ? [2_000, 200, 2_000] : [20_000, 10_000, 100_000]
  const [flows, flowSeconds] = quick ? [10_000, 3] : [100_000, 30]
  return [
    {
      role: 'api',
      what: `events of ${teams} teams`,
      count: events,
      load: `pages of 100 events over ${clients} connections`,
      async seed(client, { report }) {
        await seedTeams(client, teams)
        await seedUsers(client, teams, teams)
        await seedEvents(client, { events, teams, firstShare: 1 / teams }, report)
      },
      async run(product, bench) {
        const signed = await signIn(product.url, teams)
        const requests = signed.map(({ access }) => ({
          method: 'GET' as const,
          path: '/v3/lighthouse/security/events/related',
          authorization: `Bearer ${access}`,
        }))
        const { sliceSeconds: seconds } = bench
        await runLoad({
          product,
          connections: clients,
          seconds,
          source: { kind: 'list', requests, bytesMin: 100 },
        })
      },
    },
    {
      role: 'nameserver',
      what: 'zones of three record sets',
      count: zones,
      load: 'reads all zones at the start',
      async seed(client) {
        await seedTeams(client, 1)
        await seedZones(client, zones, true)
      },
    },
    {
      role: 'collector',
      what: 'prefixes',
      count: 1,
      load: `${whole(flows)} flows/s for ${flowSeconds} s`,
      settings: async () => ({ PHAROS_NETFLOW_LISTEN: `127.0.0.1:${await freePort('127.0.0.1')}` }),
      async seed(client) {
        await client.query("insert into teams (slug, name) values ('one', 'One')")
        await client.query("insert into prefixes (team_id, prefix) values (1, '203.0.0.0/16')")
      },
      async run(_, __, settings) {
        const port = settings['PHAROS_NETFLOW_LISTEN']!.split(':')[1]!
        const args = [port, String(flows / flowsOfDatagram), String(flowSeconds), 'ipfix']
        const execArgv = ['--disable-warning=ExperimentalWarning']
        const sender = fork(new URL('./flow-sender-process.ts', import.meta.url), args, {
          execArgv,
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        })
        await once(sender, 'close')
        await sleep(idleMs)
      },
    },
    {
      role: 'reconciler',
      what: 'announcements in two regions',
      count: announcements,
      load: 'announces all of them, then compares every 30 s',
      async seed(client) {
        await seedTeams(client, 1)
        await seedRegions(client, ['ams', 'fra'])
        await seedAnnouncements(client, announcements, 0)
      },
      async prepare(postgres, stack) {
        const lab = stack.use(await createLab({ regions: ['ams', 'fra'] }))
        const client = await postgres.directConnection()
        stack.defer(() => client.end())
        await useRouters(client, lab, announcements)
        return async () => {
          for (const { name } of lab.regions)
            await waitFor(
              `${name} has the routes`,
              async () => (await lab.birdRoutes(name)).length >= announcements,
              { everyMs: 250 },
            )
        }
      },
    },
  ]
}

async function run(bench: Bench): Promise<Line[]> {
  const lines: Line[] = []
  for (const load of loadsOf(bench)) lines.push(await measure(bench, load))
  return lines
}

async function measure(bench: Bench, load: Load): Promise<Line> {
  const { role, what, count } = load
  const cluster = await bench.cluster()
  const empty = await cluster.database('memory_empty', async () => {})
  const filled = await cluster.database(`memory_${role}_${count}`, (client) => load.seed(client, bench))
  const own = (await load.settings?.()) ?? {}
  const settings = { PHAROS_DATA_DIR: join(bench.folder, `memory-${role}-${count}`), ...own }
  const options = { roles: [role], folder: bench.folder, settings }
  await using stack = new AsyncDisposableStack()
  const ready = await load.prepare?.(filled, stack)
  const unused = await idleBytes({ ...options, databaseUrl: empty.databaseUrl })
  const product = stack.use(await startProduct({ ...options, databaseUrl: filled.databaseUrl }))
  await sleep(idleMs)
  const { residentBytes: idle } = product.memory()
  await ready?.()
  await load.run?.(product, bench, settings)
  await sleep(idleMs)
  const { peakBytes, residentBytes } = product.memory()
  const sizes = { empty: unused, idle, peak: peakBytes, afterwards: residentBytes }
  return {
    what: `${role}: ${whole(count)} ${what}; ${load.load}`,
    result: Object.entries(sizes)
      .map(([name, bytes]) => `${name} ${megabytes(bytes)}`)
      .join(', '),
    peer: '-',
    ratio: '-',
    goal: '',
    reached: undefined,
  }
}

async function idleBytes(options: ProductOptions): Promise<number> {
  await using product = await startProduct(options)
  await sleep(idleMs)
  return product.memory().residentBytes
}

const megabytes = (bytes: number): string => `${whole(bytes / 1e6)} MB`
