// Modules and gauges end to end on PostgreSQL: polls of a simulated device, the slots of a day, closed days, early
// warnings with their messages, and the views of customers, each for their own time.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import { SandboxDeviceSource } from '../../drivers/sandbox-device/source.ts'
import type { SandboxInterface } from '../../drivers/sandbox-device/settings.ts'
import type { Operation } from '../../operation/operation.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { Failure } from '../../runtime/error.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import type { DueDevice } from '../collect/collect.store.ts'
import { saveGauges } from '../collect/gauge.store.ts'
import { readDevice, saveObservation } from '../collect/observe.ts'
import { getDeviceMetrics } from '../device/device-metrics.ts'
import { getPort, listPorts } from '../port/port.ts'
import { seedPort } from '../testing.ts'
import { getTransceiverMetrics } from './transceiver.ts'
import { watchOptics } from './watch-optics.ts'

const dayMs = 86_400_000
const fading = { type: '100GBASE-LR4', serial: 'A1', lanes: 2, rx_dbm: -6.8, fade_db_per_day: 0.05 }

let database: TestDatabase
let teamId = 0
let nextTeamId = 0
let port = { deviceId: 0, portId: 0, interfaceId: 0 }
const owner = () => database.postgres.owner
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(owner(), ['teams', 'devices', 'services', 'outbox'])
  ;[teamId, nextTeamId] = [await addTeam('one'), await addTeam('two')]
  port = await seedPort(database.postgres, {
    teamId,
    serviceId: await addService(teamId),
    circuitId: 'C1',
    since: new Date(Date.now() - 200 * dayMs),
  })
})

async function addTeam(slug: string): Promise<number> {
  const values = { slug, name: slug, enabled_modules: ['inventory'] }
  return (await owner().insertInto('teams').values(values).returning('id').executeTakeFirstOrThrow()).id
}

async function addService(team: number): Promise<number> {
  const values = { team_id: team, name: 'Transit', type: 'transit' as const }
  return (await owner().insertInto('services').values(values).returning('id').executeTakeFirstOrThrow()).id
}

const sourceOf = (wire: Partial<SandboxInterface>, at = new Date()) =>
  new SandboxDeviceSource({
    name: 'r1',
    settings: { interfaces: [{ name: 'et-0/0/1', speed_bps: 1e11, ...wire }] },
    now: () => at,
  })

const poll = (wire: Partial<SandboxInterface>, due: Partial<DueDevice> = {}) => pollOf(sourceOf(wire), due)

async function countersSaved(): Promise<number> {
  const { rows } = await sql`select from interface_counters`.execute(owner())
  return rows.length
}

async function pollOf(source: SandboxDeviceSource, due: Partial<DueDevice> = {}): Promise<void> {
  const device: DueDevice = {
    id: port.deviceId,
    name: 'r1',
    driver: 'sandbox',
    settings: {},
    address: null,
    credentialId: null,
    isSurveyDue: true,
    isNew: false,
    areGaugesDue: true,
    ...due,
  }
  const observation = await readDevice(source, device, AbortSignal.timeout(5_000))
  await sql`insert into device_states (device_id) values (${port.deviceId}) on conflict do nothing`.execute(
    owner(),
  )
  await owner()
    .transaction()
    .execute((trx) => saveObservation(trx, device, observation))
}

/** Fills the past days of each gauge of received light: `levelOf` by days ago. */
async function addDays(days: number, levelOf: (back: number) => number): Promise<void> {
  const rows = Array.from({ length: days }, (_, index) => ({ back: index + 1, level: levelOf(index + 1) }))
  await sql`
    insert into gauge_days (gauge_id, day, slots)
    select g.id, (now() at time zone 'UTC')::date - n.back, array_fill(n.level::real, array[288])
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (back integer, level real), gauges g
    where g.metric = 'rx_power' and g.lane = 1`.execute(owner())
}

const deps = () => ({
  postgres: database.postgres,
  db: owner(),
  ring: createKeyRing(['a secret of more than thirty-two bytes']),
  publicUrl: 'https://pharos.example.net',
  now: () => new Date(),
})
const as = (team: number) => ({ actor: { teamId: team } }) as Operation
const metrics = (query: object = {}, team = teamId) =>
  getTransceiverMetrics(deps(), as(team), port.portId, query)
const isFailure = (code: string) => (error: unknown) => error instanceof Failure && error.code === code
const messages = async () =>
  (
    await sql<{ team_id: number; type: string; data: Record<string, unknown> }>`
      select team_id, type, data from outbox order by id`.execute(owner())
  ).rows

