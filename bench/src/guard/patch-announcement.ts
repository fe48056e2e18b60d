// The guard's path of a PATCH: announcements enabled and disabled through the API alone, without a router; beside it pgbench, which writes
// the same rows in one transaction without any rule.
import { seedAnnouncements, seedRegions } from '../announcements.ts'
import type { Bench } from '../benchmark.ts'
import type { HttpRequest } from '../http-connection.ts'
import { runLoad } from '../load.ts'
import { missingPeers } from '../packages.ts'
import { seedTeams, seedUsers, signIn } from '../people.ts'
import { startProduct } from '../product.ts'
import { databaseMeter, pgbenchTurn, requestTurn, type HotPath, type Sides } from './hot-path.ts'

export const patchAnnouncementPath: HotPath = {
  id: 'P5',
  unit: 'PATCH of an announcement',
  peer: 'pgbench, the same rows in one transaction',
  missing: () => missingPeers().pgbench,
  prepare,
}

/** The API changes the first half, the peer the second. */
const announcements = 4_000
const half = announcements / 2

async function prepare(bench: Bench, stack: AsyncDisposableStack): Promise<Sides> {
  const { clients, sliceSeconds: seconds, folder } = bench
  const postgres = await (
    await bench.cluster()
  ).database('patches', async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, 1, 1)
    await seedRegions(client, ['ams', 'fra'])
    await seedAnnouncements(client, 0, announcements)
  })
  const { databaseUrl } = postgres
  const product = stack.use(await startProduct({ roles: ['api'], databaseUrl, folder }))
  const [{ access } = { access: '' }] = await signIn(product.url, 1)
  const requests = Array.from({ length: half }, (_, n) => n + 1).flatMap((id) => togglesOf(id, access))
  const database = await databaseMeter(bench)
  return {
    ours: requestTurn(product, database, () =>
      runLoad({
        product,
        connections: clients,
        seconds,
        answers: 400,
        source: { kind: 'list', requests, bytesMin: 100 },
      }),
    ),
    peer: pgbenchTurn(database, { databaseUrl, script, clients, seconds, folder }, 2_000),
  }
}

const togglesOf = (id: number, access: string): HttpRequest[] =>
  [true, false].map((enabled) => ({
    method: 'PATCH',
    path: `/v3/ipam/announcements/${id}`,
    authorization: `Bearer ${access}`,
    body: JSON.stringify({ enabled }),
  }))

const script = `\\set id random(${half + 1}, ${announcements})
begin;
update announcements set enabled = not enabled, version = version + 1,
  status = case when enabled then 'withdrawing' else 'announcing' end where id = :id and team_id = 1;
update announcement_regions set state = 'announcing', since = now() where announcement_id = :id;
insert into announcement_history (announcement_id, team_id, kind, actor) values (:id, 1, 'enabled', 'user:1');
insert into audit_entries (team_id, actor, action, target) values (1, 'user:1', 'announcement.update', 'announcement:' || :id);
commit;
`.replaceAll(/\n {2}/g, ' ')
