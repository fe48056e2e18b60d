// P1: the related list through the API, a page of 100 with its relationships and the exact count, for one of 50 teams
// at a time. Compared with pgbench with the plain join of the same result, and with the statement that the API runs.
import type { Postgres } from '../../server/src/db/postgres.ts'
import { parseEventQuery } from '../../server/src/events/list/event-query.ts'
import { pageStatement } from '../../server/src/events/list/event-page.store.ts'
import { eventsDatabase, evenEvents, usersOf } from './events-database.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, pgbenchTurn, requestTurn, type HotPath } from './guard/hot-path.ts'
import type { HttpRequest } from './http-connection.ts'
import { describeLoadResults, runLoad, type LoadPlan, type LoadResult } from './load.ts'
import { missingPeers } from './packages.ts'
import { signIn } from './people.ts'
import { runPgbench, type PgbenchRun } from './pgbench.ts'
import { plainList, requireSameList } from './plain-list.ts'
import { startProduct } from './product.ts'
import { scriptOf } from './statement.ts'
import { milliseconds, perSecond, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

const path = '/v3/lighthouse/security/events/related'
const query = {
  ordering: 'event__start,event__end,event__affected_bps,event__affected_pps',
  limit: 100,
  offset: 0,
}

export const relatedList: Benchmark = {
  id: 'P1',
  name: 'related-list',
  title: 'related list, page of 100 with relationships and exact count',
  missing: () => missingPeers().pgbench,
  run,
}

export const relatedListPath: HotPath = {
  id: 'P1',
  unit: 'related list of 100',
  peer: 'pgbench, our own statement',
  missing: relatedList.missing,
  async prepare(bench, stack) {
    const { postgres, product, load, runOf } = await prepare(bench, stack)
    const database = await databaseMeter(bench)
    return {
      ours: requestTurn(product, database, () => load({ answers: 600 })),
      peer: pgbenchTurn(database, runOf(ownScript(postgres)), 800),
    }
  },
}

async function prepare(bench: Bench, stack: AsyncDisposableStack) {
  const { clients, sliceSeconds: seconds, folder } = bench
  const plan = evenEvents(bench)
  const postgres = await eventsDatabase(bench, plan)
  const { databaseUrl } = postgres
  const product = stack.use(await startProduct({ roles: ['api'], databaseUrl, folder }))
  const signed = await signIn(product.url, usersOf(bench, plan))
  await requireSameList(postgres, product.url, signed[0]!.access, 1, query)
  const requests = signed.map(({ access }): HttpRequest => ({
    method: 'GET',
    path,
    authorization: `Bearer ${access}`,
  }))
  const load = ({ perSecond, answers }: Pick<LoadPlan, 'perSecond' | 'answers'> = {}): Promise<LoadResult> =>
    runLoad({
      product,
      connections: perSecond === undefined ? clients : clients * 4,
      seconds,
      answers,
      // A hundred events, each at least this long.
      source: { kind: 'list', requests, bytesMin: 100 * 500 },
      ...(perSecond === undefined ? {} : { perSecond }),
    })
  const runOf = (statement: string): PgbenchRun => ({
    databaseUrl,
    script: `\\set team random(1, ${plan.teams})\n${statement}`,
    clients,
    seconds,
    folder,
  })
  return { plan, postgres, product, load, runOf }
}

async function run(bench: Bench): Promise<Line[]> {
  const { rounds } = bench
  await using stack = new AsyncDisposableStack()
  const { plan, postgres, load, runOf } = await prepare(bench, stack)
  await load()
  const { ours, peer } = await takeTurns(
    rounds,
    () => load(),
    async () => ({
      plain: await runPgbench(runOf(plainScript())),
      same: await runPgbench(runOf(ownScript(postgres))),
    }),
  )
  const own = medianOf(ours, (one) => one.perSecond)
  const paced: LoadResult[] = []
  for (let round = 0; round < rounds; round++) paced.push(await load({ perSecond: own * 0.7 }))
  return linesOf(bench, plan.events, ours, peer, paced)
}

type Peers = Record<'plain' | 'same', { readonly perSecond: number }>

function linesOf(
  { clients, report }: Bench,
  events: number,
  ours: readonly LoadResult[],
  peer: readonly Peers[],
  paced: readonly LoadResult[],
): Line[] {
  const own = medianOf(ours, (one) => one.perSecond)
  const plain = medianOf(peer, (one) => one.plain.perSecond)
  const same = medianOf(peer, (one) => one.same.perSecond)
  const p99 = medianOf(paced, (one) => one.p99Ms)
  report(describeLoadResults(ours))
  const what = `list of 100, ${whole(events)} events, ${clients} clients`
  return [
    {
      what,
      result: perSecond(own),
      peer: `${perSecond(plain)} pgbench, plain join`,
      ratio: times(own / plain),
      goal: '>= 2x',
      reached: own >= 2 * plain,
    },
    {
      what,
      result: perSecond(own),
      peer: `${perSecond(same)} pgbench, our own statement`,
      ratio: times(own / same),
      goal: '>= 0.5x',
      reached: own >= 0.5 * same,
    },
    {
      what: `the same at 70 % of that, ${perSecond(medianOf(paced, (one) => one.perSecond))}`,
      result: `p50 ${milliseconds(medianOf(paced, (one) => one.p50Ms))}, p99 ${milliseconds(p99)}`,
      peer: '-',
      ratio: '-',
      goal: 'p99 <= 10 ms',
      reached: p99 <= 10,
    },
  ]
}

const teamVariable = 'the team'

function plainScript(): string {
  return scriptOf(plainList(teamVariable, query), new Map([[teamVariable, ':team']]))
}

function ownScript({ owner }: Postgres): string {
  const parsed = parseEventQuery(query)
  const statement = pageStatement(teamVariable as unknown as number, parsed).compile(owner)
  return scriptOf(statement, new Map([[teamVariable, ':team']]))
}
