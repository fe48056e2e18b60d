// The second wall (row-level security): the access of the role pharos_tenant, which the API uses for a team. Tables and
// functions are read from PostgreSQL's catalogs and rows are generated from column types, so that a new table is always
// tested: tables without a policy are listed here, with the reason.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../src/db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { addGeneratedRow, dropRules, listTables, type TableShape } from './support/generated-rows.ts'

type Open = { readonly why: string; readonly rights?: readonly string[] }

/** Tables without a policy, which contain no data of a team, with the rights that the team role may have on them. */
const withoutPolicy: Record<string, Open> = {
  locations: { why: 'locations of the provider, shown to all users', rights: ['select'] },
  regions: {
    why: 'locations of the provider; the connections to their routers are not shown',
    rights: [
      'select (id, slug, name, location_key, open, last_check, last_check_result, neighbors4, neighbors6, check_interval, routes_missing)',
    ],
  },
  visibility_sources: {
    why: 'sources of the provider; their addresses and errors are not shown',
    rights: ['select (is_used, as_of, checked)'],
  },
  provider: { why: 'the name and the logo of the provider, which the portal shows to everybody' },
  region_routers: { why: 'the last observed state of each router, for staff' },
  processes: { why: 'status reports of the processes of the installation' },
  region_withdrawals: { why: 'the counters of the guard of a region' },
  sources: { why: 'detectors of the provider' },
  deliveries: { why: 'messages of detectors, stored before their teams are known' },
  delivery_ids: { why: 'hashes of received deliveries' },
  event_networks: { why: 'positions of events, for matching' },
  removed_resources: { why: 'queued ids for the matching of events' },
  revisions: { why: 'version numbers' },
  staff_tokens: { why: 'credentials of programs of the provider' },
  signing_keys: { why: 'keys of the installation' },
  installation: { why: 'state of the installation as a whole' },
  migrations: { why: 'applied migrations' },
  notification_position: { why: 'a position in the outbox' },
  dns_servers: {
    why: 'name servers of the provider; their addresses, keys and errors are not shown',
    rights: ['select (id, name, region, is_public, signing)'],
  },
  dns_defaults: {
    why: 'default settings of zones, which the settings of every zone show',
    rights: ['select'],
  },
  inventory_imports: { why: 'state of the imports of the provider' },
  device_credentials: { why: 'credentials of the provider for its devices' },
  mail_tokens: { why: 'belongs to accounts: used by the session before a team is known' },
  recovery_codes: { why: 'of accounts' },
  second_factors: { why: 'of accounts' },
  passkeys: { why: 'of accounts' },
  session_proofs: { why: 'of sessions: used before a team is known' },
  used_challenges: { why: 'random numbers, used before an account is known' },
  sign_in_failures: { why: 'of accounts' },
}

/** The team of a row in tables without a column `team_id`. */
const owners: Record<string, string> = {
  teams: 't.id',
  users: '(select m.team_id from memberships m where m.user_id = t.id)',
  events: '(select e.team_id from team_events e where e.event_id = t.id)',
  ...Object.fromEntries(
    ['port_samples', 'port_days', 'bgp_sessions'].map((table) => [
      table,
      '(select a.team_id from port_assignments a where a.port_id = t.port_id)',
    ]),
  ),
  interface_counters:
    '(select a.team_id from ports p join port_assignments a on a.port_id = p.id where p.id = t.interface_id)',
  ports: '(select a.team_id from port_assignments a where a.port_id = t.id)',
  ...Object.fromEntries(
    ['transceivers', 'interface_log'].map((table) => [
      table,
      '(select a.team_id from ports p join port_assignments a on a.port_id = p.id where p.id = t.interface_id)',
    ]),
  ),
  gauges: `(select a.team_id from ports p join port_assignments a on a.port_id = p.id where p.device_id = t.device_id)`,
  gauge_days: `(select a.team_id from gauges g join ports p on p.device_id = g.device_id
    join port_assignments a on a.port_id = p.id where g.id = t.gauge_id)`,
  former_service_terms: '(select s.team_id from services s where s.id = t.service_id)',
  attachments: 't.customer_id',
  ...Object.fromEntries(
    ['provider_mappings', 'user_identities', 'sso_attempts'].map((table) => [
      table,
      '(select p.team_id from identity_providers p where p.id = t.provider_id)',
    ]),
  ),
  ...Object.fromEntries(
    ['devices', 'device_states', 'interfaces'].map((table) => [
      table,
      `(select a.team_id from ports p join port_assignments a on a.port_id = p.id
        where p.device_id = t.${table === 'devices' ? 'id' : 'device_id'})`,
    ]),
  ),
  ...Object.fromEntries(
    ['dns_secondaries', 'dns_blocks', 'dns_server_zones', 'dns_keys', 'dns_delegations', 'dns_aliases'].map(
      (table) => [table, '(select z.team_id from dns_zones z where z.id = t.zone_id)'],
    ),
  ),
}

