// Writes server/test/dumps/NNN.tsv, where NNN is the newest migration or the argument, with rows in every table as the product writes
// them. Run at a release, see CONTRIBUTING.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takesIdempotencyKey } from '@pharos/contract/answers'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
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
import { fillTables, type FixedValues } from './valid-rows.ts'
import { createFixtures, type Fixtures } from './fixtures.ts'

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

function keyOf(route: Route, { form = '' }: Subject): Record<string, string> {
  return takesIdempotencyKey(route)
    ? { 'idempotency-key': `dump ${route.name} ${form}`.replaceAll(' ', '-') }
    : {}
}

/** Values of tables that only loops and drivers write, where their constraints do not say which: see valid-rows.ts. */
const fixed: FixedValues = {
  staff_tokens: { id: 'abcdefgh2345', scopes: ['admin:read'] },
  provider: { key: 'provider', accent: '#0a7d5a' },
  dns_servers: { name: 'ns1.pharos.example.', address: '192.0.2.53' },
  dns_defaults: { key: 'dns' },
  billing_periods: { month: '2026-03' },
  monthly_reports: { month: '2026-03', outcome: 'mailed' },
  inventory_imports: { source: 'netbox' },
  detector_thresholds: { bps: 1e9, ratio: 2 },
  former_service_terms: { valid: '[2026-01-01,2026-02-01)' },
  former_port_facts: { valid: '[2026-01-01,2026-02-01)' },
  billing_samples: { sha256: 'a'.repeat(64) },
  resource_limits: {
    tsig_key_id: undefined,
    prefix_id: undefined,
    network: undefined,
    port_id: undefined,
    service_id: undefined,
    names: ['www'],
    types: ['A'],
  },
}

/** Adds a row to every table that no request has filled. */
async function addInternalRows(owner: Db): Promise<void> {
  const filled = new Set((await readRows(owner)).map(({ table }) => table))
  const empty = (await listTables(owner)).map(({ name }) => name).filter((name) => !filled.has(name))
  const problems = await fillTables(owner, empty, fixed)
  if (problems.length > 0) throw new Error(`no rows in ${problems.join('\n')}: add values to write-dump.ts`)
}

await using api = await createTestApi()
const db = api.database.postgres.owner
const fixtures = await createFixtures(api)
await callEverything(api, fixtures)
await sealAll(db, api.config.secret, new AbortController().signal)
await writeAudit(db, {
  teamId: fixtures.red.teamId,
  actor: 'operator',
  action: 'test.write',
  target: 'test:1',
})
await addInternalRows(db)
const [name = String(listMigrations(migrationsFolder).length).padStart(3, '0')] = process.argv.slice(2)
mkdirSync(dumpsFolder, { recursive: true })
writeFileSync(join(dumpsFolder, `${name}.tsv`), formatDump(await readRows(db)))
