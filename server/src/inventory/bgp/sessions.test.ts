// BGP sessions end to end on PostgreSQL: polls of a simulated device, the port of a session, the view and the messages
// of its team, and data that no team gets.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import { createDeviceSource } from '../../drivers/device-sources.ts'
import type { Operation } from '../../operation/operation.ts'
import { createLog } from '../../runtime/log.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { DeviceCollector } from '../collect/collector.ts'
import { listDevices } from '../device/device.ts'
import { getPort, listPorts } from '../port/port.ts'
import { getService } from '../holding/service.ts'
import { seedPort } from '../testing.ts'

const options = { credential: null, readSamples: async () => [], now: () => new Date() }

let database: TestDatabase
let teamId = 0
let otherId = 0
let serviceId = 0
let port = { deviceId: 0, portId: 0, interfaceId: 0 }
const owner = () => database.postgres.owner
const run = (statement: ReturnType<typeof sql>) => statement.execute(owner())
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(owner(), ['teams', 'devices', 'services', 'outbox'])
  ;[teamId, otherId] = [await addTeam('one'), await addTeam('two')]
  serviceId = await addService(teamId)
  const since = new Date(Date.now() - 86_400_000)
  port = await seedPort(database.postgres, { teamId, serviceId, circuitId: 'C1', since })
})

async function addTeam(slug: string): Promise<number> {
  const values = { slug, name: slug, enabled_modules: ['inventory'] }
  return (await owner().insertInto('teams').values(values).returning('id').executeTakeFirstOrThrow()).id
}

async function addService(team: number): Promise<number> {
  const values = { team_id: team, name: 'Transit', type: 'transit' as const }
  return (await owner().insertInto('services').values(values).returning('id').executeTakeFirstOrThrow()).id
}

const interfaces = [
  { name: 'et-0/0/1', addresses: ['192.0.2.129/30'] },
  { name: 'et-0/0/1.100', addresses: ['198.51.100.1/31', '2001:db8::1/64'] },
  { name: 'irb.7', addresses: ['203.0.113.1/24'] },
]
const peer = (address: string, changes: object = {}) => ({ peer: address, asn: 64_496, ...changes })

/** Polls the device of the port with these sessions. */
async function poll(...sessions: object[]): Promise<void> {
  const settings = JSON.stringify({ interfaces, bgp_sessions: sessions })
  await run(sql`update devices set driver = 'sandbox', settings = ${settings} where id = ${port.deviceId}`)
  await run(sql`update device_states set next_poll = now(), next_survey = now()`)
  const collector = new DeviceCollector({
    postgres: database.postgres,
    log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
    owner: 'one',
    createSource: (device) => createDeviceSource({ ...device, ...options }),
  })
  await collector.startDue()
  await collector.settle()
  await collector.stop()
}

const deps = () => ({
  postgres: database.postgres,
  db: owner(),
  ring: createKeyRing(['a secret of more than thirty-two bytes']),
  publicUrl: 'https://pharos.example.net',
  now: () => new Date(),
})
const as = (team: number) => ({ actor: { teamId: team } }) as Operation
const sessionsOf = async () =>
  (await getPort(deps(), as(teamId), port.portId, { include: 'bgp_sessions' })).body.bgp_sessions!
const messages = async () => {
  const { rows } = await sql<{ team_id: number; data: Record<string, unknown> }>`
    select team_id, data from outbox where type = 'port.bgp_session_changed' order by id`.execute(owner())
  return rows.map(({ team_id, data }) => [
    team_id,
    data['peer'],
    data['before'],
    data['after'],
    data['reason'],
  ])
}

