// K1: bytes on disk of events, announcements and zones, from which docs/capacity.md is computed. Sizes do not depend on
// other load of the machine, and have no peer.
import { sql } from 'kysely'
import type { Client } from 'pg'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { seedAnnouncements, seedRegions } from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams } from './people.ts'
import { seedEvents } from './seed-events.ts'
import { seedZones } from './seed-zones.ts'
import { whole } from './table.ts'

export const capacity: Benchmark = {
  id: 'K1',
  name: 'capacity',
  title: 'bytes on disk of events, announcements and zones',
  missing: () => undefined,
  run,
}

type Load = {
  readonly what: string
  seed(client: Client, count: number, bench: Bench): Promise<void>
}

const teams = 50

const loads: readonly Load[] = [
  {
    what: `events of ${teams} teams, without their deliveries`,
    async seed(client, events, { report }) {
      await seedTeams(client, teams)
      await seedEvents(client, { events, teams, firstShare: 1 / teams }, report)
    },
  },
  {
    what: 'announcements in two regions',
    async seed(client, count) {
      await seedTeams(client, 1)
      await seedRegions(client, ['ams', 'fra'])
      await seedAnnouncements(client, count, 0)
    },
  },
  {
    what: 'unsigned zones of three record sets, served',
    async seed(client, count) {
      await seedTeams(client, 1)
      await seedZones(client, count, true)
    },
  },
]

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 2_000 : 20_000
  const cluster = await bench.cluster()
  const empty = await bytesOf(await cluster.database('capacity_empty', async () => {}))
  const lines: Line[] = []
  for (const [at, { what, seed }] of loads.entries()) {
    const name = `capacity_${at}_${count}`
    const bytes = await bytesOf(await cluster.database(name, (client) => seed(client, count, bench)))
    lines.push({
      what: `${whole(count)} ${what}`,
      result: `${whole((bytes - empty) / count)} bytes each`,
      peer: '-',
      ratio: '-',
      goal: '',
      reached: undefined,
    })
  }
  return lines
}

/** Tables with their indexes and long values. */
async function bytesOf({ owner }: Postgres): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    select sum(pg_total_relation_size(relid)) as bytes from pg_stat_user_tables`.execute(owner)
  return Number(rows[0]!.bytes)
}