describe('a gauge', () => {
  test('has its slot in the last half second of a day too', async () => {
    await owner()
      .transaction()
      .execute(async (trx) => {
        await sql`create schema clock`.execute(trx)
        await sql`create function clock.now() returns timestamptz language sql
          as $$ select timestamptz '2026-03-01T23:59:59.7Z' $$`.execute(trx)
        await sql`set local search_path = clock, pg_catalog, public`.execute(trx)
        const health = [{ metric: 'cpu' as const, part: '', value: 7 }]
        await saveGauges(trx, port.deviceId, { health, optics: [], uptimeCs: undefined })
        await sql`drop schema clock cascade`.execute(trx)
      })
    const { rows } = await sql<{ day: string; length: number; last: number }>`
      select day::text, array_length(slots, 1) as length, slots[288] as last from gauge_days`.execute(owner())
    assert.deepEqual(rows, [{ day: '2026-03-01', length: 288, last: 7 }])
  })
})

describe('the module of a port', () => {
  test('has its last reading beside its limits', async () => {
    await poll({ optic: fading })
    const { transceiver, ddm, latest, thresholds, timeseries } = await metrics()
    assert.equal(transceiver.serial, 'A1')
    assert.equal(ddm, true)
    assert.equal(timeseries, null)
    assert.deepEqual(thresholds.rx_power_dbm, {
      alarm_low: -14,
      warn_low: -11,
      warn_high: 3.5,
      alarm_high: 5,
    })
    const [first, second, ...rest] = latest!.lanes
    assert.deepEqual([first!.lane, second!.lane, rest.length], [1, 2, 0])
    assert.ok(Math.abs(first!.margin_db! - (first!.rx_power_dbm! + 14)) < 0.01)
    assert.ok(['ok', 'warning', 'alarm'].includes(first!.rx_status))
  })

  test('in darkness is without a margin', async () => {
    await poll({ optic: fading, oper: 'down' })
    const { latest } = await metrics()
    const { rx_power_dbm, rx_status, margin_db } = latest!.lanes[0]!
    assert.deepEqual(
      { rx_power_dbm, rx_status, margin_db },
      { rx_power_dbm: -40, rx_status: 'no_light', margin_db: null },
    )
  })

  test('without light levels has no reading; a port without a module is no_transceiver', async () => {
    await poll({ optic: { type: '10GBASE-T', serial: 'C1' } })
    const { ddm, latest } = await metrics()
    assert.deepEqual([ddm, latest], [false, null])
    await poll({ oper: 'not_present' })
    await assert.rejects(metrics(), isFailure('no_transceiver'))
    await assert.rejects(metrics({}, nextTeamId), isFailure('not_found'))
  })

  test('that is swapped begins a history of its own, in the log of the port and in one series', async () => {
    await poll({ optic: fading }, { isNew: true })
    await addDays(3, () => -7)
    await poll({ optic: { ...fading, serial: 'B2' } })
    const { transceiver, timeseries } = await metrics({
      metric: ['rx_power'],
      lane: [1],
      start: new Date(Date.now() - 3 * dayMs).toISOString(),
    })
    assert.equal(transceiver.serial, 'B2')
    const { values } = timeseries!.series[0]!
    assert.equal(timeseries!.series.length, 1)
    assert.equal(
      values.find((value) => value !== null),
      -7,
    )
    assert.ok(values.at(-1)! < -6.9 || values.at(-1)! > -7.1)
    const { log } = (await getPort(deps(), as(teamId), port.portId, { include: 'log' })).body
    assert.deepEqual(
      log!.map(({ kind, before, after }) => ({ kind, before, after })),
      [{ kind: 'module', before: 'Example Optics A1', after: 'Example Optics B2' }],
    )
  })

  test('is always in the port, and in the list only if it includes optics', async () => {
    const read = (include?: 'optics') => getPort(deps(), as(teamId), port.portId, include ? { include } : {})
    const page = { ordering: 'name', limit: 10, offset: 0 } as const
    await sql`update transceivers set is_present = false`.execute(owner())
    const empty = await read()
    assert.equal(empty.body.transceiver, null)
    await poll({ optic: fading })
    const { body, etag } = await read()
    assert.equal(body.transceiver?.serial, fading.serial)
    assert.equal(body.optics, undefined)
    assert.notEqual(etag, empty.etag)
    const [listed] = (await listPorts(deps(), as(teamId), page)).results
    assert.equal(listed!.transceiver, undefined)
    const [optical] = (await listPorts(deps(), as(teamId), { ...page, include: 'optics' })).results
    assert.deepEqual(optical!.transceiver, body.transceiver)
  })

  test('in an answer that includes its readings has the ETag of these', async () => {
    await poll({ optic: fading })
    const read = () => getPort(deps(), as(teamId), port.portId, { include: 'optics' })
    const before = await read()
    assert.equal((await read()).etag, before.etag)
    await sql`update gauges set value = value - 1 where metric = 'rx_power'`.execute(owner())
    const after = await read()
    assert.notDeepEqual(after.body.optics, before.body.optics)
    assert.notEqual(after.etag, before.etag)
  })

  test('is history of the port for its customer only, and from his first day on', async () => {
    await poll({ optic: fading })
    await addDays(10, () => -7)
    await sql`update port_assignments set valid = tstzrange(lower(valid), now() - interval '5 days')`.execute(
      owner(),
    )
    await sql`
      insert into port_assignments (port_id, service_id, team_id, valid)
      values (${port.portId}, ${await addService(nextTeamId)}, ${nextTeamId}, tstzrange(now() - interval '5 days', null))`.execute(
      owner(),
    )
    const query = {
      metric: ['rx_power'] as 'rx_power'[],
      lane: [1],
      start: new Date(Date.now() - 9 * dayMs).toISOString(),
      interval: 3600,
    }
    const { timeseries } = await metrics(query, nextTeamId)
    const seen = timeseries!.timestamps.find((_, at) => timeseries!.series[0]!.values[at] !== null)
    assert.ok(seen! >= new Date(Date.now() - 5 * dayMs - 3_600_000).toISOString())
    await assert.rejects(metrics(query), isFailure('not_found'))
  })
})

