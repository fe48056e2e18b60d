// L200: effect of a flood of sign-ins on others: reads at a modest rate, alone and beside 200 sign-ins a second with wrong
// passwords, behind a proxy that forwards each client's address. Its peer is the product itself without the flood.
import { seedAnnouncements, seedRegions } from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import type { HttpRequest } from './http-connection.ts'
import { runLoad, type LoadResult } from './load.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { startProduct, type Product } from './product.ts'
import { seedEvents } from './seed-events.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf } from './turns.ts'

const readsPerSecond = 100
const signInsPerSecond = 200
/** They may sign in together, under the default limit of an address. */
const readers = 8
const accounts = 500
const victims = 20

export const loginFlood: Benchmark = {
  id: 'L200',
  name: 'login-flood',
  title: `reads beside ${signInsPerSecond} sign-ins a second with wrong passwords`,
  missing: () => undefined,
  run,
}

/** Default settings except for the proxy: the benchmark measures the protection of an installation. */
const settings = { PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '10', PHAROS_TRUSTED_PROXIES: '127.0.0.0/8' }

async function run(bench: Bench): Promise<Line[]> {
  const { rounds, sliceSeconds: seconds, folder, report } = bench
  const events = bench.quick ? 2_000 : 20_000
  const postgres = await (
    await bench.cluster()
  ).database(`login_flood_${events}`, async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, accounts, 1)
    await seedRegions(client, ['ams', 'fra'])
    await seedAnnouncements(client, 100, 100)
    await seedEvents(client, { events, teams: 1, firstShare: 1 }, report)
  })
  await postgres.owner.deleteFrom('sign_in_failures').execute()
  const { databaseUrl } = postgres
  await using product = await startProduct({ roles: ['api'], databaseUrl, folder, settings })
  const signed = await signIn(product.url, readers)
  const reads = signed.flatMap(({ access }) => readsOf(`Bearer ${access}`))
  const read = () => readAt(product, reads, seconds)
  await readAt(product, reads, Math.min(seconds, 3))
  const turns = []
  for (let round = 0; round < rounds; round++)
    turns.push({ alone: await read(), ...(await beside(product, seconds, read, round)) })
  return linesOf(bench, turns)
}

const readsOf = (authorization: string): HttpRequest[] =>
  ['/v3/ipam/announcements?limit=50', '/v3/lighthouse/security/events/related?limit=25'].map((path) => ({
    method: 'GET',
    path,
    authorization,
  }))

function readAt(product: Product, requests: readonly HttpRequest[], seconds: number): Promise<LoadResult> {
  return runLoad({
    product,
    connections: 32,
    seconds,
    perSecond: readsPerSecond,
    source: { kind: 'list', requests, bytesMin: 1_000 },
  })
}

type Turn = { readonly alone: LoadResult; readonly flooded: LoadResult; readonly flood: LoadResult }

/** The flood starts before the reads and ends after them. */
async function beside(
  product: Product,
  seconds: number,
  read: () => Promise<LoadResult>,
  round: number,
): Promise<Omit<Turn, 'alone'>> {
  const flooding = runLoad({
    product,
    // Requests that wait for a hash keep their connection.
    connections: 256,
    seconds: seconds + 4,
    perSecond: signInsPerSecond,
    source: { kind: 'list', requests: signInsOf(seconds, round), bytesMin: 1 },
    takesRefusals: true,
  })
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const flooded = await read()
  return { flooded, flood: await flooding }
}

/** Each connection starts at a different position of the list, so that hardly any request is sent twice. */
function signInsOf(seconds: number, round: number): HttpRequest[] {
  return Array.from({ length: (seconds + 4) * signInsPerSecond * 2 }, (_, at) => {
    const number = round * 1_000_000 + at
    return {
      method: 'POST',
      path: '/v3/session/token',
      forwardedFor: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
      body: JSON.stringify({ email: `${nameOf(number)}@bench.example`, password: `wrong ${number}` }),
    }
  })
}

/** Half use a few accounts, which soon make them wait; a quarter any other accounts, and a quarter accounts that do not exist. */
function nameOf(number: number): string {
  if (number % 2 === 0) return `user-${readers + 1 + ((number / 2) % victims)}`
  const firstOther = readers + victims + 1
  return number % 4 === 1 ? `user-${firstOther + (number % (accounts - firstOther))}` : `nobody-${number}`
}

function linesOf({ report }: Bench, turns: readonly Turn[]): Line[] {
  const alone = medianOf(turns, (one) => one.alone.p99Ms)
  const flooded = medianOf(turns, (one) => one.flooded.p99Ms)
  const ratio = medianOf(turns, (one) => one.flooded.p99Ms / one.alone.p99Ms)
  for (const { alone, flooded, flood } of turns)
    report(
      `reads alone ${latencies(alone)}; beside the flood ${latencies(flooded)}; ` +
        `sign-ins ${whole(flood.perSecond)}/s, ${latencies(flood)}, by status ${JSON.stringify(flood.statuses)}`,
    )
  return [
    {
      what: `${readsPerSecond} reads/s beside ${signInsPerSecond} sign-ins/s`,
      result: `p99 ${milliseconds(flooded)}`,
      peer: `p99 ${milliseconds(alone)} without them`,
      ratio: times(ratio),
      goal: '<= 2x',
      reached: ratio <= 2,
    },
  ]
}

const latencies = ({ p50Ms, p99Ms, maxMs }: LoadResult): string =>
  `p50 ${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}, max ${milliseconds(maxMs)}`