describe('the sessions of a port', () => {
  test('are those in its networks and in those of its parts, of both families; others belong to nobody', async () => {
    await poll(
      peer('192.0.2.130', { received: 12, limit: 50 }),
      peer('198.51.100.0'),
      peer('2001:db8::2'),
      peer('203.0.113.9'),
    )
    const [first, ...rest] = await sessionsOf()
    assert.deepEqual(
      [first!.port_id, first!.peer, first!.peer_asn, first!.state, first!.prefixes, first!.last_reset],
      [
        port.portId,
        '192.0.2.130',
        64_496,
        'established',
        [{ family: 'ipv4', received: 12, limit: 50 }],
        null,
      ],
    )
    assert.ok(Date.parse(first!.established!) < Date.now())
    assert.deepEqual(
      rest.map(({ peer: address }) => address),
      ['198.51.100.0', '2001:db8::2'],
    )
    const { body } = await getService(deps(), as(teamId), serviceId, { include: 'bgp_sessions' })
    assert.equal(body.bgp_sessions!.length, 3)
    assert.equal((await getService(deps(), as(teamId), serviceId, {})).body.bgp_sessions, undefined)
  })

  test('are also those that the provider has named, and not those of a part that is a port itself', async () => {
    await run(sql`update ports set bgp_peers = '{203.0.113.9}' where id = ${port.portId}`)
    await run(sql`insert into ports (circuit_id, name, device_id, interface_key)
      values ('C2', 'et-0/0/1.100', ${port.deviceId}, 'et-0/0/1.100')`)
    await poll(peer('192.0.2.130'), peer('198.51.100.0'), peer('203.0.113.9'), peer('203.0.113.10'))
    assert.deepEqual(
      (await sessionsOf()).map(({ peer: address }) => address),
      ['192.0.2.130', '203.0.113.9'],
    )
  })

  test('report once that they have ended, with the reason, and that they are back', async () => {
    await poll(peer('192.0.2.130'), peer('203.0.113.9'))
    const down = { state: 'idle', error: [6, 1] }
    await poll(peer('192.0.2.130', down), peer('203.0.113.9', down))
    await poll(peer('192.0.2.130', { ...down, state: 'active' }))
    const [ended] = await sessionsOf()
    assert.deepEqual([ended!.state, ended!.last_reset!.reason], ['active', 'prefix_limit'])
    assert.equal(ended!.last_reset!.message, 'More prefixes were announced than the limit allows.')
    await poll(peer('192.0.2.130'))
    assert.deepEqual(await messages(), [
      [teamId, '192.0.2.130', 'established', 'idle', 'prefix_limit'],
      [teamId, '192.0.2.130', 'active', 'established', null],
    ])
    assert.equal((await sessionsOf())[0]!.last_reset!.reason, 'prefix_limit')
  })

  test('that end while the device does not name their state were reset at an unknown time', async () => {
    await poll(peer('192.0.2.130'))
    const unknown = peer('192.0.2.130', { state: 'unknown' })
    await poll(unknown)
    await poll(unknown)
    assert.deepEqual(await messages(), [])
    await poll(peer('192.0.2.130', { state: 'idle', error: [4, 0] }))
    assert.deepEqual(await messages(), [[teamId, '192.0.2.130', 'established', 'idle', 'hold_timer']])
    const { at, reason } = (await sessionsOf())[0]!.last_reset!
    assert.deepEqual([at, reason], [null, 'hold_timer'])
  })

  test('report nothing while the device is in maintenance', async () => {
    await poll(peer('192.0.2.130'))
    await run(sql`update devices set maintenance_until = now() + interval '1 hour'`)
    await poll(peer('192.0.2.130', { state: 'idle' }))
    assert.deepEqual(await messages(), [])
  })

  test('show the next customer nothing of the former one', async () => {
    await poll(peer('192.0.2.130'))
    await poll(peer('192.0.2.130', { state: 'idle' }))
    await run(sql`update port_assignments set valid = tstzrange(lower(valid), now())`)
    await run(sql`insert into port_assignments (port_id, service_id, team_id, valid)
      values (${port.portId}, ${await addService(otherId)}, ${otherId}, tstzrange(now(), null))`)
    const { body } = await getPort(deps(), as(otherId), port.portId, { include: 'bgp_sessions' })
    assert.deepEqual(
      body.bgp_sessions!.map(({ state, last_reset }) => [state, last_reset]),
      [['idle', null]],
    )
    const seen = (team: number) => database.postgres.readInTeam(team, sql`select id from bgp_sessions`)
    assert.deepEqual([(await seen(teamId)).length, (await seen(otherId)).length], [0, 1])
  })

  test('are forgotten a day after the device has listed them', async () => {
    await poll(peer('192.0.2.130'))
    await run(sql`update bgp_sessions set seen = now() - interval '20 minutes'`)
    await poll()
    assert.deepEqual(
      (await sessionsOf()).map(({ state }) => state),
      ['unknown'],
    )
    await run(sql`update bgp_sessions set seen = now() - interval '2 days'`)
    await poll()
    assert.deepEqual(await sessionsOf(), [])
  })
})

describe('a device that no process reads any more', () => {
  test('is unknown, and so are its ports and their sessions; one that is being read is not', async () => {
    await poll(peer('192.0.2.130'))
    const shown = async () => {
      const { results } = await listDevices(deps(), as(teamId), { ordering: 'name', limit: 10, offset: 0 })
      const query = { ordering: 'name', limit: 10, offset: 0 }
      const [only] = (await listPorts(deps(), as(teamId), query)).results
      return [results[0]!.status, only!.oper_status, only!.admin_status, (await sessionsOf())[0]!.state]
    }
    assert.deepEqual(await shown(), ['online', 'up', 'up', 'established'])
    await run(sql`update device_states set next_poll = now() - interval '2 minutes'`)
    assert.deepEqual(await shown(), ['online', 'up', 'up', 'established'])
    await run(sql`update device_states set next_poll = now() - interval '4 minutes'`)
    assert.deepEqual(await shown(), ['unknown', 'unknown', 'unknown', 'unknown'])
    const { results } = await listPorts(deps(), as(teamId), {
      oper_status: ['up'],
      ordering: 'name',
      limit: 10,
      offset: 0,
    })
    assert.deepEqual(results, [])
    await run(
      sql`update device_states set lease_owner = 'another', lease_until = now() + interval '1 minute'`,
    )
    assert.deepEqual(await shown(), ['online', 'up', 'up', 'established'])
  })
})
