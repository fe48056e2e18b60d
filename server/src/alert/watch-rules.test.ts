// Alert rules on PostgreSQL: the values of each kind as their charts show them, firings that are reported once by several
// processes, gaps, deleted objects, and the trial against the past.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { AlertCondition } from '@pharos/contract/alert/alert-rule'
import { sql } from 'kysely'
import { operationOf, seedAnnouncement } from '../byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import { listBillablePorts } from '../inventory/bill/billable-port.ts'
import { getTransceiverMetrics } from '../inventory/optics/transceiver.ts'
import { seedPort } from '../inventory/testing.ts'
import { getPortUsage } from '../inventory/usage/usage.ts'
import { parsePrefix } from '../net/prefix.ts'
import {
  createAlertRule,
  deleteAlertRule,
  getAlertRule,
  listAlertFirings,
  updateAlertRule,
} from './alert-rule.ts'
import { tryAlertCondition } from './try-condition.ts'
import { watchAlertRules } from './watch-rules.ts'

const minuteMs = 60_000
const slotMs = 5 * minuteMs
const dayMs = 86_400_000
const speedBps = 100_000_000_000
const start = Date.parse('2026-03-10T12:00:00Z')

let database: TestDatabase
let teamId = 0
let otherId = 0
let serviceId = 0
let port = { deviceId: 0, portId: 0, interfaceId: 0 }
const owner = () => database.postgres.owner
const postgres = () => database.postgres
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(owner(), [
    'teams',
    'devices',
    'services',
    'outbox',
    'port_samples',
    'port_days',
    'visibility_sources',
  ])
  ;[teamId, otherId] = [await addTeam('one'), await addTeam('two')]
  const values = {
    team_id: teamId,
    name: 'Transit',
    type: 'transit' as const,
    commit_bps: speedBps / 2,
    billing_method: 'p95' as const,
  }
  serviceId = (await owner().insertInto('services').values(values).returning('id').executeTakeFirstOrThrow())
    .id
  const since = new Date('2026-01-01T00:00:00Z')
  port = await seedPort(postgres(), { teamId, serviceId, circuitId: 'C1', since })
})

async function addTeam(slug: string): Promise<number> {
  const values = { slug, name: slug, enabled_modules: ['inventory', 'ipam'] }
  return (await owner().insertInto('teams').values(values).returning('id').executeTakeFirstOrThrow()).id
}

const operation = () => {
  const found = operationOf(teamId)
  return { ...found, actor: { ...found.actor, modules: ['inventory', 'ipam'] } }
}
const utilisation = (rest: object = {}): AlertCondition => ({
  kind: 'port_utilisation',
  port_id: port.portId,
  direction: 'either',
  above_percent: 80,
  for_minutes: 10,
  ...rest,
})

async function addRule(condition: AlertCondition, clearMinutes = 10): Promise<number> {
  const body = { name: 'Uplink full', condition, clear_minutes: clearMinutes }
  const answer = await createAlertRule({ postgres: postgres() }, operation(), body)
  return (answer.body as { id: number }).id
}

const watchAt = (ms: number) =>
  watchAlertRules({ postgres: postgres(), now: () => new Date(ms) }, AbortSignal.timeout(60_000))

/** Percent of the speed that the customer receives in each 5 minutes; null: nothing is measured. */
async function addLoads(first: number, percents: readonly (number | null)[]): Promise<void> {
  const rows = percents.flatMap((percent, slot) =>
    percent === null
      ? []
      : Array.from({ length: 5 }, (_, minute) => ({
          port_id: port.portId,
          minute: new Date(first + slot * slotMs + minute * minuteMs),
          covered_ms: minuteMs,
          octets_in: 0,
          octets_out: Math.round(((percent / 100) * speedBps * 60) / 8),
        })),
  )
  await owner().insertInto('port_samples').values(rows).execute()
}

const ruleOf = async (id: number) =>
  (await getAlertRule({ postgres: postgres() }, operation(), id)).body as {
    state: string
    reason: string | null
    value: number | null
    condition: AlertCondition
    object: { name: string }
  }
