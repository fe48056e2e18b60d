// The subjects of black holes for every-route.test.ts. Hosts are in the IPv6 prefix of the holder, which is announced in ams.
import { sql } from 'kysely'
import type { Holder } from './fixtures.ts'
import { absentIsNotFound, foreignOf, missingId, only, ownOf, type Context, type Subject } from './subject.ts'

let hosts = 0x100
const newHost = ({ marks }: Holder): string => `${marks[1]}::${(hosts++).toString(16)}`

/** Adds a black hole of the holder and removes its others: a team may have four. */
export async function addBlackhole({ api }: Pick<Context, 'api'>, holder: Holder): Promise<number> {
  const db = api.database.postgres.owner
  await sql`delete from blackholes where team_id = ${holder.teamId}`.execute(db)
  const { rows } = await sql<{ id: number }>`
    with added as (
      insert into blackholes (team_id, host, forced, expires)
      values (${holder.teamId}, ${newHost(holder)}::cidr, true, now() + interval '1 hour') returning id, team_id)
    insert into blackhole_regions (blackhole_id, region_id, team_id, state)
    select a.id, r.id, a.team_id, 'announced' from added a, regions r where r.slug = 'ams' returning blackhole_id as id`.execute(
    db,
  )
  return rows[0]!.id
}

const newBlackhole = (host: string) => ({
  host,
  force: true,
  expires: new Date(Date.now() + 7_200_000).toISOString(),
})

const aboutExisting = (): Subject['requests'] => ({
  own: async (context) => ({ params: { blackhole_id: await addBlackhole(context, ownOf(context)) } }),
  foreign: async (context) => ({ params: { blackhole_id: await addBlackhole(context, foreignOf(context)) } }),
  missing: async () => ({ params: { blackhole_id: missingId } }),
})

async function own(context: Context) {
  await addBlackhole(context, ownOf(context))
  return { body: newBlackhole(newHost(ownOf(context))) }
}

export const blackholeSubjects: readonly Subject[] = [
  { route: 'listBlackholes', requests: only(), answers: () => 200 },
  { route: 'getBlackhole', requests: aboutExisting(), answers: absentIsNotFound },
  {
    route: 'createBlackhole',
    requests: {
      own,
      foreign: async (context) => ({ body: newBlackhole(newHost(foreignOf(context))) }),
      missing: async () => ({ body: newBlackhole('192.88.99.1') }),
    },
    answers: (which) => (which === 'own' ? 201 : 'invalid'),
  },
  {
    route: 'createBlackhole',
    form: 'with a dry run',
    requests: { own: async (context) => ({ ...(await own(context)), query: { dry_run: 'true' } }) },
    answers: () => 200,
    without: { foreign: 'as the form without a dry run', missing: 'as the form without a dry run' },
  },
  {
    route: 'deleteBlackhole',
    requests: aboutExisting(),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
]
