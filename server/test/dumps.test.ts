// Databases of past releases, migrated to the newest schema: the result has the schema of a new database and keeps all rows.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { hasGrant, tokenRole, type Role } from '@pharos/contract/role'
import { grantsNeeded } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import { readCatalog } from '../src/db/catalog.ts'
import { rolesOfInvitation, rolesOfMember } from '../src/db/roles.ts'
import { generateDump } from '../src/db/generate-dump.ts'
import { listMigrations, migrate, migrationsFolder } from '../src/db/migrate.ts'
import { dumpsFolder, readDump, readRows, restoreDump, type DumpedRow } from './support/dump.ts'
import { listTables } from './support/generated-rows.ts'

/**
 * Tables such as `sessions` and columns such as `sessions.address` that migrations remove or change on purpose. Such a migration
 * adds an entry with its number as the value.
 */
const changed: Readonly<Record<string, number>> = {
  // Renamed to notified_statuses.
  announcement_statuses_told: 28,
  // Ids of users became actors.
  holds: 104,
  'letters.reviewed_by': 34,
  // Replaced by the facet.
  'team_event_counts.flags': 32,
}

// The golden schema is a text of the embedded PostgreSQL.
before(() => void delete process.env['PHAROS_TEST_DATABASE_URL'])

const newest = listMigrations(migrationsFolder).length
const dumps = readdirSync(dumpsFolder).filter((file) => /^\d{3}\.tsv$/.test(file))

/** Returns the rows of a table, as sorted texts of the compared columns. */
function comparable(rows: readonly DumpedRow[], table: string, columns: readonly string[]): string[] {
  const ofTable = rows.filter((one) => one.table === table)
  return ofTable.map(({ row }) => textOf(row, columns)).sort()
}

const textOf = (row: string, columns: readonly string[]): string => {
  const value = JSON.parse(row) as Record<string, unknown>
  return JSON.stringify(columns.map((column) => [column, value[column]]))
}

const isKept = (version: number, name: string): boolean => !((changed[name] ?? 0) > version)

for (const file of dumps) {
  const version = Number(file.slice(0, 3))
  describe(`a database after migration ${version}`, () => {
    it('has the schema of a new database and keeps its rows once it is migrated', async () => {
      const dumped = readDump(file)
      await using database = await restoreDump(version, dumped)
      const { owner } = database.postgres
      const tables = [...new Set(dumped.map(({ table }) => table))]
      assert.deepEqual(tables.toSorted(), (await listTables(owner)).map(({ name }) => name).toSorted())
      assert.deepEqual(await readRows(owner), dumped, 'the dump is restored unchanged')

      const client = await database.postgres.directConnection()
      const { applied } = await migrate(client, { steps: 'all' })
      assert.equal(applied.length, newest - version)
      const schema = generateDump(await readCatalog(client))
      await client.end()
      assert.equal(schema, readFileSync(new URL('../src/db/schema.sql', import.meta.url), 'utf8'))

      const rows = await readRows(owner)
      for (const table of tables.filter((name) => isKept(version, name))) {
        const columns = Object.keys(JSON.parse(dumped.find((one) => one.table === table)!.row) as object)
        const kept = columns.filter((column) => isKept(version, `${table}.${column}`))
        const found = new Set(comparable(rows, table, kept))
        const lost = comparable(dumped, table, kept).filter((text) => !found.has(text))
        assert.deepEqual(lost, [], `rows of ${table} were lost or changed`)
      }
    })
  })
}