/** Tables with row-level security and no policy for the team role. */
const closed: Record<string, string> = {
  auth_flows: 'sign-ins under way, before a team is known',
  sso_assertions: 'assertions that were used, before a team is known',
  audit_unsealed: 'written by a trigger, emptied by a loop',
  approvals: 'changes of every area that wait for staff',
  dns_served: 'published zones, for the loops and the name server',
  dns_transfers: 'steps of zone transfers, for the loops and the name server',
  restores: 'restores of the database of the provider',
  restore_sources: 'what of the network was compared after a restore',
  restore_items: 'differences of all teams that wait for staff',
  flow_exporter_settings: 'exporters of the platform file, for the collectors',
  staff_sign_in: 'the identity provider of staff, of the platform file',
  setup: 'the first run of the installation: its code, and whether it is completed',
  default_limits: 'whether the installation began with limits of retention',
  unused_accounts: 'accounts without a team',
  platform_owners: 'who manages the elements of the platform, for its planner',
  as_names: 'names of AS numbers, the same for every team',
  flow_exporters: 'routers of the provider that send flows, for the collectors',
  flow_templates: 'templates of exporters, for the collectors',
  flow_samplings: 'sampling rates of exporters, for the collectors',
  flow_port_templates: 'templates of exporters that share their address, for the collectors',
  flow_port_samplings: 'sampling rates of exporters that share their address, for the collectors',
  flow_unknown_interfaces: 'interfaces in flows that the inventory does not know, for staff',
  sampled_counters: 'counters that devices have sent, for the collectors',
  detector_thresholds: 'thresholds of the platform file, for the collectors',
  monthly_reports: 'mails of monthly reports with their files, for the loop',
  detector_rates: 'rates of the detectors, for the collectors',
  flow_counter_checks: 'flows of ports against the counters of their interfaces, for staff',
  flow_delays: 'how far the collectors of flows are behind, for answers of the API',
  detector_attacks: 'open attacks of the detector, for the collectors',
  detector_outgoing_attacks: 'open attacks that networks send, for the collectors',
  former_speakers: 'routers that regions no longer have, for the loops and staff',
  former_port_facts: 'LAGs and interfaces that ports had, for bills: read through billed_facts',
  scrubbers: 'scrubbers of the provider, for the loops',
  shield_installs: 'what scrubbers hold of a list, for the loops',
}

/** Columns that could help to find a secret, which the team role may read only for these reasons. */
const secretColumn = /(_mac|_sealed|_hash|password|secret|private_key)(?!.*_(until|enabled)$)/
const readableColumns: Record<string, string> = {
  'idempotency_keys.request_hash': 'compared with that of a repeat; the request is in no response',
  'webhooks.secret_sealed':
    'copied to the former secret on rotation; cannot be decrypted without the key ring',
  'webhooks.former_secret_sealed': 'see the newest one',
}

/** The views of the team role, each with the table of which it has the rows that the policy shows. */
const tableOfView: Record<string, string> = { held_ports: 'ports', visible_devices: 'devices' }

/** Functions that run with the owner's rights and may be executed by PUBLIC, with the reason. */
const publicFunctions: Record<string, string> = {}

let database: TestDatabase
let tables: readonly TableShape[]
before(async () => {
  database = await createTestDatabase()
  const { owner } = database.postgres
  tables = await listTables(owner)
  await dropRules(owner, tables)
  await owner.transaction().execute(fill)
})
after(() => database[Symbol.asyncDispose]())

