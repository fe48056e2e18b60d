// P5: from the PATCH to the UPDATE at a real neighbor, with the whole product running: the commit, the notification, the
// reconciler's run, gobgpd, BGP. Beside it GoBGP's own API on the same daemon, and the published times of commercial services.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { BirdLog } from '../../lab/src/bird-log.ts'
import { median, quantile } from '../../lab/src/measure.ts'
import { createLab, type Lab } from '../../lab/src/network.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { createGobgpSpeaker } from '../../server/src/drivers/gobgp/speaker.ts'
import type { Route, Speaker } from '../../server/src/byoip/regions/speaker.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { allRoles } from '../../server/src/runtime/role.ts'
import {
  originAsn,
  otherOwner,
  prefixOf,
  seedAnnouncements,
  seedRegions,
  useRouters,
} from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import { missingPeers } from './packages.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { startProduct } from './product.ts'
import { milliseconds, times, whole } from './table.ts'

/** Published by commercial services: "2 to 7 minutes" from the call to the announcement. */
const commercialPromiseMs = { shortest: 2 * 60_000, longest: 7 * 60_000 }

/** An announcement may change 12 times in an hour before it is damped; each toggle changes it twice. */
const togglesEach = 5
const regions = ['ams', 'fra'] as const

export const patchToPeer: Benchmark = {
  id: 'P5',
  name: 'patch-to-peer',
  title: 'PATCH to the UPDATE at a BIRD peer, commit included',
  missing: () => missingPeers().routers,
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const toggles = bench.quick ? 20 : 250
  const sizes = bench.quick ? [100, 1000] : [100, 2_500, 10_000]
  const lines: Line[] = []
  // In a large region each takes long enough to need fewer.
  for (const size of sizes)
    lines.push(...(await measureSize(bench, size, size > 1000 ? toggles / 2.5 : toggles)))
  return lines
}

type Samples = Record<'answer' | 'on' | 'off' | 'peerOn' | 'peerOff', number[]>

async function measureSize(bench: Bench, size: number, toggles: number): Promise<Line[]> {
  const off = 1 + Math.ceil(toggles / togglesEach)
  const postgres = await (
    await bench.cluster()
  ).database(`toggles_${size}_${off}`, async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, 1, 1)
    await seedRegions(client, regions)
    await seedAnnouncements(client, size, off)
  })
  await using stack = new AsyncDisposableStack()
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  const lab = stack.use(await createLab({ regions }))
  await useRouters(client, lab, size)
  const { databaseUrl } = postgres
  const product = stack.use(await startProduct({ roles: allRoles, databaseUrl, folder: bench.folder }))
  await untilAnnounced(lab, size)
  const speaker = createGobgpSpeaker({ address: lab.regions[0]!.apiAddress, owner: otherOwner })
  stack.defer(() => speaker.close())
  const samples = await measureToggles({ client, lab, speaker, url: product.url }, size, toggles)
  return linesOf(size, samples, bench)
}

/** The reconciler has changed the routers, and they have notified their neighbors. */
async function untilAnnounced(lab: Lab, count: number): Promise<void> {
  const hasAll = async (name: string) => (await lab.birdRoutes(name)).length >= count
  for (const { name } of lab.regions) {
    await waitFor(`${name} has ${count} routes`, () => hasAll(name), { timeoutMs: 60_000, everyMs: 250 })
  }
  await sleep(1000)
}

type World = { readonly client: Client; readonly lab: Lab; readonly speaker: Speaker; readonly url: string }

/** One at a time, each after the previous one was complete, so that a sample is one toggle and not a queue of them. */
async function measureToggles(world: World, size: number, toggles: number): Promise<Samples> {
  const { client, lab, speaker, url } = world
  const [warmUp, samples] = [noSamples(), noSamples()]
  const [{ access } = { access: '' }] = await signIn(url, 1)
  using stack = new DisposableStack()
  const logs = lab.regions.map(({ name }) => stack.use(lab.watchBirdRoutes(name)))
  const connection = await HttpConnection.open(url)
  // The toggles of the first announcement are the warm-up.
  for (let toggle = -togglesEach; toggle < toggles; toggle++) {
    const n = size + 2 + Math.floor(toggle / togglesEach)
    const into = toggle < 0 ? warmUp : samples
    for (const enabled of [true, false]) {
      const route = routeOf(60_000 + toggle)
      await peerToggle(speaker, logs[0]!, route, enabled, into)
      await ownToggle(connection, url, access, logs, n, enabled, into)
      for (const log of logs) log.clear()
      await untilSettled(client, n)
    }
    // The guard lets a few withdrawals pass in ten minutes: their times are set ten minutes apart.
    await client.query(`update region_withdrawals set at = at - interval '11 minutes'`)
  }
  connection.close()
  return samples
}

