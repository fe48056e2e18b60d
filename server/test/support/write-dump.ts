// Writes server/test/dumps/NNN.tsv, where NNN is the newest migration, with rows in every table as the product writes them. Run at
// a release, see CONTRIBUTING.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takesIdempotencyKey } from '@pharos/contract/answers'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import { sealAll } from '../../src/audit/seal.ts'
import { writeAudit } from '../../src/db/audit.ts'
import { listMigrations, migrationsFolder } from '../../src/db/migrate.ts'
import type { Db } from '../../src/db/postgres.ts'
import { createTestApi, type TestApi } from '../api.ts'
import { dumpsFolder, formatDump, readRows } from './dump.ts'
import { listTables } from './generated-rows.ts'
import type { Subject } from './subject.ts'
import { subjects } from './subjects.ts'
import { callWithSuccess } from './successful-call.ts'
import { createFixtures, type Fixtures } from './fixtures.ts'

await using api = await createTestApi()
const db = api.database.postgres.owner
const fixtures = await createFixtures(api)
await callEverything(api, fixtures)
await addInternalRows(db, fixtures)
await sealAll(db, api.config.secret, new AbortController().signal)
await writeAudit(db, {
  teamId: fixtures.red.teamId,
  actor: 'operator',
  action: 'test.write',
  target: 'test:1',
})
await assertEveryTableHasRows(db)
const number = String(listMigrations(migrationsFolder).length).padStart(3, '0')
mkdirSync(dumpsFolder, { recursive: true })
writeFileSync(join(dumpsFolder, `${number}.tsv`), formatDump(await readRows(db)))

/** Calls every changing operation of the contract successfully. */
async function callEverything(on: TestApi, about: Fixtures): Promise<void> {
  for (const route of routes.filter(({ method }) => method !== 'GET'))
    for (const subject of subjects.filter((one) => one.route === route.name))
      await callWithSuccess(on, about, subject, route, keyOf(route, subject))
  await on.server.inject({
    method: 'POST',
    url: '/v3/session/token',
    payload: { email: about.people.member.email, password: 'a wrong password' },
  })
  await on.settled()
}

const keyOf = (route: Route, { form = '' }: Subject): Record<string, string> =>
  takesIdempotencyKey(route) ? { 'idempotency-key': `dump ${route.name} ${form}`.replaceAll(' ', '-') } : {}

/** Adds rows that only loops and drivers write. */
async function addInternalRows(owner: Db, { red, regions }: Fixtures): Promise<void> {
  const statements = [
    sql`insert into announcement_proofs (announcement_id, kind, team_id, state, note, next_check, checked)
      values (${red.announcements.on}, 'rdap', ${red.teamId}, 'valid', 'registered', now(), now())`,
    sql`insert into announcement_statuses_told (announcement_id, team_id, status)
      values (${red.announcements.on}, ${red.teamId}, 'announced') on conflict do nothing`,
    sql`insert into asn_proofs (team_id, asn, method, state, note, checked)
      values (${red.teamId}, ${red.asn}, 'roa', 'valid', 'found', now())`,
    sql`insert into event_networks (network, event_id)
      select '203.0.113.0/24', id from events order by id limit 1`,
    sql`insert into processes (id, host, pid, version, roles, started, seen, loops, registries)
      values (gen_random_uuid(), 'host', 1, '0.1.0', '{api}', now(), now(), '[]', '[]')`,
    sql`insert into region_withdrawals (region_id, prefix, counted_for)
      values (${regions['ams']}, '203.0.113.0/24', ${red.teamId})`,
  ]
  for (const statement of statements) await statement.execute(owner)
}

async function assertEveryTableHasRows(owner: Db): Promise<void> {
  const filled = new Set((await readRows(owner)).map(({ table }) => table))
  const empty = (await listTables(owner)).map(({ name }) => name).filter((name) => !filled.has(name))
  if (empty.length > 0) throw new Error(`no rows in ${empty.join(', ')}: add some in write-dump.ts`)
}