/** Adds a row of each of two teams in every table, and one without a team if the table allows it. */
async function fill(trx: Trx): Promise<void> {
  for (const table of tables) {
    await sql`delete from ${sql.table(table.name)}`.execute(trx)
    const nobody = table.columns.some(({ name, required }) => name === 'team_id' && !required)
    for (const team of [1, 2]) await addGeneratedRow(trx, table, team, team)
    if (nobody) await addGeneratedRow(trx, table, 3, null)
  }
}

const protectedTables = () => tables.filter(({ name }) => !(name in withoutPolicy))

class Rollback extends Error {}

/** Runs as the team role with every right on the table, so that only its policy restricts it. All changes are rolled back. */
async function asTenant(table: TableShape, team: number | null, work: (trx: Trx) => Promise<void>) {
  const all = database.postgres.owner.transaction().execute(async (trx) => {
    await sql`grant all on ${sql.table(table.name)} to pharos_tenant`.execute(trx)
    await sql`grant select on memberships, team_events to pharos_tenant`.execute(trx)
    await sql`set local role pharos_tenant`.execute(trx)
    if (team !== null) await sql.raw(`set local pharos.team_id = '${team}'`).execute(trx)
    await work(trx)
    throw new Rollback()
  })
  await all.catch((error: unknown) => {
    if (!(error instanceof Rollback)) throw error
  })
}

/** Returns the number of affected rows or the error, and restores the state before. */
async function outcomeOf(trx: Trx, statement: RawBuilder<unknown>): Promise<number | string> {
  await sql`savepoint before`.execute(trx)
  try {
    return Number((await statement.execute(trx)).numAffectedRows)
  } catch (error) {
    return (error as Error).message
  } finally {
    await sql`rollback to savepoint before`.execute(trx)
  }
}

const refused = /row-level security policy/

