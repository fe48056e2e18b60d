// P3: one event by its id through the API, with the credential checked. Beside it pgbench's own select of one row by its
// key, prepared: the cheapest query of this database.
import type { Postgres } from '../../server/src/db/postgres.ts'
import { eventsDatabase, evenEvents } from './events-database.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import type { HttpRequest } from './http-connection.ts'
import { describeLoadResults, runLoad } from './load.ts'
import { missingPeers } from './packages.ts'
import { signIn, type Signed } from './people.ts'
import { initPgbench, runPgbench } from './pgbench.ts'
import { startProduct } from './product.ts'
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
  const requests = await requestsOf(postgres, await signIn(product.url, plan.teams))
  const load = () =>
    runLoad({
      product,
      connections: clients,
      seconds,
      source: { kind: 'list', requests, bytesMin: 500 },
    })
  await load()
  const { ours, peer } = await takeTurns(rounds, load, () =>
    runPgbench({ databaseUrl, clients, seconds, folder }),
  )
  const own = medianOf(ours, (one) => one.perSecond)
  const theirs = medianOf(peer, (one) => one.perSecond)
  report(describeLoadResults(ours))
  return [
    {
      what: `event by id, ${whole(plan.events)} events, ${clients} clients`,
      result: perSecond(own),
      peer: `${perSecond(theirs)} pgbench -S -M prepared`,
      ratio: times(own / theirs),
      goal: '>= 0.5x',
      reached: own / theirs >= 0.5,
    },
  ]
}

/** Some thousand events, each requested by a user of a team that it concerns. */
async function requestsOf(postgres: Postgres, signed: readonly Signed[]): Promise<HttpRequest[]> {
  const client = await postgres.directConnection()
  const { rows } = await client.query<{ team_id: number; event_id: string }>(
    `select team_id, event_id from team_events tablesample bernoulli (20) repeatable (1) limit 5000`,
  )
  await client.end()
  return rows.map(({ team_id, event_id }) => ({
    method: 'GET',
    path: `/v3/lighthouse/security/events/related/${event_id}`,
    authorization: `Bearer ${signed[team_id - 1]!.access}`,
  }))
}