const firingsOf = async (id: number) =>
  (
    await listAlertFirings({ postgres: postgres() }, operation(), id, {
      ordering: 'id',
      limit: 100,
      offset: 0,
    })
  ).results
const messages = async () =>
  (
    await sql<{ type: string; data: { at: string; alert_rule_id: number } }>`
    select type, data from outbox order by id`.execute(owner())
  ).rows.map(({ type, data }) => `${type} ${data.at.slice(11, 16)}`)

describe('a rule on the load of a port', () => {
  it('fires once and ends, with a message for each', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [10, 90, 90, 90, 90, 10, 10, 10])
    await watchAt(start + 3 * slotMs)
    assert.equal((await ruleOf(id)).state, 'firing')
    await watchAt(start + 4 * slotMs)
    await watchAt(start + 4 * slotMs)
    await watchAt(start + 8 * slotMs)
    assert.deepEqual(await messages(), ['alert.fired 12:15', 'alert.cleared 12:35'])
    const [firing] = await firingsOf(id)
    assert.deepEqual(
      { ...firing!, id: 0 },
      {
        id: 0,
        started: '2026-03-10T12:05:00.000Z',
        fired: '2026-03-10T12:15:00.000Z',
        ended: '2026-03-10T12:35:00.000Z',
        ending: 'cleared',
        value: 90,
        threshold: 80,
      },
    )
    assert.equal((await ruleOf(id)).state, 'ok')
  })

  it('fires once for several processes at the same time', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [90, 90, 90])
    await Promise.all(Array.from({ length: 4 }, () => watchAt(start + 3 * slotMs)))
    assert.deepEqual(await messages(), ['alert.fired 12:10'])
    assert.equal((await firingsOf(id)).length, 1)
  })

  it('waits for a value that may still come, and is unknown without one', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [10, 10])
    await watchAt(start + 3 * slotMs)
    assert.equal((await ruleOf(id)).state, 'ok')
    await watchAt(start + 10 * slotMs)
    const { state, reason, value } = await ruleOf(id)
    assert.deepEqual([state, reason, value], ['unknown', 'no_data', 10])
    await watchAt(start + 17 * slotMs)
    await watchAt(start + 40 * slotMs)
    assert.deepEqual(await messages(), ['alert.unknown 13:10'])
  })

  it('is unknown once the team no longer has the port', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [10, 10, 10])
    await watchAt(start + 3 * slotMs)
    await sql`update port_assignments set valid = tstzrange(lower(valid), '2026-03-10T12:15:00Z')`.execute(
      owner(),
    )
    await watchAt(start + 7 * slotMs)
    const { state, reason, object } = await ruleOf(id)
    assert.deepEqual([state, reason, object.name], ['unknown', 'no_object', ''])
  })

  it('ends its firing if its condition changes or it is deleted', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [90, 90, 90, 90])
    await watchAt(start + 3 * slotMs)
    const condition = utilisation({ above_percent: 85 })
    await updateAlertRule({ postgres: postgres() }, operation(), id, { condition })
    const changed = await ruleOf(id)
    assert.deepEqual([changed.state, changed.reason], ['unknown', 'new'])
    await watchAt(start + 4 * slotMs)
    assert.deepEqual(
      (await firingsOf(id)).map(({ ending }) => ending),
      ['changed', null],
    )
    const other = await seedPort(postgres(), { teamId, serviceId, circuitId: 'C2' })
    const light: AlertCondition = {
      kind: 'light_margin',
      port_id: other.portId,
      below_db: 2,
      for_minutes: 15,
    }
    await updateAlertRule({ postgres: postgres() }, operation(), id, { condition: light })
    assert.deepEqual((await ruleOf(id)).condition, light)
    await updateAlertRule({ postgres: postgres() }, operation(), id, { condition })
    await watchAt(start + 4 * slotMs)
    await deleteAlertRule({ postgres: postgres() }, operation(), id)
    const types = (await messages()).map((text) => text.split(' ')[0])
    assert.deepEqual(
      types,
      ['fired', 'cleared', 'fired', 'cleared', 'fired', 'cleared'].map((type) => `alert.${type}`),
    )
  })

  it('is not evaluated with a change that came meanwhile, nor if it is disabled', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [90, 90, 90, 90])
    await updateAlertRule({ postgres: postgres() }, operation(), id, { enabled: false })
    await watchAt(start + 4 * slotMs)
    assert.deepEqual([(await ruleOf(id)).reason, await messages()], ['disabled', []])
  })

  it('is unknown while the team lacks the module', async () => {
    const id = await addRule(utilisation())
    await addLoads(start, [10, 10, 10])
    await owner().updateTable('teams').set({ enabled_modules: [] }).where('id', '=', teamId).execute()
    await watchAt(start + 4 * slotMs)
    assert.equal((await ruleOf(id)).reason, 'module_disabled')
  })

  it('compares the figures of the usage of the port', async () => {
    await addLoads(start, [10, 42, null, 90, 17])
    const end = new Date(start + 5 * slotMs)
    const trial = await trialOf(utilisation({ direction: 'in', for_minutes: 5 }), end)
    const usage = await getPortUsage({ postgres: postgres(), now: () => end }, operation(), port.portId, {
      start: new Date(start).toISOString(),
      end: end.toISOString(),
      interval: 300,
      direction: ['in'],
    })
    const shown = usage.series[0]!.values.map((bps) => (bps === null ? null : (100 * bps) / speedBps))
    assert.deepEqual(trial.timeseries.series[0]!.values, shown)
    assert.deepEqual(trial.firings, [
      { started: '2026-03-10T12:15:00.000Z', fired: '2026-03-10T12:20:00.000Z', ended: null },
    ])
    assert.equal(trial.measured_percent, 80)
  })

  it('has no values of the port of another team', async () => {
    await addLoads(start, [90, 90, 90])
    teamId = otherId
    const trial = await trialOf(utilisation(), new Date(start + 3 * slotMs))
    assert.deepEqual([trial.reason, trial.measured_percent], ['no_object', 0])
    await assert.rejects(addRule(utilisation()), /422|not the id/)
  })
})

