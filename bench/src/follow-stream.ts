// S200: delay of messages to clients of the stream: from before the commit to the message, with 200 clients of 20 teams.
// Its peer is PostgreSQL's own NOTIFY of the same transaction, received by one plain connection.
import { setTimeout as sleep } from 'node:timers/promises'
import { openStream } from '@pharos/contract/messages/stream-client'
import { quantile } from '../../lab/src/measure.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { writeMessages } from '../../server/src/outbox/outbox.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { startProduct } from './product.ts'
import { milliseconds, times } from './table.ts'
import { medianOf } from './turns.ts'

const teams = 20
const followers = 200
const messagesPerSecond = 20

export const followStream: Benchmark = {
  id: 'S200',
  name: 'follow-stream',
  title: `messages to ${followers} clients of ${teams} teams, from before the commit`,
  missing: () => undefined,
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const { rounds, sliceSeconds, folder, report } = bench
  const postgres = await (
    await bench.cluster()
  ).database(`follow_stream_${followers}`, async (client) => {
    await seedTeams(client, teams)
    await seedUsers(client, followers, teams)
  })
  await using product = await startProduct({ roles: ['api'], databaseUrl: postgres.databaseUrl, folder })
  const began = new Map<string, number>()
  const ours: number[] = []
  await using following = await followAll(product.url, (mark) => {
    const at = began.get(mark)
    if (at !== undefined) ours.push(performance.now() - at)
  })
  const peer: number[] = []
  const listener = await postgres.directConnection()
  listener.on('notification', ({ payload }) => peer.push(performance.now() - began.get(payload!)!))
  await listener.query('listen bench')
  const turns: Turn[] = []
  for (let round = 0; round < rounds; round++) {
    const messages = sliceSeconds * messagesPerSecond
    for (let at = 0; at < messages; at++) {
      const mark = `${round} ${at}`
      began.set(mark, performance.now())
      await notify(postgres, mark, (at % teams) + 1)
      await sleep(1000 / messagesPerSecond)
    }
    await sleep(500)
    const wanted = (messages * followers) / teams
    if (ours.length !== wanted) throw new Error(`${ours.length} of ${wanted} messages arrived`)
    turns.push({ ours: ours.splice(0), peer: peer.splice(0) })
  }
  await listener.end()
  for (const one of turns) report(`ours ${latencies(one.ours)}; NOTIFY ${latencies(one.peer)}`)
  return linesOf(turns, following.count)
}

type Turn = { readonly ours: readonly number[]; readonly peer: readonly number[] }

/** One transaction like the creation of an event. */
async function notify({ owner }: Postgres, mark: string, team: number): Promise<void> {
  await owner.transaction().execute(async (trx) => {
    await writeMessages(trx, [{ teamId: team, type: 'event.started', data: { mark } as never }])
    await trx.selectNoFrom(({ fn, val }) => fn('pg_notify', [val('bench'), val(mark)]).as('rung')).execute()
  })
}

/** Resolves when all have received `ready`. */
async function followAll(
  url: string,
  onMessage: (mark: string) => void,
): Promise<AsyncDisposable & { readonly count: number }> {
  const abort = new AbortController()
  const signed = await signIn(url, followers)
  const ready = signed.map(({ access }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const follow = async () => {
      const options = { baseUrl: url, credential: () => ({ bearer: access }) }
      for await (const { type, message } of openStream(options, { signal: abort.signal })) {
        if (type === 'ready') resolve()
        else onMessage((message.data as { mark: string }).mark)
      }
    }
    follow().catch((error: unknown) => (abort.signal.aborted ? undefined : reject(error)))
    return promise
  })
  await Promise.all(ready)
  return { count: ready.length, [Symbol.asyncDispose]: async () => abort.abort() }
}

function linesOf(turns: readonly Turn[], count: number): Line[] {
  const p50 = (of: (turn: Turn) => readonly number[]) => medianOf(turns, (turn) => quantile(of(turn), 0.5))
  const p99 = (of: (turn: Turn) => readonly number[]) => medianOf(turns, (turn) => quantile(of(turn), 0.99))
  const [ours, peer] = [(turn: Turn) => turn.ours, (turn: Turn) => turn.peer]
  return [
    {
      what: `message to ${count / teams} of ${count} clients`,
      result: `p50 ${milliseconds(p50(ours))}, p99 ${milliseconds(p99(ours))}`,
      peer: `p50 ${milliseconds(p50(peer))}, p99 ${milliseconds(p99(peer))} NOTIFY`,
      ratio: times(p50(ours) / p50(peer)),
      goal: '',
      reached: undefined,
    },
  ]
}

const latencies = (samples: readonly number[]): string =>
  `p50 ${milliseconds(quantile(samples, 0.5))}, p99 ${milliseconds(quantile(samples, 0.99))}`