describe('an early warning', () => {
  const fade = (back: number) => -8.8 + 0.05 * back

  test('is raised once for a level that falls, with the day of its limit, and cleared when the level is back', async () => {
    await poll({ optic: { ...fading, lanes: 1 } })
    await addDays(40, fade)
    const before = new Date(Date.now() - 5 * dayMs)
    assert.equal(await watchOptics(owner(), before, AbortSignal.timeout(30_000)), 1)
    const { warnings } = await metrics()
    assert.equal(warnings.length, 1)
    const { code, metric, lane, cause, per_day, limit_reached } = warnings[0]!
    assert.deepEqual([code, metric, lane, cause], ['trend', 'rx_power', 1, 'path_or_far_module'])
    assert.ok(Math.abs(per_day! + 0.05) < 0.005)
    const days = (Date.parse(limit_reached!) - Date.now()) / dayMs
    assert.ok(days > 38 && days < 48, String(days))
    assert.equal(await watchOptics(owner(), before, AbortSignal.timeout(30_000)), 0)
    assert.deepEqual(
      (await messages()).map(({ team_id, type, data }) => [team_id, type, data['state']]),
      [[teamId, 'port.optic_warning', 'raised']],
    )
    const flagged = {
      ordering: 'id',
      limit: 10,
      offset: 0,
      has_optic_warning: true,
      include: 'optics',
    } as const
    const { results } = await listPorts(deps(), as(teamId), flagged)
    assert.deepEqual(
      results.map(({ optics }) => optics!.warnings.length),
      [1],
    )

    await sql`
      update gauge_days set samples = null, slots = array_fill((-3)::real, array[288])
      where day >= (now() at time zone 'UTC')::date - 5`.execute(owner())
    await watchOptics(owner(), new Date(), AbortSignal.timeout(30_000))
    assert.deepEqual((await metrics()).warnings, [])
    assert.deepEqual((await messages()).at(-1)!.data['state'], 'cleared')
  })

  test('is not raised from darkness, nor sent during maintenance', async () => {
    await poll({ optic: { ...fading, lanes: 1 } })
    await addDays(40, (back) => (back < 6 ? -40 : -6))
    await watchOptics(owner(), new Date(), AbortSignal.timeout(30_000))
    assert.deepEqual((await metrics()).warnings, [])
    await sql`delete from gauge_days where day < (now() at time zone 'UTC')::date`.execute(owner())
    await sql`update devices set maintenance_until = now() + interval '1 hour'`.execute(owner())
    await addDays(40, fade)
    await sql`update transceivers set warned_day = null`.execute(owner())
    await watchOptics(owner(), new Date(), AbortSignal.timeout(30_000))
    assert.equal((await metrics()).warnings.length, 1)
    assert.deepEqual(await messages(), [])
  })

  test('of a history older than the values is answered from daily figures', async () => {
    await poll({ optic: { ...fading, lanes: 1 } })
    await addDays(120, (back) => (back > 100 ? -5 : -6))
    await watchOptics(owner(), new Date(), AbortSignal.timeout(30_000))
    const { rows } = await sql<{ kept: string }>`
      select count(*) as kept from gauge_days where slots is not null and day < (now() at time zone 'UTC')::date`.execute(
      owner(),
    )
    assert.equal(Number(rows[0]!.kept), 90)
    const { timeseries } = await metrics({
      metric: ['rx_power'],
      start: new Date(Date.now() - 119 * dayMs).toISOString(),
      interval: 21_600,
    })
    assert.equal(timeseries!.interval, 86_400)
    assert.equal(timeseries!.series[0]!.values[2], -5)
    assert.equal(timeseries!.series[0]!.values.at(-3), -6)
  })
})