it('migration 029 restores the region that was disabled last', async () => {
  await using database = await restoreDump(26, readDump('026.tsv'))
  const { owner } = database.postgres
  const { rows: ids } = await sql<{ id: number; team_id: number }>`
    select id, team_id from announcements where deleted is null order by id limit 3`.execute(owner)
  const [bare, configured, unused] = ids
  await sql`delete from announcement_regions where announcement_id = any(${ids.map(({ id }) => id)})`.execute(
    owner,
  )
  for (const { id, team_id } of [bare!, configured!])
    await sql`
      insert into announcement_regions (announcement_id, region_id, team_id, configured)
      select ${id}, id, ${team_id}, ${id === configured!.id} and slug = 'ams' from regions
      where slug in ('ams', 'fra', 'lon')`.execute(owner)
  for (const slug of ['lon', 'fra', 'ams', 'fra'])
    await sql`
      insert into announcement_history (announcement_id, team_id, kind, actor, detail)
      values (${bare!.id}, ${bare!.team_id}, 'disabled', 'user:1', jsonb_build_object('region', ${slug}::text))`.execute(
      owner,
    )
  const client = await database.postgres.directConnection()
  await migrate(client, { steps: 'all' })
  await client.end()
  const { rows } = await sql<{ announcement_id: number; slug: string }>`
    select ar.announcement_id, r.slug from announcement_regions ar join regions r on r.id = ar.region_id
    where ar.restorable and ar.announcement_id = any(${[bare!, configured!, unused!].map(({ id }) => id)})`.execute(
    owner,
  )
  assert.deepEqual(rows, [{ announcement_id: bare!.id, slug: 'fra' }])
})

/** The operations that only admins could call before members had roles. */
const operationsOfAdmins = new Set([
  'addDomain',
  'addMember',
  'createAnnouncements',
  'createBlackhole',
  'createServiceAccount',
  'createToken',
  'createTsigKey',
  'createWebhook',
  'createZone',
  'deleteAnnouncement',
  'deleteBlackhole',
  'deleteServiceAccount',
  'deleteToken',
  'deleteTsigKey',
  'deleteWebhook',
  'deleteZone',
  'disableDnssec',
  'enableDnssec',
  'getAuditEntry',
  'getServiceAccount',
  'getToken',
  'importZone',
  'listAuditEntries',
  'listServiceAccounts',
  'listTokens',
  'redeliverWebhook',
  'removeDomain',
  'resendInvitation',
  'restoreAnnouncement',
  'restoreZone',
  'revertShieldList',
  'rollOverDnssecKey',
  'rotateToken',
  'rotateWebhookSecret',
  'testWebhook',
  'transferToken',
  'updateDomain',
  'updateMember',
  'updateServiceAccount',
  'updateShieldRules',
  'updateTeam',
  'updateToken',
  'updateWebhook',
  'updateZoneSettings',
  'uploadLetter',
  'verifyDomain',
])

for (const steps of ['expand', 'all'] as const)
  it(`roles change no right of a member or a token (migrations: ${steps})`, async () => {
    await using database = await restoreDump(26, readDump('026.tsv'))
    const { owner } = database.postgres
    const client = await database.postgres.directConnection()
    await migrate(client, { steps })
    await client.end()
    type Row = { readonly isAdmin: boolean; readonly roles: Role[] }
    const { rows } = await sql<Row>`
      select m.is_admin as "isAdmin", ${rolesOfMember} as roles from memberships m
      union all select i.is_admin, ${rolesOfInvitation} from invitations i
      union all select true, '{admin}' union all select false, '{editor}'`.execute(owner)
    assert.ok(rows.length > 4)
    const ofMembers = routes.filter(({ permission }) => grantsNeeded(permission, []).length > 0)
    for (const { isAdmin, roles } of rows) {
      const allowed = ofMembers.filter(({ permission }) =>
        grantsNeeded(permission, []).every((grant) => hasGrant(roles, grant)),
      )
      const before = ofMembers.filter(({ name }) => isAdmin || !operationsOfAdmins.has(name))
      assert.deepEqual(
        allowed.map(({ name }) => name),
        before.map(({ name }) => name),
      )
    }
    // Tokens get these roles, and members who join by a domain keep the former default.
    assert.deepEqual([tokenRole(false), tokenRole(true)], ['editor', 'admin'])
    const { rows: teams } = await sql<{ roles: string[] }>`
      select distinct default_roles as roles from teams`.execute(owner)
    assert.deepEqual(teams, [{ roles: ['editor'] }])
  })

it('at least one dump exists', () => {
  assert.notEqual(dumps.length, 0)
})
