// P7: deliveries of a detector turned into events by the product's loop, from the stored body to the committed list of the team: new
// events, and updates of them. Beside it pgbench, which upserts one row with the size of an event's record in each transaction.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { ingestDeliveries } from '../../server/src/events/ingest/ingest.ts'
import { createOwnershipCache } from '../../server/src/inventory/holding/ownership.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, pgbenchTurn, type HotPath } from './guard/hot-path.ts'
import { missingPeers } from './packages.ts'
import { seedTeams } from './people.ts'
import { runPgbench, type PgbenchRun } from './pgbench.ts'
import { perSecond, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const ingestEvents: Benchmark = {
  id: 'P7',
  name: 'ingest-events',
  title: 'deliveries of a detector turned into events, committed',
  missing: () => missingPeers().pgbench,
  run,
}

const teams = 50
const prefixesOfTeam = 200
/** Deliveries about one event in the second measurement. */
const updatesOfEvent = 20

/** A quarter of a second of processor time. */
const deliveriesOfTurn = 500

export const ingestEventsPath: HotPath = {
  id: 'P7',
  unit: 'event ingested',
  peer: 'pgbench, one upsert of 1 kB a transaction',
  missing: ingestEvents.missing,
  async prepare(bench) {
    const { postgres, cache, peerRun } = await prepareIngest(bench)
    const [deliveries, micros] = [deliveriesOfTurn, (await bench.cluster()).cpuMicros]
    let round = 0
    return {
      async ours() {
        const { nodeUs, postgresUs } = await measureIngest(postgres, cache, micros, {
          round: round++,
          deliveries,
          perEvent: 1,
        })
        return { units: deliveries, program: nodeUs * deliveries, database: postgresUs * deliveries }
      },
      peer: pgbenchTurn(await databaseMeter(bench), peerRun, 4_000),
    }
  },
}

export async function prepareIngest(bench: Bench) {
  const { clients, sliceSeconds: seconds, folder } = bench
  const postgres = await (
    await bench.cluster()
  ).database(`ingest_${randomUUID().slice(0, 8)}`, async (client) => {
    await seedTeams(client, teams)
    await client.query(
      `insert into prefixes (team_id, prefix, name)
       select n / ${prefixesOfTeam} + 1, ('10.' || n / 256 || '.' || n % 256 || '.0/24')::cidr, 'net ' || n
       from generate_series(0, ${teams * prefixesOfTeam - 1}) n`,
    )
    await client.query(
      `insert into sources (key, kind, name, secret_mac) values ('fnm', 'fastnetmon', 'fnm', '\\x00')`,
    )
    await client.query(
      'create table peer (id text primary key, record text not null, updated timestamptz not null default now())',
    )
  })
  const { databaseUrl } = postgres
  const peerRun: PgbenchRun = { databaseUrl, script: upsert, clients, seconds, folder }
  return { postgres, cache: createOwnershipCache(), peerRun }
}

async function run(bench: Bench): Promise<Line[]> {
  const { clients, rounds, quick, report } = bench
  const deliveries = quick ? 500 : 20_000
  const { postgres, cache, peerRun } = await prepareIngest(bench)
  const micros = (await bench.cluster()).cpuMicros
  const ingest = (plan: Plan) => measureIngest(postgres, cache, micros, plan)
  await ingest({ round: -1, deliveries: 1_000, perEvent: 1 })
  const { ours, peer } = await takeTurns(
    rounds,
    async (round) => ({
      created: await ingest({ round, deliveries, perEvent: 1 }),
      updated: await ingest({ round: round + 1_000, deliveries, perEvent: updatesOfEvent }),
    }),
    () => runPgbench(peerRun),
  )
  const theirs = medianOf(peer, (one) => one.perSecond)
  const created = medianOf(ours, (one) => one.created.perSecond)
  const updated = medianOf(ours, (one) => one.updated.perSecond)
  report(
    `processor time of Node and of PostgreSQL: ${cpuText(ours.map((one) => one.created))} us a new event, ` +
      `${cpuText(ours.map((one) => one.updated))} us an update`,
  )
  const against = `${perSecond(theirs)} pgbench, one upsert of 1 kB a transaction, ${clients} clients`
  const line = (what: string, value: number): Line => ({
    what: `${what}, ${teams} teams, ${whole(teams * prefixesOfTeam)} prefixes`,
    result: perSecond(value),
    peer: against,
    ratio: times(value / theirs),
    goal: '>= 5,000/s and >= 0.3x',
    reached: value >= 5_000 && value >= 0.3 * theirs,
  })
  return [line('new events', created), line(`updates, ${updatesOfEvent} an event`, updated)]
}

type Measured = { readonly perSecond: number; readonly nodeUs: number; readonly postgresUs: number }

const cpuText = (all: readonly Measured[]): string =>
  `${whole(medianOf(all, (one) => one.nodeUs))} + ${whole(medianOf(all, (one) => one.postgresUs))}`

const upsert = `\\set id random(1, 1000000)
insert into peer (id, record) values (:id::text, repeat('0123456789abcdef', 64)) on conflict (id) do update set record = excluded.record, updated = now();
`

type Plan = { readonly round: number; readonly deliveries: number; readonly perEvent: number }

const fixture = (name: string): string =>
  JSON.stringify(
    JSON.parse(
      readFileSync(
        new URL(`../../server/src/events/sources/fixtures/fastnetmon-${name}.json`, import.meta.url),
        'utf8',
      ),
    ),
  )

const [ban, status] = [fixture('ban'), fixture('attack-status')]
const uuid = /"attack_uuid":"([^"]+)"/.exec(ban)![1]!
const ip = /"ip":"([^"]+)"/.exec(ban)![1]!

/** Stores the deliveries first, then measures the loop. Throws unless each was read and every event is there. */
export async function measureIngest(
  postgres: Postgres,
  cache: ReturnType<typeof createOwnershipCache>,
  serverMicros: () => number,
  { round, deliveries, perEvent }: Plan,
): Promise<Measured> {
  const { owner } = postgres
  const events = deliveries / perEvent
  // The updates of an event are not together: each batch has many events, as during a wave of attacks.
  await sql`
    insert into deliveries (source_key, delivery_id, received, content_type, body)
    select 'fnm', 'd' || ${round}::integer || '-' || n, now() - interval '1 hour' + turn * interval '10 s',
      'application/json', convert_to(replace(replace(case when turn = 0 then ${ban} else ${status} end,
          ${uuid}, ${`e${round}-`} || event),
        ${`"ip":"${ip}"`}, '"ip":"10.' || net / 256 || '.' || net % 256 || '.' || event % 250 || '"'), 'UTF8')
    from generate_series(0, ${deliveries - 1}::integer) n,
      lateral (select n / ${events}::integer as turn, n % ${events}::integer as event) e,
      lateral (select event * 7919 % ${teams * prefixesOfTeam}::integer as net) t
    order by n`.execute(owner)
  await sql`vacuum analyze deliveries`.execute(owner)
  const [start, cpu, server] = [performance.now(), process.cpuUsage(), serverMicros()]
  const report = await ingestDeliveries(postgres, cache)
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const postgresUs = (serverMicros() - server) / deliveries
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from team_events t join events e on e.id = t.event_id
    where e.source_event_id like ${`e${round}-%`}`.execute(owner)
  if (report.done !== deliveries || rows[0]!.n !== events)
    throw new Error(`${report.done} of ${deliveries} deliveries, ${rows[0]!.n} of ${events} events`)
  return { perSecond: deliveries / seconds, nodeUs: (user + system) / deliveries, postgresUs }
}