/** The run that applied it has ended: it has read back and saved. */
async function untilSettled(client: Client, announcementId: number): Promise<void> {
  await waitFor('the run has ended', async () => {
    const { rows } = await client.query(
      `select from announcement_regions where announcement_id = $1 and state not in ('announced', 'withdrawn')`,
      [announcementId],
    )
    return rows.length === 0
  })
  await sleep(30)
}

const noSamples = (): Samples => ({ answer: [], on: [], off: [], peerOn: [], peerOff: [] })

async function ownToggle(
  connection: HttpConnection,
  url: string,
  access: string,
  logs: readonly BirdLog[],
  n: number,
  enabled: boolean,
  samples: Samples,
): Promise<void> {
  const request = renderRequest(new URL(url).host, {
    method: 'PATCH',
    path: `/v3/ipam/announcements/${n}`,
    authorization: `Bearer ${access}`,
    body: JSON.stringify({ enabled }),
  })
  const start = now()
  const answer = await ask(connection, request)
  samples.answer.push(now() - start)
  if (answer.status !== 200) throw new Error(`PATCH: ${answer.status} ${answer.body}`)
  const kind = enabled ? 'announced' : 'removed'
  for (const log of logs) {
    const { atMs } = await log.saw(kind, prefixOf(n))
    samples[enabled ? 'on' : 'off'].push(atMs - start)
  }
}

async function peerToggle(
  speaker: Speaker,
  log: BirdLog,
  route: Route,
  enabled: boolean,
  samples: Samples,
): Promise<void> {
  const start = now()
  await (enabled ? speaker.announce([route]) : speaker.withdraw([route]))
  const { atMs } = await log.saw(enabled ? 'announced' : 'removed', route.prefix)
  samples[enabled ? 'peerOn' : 'peerOff'].push(atMs - start)
}

function routeOf(n: number): Route {
  const prefix = parsePrefix(prefixOf(n & ~1))
  return { prefix, asPath: [originAsn], nextHop: '0.0.0.0', communities: [], largeCommunities: [] }
}

function linesOf(size: number, samples: Samples, { report }: Bench): Line[] {
  report(
    `${whole(size)} routes a region: PATCH answered in p50 ${milliseconds(median(samples.answer))}, ` +
      `p99 ${milliseconds(quantile(samples.answer, 0.99))}; max to the peer ${milliseconds(Math.max(...samples.on, ...samples.off))}`,
  )
  const directions = [
    { word: 'on', ours: samples.on, peer: samples.peerOn },
    { word: 'off', ours: samples.off, peer: samples.peerOff },
  ]
  const lines = directions.map(({ word, ours, peer }): Line => {
    const [p50, p99] = [median(ours), quantile(ours, 0.99)]
    const theirs = median(peer)
    return {
      what: `${word}, ${whole(size)} routes a region`,
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `p50 ${milliseconds(theirs)}, p99 ${milliseconds(quantile(peer, 0.99))} GoBGP API`,
      ratio: `${times(p50 / theirs)} its time`,
      goal: 'p50 <= 15 ms, p99 <= 100 ms',
      reached: p50 <= 15 && p99 <= 100,
    }
  })
  const p99 = quantile([...samples.on, ...samples.off], 0.99)
  const { shortest, longest } = commercialPromiseMs
  const promise: Line = {
    what: `both, ${whole(size)} routes a region`,
    result: `p99 ${milliseconds(p99)}`,
    peer: `${shortest / 60_000} to ${longest / 60_000} min, commercial promise`,
    ratio: `${whole(shortest / p99)}x to ${whole(longest / p99)}x faster`,
    goal: '',
    reached: undefined,
  }
  return [...lines, promise]
}

/** The clock of BIRD's log, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now()
}
