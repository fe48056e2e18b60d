// A port that is sold to the next customer: over every reading operation of the inventory, the former customer only
// gets the usage of its own time, and the next customer no data of the time before.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { urlOf } from '@pharos/contract/client'
import type { BillablePort } from '@pharos/contract/inventory/bill'
import type { PortUsage } from '@pharos/contract/inventory/usage'
import type { Port } from '@pharos/contract/inventory/port'
import { routes } from '@pharos/contract/document/routes'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

const minuteMs = 60_000
const halfHourMs = 30 * minuteMs
/** On the grid, so that each sample of 5 minutes belongs to exactly one customer. */
const movedMs = Math.floor(Date.now() / halfHourMs) * halfHourMs - 24 * 60 * minuteMs
const [before24h, after24h] = [movedMs - 12 * 60 * minuteMs, movedMs + 12 * 60 * minuteMs]
/** Octets of a minute. */
const [octetsBefore, octetsAfter] = [75_000_000_000, 7_500_000]

let api: TestApi
let fixtures: Fixtures
const bearers: Record<'red' | 'blue', string> = { red: '', blue: '' }

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { red, blue, people } = fixtures
  const moved = new Date(movedMs)
  const db = api.database.postgres.owner
  await sql`
    update port_assignments set valid = tstzrange(${new Date(movedMs - 86_400_000)}, ${moved}) where port_id = ${red.portId}`.execute(
    db,
  )
  await sql`insert into port_assignments (port_id, service_id, team_id, valid)
    values (${red.portId}, ${blue.serviceId}, ${blue.teamId}, tstzrange(${moved}, null))`.execute(db)
  for (const [at, octets, change] of [
    [before24h, octetsBefore, 'before'],
    [after24h, octetsAfter, 'after'],
  ] as const) {
    await sql`
      insert into port_samples (port_id, minute, covered_ms, octets_in, octets_out)
      select ${red.portId}, ${new Date(at)}::timestamptz + make_interval(mins => n), 60000, ${octets}::bigint, ${octets}::bigint
      from generate_series(0, 59) n`.execute(db)
    await sql`
      insert into interface_log (interface_id, at, kind, before, after)
      select interface_id, ${new Date(at)}, 'module', '', ${`module ${change}`} from ports where id = ${red.portId}`.execute(
      db,
    )
  }
  for (const name of ['red', 'blue'] as const) {
    const email = { red: people.admin, blue: people.blue }[name].email
    bearers[name] = `Bearer ${(await api.signIn(email)).access}`
  }
})
after(() => api[Symbol.asyncDispose]())

const get = (who: 'red' | 'blue', url: string) =>
  api.server.inject({ method: 'GET', url, headers: { authorization: bearers[who] } })

