// A port that is sold to the next customer: over every reading operation of the inventory, the former one gets nothing of the port any more, and the
// next one nothing of the time before.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { urlOf } from '@pharos/contract/client'
import type { BillablePort } from '@pharos/contract/bill'
import type { PortUsage } from '@pharos/contract/usage'
import type { Port } from '@pharos/contract/port'
import { routes } from '@pharos/contract/routes'
import { createTestApi, type TestApi } from './api.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

const minuteMs = 60_000
const halfHourMs = 30 * minuteMs
/** On the grid, so that each sample of 5 minutes belongs to one of them. */
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
      if (names.length > 0) assert.equal(answer.statusCode, 404, `${route.name} ${answer.body}`)
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

  it('is billed to each for its own time', async () => {
    const months = new Set([before24h, after24h].map((at) => new Date(at).toISOString().slice(0, 7)))
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
})
