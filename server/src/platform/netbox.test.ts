// The import from NetBox against a database: created, changed and deleted rows, rows of the platform file, and that an
// incomplete, empty or much smaller answer changes no rows.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { approvalsOf, decideApproval, openApprovals } from '../approval/testing.ts'
import { sql } from 'kysely'
import { importInventory } from '../commands/import.ts'
import { readConfiguration } from '../commands/configuration.ts'
import { testRing } from '../commands/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import * as fake from '../drivers/netbox/testing-netbox.ts'
import { applyPlatform, preparePlatform } from './engine/apply.ts'
import { documentOf } from './engine/document.ts'
import { listImports } from './engine/import-state.store.ts'
import { platformKinds } from './kinds/index.ts'
import { netboxOf, syncInventory } from './parts.ts'

let database: TestDatabase
let netbox: fake.TestNetbox
let errors: string[] = []

before(async () => {
  database = await createTestDatabase()
  netbox = await fake.startTestNetbox({})
})
after(async () => {
  await netbox[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  const tables = [...platformKinds.kinds.map(({ table }) => table.name), 'inventory_imports', 'approvals']
  await emptyTables(owner(), tables, { restart: true })
  await apply({ teams: [{ slug: 'demo', name: 'Demo' }] })
  Object.assign(netbox.lists, fake.smallWorld())
  Object.assign(netbox.faults, fake.noFaults())
  errors = []
})

const owner = () => database.postgres.owner
const env = () => ({
  DATABASE_URL: database.databaseUrl,
  PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
  PHAROS_LOG_LEVEL: 'silent',
  PHAROS_NETBOX_URL: netbox.url.href,
  PHAROS_NETBOX_TOKEN: 'token',
})
const config = (from: Readonly<Record<string, string | undefined>> = env()) =>
  readConfiguration(from, { read: () => undefined, mode: () => 0o600, create: () => {} })

async function apply(
  document: object,
  options: { prune?: boolean; enforce?: boolean } = {},
): Promise<readonly string[]> {
  const deps = { ring: testRing, readText: () => assert.fail() }
  const flags = { prune: false, enforce: false, ...options }
  const prepared = await preparePlatform(platformKinds, owner(), documentOf('file', document), deps, flags)
  await applyPlatform(platformKinds, owner(), prepared, new Date())
  return prepared.plan.notices
}

const log = { info: () => {}, error: (...args: unknown[]) => void errors.push(String(args[1])) } as never
const sync = () =>
  syncInventory({ db: owner(), source: netboxOf(config())!, log }, AbortSignal.timeout(20_000))

async function pharos(...args: readonly string[]): Promise<string> {
  let printed = ''
  await importInventory.run({ args, env: env(), config, out: (text) => void (printed += text) })
  return printed
}

const names = async (table: 'devices' | 'services' | 'locations') =>
  (await sql<{ name: string }>`select name from ${sql.table(table)} order by 1`.execute(owner())).rows.map(
    ({ name }) => name,
  )

async function assignments(): Promise<unknown[]> {
  const { rows } = await sql`
    select p.circuit_id, s.name as service, upper_inf(a.valid) as is_current
    from port_assignments a join ports p on p.id = a.port_id join services s on s.id = a.service_id
    order by a.id`.execute(owner())
  return rows
}

const devices = (count: number) =>
  Array.from({ length: count }, (_, at) => fake.netboxDevice(100 + at, `d${at}`, { primary_ip: null }))

describe('the import from NetBox', () => {
  it('creates locations, devices, services and ports, once, and clears what NetBox no longer has', async () => {
    await sync()
    const { rows } = await sql`
      select d.name, d.management_address, d.location_key, s.commit_bps::text, p.speed_bps::text, d.managed_by
      from ports p join devices d on d.id = p.device_id
      join port_assignments a on a.port_id = p.id join services s on s.id = a.service_id`.execute(owner())
    assert.deepEqual(rows, [
      {
        name: 'r1.ams',
        management_address: '192.0.2.1',
        location_key: 'ams1',
        commit_bps: '10000000000',
        speed_bps: '100000000000',
        managed_by: 'netbox',
      },
    ])
    assert.match(
      await pharos('netbox', '--dry-run', '--prune'),
      /^! device 2: .*\n= 0 to create, 0 to change, 0 to delete/,
    )
    netbox.lists['circuits/circuits'] = [
      fake.circuit(1, 'C-1', 'demo', { commit_rate: null, install_date: null }),
    ]
    netbox.lists['dcim/devices'] = [fake.netboxDevice(1, 'r1.ams', { primary_ip: null, serial: '' })]
    await sync()
    const cleared = await sql`
      select serial, management_address, commit_bps, start_date from devices, services`.execute(owner())
    assert.deepEqual(cleared.rows, [
      { serial: '', management_address: '192.0.2.1', commit_bps: null, start_date: null },
    ])
  })

  it('gives a port to the circuit that is cabled to it now; the former customer keeps the past', async () => {
    await sync()
    netbox.lists['circuits/circuits'] = [fake.circuit(1, 'C-1', 'demo'), fake.circuit(3, 'C-3', 'demo')]
    netbox.lists['circuits/circuit-terminations'] = [fake.termination(3, 3, [11, 1])]
    await sync()
    assert.deepEqual(await assignments(), [
      { circuit_id: 'r1.ams et-0/0/1', service: 'C-1', is_current: false },
      { circuit_id: 'r1.ams et-0/0/1', service: 'C-3', is_current: true },
    ])
  })

  it('takes a circuit that ends before it starts without its end, and reports it', async () => {
    netbox.lists['circuits/circuits'] = [
      fake.circuit(1, 'C-1', 'demo', { install_date: '2026-01-31', termination_date: '2025-12-31' }),
      fake.circuit(3, 'C-3', 'demo', { install_date: '2026-01-31', termination_date: '2026-12-31' }),
    ]
    assert.match(
      await pharos('netbox', '--dry-run'),
      /^! netbox:circuit:1: the termination date 2025-12-31 is before the install date 2026-01-31/m,
    )
    await sync()
    const { rows } = await sql`
      select name, start_date::text, end_date::text from services order by 1`.execute(owner())
    assert.deepEqual(rows, [
      { name: 'C-1', start_date: '2026-01-31', end_date: null },
      { name: 'C-3', start_date: '2026-01-31', end_date: '2026-12-31' },
    ])
    assert.deepEqual(errors, [])
  })

  it('shares the platform with the file: neither deletes nor changes what the other manages', async () => {
    const own = {
      locations: [{ key: 'ams1', name: 'Own', country: 'NL', timezone: 'UTC' }],
      devices: [{ name: 'own' }],
    }
    await apply(own)
    await sync()
    assert.deepEqual([await names('devices'), await names('locations')], [['own', 'r1.ams'], ['Own']])
    assert.deepEqual(await apply({ ...own, services: [], ports: [] }, { prune: true }), [])
    assert.deepEqual(await names('services'), ['C-1'])
    const file = {
      devices: [{ name: 'r1.ams', role: 'core', settings: { interfaces: [] }, driver: 'sandbox' }],
    }
    assert.match((await apply(file))[0]!, /managed by netbox; role kept/)
    await sync()
    const kept = await sql`select role, driver from devices where name = 'r1.ams'`.execute(owner())
    assert.deepEqual(kept.rows, [{ role: 'edge', driver: 'sandbox' }])
    await apply(file, { enforce: true })
    await sync()
    const taken = await sql`select role, managed_by from devices where name = 'r1.ams'`.execute(owner())
    assert.deepEqual(taken.rows, [{ role: 'core', managed_by: 'platform' }])
    await pharos('netbox', '--enforce', '--yes')
    const back = await sql`select role, managed_by from devices where name = 'r1.ams'`.execute(owner())
    assert.deepEqual(back.rows, [{ role: 'edge', managed_by: 'netbox' }])
  })

  it('changes nothing after an incomplete or empty answer, and reports it', async () => {
    await sync()
    const before = await names('devices')
    netbox.lists['dcim/devices'] = [fake.netboxDevice(1, 'r1.ams'), ...devices(3)]
    for (const fault of [
      { countBy: 5 },
      { answers: Array.from({ length: 4 }, () => ({ status: 502, headers: { 'retry-after': '0' } })) },
    ]) {
      Object.assign(netbox.faults, fake.noFaults(), fault)
      await assert.rejects(sync())
      assert.deepEqual(await names('devices'), before)
    }
    Object.assign(netbox.faults, fake.noFaults())
    netbox.lists['dcim/devices'] = []
    await assert.rejects(sync(), /returned no devices, and 1 are imported/)
    netbox.lists['dcim/devices'] = [{ id: 1, name: 'r1' } as never]
    await assert.rejects(sync(), /dcim\/devices 1: role is required/)
    netbox.lists['dcim/devices'] = [
      fake.netboxDevice(1, 'r1', { site: { slug: 'x' }, role: { slug: 'e'.repeat(300) } }),
    ]
    await assert.rejects(sync(), /netbox:device:1: role must/)
    assert.deepEqual(await names('devices'), before)
    const [state] = await listImports(owner())
    assert.match(state!.error!, /role must/)
    assert.ok(state!.succeeded! < state!.attempted)
  })

  const manyDeletions = async (): Promise<void> => {
    netbox.lists['dcim/devices'] = [fake.netboxDevice(1, 'r1.ams'), ...devices(10)]
    await sync()
    netbox.lists['dcim/devices'] = [
      fake.netboxDevice(1, 'r1.ams'),
      ...devices(6),
      fake.netboxDevice(200, 'new', { primary_ip: null }),
    ]
    await sync()
  }

  it('asks staff about a plan with many deletions, once, and applies it after the command approves it', async () => {
    await manyDeletions()
    await sync()
    assert.equal((await names('devices')).length, 11, 'neither deleted nor created')
    assert.deepEqual(errors, ['import from NetBox waits: too many deletions'])
    const [state] = await listImports(owner())
    assert.ok(state!.error === null && state!.succeeded! < state!.attempted)
    const refused = await pharos('netbox', '--prune', '--yes').catch((error: Error) => error.message)
    const [, evidence = ''] =
      /4 devices \(limit 3\).*--deletions 4 --evidence ([0-9a-f]{64})/.exec(String(refused)) ?? []
    assert.notEqual(evidence, '', String(refused))
    for (const wrong of [[], ['--evidence', '0'.repeat(64)]])
      await assert.rejects(
        pharos('netbox', '--prune', '--yes', '--deletions', '4', ...wrong),
        /Nothing was applied/,
      )
    await pharos('netbox', '--prune', '--yes', '--deletions', '4', '--evidence', evidence)
    await sync()
    assert.equal((await names('devices')).length, 8)
    assert.deepEqual(
      (await approvalsOf(owner())).map(({ state }) => state),
      ['closed'],
    )
  })

  it('deletes exactly what staff approved, once', async () => {
    await manyDeletions()
    const [approval] = await openApprovals(owner())
    assert.deepEqual(
      [approval!.area, approval!.subject, approval!.reason, approval!.item_count],
      ['platform', { type: 'import', id: null, name: 'NetBox' }, 'many_deletions', 4],
    )
    assert.match(approval!.detail, /would delete 4 devices \(at most 3 without approval\)/)
    assert.deepEqual(
      approval!.items.map(({ change, value }) => `${change} ${value.split(' ')[0]}`),
      Array.from({ length: 4 }, () => 'remove device'),
    )
    await decideApproval(owner(), approval!.id, 'approved')
    // One deletion more than in the approval: no row is deleted, and a new approval is opened.
    netbox.lists['dcim/devices'] = [fake.netboxDevice(1, 'r1.ams'), ...devices(5)]
    await sync()
    assert.equal((await names('devices')).length, 11)
    const [grown] = await openApprovals(owner())
    assert.deepEqual([grown!.item_count, grown!.replaces], [5, null])
    netbox.lists['dcim/devices'] = [fake.netboxDevice(1, 'r1.ams'), ...devices(6)]
    await sync()
    assert.equal((await names('devices')).length, 7, 'the approval is still valid')
    assert.deepEqual(await openApprovals(owner()), [])
    await manyDeletions()
    assert.equal((await openApprovals(owner())).length, 1, 'an approval that was applied has ended')
  })

  it('deletes nothing that staff rejected, and imports the rest', async () => {
    await manyDeletions()
    const [approval] = await openApprovals(owner())
    await decideApproval(owner(), approval!.id, 'rejected')
    await sync()
    assert.equal((await names('devices')).length, 12)
    assert.deepEqual(await openApprovals(owner()), [])
    const [state] = await listImports(owner())
    assert.deepEqual(state!.succeeded, state!.attempted)
  })

  it('takes a port out of use before it deletes it', async () => {
    await sync()
    netbox.lists['circuits/circuit-terminations'] = []
    await sync()
    assert.deepEqual((await assignments()).length, 1)
    const { rows } = await sql`select circuit_id from ports order by 1`.execute(owner())
    assert.equal(rows.length, 2)
    await sync()
    const left = await sql`select circuit_id from ports`.execute(owner())
    assert.deepEqual(left.rows, [{ circuit_id: 'r1.ams et-0/0/3' }])
  })

  const rowIds = async () =>
    (
      await sql<{
        device: number
        port: number
        service: number
        counted: number
        name: string
        place: string
      }>`
        select d.id as device, p.id as port, a.service_id as service, c.interface_id as counted, s.name,
          d.name || ' ' || p.interface_key as place
        from ports p join devices d on d.id = p.device_id join port_assignments a on a.port_id = p.id and a.valid @> now()
          join services s on s.id = a.service_id left join interface_counters c on c.interface_id = p.interface_id`.execute(
        owner(),
      )
    ).rows
  type Listed = { readonly id: number; readonly name: string }
  const interfacesOf = () => netbox.lists['dcim/interfaces'] as unknown as readonly Listed[]
  /** The device lists the interface, and its counters were read. */
  const survey = (key: string) =>
    sql`
      with i as (
        insert into interfaces (device_id, key, if_index, name, type) select id, ${key}, 1, ${key}, 6 from devices where name = 'r1.ams'
        returning id),
      p as (update ports set interface_id = i.id from i where interface_key = ${key} returning i.id)
      insert into interface_counters (interface_id, state, type) select id, '{}', 6 from p`.execute(owner())

  it('follows new names of devices, circuits and interfaces: ids, counters and assignments stay', async () => {
    await sync()
    await survey('et-0/0/1')
    const [before] = await rowIds()
    assert.equal(before!.place, 'r1.ams et-0/0/1')
    netbox.lists['dcim/devices'] = [fake.netboxDevice(1, 'r9.ams')]
    netbox.lists['circuits/circuits'] = [fake.circuit(1, 'C-9', 'demo')]
    await sync()
    const [renamed] = await rowIds()
    assert.deepEqual(renamed, { ...before, name: 'C-9', place: 'r9.ams et-0/0/1' })
    assert.equal((await assignments()).length, 1)
    const { rows: audit } = await sql<{ action: string }>`
      select action from audit_entries where action like 'device.%' order by id desc limit 1`.execute(owner())
    assert.deepEqual(audit, [{ action: 'device.update' }])
    netbox.lists['dcim/interfaces'] = interfacesOf().map((one) =>
      one.name === 'et-0/0/1' ? { ...one, name: 'eth1/1' } : one,
    )
    await sync()
    const [moved] = await rowIds()
    assert.deepEqual(moved, { ...before, name: 'C-9', counted: null, place: 'r9.ams eth1/1' })
    assert.equal((await assignments()).length, 1)
    assert.match(await pharos('netbox', '--dry-run', '--prune'), /= 0 to create, 0 to change, 0 to delete/)
    assert.deepEqual(errors, [])
  })

  it('follows two devices that exchange their names, and a new interface with the former name of another', async () => {
    netbox.lists['dcim/devices'] = [
      fake.netboxDevice(1, 'r1.ams'),
      fake.netboxDevice(5, 'r5.ams', { primary_ip: null }),
    ]
    await sync()
    const [before] = await rowIds()
    netbox.lists['dcim/devices'] = [
      fake.netboxDevice(1, 'r5.ams'),
      fake.netboxDevice(5, 'r1.ams', { primary_ip: null }),
    ]
    await sync()
    assert.deepEqual(await rowIds(), [{ ...before, place: 'r5.ams et-0/0/1' }])
    const list = interfacesOf()
    const first = list.find(({ name }) => name === 'et-0/0/1')!
    netbox.lists['dcim/interfaces'] = [
      ...list.map((one) => (one === first ? { ...one, name: 'et-0/0/7' } : one)),
      { ...first, id: 99, tags: [{ slug: 'pharos' }] },
    ]
    await sync()
    assert.deepEqual(await rowIds(), [{ ...before, place: 'r5.ams et-0/0/7' }])
    const ids = await sql<{ circuit_id: string }>`
      select circuit_id from ports where external_ref = 'netbox:interface:99'`.execute(owner())
    assert.deepEqual(ids.rows, [{ circuit_id: 'r5.ams et-0/0/1' }])
  })

  it('waits for approval before it takes away a port with samples that no closed month has', async () => {
    await sync()
    await sql`update port_assignments set valid = tstzrange(now() - interval '1 day', null)`.execute(owner())
    await sql`insert into port_samples (port_id, minute, covered_ms) select id, now() - interval '1 hour', 60000 from ports`.execute(
      owner(),
    )
    netbox.lists['circuits/circuit-terminations'] = []
    await sync()
    assert.deepEqual(errors, ['import from NetBox waits: too many deletions'])
    assert.deepEqual(await assignments(), [
      { circuit_id: 'r1.ams et-0/0/1', service: 'C-1', is_current: true },
    ])
    const refused = await pharos('netbox', '--prune', '--yes').catch((error: Error) => error.message)
    const [, evidence = ''] = /--deletions 1 --evidence ([0-9a-f]{64})/.exec(String(refused)) ?? []
    await pharos('netbox', '--prune', '--yes', '--deletions', '1', '--evidence', evidence)
    await sync()
    await sync()
    const { rows } = await sql`
      select p.circuit_id, p.ended is not null as ended, p.device_id, count(s.minute)::integer as samples, s2.name as service
      from ports p join port_samples s on s.port_id = p.id join port_assignments a on a.port_id = p.id
        join services s2 on s2.id = a.service_id
      where p.circuit_id = 'r1.ams et-0/0/1' group by p.id, s2.name`.execute(owner())
    assert.deepEqual(rows, [
      { circuit_id: 'r1.ams et-0/0/1', ended: true, device_id: null, samples: 1, service: 'C-1' },
    ])
    // The interface and the id are free for another port.
    netbox.lists['circuits/circuit-terminations'] = fake.smallWorld()['circuits/circuit-terminations']!
    await sync()
    const again = await sql`select ended from ports where circuit_id = 'r1.ams et-0/0/1' order by id`.execute(
      owner(),
    )
    assert.equal(again.rows.length, 2)
    assert.deepEqual(again.rows[1], { ended: null })
    // A service is kept until the months of its ports are closed.
    netbox.lists['circuits/circuit-terminations'] = []
    netbox.lists['circuits/circuits'] = [fake.circuit(7, 'C-7', 'demo')]
    await sync()
    await sync()
    assert.ok((await names('services')).includes('C-1'))
  })

  it('needs both settings', () => {
    assert.throws(
      () => config({ ...env(), PHAROS_NETBOX_TOKEN: undefined }),
      /netbox_url needs netbox_token too/,
    )
    assert.equal(
      netboxOf(config({ ...env(), PHAROS_NETBOX_TOKEN: undefined, PHAROS_NETBOX_URL: undefined })),
      undefined,
    )
  })
})
