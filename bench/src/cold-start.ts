// A new process and an empty router: time until a hundred thousand announcements are on the router, read back and stored as
// observed. Beside it the same routes sent to the same daemon by the driver alone, without a database or a plan.
import { createLab, type Lab } from '../../lab/src/network.ts'
import { waitFor } from '../../lab/src/wait.ts'
import type { Route } from '../../server/src/byoip/regions/speaker.ts'
import { createGobgpSpeaker } from '../../server/src/drivers/gobgp/speaker.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { originAsn, owner, prefixOf, seedAnnouncements, seedRegions, useRouters } from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPeers } from './packages.ts'
import { seedTeams } from './people.ts'
import { startProduct } from './product.ts'
import { milliseconds, times, whole } from './table.ts'

export const coldStart: Benchmark = {
  id: 'C100',
  name: 'cold-start',
  title: '100,000 announcements from a new process to an empty router',
  missing: () => missingPeers().routers,
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const size = bench.quick ? 5_000 : 100_000
  const postgres = await (
    await bench.cluster()
  ).database(`cold_${size}`, async (client) => {
    await seedTeams(client, 1)
    await seedRegions(client, ['ams'])
    await seedAnnouncements(client, size, 0)
  })
  const peer = await driverAlone(size)
  await using stack = new AsyncDisposableStack()
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  const lab = stack.use(await createLab({ regions: ['ams'] }))
  await useRouters(client, lab, size)
  const start = performance.now()
  const { databaseUrl } = postgres
  stack.use(await startProduct({ roles: ['reconciler'], databaseUrl, folder: bench.folder }))
  const announced = `select count(*)::integer as n from announcement_regions where state = 'announced'`
  const isDone = async () => (await client.query<{ n: number }>(announced)).rows[0]!.n === size
  await waitFor('everything is announced', isDone, { timeoutMs: 300_000, everyMs: 100 })
  const ms = performance.now() - start
  await requireAtPeer(lab, size)
  return [
    {
      what: `${whole(size)} announcements, a new process, an empty router`,
      result: milliseconds(ms),
      peer: `${milliseconds(peer)} the driver alone`,
      ratio: `${times(ms / peer)} its time`,
      goal: '',
      reached: undefined,
    },
  ]
}

async function driverAlone(size: number): Promise<number> {
  await using lab = await createLab({ regions: ['ams'] })
  const [region] = lab.regions
  const speaker = createGobgpSpeaker({ address: region!.apiAddress, owner, timeoutMs: 300_000 })
  const routes = Array.from({ length: size }, (_, at) => routeOf(at + 1, region!.nextHop6))
  const start = performance.now()
  await speaker.announce(routes)
  const ms = performance.now() - start
  await speaker.close()
  return ms
}

function routeOf(n: number, nextHop6: string): Route {
  const prefix = parsePrefix(prefixOf(n))
  const nextHop = prefix.includes(':') ? nextHop6 : '0.0.0.0'
  return { prefix, asPath: [originAsn], nextHop, communities: [], largeCommunities: [] }
}

async function requireAtPeer(lab: Lab, size: number): Promise<void> {
  const count = async () => (await lab.birdRoutes('ams')).length
  await waitFor(`the peer has ${size} routes`, async () => (await count()) === size, { timeoutMs: 120_000 })
}
