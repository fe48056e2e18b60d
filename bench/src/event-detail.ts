// P3: one event by its id through the API, with the credential checked. Beside it the same over HTTP without it: Fastify and pg
// with one prepared select; and pgbench's own select of one row by its key, prepared: the cheapest query of this database.
import type { Postgres } from '../../server/src/db/postgres.ts'
import { eventsDatabase, evenEvents, usersOf } from './events-database.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { startFastifyPeer } from './fastify-peer.ts'
import { databaseMeter, requestTurn, type HotPath } from './guard/hot-path.ts'
import type { HttpRequest } from './http-connection.ts'
import { describeLoadResults, runLoad } from './load.ts'
import { missingPeers } from './packages.ts'
import { signIn, type Signed } from './people.ts'
import { initPgbench, runPgbench } from './pgbench.ts'
import { startProduct, type Served } from './product.ts'
import { perSecond, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const eventDetail: Benchmark = {
  id: 'P3',
  name: 'event-detail',
  title: 'one event by its id, authenticated',
  missing: () => missingPeers().pgbench,
  run,
}

export const eventDetailPath: HotPath = {
  id: 'P3',
  unit: 'one event by id',
  peer: 'Fastify and pg, one prepared select, no authentication',
  missing: () => undefined,
  async prepare(bench, stack) {
    const { product, fastify, loadProduct, loadFastify } = await prepare(bench, stack)
    const database = await databaseMeter(bench)
    return {
      ours: requestTurn(product, database, () => loadProduct(4_000)),
      peer: requestTurn(fastify, database, () => loadFastify(4_000)),
    }
  },
}

async function prepare(bench: Bench, stack: AsyncDisposableStack) {
  const { clients: connections, sliceSeconds: seconds, folder } = bench
  const plan = evenEvents(bench)
  const postgres = await eventsDatabase(bench, plan)
  const { databaseUrl } = postgres
  const product = stack.use(await startProduct({ roles: ['api'], databaseUrl, folder }))
  const fastify = stack.use(await startFastifyPeer(databaseUrl))
  const requests = await requestsOf(postgres, await signIn(product.url, usersOf(bench, plan)))
  const plain = requests.map(({ path }): HttpRequest => ({
    method: 'GET',
    path: path.replace(apiPath, '/events/'),
  }))
  const load = (served: Served, list: readonly HttpRequest[], answers?: number) =>
    runLoad({
      product: served,
      connections,
      seconds,
      answers,
      source: { kind: 'list', requests: list, bytesMin: 500 },
    })
  const loadProduct = (answers?: number) => load(product, requests, answers)
  const loadFastify = (answers?: number) => load(fastify, plain, answers)
  return { plan, databaseUrl, product, fastify, loadProduct, loadFastify }
}

async function run(bench: Bench): Promise<Line[]> {
  const { clients, rounds, sliceSeconds: seconds, folder, report } = bench
  await using stack = new AsyncDisposableStack()
  const { plan, databaseUrl, loadProduct, loadFastify } = await prepare(bench, stack)
  await initPgbench(databaseUrl, 1)
  await loadProduct()
  await loadFastify()
  const { ours, peer } = await takeTurns(
    rounds,
    () => loadProduct(),
    async () => ({
      fastify: await loadFastify(),
      pgbench: await runPgbench({ databaseUrl, clients, seconds, folder }),
    }),
  )
  const own = medianOf(ours, (one) => one.perSecond)
  const http = medianOf(peer, (one) => one.fastify.perSecond)
  const select = medianOf(peer, (one) => one.pgbench.perSecond)
  report(describeLoadResults(ours))
  report(`Fastify and pg: ${describeLoadResults(peer.map((one) => one.fastify))}`)
  const what = `event by id, ${whole(plan.events)} events, ${clients} clients`
  return [
    {
      what,
      result: perSecond(own),
      peer: `${perSecond(http)} Fastify and pg, one prepared select, no authentication`,
      ratio: times(own / http),
      goal: '>= 1x',
      reached: own >= http,
    },
    {
      what,
      result: perSecond(own),
      peer: `${perSecond(select)} pgbench -S -M prepared`,
      ratio: times(own / select),
      goal: '',
      reached: undefined,
    },
  ]
}

const apiPath = '/v3/lighthouse/security/events/related/'

/** Some thousand events, each requested by a user of a team that it concerns. */
async function requestsOf(postgres: Postgres, signed: readonly Signed[]): Promise<HttpRequest[]> {
  const client = await postgres.directConnection()
  const { rows } = await client.query<{ team_id: number; event_id: string }>(
    `select team_id, event_id from team_events tablesample bernoulli (20) repeatable (1)
     where team_id <= $1 limit 5000`,
    [signed.length],
  )
  await client.end()
  return rows.map(({ team_id, event_id }) => ({
    method: 'GET',
    path: `${apiPath}${event_id}`,
    authorization: `Bearer ${signed[team_id - 1]!.access}`,
  }))
}
