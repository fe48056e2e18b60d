// The time series of events: each bucket counts exactly the events that the list has for its time, under every filter.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { getRelatedTimeseriesRoute, type EventMetric } from '@pharos/contract/events/event'
import { Compile } from 'typebox/compile'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Operation } from '../../operation/operation.ts'
import { Failure } from '../../runtime/error.ts'
import type { Event } from '../event/event.ts'
import { insertEvents } from '../event/event.store.ts'
import { getRelatedTimeseries } from './event-timeseries.ts'
import { listTeamEvents } from './list-events.ts'
import { relateEvents } from '../relate/relationship.ts'
import { addPrefix, addTeam } from '../testing.ts'
import { isLongRun } from '../../runtime/testing-scale.ts'

type Query = Parameters<typeof getRelatedTimeseries>[2]

const dayMs = 86_400_000
const epoch = Date.UTC(2026, 2, 20)
const now = new Date(epoch + 40 * dayMs)

let database: TestDatabase
let team = 0
let other = 0

let state = 11
const whole = (below: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * below)
}
const pick = <T>(values: readonly T[]): T => values[whole(values.length)]!

function randomEvent(i: number): Event {
  const start = epoch + whole(39 * dayMs)
  const lasted = pick([0, 1_000, 60_000, 3_600_000, 3 * dayMs, 20 * dayMs])
  const end = whole(20) === 0 || start + lasted > now.getTime() ? null : new Date(start + lasted)
  return {
    id: `event${String(i).padStart(8, '0')}`,
    sourceKey: pick(['test', 'fnm-1']),
    sourceEventId: String(i),
    flags: ['INCOMING'],
    status: end === null ? ['EVENT_ONGOING'] : ['EVENT_ENDED'],
    affectedNetwork: parsePrefix(`10.0.${whole(2)}.${whole(40)}/32`),
    start: new Date(start),
    end,
    classificationKey: pick(['udp.flood', 'tcp.syn_flood', 'unknown']),
    description: pick(['UDP flood', 'SYN flood', `number ${i}`]),
    sourceTimezone: 'UTC',
    sourceResourceId: '',
    sourceLocationId: '',
    sourceCountry: pick(['', 'NL', 'DE']),
    sourceLocation: '',
    affectedBps: pick([0, 5e8, 1e9, 5e9, 2e10, 3e11]),
    affectedPps: whole(50),
    parsedData: whole(3) === 0 ? {} : { total_bytes: 1_000_000 },
    hasAttachment: false,
    sourceDelivery: null,
    sourceReceived: null,
    mergeState: { signals: ['pending'], stamps: {} },
  }
}

before(async () => {
  database = await createTestDatabase()
  const db = database.postgres.owner
  team = await addTeam(db, 'a')
  other = await addTeam(db, 'b')
  await addPrefix(db, team, '10.0.0.0/16')
  const events = Array.from({ length: 2_000 }, (_, i) => randomEvent(i))
  const cache = createOwnershipCache()
  await db.transaction().execute(async (trx) => {
    const ownership = await cache.lock(trx)
    await insertEvents(trx, events)
    await relateEvents(trx, events, ownership, { isObserved: false })
  })
})
after(() => database[Symbol.asyncDispose]())

const answer = Compile(getRelatedTimeseriesRoute.response!)
const whole30 = { start: '2026-03-21T00:00:00Z', end: '2026-04-20T00:00:00Z' }

async function series(query: Partial<Query>, teamId = team) {
  const operation = { actor: { teamId } } as Operation
  const deps = { postgres: database.postgres, now: () => now }
  const { body } = await getRelatedTimeseries(deps, operation, { metric: 'count', limit: 10, ...query })
  assert.ok(answer.Check(body))
  for (const { values } of body.series) assert.equal(values.length, body.timestamps.length)
  return body
}

async function countIn(from: string, until: string, query: object): Promise<number> {
  const { count } = await listTeamEvents(
    database,
    { actor: { teamId: team, staffRoles: [] } },
    {
      ordering: 'id',
      limit: 1,
      offset: 0,
      ...query,
      start: from,
      end: new Date(Date.parse(until) - 1).toISOString(),
    },
  )
  return count
}

const filters: Record<string, Partial<Query>> = {
  none: {},
  'a class': { classification_key: ['udp.flood'] },
  'a source and a status': { source_key: ['test'], status: ['EVENT_ENDED'] },
  'a network': { affected_network: '10.0.1.0/24' },
  'a minimum rate': { min_bps: 1_000_000_000 },
  'not ended': { ongoing: true },
  ended: { ongoing: false },
  'a search': { search: 'flood' },
  'a description': { description: 'number 1' },
  'a class on a network with a rate': {
    classification_key: ['tcp.syn_flood', 'unknown'],
    affected_network: '10.0.0.0/24',
    min_pps: 20,
  },
}

