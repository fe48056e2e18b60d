// Attack octets by port, and usage by address family, from flows on a real store.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { seedPort } from '../inventory/testing.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { addTeam } from '../events/testing.ts'
import { updateAttackOctets } from './attack-octets.ts'
import { readFamilyUsage } from './port-usage.ts'
import { insertFlows, testFlow } from './testing.ts'

const now = new Date('2026-03-14T12:00:00Z')
const at = (time: string) => new Date(`2026-03-14T${time}Z`)

let database: TestDatabase
let store: TestFlowStore
let teamId = 0
let portId = 0

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  teamId = await addTeam(owner, 'one')
  const { id } = await owner
    .insertInto('services')
    .values({ team_id: teamId, name: 'Transit', type: 'transit' })
    .returning('id')
    .executeTakeFirstOrThrow()
  portId = (
    await seedPort(database.postgres, { teamId, serviceId: id, circuitId: 'C1', since: at('00:00:00') })
  ).portId
  // It left an hour ago.
  await sql`update port_assignments set valid = tstzrange(lower(valid), ${at('11:00:00')})`.execute(owner)
  const facet = await sql<{ id: number }>`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key)
    values (${teamId}, 0, 0, 'udp.flood', 'test') returning id`.execute(owner)
  await sql`insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at, end_at,
      source_resource_id, source_location_id, source_country, source_location, classification_key, description, affected_bps, affected_pps,
      parsed_data)
    values ('e', 'test', 'e', '{}', '{EVENT_ENDED}', '203.0.113.7/32', 'UTC', ${at('10:03:00')}, ${at('10:06:00')}, '', '', '', '',
      'udp.flood', '', 0, 0, '{}')`.execute(owner)
  await sql`insert into event_networks (network, event_id) values ('203.0.113.7/32', 'e')`.execute(owner)
  await sql`insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
      classification_key, description, record, relationships, facet)
    values (${teamId}, 'e', ${at('10:03:00')}, ${at('10:06:00')}, 0, 0, 0, '203.0.113.7/32', 'udp.flood', '', '{', '[]',
      ${facet.rows[0]!.id})`.execute(owner)
  const flow = { teamId, portId, dst: '203.0.113.7', samplingRate: 10, bytes: 100 }
  await insertFlows(store, [
    testFlow({ ...flow, time: at('10:02:00') }),
    testFlow({ ...flow, time: at('10:04:00') }),
    testFlow({ ...flow, time: at('10:04:30'), bytes: 50 }),
    testFlow({ ...flow, time: at('10:05:10') }),
    testFlow({ ...flow, time: at('10:05:20'), dst: '203.0.113.8' }),
    testFlow({ ...flow, time: at('10:05:30'), direction: 'out', src: '203.0.113.7', dst: '203.0.113.7' }),
    testFlow({ ...flow, time: at('10:05:40'), portId: 0 }),
    testFlow({ ...flow, time: at('10:07:00'), src: '2001:db8::1', dst: '2001:db8::2', bytes: 7 }),
    testFlow({ ...flow, time: at('10:07:00'), teamId: teamId + 1 }),
  ])
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const saved = async () => {
  const { rows } = await sql<{ bucket: Date; octets: number }>`
    select bucket, octets from port_attack_octets where port_id = ${portId} order by bucket`.execute(
    database.postgres.owner,
  )
  return rows.map(({ bucket, octets }) => [bucket.toISOString().slice(11, 16), Number(octets)])
}
const update = (flowDays = 15, at = now) =>
  updateAttackOctets(
    { db: database.postgres.owner, flowStore: store, flowDays },
    at,
    AbortSignal.timeout(60_000),
  )
const setStatus = (status: string) =>
  sql`update events set status = ${status}`.execute(database.postgres.owner)

describe('octets of attacks', () => {
  it('are those towards a target while its event lasted, once however often they are saved', async () => {
    await update()
    await update()
    assert.deepEqual(await saved(), [
      ['00:00', 0],
      ['10:00', 1_500],
      ['10:05', 1_000],
    ])
  })

  it('are removed once the event was found to be false', async () => {
    await setStatus('{EVENT_ENDED,FALSE_POSITIVE}')
    await update()
    assert.deepEqual(await saved(), [['00:00', 0]])
  })
})

describe('usage by address family', () => {
  const read = (family: 'ipv4' | 'ipv6', flowStore: Parameters<typeof readFamilyUsage>[0] = store) =>
    readFamilyUsage(flowStore, {
      teamId,
      portId,
      family,
      start: at('10:05:00'),
      end: at('10:10:00'),
      seconds: 300,
    })

  it('is that of flows of the team through the port, with 0 for the other family', async () => {
    const ipv6 = { at: at('10:05:00').getTime(), octetsIn: 70, octetsOut: 0, packetsIn: 10, packetsOut: 0 }
    assert.deepEqual(await read('ipv6'), [ipv6])
    const [ipv4] = await read('ipv4')
    assert.deepEqual([ipv4!.octetsIn, ipv4!.octetsOut], [2_000, 1_000])
  })

  it('is empty without a store', async () => {
    const gone = {
      ...store,
      query: async () => {
        throw new DriverError('unreachable', 'gone')
      },
    }
    assert.deepEqual(await read('ipv4', gone), [])
  })
})

describe('octets of attacks that were saved', () => {
  const figures = [
    ['00:00', 0],
    ['10:00', 1_500],
    ['10:05', 1_000],
  ]

  it('stay when flows are deleted by age, in any order of the tables', async () => {
    await setStatus('{EVENT_ENDED}')
    await update()
    assert.deepEqual(await saved(), figures)
    await store.command('truncate table flows')
    await update(1, new Date('2026-03-15T10:20:00Z'))
    assert.deepEqual(await saved(), figures)
  })

  it('stay when the store has started empty, and is filled again', async () => {
    await store.command('truncate table flows_by_interface_1m')
    await update()
    assert.deepEqual(await saved(), figures)
    await store.command('truncate table flows_by_interface_1h')
    await update()
    assert.deepEqual(await saved(), figures)
    await insertFlows(store, [testFlow({ teamId, portId, dst: '203.0.113.7', time: at('11:30:00') })])
    await update()
    assert.deepEqual(await saved(), figures)
  })
})
