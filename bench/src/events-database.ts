// The databases with events that several benchmarks use, each created once.
import type { Postgres } from '../../server/src/db/postgres.ts'
import type { Bench } from './benchmark.ts'
import { seedTeams, seedUsers } from './people.ts'
import { requireAsWritten, seedEvents, type EventsPlan } from './seed-events.ts'

/** Increased when the rows of seed-events.ts change. */
const seedVersion = 3

/** A user for each team, and the events; checked against the product's own writer. */
export async function eventsDatabase(bench: Bench, plan: EventsPlan): Promise<Postgres> {
  const { events, teams, firstShare } = plan
  const name = `events_${events}_${teams}_${Math.round(firstShare * 100)}_v${seedVersion}`
  const postgres = await (
    await bench.cluster()
  ).database(name, async (client) => {
    await seedTeams(client, teams)
    await seedUsers(client, teams, teams)
    await seedEvents(client, plan, bench.report)
  })
  const client = await postgres.directConnection()
  await requireAsWritten(postgres, client)
  await client.end()
  return postgres
}

/** The number of users who sign in, each in another team: a password costs more than many requests. */
export const usersOf = (bench: Bench, { teams }: EventsPlan): number =>
  bench.quick ? Math.min(teams, 10) : teams

/** 50 teams of the same size. */
export function evenEvents(bench: Bench): EventsPlan {
  return { events: bench.quick ? 50_000 : 1_000_000, teams: 50, firstShare: 0.02 }
}
