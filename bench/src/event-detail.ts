// P3: one event by its id through the API, with the credential checked. Beside it the same over HTTP without it: Fastify and pg
// with one prepared select; and pgbench's own select of one row by its key, prepared: the cheapest query of this database.
import type { Postgres } from '../../server/src/db/postgres.ts'
import { eventsDatabase, evenEvents } from './events-database.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { startFastifyPeer } from './fastify-peer.ts'
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

async function run(bench: Bench): Promise<Line[]> {
  const { clients, rounds, sliceSeconds: seconds, folder, report } = bench
  const plan = evenEvents(bench)
  const postgres = await eventsDatabase(bench, plan)
  const { databaseUrl } = postgres
  await initPgbench(databaseUrl, 1)
  await using product = await startProduct({ roles: ['api'], databaseUrl, folder })
  await using fastify = await startFastifyPeer(databaseUrl)
  const requests = await requestsOf(postgres, await signIn(product.url, plan.teams))
  const plain = requests.map(({ path }): HttpRequest => ({
    method: 'GET',
    path: path.replace(apiPath, '/events/'),
  }))
  const load = (served: Served, list: readonly HttpRequest[]) =>
    runLoad({
      product: served,
      connections: clients,
      seconds,
      source: { kind: 'list', requests: list, bytesMin: 500 },
    })
  await load(product, requests)
  await load(fastify, plain)
  const { ours, peer } = await takeTurns(
    rounds,
    () => load(product, requests),
    async () => ({
      fastify: await load(fastify, plain),
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
    `select team_id, event_id from team_events tablesample bernoulli (20) repeatable (1) limit 5000`,
  )
  await client.end()
  return rows.map(({ team_id, event_id }) => ({
    method: 'GET',
    path: `${apiPath}${event_id}`,
    authorization: `Bearer ${signed[team_id - 1]!.access}`,
  }))
}
