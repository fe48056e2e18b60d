// Flow records of a port by hour, on a real store and database: known hours, and reasons of a difference.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { seedPort } from '../inventory/testing.ts'
import { addTeam } from '../events/testing.ts'
import { saveCounterChecks } from '../collector/counter-check.store.ts'
import { saveFlowDelay } from './flow-delay.store.ts'
import { readPortFlows } from './port-flows.ts'
import { insertFlows, testFlow } from './testing.ts'

const hourMs = 3_600_000
const thisHour = Math.floor(Date.now() / hourMs) * hourMs
const hours = [thisHour - 2 * hourMs, thisHour - hourMs]
let database: TestDatabase
let store: TestFlowStore
let [teamId, portId] = [0, 0]
const owner = () => database.postgres.owner

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  teamId = await addTeam(owner(), 'one')
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
  const flow = (at: number, direction: 'in' | 'out', bytes: number) =>
    testFlow({ teamId, portId, time: new Date(at), direction, bytes, packets: 10, samplingRate: 1000 })
  await insertFlows(store, [
    flow(hours[0]! + 60_000, 'in', 5_000),
    flow(hours[1]! + 60_000, 'in', 7_000),
    flow(hours[1]! + 120_000, 'out', 2_000),
  ])
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})
beforeEach(() => emptyTables(owner(), ['flow_counter_checks', 'flow_delays']))

const read = (wanted: readonly number[] = hours) =>
  readPortFlows(
    {
      db: database.postgres.front,
      flowStore: store,
      retention: { days: 30, rollupDays: 400 },
      now: () => new Date(),
    },
    { teamId, portId, hours: wanted },
  )

describe('the flow records of a port', () => {
  it('are multiplied by the sampling rate, by hour', async () => {
    await saveFlowDelay(owner(), 'one', { waitingMs: undefined, lost: [] })
    assert.deepEqual(await read(), {
      hours: [
        { at: hours[0], octetsIn: 5_000_000, octetsOut: 0 },
        { at: hours[1], octetsIn: 7_000_000, octetsOut: 2_000_000 },
      ],
      samplingRate: 1000,
      check: null,
      differences: ['frame_overhead', 'sampling'],
    })
  })

  it('leave out hours that have not arrived as a whole, and are then incomplete', async () => {
    await saveFlowDelay(owner(), 'one', { waitingMs: hours[1]! + 60_000, lost: [] })
    const found = await read()
    assert.deepEqual(
      found?.hours.map(({ at }) => at),
      [hours[0]],
    )
    assert.deepEqual(found?.differences, ['frame_overhead', 'sampling', 'incomplete'])
  })

  it('name the last hour that was compared, and that it is reported', async () => {
    for (const hour of [5, 4, 3])
      await saveCounterChecks(owner(), new Date(thisHour - hour * hourMs), [
        { exporter_id: 1, port_id: portId, octets_in: 9e9, octets_out: 9e9, packets: 5_000 },
      ])
    assert.equal((await read())?.check, null, 'the interface was not counted')
    await sql`insert into flow_counter_checks (exporter_id, port_id, hour, ratio, outside_hours, outside_since)
      values (1, ${portId}, ${new Date(thisHour - hourMs)}, 0.1, 3, ${new Date(thisHour - 3 * hourMs)})`.execute(
      owner(),
    )
    const found = await read()
    assert.deepEqual(
      [found?.check?.hour.getTime(), found?.check?.ratio.toFixed(1)],
      [thisHour - hourMs, '0.1'],
    )
    assert.ok(found?.differences.includes('implausible'))
  })

  it('are undefined where there are none: nothing is not 0', async () => {
    assert.equal(await read([thisHour - 9 * hourMs]), undefined)
    assert.equal(await read([]), undefined)
  })
})