const trialOf = (condition: AlertCondition, end: Date, from = start) =>
  tryAlertCondition(
    { postgres: postgres(), now: () => new Date(end.getTime() + 12 * minuteMs) },
    operation(),
    {
      condition,
      start: new Date(from).toISOString(),
      end: end.toISOString(),
      clear_minutes: 10,
    },
  )

it('a rule on the margin of light compares the weakest lane with its limit', async () => {
  await sql`
    with module as (select id from transceivers where interface_id = ${port.interfaceId}),
    light as (
      insert into gauges (device_id, transceiver_id, metric, lane, value, limits)
      select ${port.deviceId}, id, 'rx_power', lane, -9, '{"alarmLow": -14, "warnLow": -11, "warnHigh": 3, "alarmHigh": 5}'
      from module, generate_series(1, 2) lane returning id, lane)
    insert into gauge_days (gauge_id, day, slots)
    select id, '2026-03-10', array_fill(null::real, '{144}') || case lane when 1 then '{-9,-9,-9,-9}'::real[] else '{-9,-13,-13,-9}' end
      || array_fill(null::real, '{140}')
    from light`.execute(owner())
  const condition: AlertCondition = {
    kind: 'light_margin',
    port_id: port.portId,
    below_db: 2,
    for_minutes: 10,
  }
  const id = await addRule(condition)
  await watchAt(start + 4 * slotMs)
  assert.deepEqual(await messages(), ['alert.fired 12:15'])
  assert.deepEqual([(await ruleOf(id)).state, (await ruleOf(id)).value], ['firing', 5])
  const end = new Date(start + 4 * slotMs)
  const { timeseries } = await trialOf(condition, end)
  const chart = await getTransceiverMetrics(
    { postgres: postgres(), now: () => end },
    operation(),
    port.portId,
    {
      metric: ['rx_power'],
      lane: [2],
      start: new Date(start).toISOString(),
      end: end.toISOString(),
      interval: 300,
    },
  )
  const shown = chart.timeseries!.series[0]!.values.map((dbm) => (dbm === null ? null : dbm + 14))
  assert.deepEqual(timeseries.series[0]!.values, shown)
})

