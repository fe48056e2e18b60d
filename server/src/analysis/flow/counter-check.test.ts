// Flows against the counters of interfaces, on a real store and database.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../../drivers/clickhouse/testing.ts'
import { seedPort } from '../../inventory/testing.ts'
import { addTeam } from '../testing.ts'
import { checkCounters, hourMs, lastClosedHour } from './counter-check.ts'
import { listCounterRatios, saveCounterChecks } from './counter-check.store.ts'
import { insertFlows, testFlow } from './testing.ts'

const gigabyte = 1_000_000_000
const thisHour = Math.floor(Date.now() / hourMs) * hourMs
let database: TestDatabase
let store: TestFlowStore
let portId = 0
const owner = () => database.postgres.owner

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const teamId = await addTeam(owner(), 'one')
  const service = await owner()
    .insertInto('services')
    .values({ team_id: teamId, name: 'Transit', type: 'transit' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const seeded = await seedPort(database.postgres, { teamId, serviceId: service.id, circuitId: 'C1' })
  portId = seeded.portId
  await sql`insert into flow_exporters (address, device_id) values ('192.0.2.1', ${seeded.deviceId})`.execute(
    owner(),
  )
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})
beforeEach(() => emptyTables(owner(), ['flow_counter_checks', 'flow_delays', 'flow_exporter_settings']))

const counted = (hour: number, octets: readonly [number, number], coveredMs = 60_000) =>
  sql`insert into port_samples (port_id, minute, covered_ms, octets_in, octets_out)
    select ${portId}, m, ${coveredMs}, ${Math.round(octets[0] / 60)}::bigint, ${Math.round(octets[1] / 60)}::bigint
    from generate_series(${new Date(hour)}::timestamptz, ${new Date(hour + hourMs - 60_000)}, '1 minute') m
    on conflict (port_id, minute) do update set covered_ms = excluded.covered_ms, octets_in = excluded.octets_in,
      octets_out = excluded.octets_out`.execute(owner())
const save = (hour: number, octetsIn: number, octetsOut: number, packets = 5_000) =>
  saveCounterChecks(owner(), new Date(hour), [
    { exporter_id: 1, port_id: portId, octets_in: octetsIn, octets_out: octetsOut, packets },
  ])
const stored = async () => {
  const { rows } = await sql<{ ratio: number; hours: number; reported: boolean }>`
    select round(ratio::numeric, 3)::float8 as ratio, outside_hours as hours, is_implausible as reported
    from flow_counter_checks`.execute(owner())
  return rows
}
const hoursAgo = (hours: number) => thisHour - hours * hourMs

describe('the ratio of a port', () => {
  it('is that of its better direction', async () => {
    await counted(hoursAgo(9), [10 * gigabyte, 5 * gigabyte])
    await save(hoursAgo(9), 0, 4.9 * gigabyte)
    assert.deepEqual(await stored(), [{ ratio: 0.98, hours: 0, reported: false }])
  })

  it('is reported after three judged hours in a row outside of the limits, and no longer after one inside', async () => {
    for (const hours of [9, 8, 7, 6, 5]) await counted(hoursAgo(hours), [10 * gigabyte, 10 * gigabyte])
    await save(hoursAgo(9), 20 * gigabyte, 0)
    await save(hoursAgo(8), 20 * gigabyte, 0)
    await save(hoursAgo(8), 20 * gigabyte, 0)
    assert.deepEqual(await stored(), [{ ratio: 2, hours: 2, reported: false }])
    await save(hoursAgo(6), 0.01 * gigabyte, 0)
    assert.deepEqual(await stored(), [{ ratio: 0.001, hours: 3, reported: true }])
    await save(hoursAgo(5), 10 * gigabyte, 0)
    assert.deepEqual(await stored(), [{ ratio: 1, hours: 0, reported: false }])
  })

  it('is not judged with few samples, with little traffic or with gaps in the counters', async () => {
    await counted(hoursAgo(9), [10 * gigabyte, 10 * gigabyte])
    await save(hoursAgo(9), gigabyte, 0, 999)
    await counted(hoursAgo(9), [0.4 * gigabyte, 0.4 * gigabyte])
    await save(hoursAgo(9), 4 * gigabyte, 0)
    await counted(hoursAgo(9), [10 * gigabyte, 10 * gigabyte], 56_000)
    await save(hoursAgo(9), gigabyte, 0)
    assert.deepEqual(await stored(), [])
  })

  it('is not judged as too low if the flows of a direction may be missing', async () => {
    await counted(hoursAgo(9), [0.1 * gigabyte, 10 * gigabyte])
    await save(hoursAgo(9), 0, gigabyte)
    await counted(hoursAgo(9), [10 * gigabyte, 10 * gigabyte])
    await sql`insert into flow_exporter_settings (address, internal) values ('192.0.2.1', '{ae0}')`.execute(
      owner(),
    )
    await save(hoursAgo(9), gigabyte, gigabyte)
    assert.deepEqual(await stored(), [])
    await save(hoursAgo(9), 20 * gigabyte, gigabyte)
    assert.deepEqual(await stored(), [{ ratio: 2, hours: 1, reported: false }])
  })
})

describe('the check of an hour', () => {
  const hour = hoursAgo(2)

  it('adds up primary flows by their rate, at both of their interfaces', async () => {
    const time = new Date(hour + 60_000)
    const flow = { exporterId: 1, inIf: 1, time, samplingRate: 1_000, bytes: 1_000_000, packets: 2_000 }
    await insertFlows(store, [
      testFlow(flow),
      testFlow({ ...flow, isPrimary: false }),
      testFlow({ ...flow, time: new Date(hour + hourMs) }),
      testFlow({ ...flow, exporterId: 2 }),
      testFlow({ ...flow, inIf: 2, outIf: 1, bytes: 2_000_000 }),
    ])
    await counted(hour, [gigabyte, gigabyte])
    assert.equal(await check(), false, 'no collector has reported yet')
    await report(null)
    assert.equal(await check(), true)
    assert.deepEqual(await stored(), [{ ratio: 2, hours: 1, reported: false }])
    assert.deepEqual(await listCounterRatios(owner()), [{ exporter: '192.0.2.1', port: 'C1', ratio: 2 }])
  })

  it('waits for flows in a spool, and judges no hour of which flows were lost', async () => {
    await counted(hour, [gigabyte, gigabyte])
    await report(new Date(hour))
    assert.equal(await check(), false)
    await report(null, `{[${new Date(hour).toISOString()},${new Date(hour + 60_000).toISOString()})}`)
    assert.equal(await check(), true)
    assert.deepEqual(await stored(), [])
  })

  it('begins 75 minutes after its end, when flows of an hour have ended', () => {
    const at = (time: string) => new Date(lastClosedHour(new Date(`2026-03-14T${time}Z`))).toISOString()
    assert.equal(at('12:14:59'), '2026-03-14T09:00:00.000Z')
    assert.equal(at('12:15:00'), '2026-03-14T10:00:00.000Z')
  })

  const check = () => checkCounters({ db: owner(), flowStore: store }, hour)
  const report = (waiting: Date | null, lost = '{}') =>
    sql`insert into flow_delays (collector, reported, waiting_since, lost) values ('c', now(), ${waiting}, ${lost}::tstzmultirange)
      on conflict (collector) do update set waiting_since = excluded.waiting_since, lost = excluded.lost`.execute(
      owner(),
    )
})
