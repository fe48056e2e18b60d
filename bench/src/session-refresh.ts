// P4: refreshes sessions through the API, each client its own, committed; beside it pgbench with the statement that the
// API runs, on the same table, one session in each. The API runs it for several concurrent requests at a time, and in
// addition handles HTTP, checks one MAC, computes another, and signs.
import { sql } from 'kysely'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { rotateSessions } from '../../server/src/session/session.store.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, pgbenchTurn, requestTurn, type HotPath } from './guard/hot-path.ts'
import { describeLoadResults, runLoad } from './load.ts'
import { missingPeers } from './packages.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { runPgbench, type PgbenchRun } from './pgbench.ts'
import { startProduct } from './product.ts'
import { captureStatement, scriptOf } from './statement.ts'
import { perSecond, times } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

const day = 86_400
const lifetime = { idleSeconds: 14 * day, absoluteSeconds: 90 * day }

export const sessionRefresh: Benchmark = {
  id: 'P4',
  name: 'session-refresh',
  title: 'sessions refreshed through the API, committed',
  missing: () => missingPeers().pgbench,
  run,
}

export const sessionRefreshPath: HotPath = {
  id: 'P4',
  unit: 'session refresh',
  peer: 'pgbench, same UPDATE',
  missing: sessionRefresh.missing,
  async prepare(bench, stack) {
    const { postgres, product, refresh, peerRun } = await prepare(bench, stack)
    const database = await databaseMeter(bench)
    const pgbench = pgbenchTurn(database, peerRun, 4_000)
    return {
      ours: requestTurn(product, database, () => refresh({ answers: 1_500 })),
      async peer() {
        await seedPeerSessions(postgres, bench.clients)
        return pgbench()
      },
    }
  },
}

async function prepare(bench: Bench, stack: AsyncDisposableStack) {
  const { clients, sliceSeconds, folder } = bench
  const postgres = await (
    await bench.cluster()
  ).database(`sessions_${clients}`, async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, clients, 1)
  })
  const { databaseUrl } = postgres
  const product = stack.use(await startProduct({ roles: ['api'], databaseUrl, folder }))
  let tokens: readonly string[] = (await signIn(product.url, clients)).map(({ refresh }) => refresh)
  const refresh = async ({
    seconds = sliceSeconds,
    answers,
  }: { seconds?: number; answers?: number } = {}) => {
    const result = await runLoad({
      product,
      connections: clients,
      seconds,
      answers,
      source: { kind: 'refresh', tokens },
    })
    tokens = result.tokens
    return result
  }
  const peerRun: PgbenchRun = {
    databaseUrl,
    script: await peerScript(postgres),
    clients,
    seconds: sliceSeconds,
    variables: { counter: 0 },
    folder,
  }
  return { postgres, product, refresh, peerRun }
}

async function run(bench: Bench): Promise<Line[]> {
  const { clients, rounds, report } = bench
  await using stack = new AsyncDisposableStack()
  const { postgres, refresh, peerRun } = await prepare(bench, stack)
  await refresh({ seconds: 1 })
  const { ours, peer } = await takeTurns(
    rounds,
    () => refresh(),
    async () => {
      await seedPeerSessions(postgres, clients)
      return runPgbench(peerRun)
    },
  )
  const own = medianOf(ours, (one) => one.perSecond)
  const theirs = medianOf(peer, (one) => one.perSecond)
  report(describeLoadResults(ours))
  return [
    {
      what: `refresh, ${clients} clients`,
      result: perSecond(own),
      peer: `${perSecond(theirs)} pgbench, same UPDATE`,
      ratio: times(own / theirs),
      goal: '>= 0.5x',
      reached: own / theirs >= 0.5,
    },
  ]
}

/** Session n of the peer, selected by the number of the client of pgbench. */
const sessionId = (client: string) => `md5(${client}::text)::uuid`

/** New sessions for each round, so that every client starts at the first number. */
async function seedPeerSessions({ owner }: Postgres, clients: number): Promise<void> {
  await sql`delete from sessions where user_agent = 'pgbench'`.execute(owner)
  await sql`
    insert into sessions (id, user_id, team_id, expires, user_agent)
    select ${sql.raw(sessionId('(n - 1)'))}, n, 1, now() + interval '14 days', 'pgbench'
    from generate_series(1, ${clients}::integer) n`.execute(owner)
}

const presented = {
  sessionId: 'the session',
  counter: 'the number' as unknown as number,
  address: '127.0.0.1',
  userAgent: 'pgbench',
}

/** The product's own statement for one session, with pgbench's variables for the session and its number. */
async function peerScript({ owner }: Postgres): Promise<string> {
  const statement = await captureStatement(owner, (db) =>
    rotateSessions(db, [presented], lifetime, { skipLocked: false }),
  )
  const expressions = new Map([
    ['the session', sessionId(':client_id')],
    ['the number', ':counter'],
  ])
  return `\\set counter :counter + 1\n${scriptOf(statement, expressions)}`
}