it('a rule on a commit compares the figure of the bill', async () => {
  await addLoads(
    start - dayMs,
    Array.from({ length: 288 }, (_, slot) => (slot < 100 ? 60 : 20)),
  )
  const condition: AlertCondition = {
    kind: 'commit',
    service_id: serviceId,
    port_id: null,
    measure: 'percentile',
    above_percent: 100,
  }
  const id = await addRule(condition)
  await watchAt(start + 5 * minuteMs)
  const { results } = await listBillablePorts(
    { postgres: postgres(), now: () => new Date(start) },
    operation(),
    serviceId,
    { ordering: 'name', limit: 100, offset: 0 },
  )
  const { billable_bps: billed, commit_bps: commit } = results[0]!
  assert.deepEqual(
    [(await ruleOf(id)).state, (await ruleOf(id)).value],
    ['firing', (100 * billed!) / commit!],
  )
  const trial = await trialOf(condition, new Date(start), start - 3 * dayMs)
  assert.deepEqual(trial.timeseries.series[0]!.values, [null, null, (100 * billed!) / commit!])
  await owner().updateTable('services').set({ commit_bps: null }).where('id', '=', serviceId).execute()
  assert.equal((await trialOf(condition, new Date(start), start - 3 * dayMs)).reason, 'no_commit')
})

describe('a rule on the visibility of an announcement', () => {
  const addAnnouncement = async (seeing: number, state: 'current' | 'partial', id?: number) => {
    const announcement =
      id ??
      (await seedAnnouncement(postgres(), {
        teamId,
        prefix: parsePrefix('203.0.113.0/24'),
        enabled: true,
        regions: [],
      }))
    await sql`
      insert into visibility_sources (name, label, position, is_used, checked, as_of) values ('ris', 'RIS', 0, true, now(), now())
      on conflict do nothing`.execute(owner())
    await sql`
      insert into announcement_visibility (announcement_id, team_id, state, reason, collectors_total, collectors_seeing, origins, rpki,
        change_at, change_kind)
      values (${announcement}, ${teamId}, ${state}, ${state === 'current' ? null : 'changes_only'}, 20, ${seeing},
        ${JSON.stringify([{ asn: 64496, count: seeing, expected: true }])}, 'valid', now(), 'announced')
      on conflict (announcement_id) do update set state = excluded.state, reason = excluded.reason,
        collectors_seeing = excluded.collectors_seeing, origins = excluded.origins`.execute(owner())
    return announcement
  }
  const conditionOf = (id: number): AlertCondition => ({
    kind: 'visibility',
    announcement_id: id,
    heard_below_percent: 50,
    for_minutes: 10,
  })

  it('compares the recorded shares of the collectors', async () => {
    const announcement = await addAnnouncement(18, 'current')
    const id = await addRule(conditionOf(announcement))
    await watchAt(start + minuteMs)
    await addAnnouncement(4, 'current', announcement)
    for (const slot of [1, 2, 3]) await watchAt(start + slot * slotMs + minuteMs)
    assert.deepEqual(await messages(), ['alert.fired 12:15'])
    assert.equal((await ruleOf(id)).value, 20)
    const trial = await trialOf(conditionOf(announcement), new Date(start + 3 * slotMs))
    assert.deepEqual(trial.timeseries.series[0]!.values, [90, 20, 20])
  })

  it('does not take a lower bound for a value', async () => {
    const announcement = await addAnnouncement(4, 'partial')
    const id = await addRule(conditionOf(announcement))
    for (let slot = 0; slot < 8; slot++) await watchAt(start + slot * slotMs + minuteMs)
    assert.deepEqual([(await ruleOf(id)).state, await messages()], ['unknown', []])
    await addAnnouncement(15, 'partial', announcement)
    await watchAt(start + 8 * slotMs + minuteMs)
    await watchAt(start + 9 * slotMs + minuteMs)
    assert.equal((await ruleOf(id)).state, 'ok')
  })
})