describe('a port', () => {
  test('that goes down is in its log, and its team gets one message; no message during maintenance', async () => {
    await poll({}, { isNew: true })
    await poll({ oper: 'down' }, { isSurveyDue: false })
    await poll({ oper: 'down' }, { isSurveyDue: false })
    await sql`update devices set maintenance_until = now() + interval '1 hour'`.execute(owner())
    await poll({ oper: 'up' }, { isSurveyDue: false })
    const changes = (await messages()).map(({ team_id, type, data }) => [
      team_id,
      type,
      data['before'],
      data['after'],
    ])
    assert.deepEqual(changes, [[teamId, 'port.status_changed', 'up', 'down']])
    const { log } = (await getPort(deps(), as(teamId), port.portId, { include: 'log' })).body
    assert.deepEqual(
      log!.map(({ before, after }) => [before, after]),
      [
        ['down', 'up'],
        ['up', 'down'],
      ],
    )
  })
})

describe('the metrics of a device', () => {
  test('are those that it reports; another one is refused with their names', async () => {
    await poll({})
    const { series } = await getDeviceMetrics(deps(), as(teamId), port.deviceId, {
      metric: ['cpu', 'latency', 'uptime'],
    })
    assert.deepEqual(
      series.map(({ key, unit, last }) => [key['metric'], unit, last !== null]),
      [
        ['cpu', 'percent', true],
        ['uptime', 's', true],
        ['latency', 'ms', true],
      ],
    )
    await assert.rejects(
      getDeviceMetrics(deps(), as(teamId), port.deviceId, { metric: ['fan'] }),
      (error: unknown) => isFailure('invalid')(error) && JSON.stringify(error).includes('temperature'),
    )
    await assert.rejects(getDeviceMetrics(deps(), as(nextTeamId), port.deviceId, {}), isFailure('not_found'))
  })

  test('that cannot be read cost no counters; the failure is a state, also that of the program', async () => {
    const device = { areGaugesDue: true, isSurveyDue: false } as DueDevice
    const source = sourceOf({ optic: fading })
    source.readOptics = () => Promise.reject(new DriverError('protocol', 'a table without an end'))
    const { counters, health, optics, parts } = await readDevice(source, device, AbortSignal.timeout(1_000))
    assert.deepEqual([counters.rows.length, health!.length > 0, optics], [1, true, undefined])
    const failure = { kind: 'protocol', text: 'a table without an end', isSilent: false }
    assert.deepEqual(parts.get('optics'), failure)
    const error = new TypeError('no')
    source.readOptics = () => Promise.reject(error)
    const next = await readDevice(source, device, AbortSignal.timeout(1_000))
    assert.deepEqual(next.parts.get('optics'), { ...failure, text: 'its values cannot be read', error })
    assert.equal(next.counters.rows.length, 1)
  })

  test('that the database does not accept cost no counters: one value, or the modules', async () => {
    const source = sourceOf({ optic: fading })
    const [module] = await source.listTransceivers(AbortSignal.timeout(1_000))
    const [reading] = await source.readOptics(AbortSignal.timeout(1_000))
    source.listTransceivers = async () => [{ ...module!, serial: 'S'.repeat(9_000) }]
    source.readHealth = async () => [
      { metric: 'fan', part: '', value: 1e300 },
      { metric: 'cpu', part: 'C'.repeat(9_000), value: 7 },
      { metric: 'memory', part: '', value: 1e-300 },
    ]
    source.readOptics = async () => [{ ...reading!, lane: 70_000 }]
    await pollOf(source)
    const { rows } = await sql<{ metric: string; value: number }>`
      select metric, value from gauges where metric in ('fan', 'cpu', 'memory', 'rx_power') order by 1`.execute(
      owner(),
    )
    assert.deepEqual(rows, [
      { metric: 'cpu', value: 7 },
      { metric: 'memory', value: 0 },
    ])
    assert.equal(await countersSaved(), 1)
    await emptyTables(owner(), ['interface_counters'])
    source.listTransceivers = async () => [{ ...module!, lanes: 1e12 }]
    await pollOf(source)
    assert.equal(await countersSaved(), 1)
    const { rows: states } = await sql`select error, error_text from device_states`.execute(owner())
    assert.deepEqual(states, [{ error: 'protocol', error_text: 'modules: its values cannot be stored' }])
  })
})