describe('the time series of events', () => {
  for (const [name, filter] of Object.entries(filters)) {
    it(`counts in each bucket what the list counts, with the filter: ${name}`, async () => {
      const {
        timestamps,
        end,
        series: found,
      } = await series({
        ...whole30,
        ...filter,
        interval: 86_400,
        timezone: 'Europe/Amsterdam',
      })
      assert.equal(timestamps[0], '2026-03-20T23:00:00.000Z')
      assert.ok(timestamps.includes('2026-03-29T22:00:00.000Z'), 'clocks change on the day before')
      const borders = [...timestamps, end]
      const expected = await Promise.all(
        timestamps.map((at, index) => countIn(at, borders[index + 1]!, filter)),
      )
      assert.deepEqual(found[0]!.values, expected)
      assert.ok(expected.some((count) => count > 0))
    })
  }

  it('has the same values from the rollup as event by event, in any time zone', async () => {
    const zones = ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia', 'Pacific/Marquesas']
    const chosen = isLongRun ? zones : [zones[randomInt(zones.length)]!]
    for (const timezone of chosen) {
      for (const metric of ['count', 'max_bps', 'max_pps'] as const) {
        for (const interval of [900, 3_600, 5 * 3_600, 86_400, 7 * 86_400]) {
          for (const group_by of [undefined, 'classification_key'] as const) {
            const end = interval === 900 ? '2026-03-29T00:00:00Z' : whole30.end
            const query = { ...whole30, end, interval, timezone, metric, ...(group_by && { group_by }) }
            // Filtered by both sources, the rollup does not answer.
            const single = await series({ ...query, source_key: ['test', 'fnm-1'] })
            const rollup = await series(query)
            assert.deepEqual(rollup, single, `${timezone}, ${metric}, ${interval} s, by ${group_by}`)
          }
        }
      }
    }
    const { timestamps } = await series({ ...whole30, interval: 86_400, timezone: 'Asia/Kathmandu' })
    assert.ok(
      timestamps.every((at) => at.endsWith('T18:15:00.000Z')),
      'midnight is at 18:15 UTC',
    )
  })

  it('has the same sum for every grouping, the largest series first and all others together', async () => {
    const [all] = (await series({ ...whole30, interval: 86_400 })).series
    for (const group_by of [
      'classification_key',
      'affected_network',
      'source_country',
      'peak_bps',
    ] as const) {
      const { series: groups } = await series({ ...whole30, interval: 86_400, group_by, limit: 5 })
      const sums = groups[0]!.values.map((_, at) => groups.reduce((sum, { values }) => sum + values[at]!, 0))
      assert.deepEqual(sums, all!.values, group_by)
      if (group_by === 'affected_network')
        assert.deepEqual([groups.length, groups.at(-1)!.key], [6, { affected_network: null }])
      if (group_by === 'peak_bps')
        assert.deepEqual(
          groups.map(({ key }) => key['peak_bps']),
          ['below_1g', 'from_1g', 'from_10g', 'from_100g'],
        )
    }
  })

  it('has the highest peak of each bucket, null where there is no event', async () => {
    const { series: found } = await series({ ...whole30, interval: 86_400, metric: 'max_bps' })
    assert.equal(found[0]!.max, 3e11)
    const none = await series({ ...whole30, interval: 86_400, metric: 'max_bps', min_bps: 999e9 })
    assert.ok(none.series[0]!.values.every((value) => value === null))
  })

  it('spreads the bytes of an event over its time', async () => {
    const query = {
      start: '2026-03-21T00:00:00Z',
      end: '2026-04-20T00:00:00Z',
      metric: 'sum_bytes' as EventMetric,
    }
    const days = await series({ ...query, interval: 86_400 })
    const hours = await series({ ...query, interval: 3_600 })
    const sum = (values: readonly (number | null)[]) =>
      values.reduce<number>((all, value) => all + (value ?? 0), 0)
    const [byDay, byHour] = [sum(days.series[0]!.values), sum(hours.series[0]!.values)]
    assert.ok(byDay > 1e8 && Math.abs(byDay - byHour) < 1_000, `${byDay} and ${byHour}`)
  })

  it('is null after now, and ongoing events last until now', async () => {
    const later = new Date(now.getTime() + 2 * dayMs).toISOString()
    const { series: found } = await series({
      start: now.toISOString(),
      end: later,
      interval: 86_400,
      ongoing: true,
    })
    assert.ok(found[0]!.values[0]! > 0)
    assert.deepEqual(found[0]!.values.slice(1), [null])
  })

  it('shows another team nothing', async () => {
    const { series: found } = await series({ ...whole30, interval: 86_400 }, other)
    assert.deepEqual([...new Set(found[0]!.values)], [0])
    assert.deepEqual((await series({ ...whole30, group_by: 'affected_network' }, other)).series, [])
  })

  it('takes the last day in about 300 buckets by default', async () => {
    const { interval, timestamps, end } = await series({})
    assert.equal(interval, 300)
    assert.ok(timestamps.length >= 288 && timestamps.length <= 290)
    assert.ok(Date.parse(end) - now.getTime() < 300_000)
  })

  it('refuses too many buckets, two ways to choose them, an unknown time zone, and many days of bytes or networks', async () => {
    for (const query of [
      { ...whole30, interval: 60 },
      { interval: 60, points: 10 },
      { timezone: 'Mars/Olympus' },
      { start: '2026-01-01T00:00:00Z', end: '2026-04-01T00:00:00Z', metric: 'sum_bytes' as const },
      {
        start: '2026-01-01T00:00:00Z',
        end: '2026-04-01T00:00:00Z',
        group_by: 'affected_network' as const,
      },
    ])
      await assert.rejects(series(query), (error) => error instanceof Failure && error.code === 'invalid')
  })
})