describe('a port that has another customer now', () => {
  const reading = routes.filter(
    ({ method, path, permission }) =>
      method === 'GET' && path.startsWith('/v3/inventory/') && !JSON.stringify(permission).includes('staff'),
  )

  it('is not found and not listed for the former one, over every operation', async () => {
    const { portId, deviceId } = fixtures.red
    const marks = [`CIRCUIT 203.0.113.1`, `router of CIRCUIT 203.0.113.1`]
    const tried = []
    for (const route of reading) {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      const own: Readonly<Record<string, number>> = { port_id: portId, device_id: deviceId }
      if (names.some((name) => !(name in own))) continue
      const answer = await get(
        'red',
        urlOf(route, Object.fromEntries(names.map((name) => [name, own[name]!])), {}),
      )
      tried.push(route.name)
      if (route.name === 'getPortUsage') assert.equal(answer.json<PortUsage>().samples, 0)
      else if (names.length > 0) assert.equal(answer.statusCode, 404, `${route.name} ${answer.body}`)
      else {
        assert.equal(answer.statusCode, 200, `${route.name} ${answer.body}`)
        for (const mark of marks) assert.ok(!answer.body.includes(mark), `${route.name} shows ${mark}`)
      }
    }
    for (const name of [
      'getPort',
      'getPortUsage',
      'getTransceiverMetrics',
      'getDevice',
      'listPorts',
      'getInventoryMetrics',
    ])
      assert.ok(tried.includes(name), name)
  })

  it('shows the next one nothing of the time before', async () => {
    const { portId } = fixtures.red
    const week = `start=${new Date(movedMs - 3 * 86_400_000).toISOString()}`
    const usage = (
      await get('blue', `/v3/inventory/ports/${portId}/usage?${week}&interval=300`)
    ).json<PortUsage>()
    assert.equal(usage.samples, 12)
    assert.equal(usage.octets_in, 60 * octetsAfter)
    assert.equal(usage.series[0]!.max, (octetsAfter * 8) / 60)
    const { log } = (await get('blue', `/v3/inventory/ports/${portId}?include=log`)).json<Port>()
    assert.deepEqual(
      log!.map(({ after }) => after),
      ['module after'],
    )
  })

  it('shows the former one the usage of its own time, and nothing of the time after', async () => {
    const { portId } = fixtures.red
    const week = `start=${new Date(movedMs - 3 * 86_400_000).toISOString()}`
    const usage = (
      await get('red', `/v3/inventory/ports/${portId}/usage?${week}&interval=300`)
    ).json<PortUsage>()
    assert.equal(usage.samples, 12)
    assert.equal(usage.octets_in, 60 * octetsBefore)
    assert.equal(usage.series[0]!.max, (octetsBefore * 8) / 60)
    assert.equal(usage.missing_samples, 288 - 12)
  })

  it('is billed to each for its own time', async () => {
    // The hour of samples may be in two months.
    const ends = [before24h, after24h].flatMap((at) => [at, at + 59 * minuteMs])
    const months = new Set(ends.map((at) => new Date(at).toISOString().slice(0, 7)))
    for (const [who, octets] of [
      ['red', octetsBefore],
      ['blue', octetsAfter],
    ] as const) {
      const bills = []
      for (const month of months) {
        const url = `/v3/inventory/services/${fixtures[who].serviceId}/billable-ports?period=${month}`
        const { results } = (await get(who, url)).json<{ results: BillablePort[] }>()
        bills.push(...results.filter(({ port_id: id }) => id === fixtures.red.portId))
      }
      assert.equal(
        bills.reduce((sum, { samples }) => sum + samples, 0),
        12,
        who,
      )
      assert.equal(
        Math.max(...bills.map(({ average_in_bps: average }) => average ?? 0)),
        (octets * 8) / 60,
        who,
      )
    }
  })

  it('shows nothing of an interface from before the port was moved to it', async () => {
    const { portId, deviceId } = fixtures.red
    const db = api.database.postgres.owner
    const before = new Date(after24h)
    const { rows } = await sql<{ id: number }>`
      with i as (
        insert into interfaces (device_id, key, if_index, name, type, admin, oper, last_change)
        values (${deviceId}, 'et-0/0/9', 9, 'et-0/0/9', 6, 'up', 'up', ${before}) returning id),
      log as (
        insert into interface_log (interface_id, at, kind, before, after) select id, ${before}, 'oper', 'down', 'up' from i),
      t as (insert into transceivers (interface_id, serial, has_ddm, inserted) select id, 'S9', true, ${before} from i returning id)
      insert into gauges (device_id, transceiver_id, metric, lane, value, at)
      select ${deviceId}, id, 'rx_power', 1, -7.25, ${before} from t returning id`.execute(db)
    await sql`
      insert into gauge_days (gauge_id, day, slots)
      select ${rows[0]!.id}, (now() at time zone 'UTC')::date - 1, array_fill(-7.25::real, array[288])`.execute(
      db,
    )
    const week = `start=${new Date(movedMs - 3 * 86_400_000).toISOString()}`
    const usageUrl = `/v3/inventory/ports/${portId}/usage?${week}&interval=300`
    const usage = (await get('blue', usageUrl)).json<PortUsage>()

    const { rows: names } = await sql<{ circuit_id: string; device: string }>`
      select p.circuit_id, d.name as device from ports p join devices d on d.id = p.device_id where p.id = ${portId}`.execute(
      db,
    )
    const { access } = await openSession(api, fixtures.people.staff.userId, fixtures.red.teamId)
    const moved = await api.server.inject({
      method: 'POST',
      url: '/v3/admin/apply',
      headers: { authorization: `Bearer ${access}` },
      payload: { ports: [{ ...names[0]!, interface: 'et-0/0/9' }] },
    })
    assert.equal(moved.statusCode, 200, moved.body)

    const port = (await get('blue', `/v3/inventory/ports/${portId}?include=log,optics`)).json<Port>()
    assert.equal(port.transceiver!.serial, 'S9')
    assert.deepEqual(port.log, [])
    assert.equal(port.last_change, null)
    assert.equal(port.optics!.latest, null)
    const metrics = await get('blue', `/v3/inventory/ports/${portId}/transceiver/metrics?${week}`)
    assert.ok(!metrics.body.includes('-7.25'), metrics.body)
    // Its own history stays.
    assert.deepEqual((await get('blue', usageUrl)).json<PortUsage>(), usage)
  })
})