/** Returns the rows of the team, as JSON. */
async function rowsOf(table: TableShape, team: number): Promise<string[]> {
  if (table.name in closed) return []
  const owner = sql.raw(owners[table.name] ?? 't.team_id')
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(t)::text as row from ${sql.table(table.name)} t where ${owner} is not distinct from ${team}`.execute(
    database.postgres.owner,
  )
  return rows.map(({ row }) => row)
}

async function visible(trx: Trx, { name }: TableShape): Promise<string[]> {
  const { rows } = await sql<{
    row: string
  }>`select to_jsonb(t)::text as row from ${sql.table(name)} t`.execute(trx)
  return rows.map(({ row }) => row)
}

async function idsOf(trx: Trx, relation: string): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id from ${sql.table(relation)} order by id`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Inserts a copy of the row. */
function insertion({ name, columns }: TableShape, row: string): RawBuilder<unknown> {
  const written = sql.join(
    columns.filter(({ isGenerated }) => !isGenerated).map((column) => sql.ref(column.name)),
  )
  return sql`
    insert into ${sql.table(name)} (${written}) overriding system value
    select ${written} from jsonb_populate_record(null::${sql.table(name)}, ${row}::jsonb)`
}

/** Sets every column to its own value, for the columns that PostgreSQL allows to be set. */
function update({ name, columns }: TableShape): RawBuilder<unknown> {
  const column = sql.ref(
    (columns.find((one) => one.name === 'team_id') ?? columns.find(isPlain) ?? columns[0]!).name,
  )
  return sql`update ${sql.table(name)} set ${column} = ${column}`
}

const isPlain = ({ type }: { readonly type: string }) => type === 'text' || type.startsWith('timestamp')

describe('every table', () => {
  it('has a policy, or contains no data of a team', () => {
    const open = tables.filter(({ hasRowSecurity }) => !hasRowSecurity).map(({ name }) => name)
    assert.deepEqual(open.toSorted(), Object.keys(withoutPolicy).toSorted())
    const named = tables.filter(({ columns }) => columns.some(({ name }) => name === 'team_id'))
    assert.deepEqual(
      named
        .filter(({ name }) => name in withoutPolicy && !['sessions', 'session_proofs'].includes(name))
        .map(({ name }) => name),
      [],
      'it names a team',
    )
  })

  it('without a policy gives the team role no other rights than those listed', () => {
    for (const { name, rights } of tables.filter(({ name }) => name in withoutPolicy))
      assert.deepEqual(rights, withoutPolicy[name]!.rights ?? [], name)
  })

  it('with a policy compares the team of the transaction, and nothing else', () => {
    for (const { name, policies } of protectedTables()) {
      if (name in closed) assert.deepEqual(policies, [], name)
      else if (name in owners)
        assert.match(policies.join(), /current_team_id\(\)|(FROM|JOIN) (held_ports|devices) /, name)
      else assert.deepEqual(policies, ['(team_id = current_team_id())'], name)
    }
  })

  it('can be read and written by the team role, but not truncated, referenced or given triggers', () => {
    for (const { name, rights } of tables)
      for (const right of rights) assert.match(right, /^(select|insert|update|delete)( \(|$)/, name)
  })

  it('hides columns that could help to find a secret from the team role', () => {
    const found = tables.flatMap(({ name, columns, rights }) => {
      const [all, some] = [rights.includes('select'), rights.find((right) => right.startsWith('select ('))]
      const read = columns.filter(
        (column) =>
          all ||
          some
            ?.match(/\((.*)\)/)![1]!
            .split(', ')
            .includes(column.name),
      )
      return read.filter((column) => secretColumn.test(column.name)).map((column) => `${name}.${column.name}`)
    })
    assert.deepEqual(
      found.filter((column) => !(column in readableColumns)),
      [],
    )
  })
})

describe('in every table with a policy, as the team role with all rights', () => {
  it('a team reads its own rows, all of them, and no others', async () => {
    for (const table of protectedTables()) {
      for (const team of [1, 2]) {
        const own = await rowsOf(table, team)
        if (!(table.name in closed)) assert.equal(own.length, 1, `${table.name}: no row of team ${team}`)
        await asTenant(table, team, async (trx) =>
          assert.deepEqual(await visible(trx, table), own, table.name),
        )
      }
    }
  })

  it('a team updates and deletes its own rows, and no others', async () => {
    for (const table of protectedTables()) {
      const own = table.name in closed ? 0 : 1
      await asTenant(table, 1, async (trx) => {
        assert.equal(await outcomeOf(trx, update(table)), own, `${table.name}: update`)
        assert.equal(
          await outcomeOf(trx, sql`delete from ${sql.table(table.name)}`),
          own,
          `${table.name}: delete`,
        )
      })
    }
  })

  it('a team inserts no row for another team, and moves none of its own to it', async () => {
    for (const table of protectedTables()) {
      const [foreign] = await rowsOf(table, 2)
      await asTenant(table, 1, async (trx) => {
        if (foreign)
          assert.match(String(await outcomeOf(trx, insertion(table, foreign))), refused, table.name)
        if (!table.columns.some(({ name }) => name === 'team_id')) return
        for (const team of [2, null]) {
          const moved = sql`update ${sql.table(table.name)} set team_id = ${team}`
          const expected = table.name in closed ? /^0$/ : refused
          assert.match(String(await outcomeOf(trx, moved)), expected, `${table.name}: to ${team}`)
        }
      })
    }
  })

  it('without a team, nothing can be read, changed or inserted', async () => {
    for (const table of protectedTables()) {
      const [row] = await rowsOf(table, 1)
      await asTenant(table, null, async (trx) => {
        assert.deepEqual(await visible(trx, table), [], table.name)
        assert.equal(await outcomeOf(trx, update(table)), 0, table.name)
        assert.equal(await outcomeOf(trx, sql`delete from ${sql.table(table.name)}`), 0, table.name)
        if (row) assert.match(String(await outcomeOf(trx, insertion(table, row))), refused, table.name)
      })
    }
  })
})

describe('the team role', () => {
  const one = async <T>(statement: RawBuilder<T>): Promise<T> =>
    (await statement.execute(database.postgres.owner)).rows[0]!

  it('owns nothing, cannot log in, and bypasses no policy', async () => {
    const role = await one(sql`
      select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication from pg_roles
      where rolname = 'pharos_tenant'`)
    assert.ok(
      Object.values(role as object).every((value) => value === false),
      JSON.stringify(role),
    )
    const owned = await sql`select from pg_class where relowner = 'pharos_tenant'::regrole`.execute(
      database.postgres.owner,
    )
    assert.equal(owned.rows.length, 0)
    const member = await sql`select from pg_auth_members where member = 'pharos_tenant'::regrole`.execute(
      database.postgres.owner,
    )
    assert.equal(member.rows.length, 0)
    const { create } = await one(sql<{ create: boolean }>`
      select has_schema_privilege('pharos_tenant', 'public', 'create') as create`)
    assert.equal(create, false)
  })

  it('has no right on a partition, to which the policy of its table does not apply', async () => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class, aclexplode(relacl) a
      where relispartition and a.grantee in (0, 'pharos_tenant'::regrole)`.execute(database.postgres.owner)
    assert.deepEqual(rows, [])
  })

  it('reads in views, which run with the rights of their owner, what the policy of a table shows it, and no secrets', async () => {
    const { rows: views } = await sql<{ name: string; options: string[]; rights: string; columns: string[] }>`
      select c.relname as name, c.reloptions as options,
        (select string_agg(lower(a.privilege_type), ', ') from aclexplode(c.relacl) a where a.grantee = 'pharos_tenant'::regrole) as rights,
        (select array_agg(a.attname::text) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0) as columns
      from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('v', 'm') order by 1`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(
      views.map(({ name }) => name),
      Object.keys(tableOfView),
    )
    for (const { name, options, rights, columns } of views) {
      assert.deepEqual([options, rights], [['security_barrier=true'], 'select'], name)
      assert.deepEqual(
        columns.filter((column) => secretColumn.test(column)),
        [],
        name,
      )
      const table = tables.find((one) => one.name === tableOfView[name])!
      for (const team of [1, 2, 3, null])
        await asTenant(table, team, async (trx) => {
          const seen = await idsOf(trx, name)
          assert.deepEqual(seen, await idsOf(trx, table.name), name)
          assert.equal(seen.length, team === 1 || team === 2 ? 1 : 0, name)
        })
    }
  })
})

describe('every function that runs with the rights of its owner', () => {
  type Definer = { name: string; settings: string[]; isTrigger: boolean; isPublic: boolean }
  let definers: Definer[]
  before(async () => {
    const { rows } = await sql<Definer>`
      select p.proname as name, coalesce(p.proconfig, '{}') as settings, p.prorettype = 'trigger'::regtype as "isTrigger",
        has_function_privilege('public', p.oid, 'execute') as "isPublic"
      from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef order by 1`.execute(
      database.postgres.owner,
    )
    definers = rows
  })

  it('resolves names in the schema public, and temporary tables last', () => {
    assert.ok(definers.length > 3)
    for (const { name, settings } of definers)
      assert.ok(settings.includes('search_path=public, pg_temp'), `${name}: ${settings}`)
  })

  it('is not executable by PUBLIC, unless a reason is listed', () => {
    // PostgreSQL calls a trigger function only from a trigger, and checks the privilege when the trigger is created.
    const executable = definers.filter(({ isPublic, isTrigger }) => isPublic && !isTrigger)
    assert.deepEqual(
      executable.map(({ name }) => name),
      Object.keys(publicFunctions),
    )
  })

  it('is not deceived by a temporary table with the name of a real one', async () => {
    const taken = database.postgres.owner.transaction().execute(async (trx) => {
      await sql`insert into asns (id, team_id, asn, verified) overriding system value values (900, 2, 64999, now())`.execute(
        trx,
      )
      await sql`set local role pharos_tenant`.execute(trx)
      await sql`create temporary table asns (team_id integer, asn bigint, verified timestamptz, expires timestamptz)`.execute(
        trx,
      )
      const { rows } = await sql<{ held: boolean }>`select asn_is_held(1, 64999) as held`.execute(trx)
      assert.equal(rows[0]!.held, true)
      throw new Rollback()
    })
    await assert.rejects(taken, Rollback)
  })
})
