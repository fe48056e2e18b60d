// Marks of events: the view of their team and of others, and their independence of the statuses of detectors.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { RelatedEvent, RelatedEventDetail } from '@pharos/contract/events/event'
import { markEvents, type MarkChange } from '../src/events/relate/event-mark.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { rematch } from '../src/events/relate/rematch.ts'
import { replayDeliveries } from '../src/events/ingest/replay.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addPrefix, addSource, compareCounts, deliver } from '../src/events/testing.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken } from './support/credentials.ts'

let api: TestApi
const teams: Record<string, TestTeam> = {}
const credentials: Record<string, string> = {}
let id: string

const list = '/v3/lighthouse/security/events/related'
const db = () => api.database.postgres.owner
const ingest = () => ingestDeliveries(api.database.postgres, createOwnershipCache())
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const attack = (action: string, fields: object = {}) => ({
  ...fixture(`fastnetmon-${action}`),
  ip: '203.0.113.77',
  ...fields,
})
/** Mapping of a detector that reports mitigations. */
const mapping = {
  fields: { id: '/id', network: '/network', start: '/start', status: '/state', flags: '/flags' },
  words: {
    status: { active: ['ongoing', 'mitigation_active'], over: ['ongoing', 'mitigation_ended'] },
  },
}

before(async () => {
  api = await createTestApi()
  await addSource(db(), 'fnm')
  for (const [name, prefix] of [
    ['red', '203.0.113.0/24'],
    ['blue', '203.0.0.0/16'],
  ] as const) {
    teams[name] = await addTeam(api, name)
    await addPrefix(db(), teams[name].teamId, prefix)
    credentials[name] = await addApiToken(api, teams[name].teamId, {
      scopes: ['lighthouse:read', 'lighthouse:write'],
    })
  }
  await deliver(db(), 'fnm', [attack('ban')], minutesAgo(60))
  await ingest()
  id = (await listOf('red'))[0]!.id
})
after(() => api[Symbol.asyncDispose]())

async function get<T>(team: string, path = ''): Promise<T> {
  const headers = { authorization: `Token ${credentials[team]}` }
  const answer = await api.server.inject({ method: 'GET', url: `${list}${path}`, headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const listOf = async (team: string, query = '') =>
  (await get<{ results: RelatedEvent[] }>(team, query)).results
const countOf = async (team: string, query: string) => (await get<{ count: number }>(team, query)).count
const detailOf = (team: string) => get<RelatedEventDetail>(team, `/${id}?include=marks`)

const mark = (marks: MarkChange['marks'], team = 'red', eventIds: readonly string[] = [id]) =>
  db()
    .transaction()
    .execute((trx) =>
      markEvents(
        trx,
        teams[team]!.teamId,
        eventIds.map((eventId) => ({ eventId, marks })),
      ),
    )

/** The status and flags in the list, which equal the detail's. */
async function shown(team: string): Promise<string[]> {
  const [{ status, flags } = { status: [], flags: [] }] = await listOf(team, `?search=${id}`)
  const detail = await detailOf(team)
  assert.deepEqual([detail.status, detail.flags], [status, flags])
  return [...status, ...flags]
}
const updates = async () =>
  (
    await sql<{ team_id: number; status: string[] }>`
      select team_id, data -> 'status' as status from outbox where type = 'event.updated' order by id`.execute(
      db(),
    )
  ).rows
async function assertCounts(): Promise<void> {
  const { kept, counted } = await compareCounts(db())
  assert.deepEqual(kept, counted)
}

describe('a mark of an event', () => {
  it('is shown to its team alone, in list, filter, count, detail and message, and once', async () => {
    const before = await shown('red')
    assert.equal(await mark({ MITIGATION_ACTIVE: true, MITIGATION_ENDED: false, BLACKHOLED: true }), 1)
    assert.deepEqual(await shown('red'), ['EVENT_PENDING', 'MITIGATION_ACTIVE', 'INCOMING', 'BLACKHOLED'])
    assert.deepEqual(await shown('blue'), before)
    for (const [filter, count] of [
      ['status=MITIGATION_ACTIVE', 1],
      ['status=MITIGATION_ENDED', 0],
      ['flag=BLACKHOLED', 1],
    ] as const)
      assert.deepEqual(
        [await countOf('red', `?${filter}`), await countOf('blue', `?${filter}`)],
        [count, 0],
        filter,
      )
    const { marks } = await detailOf('red')
    assert.deepEqual(
      marks!.map((one) => one.mark),
      ['MITIGATION_ACTIVE', 'BLACKHOLED'],
    )
    assert.deepEqual((await detailOf('blue')).marks, [])
    assert.equal((await get<RelatedEventDetail>('red', `/${id}`)).marks, undefined)
    const status = ['EVENT_PENDING', 'MITIGATION_ACTIVE']
    assert.deepEqual(await updates(), [{ team_id: teams['red']!.teamId, status }])
    assert.equal(await mark({ MITIGATION_ACTIVE: true }), 0)
    assert.deepEqual((await detailOf('red')).marks, marks, 'the time of a mark is when it was first set')
    assert.equal((await updates()).length, 1)
    await assertCounts()
  })

  it('is not changed by deliveries, a review, a replay, or the loss of the prefix for a time', async () => {
    const expected = ['EVENT_ENDED', 'MITIGATION_ACTIVE', 'ACKNOWLEDGED', 'INCOMING', 'BLACKHOLED']
    await deliver(db(), 'fnm', [attack('attack-status'), attack('unban')], minutesAgo(40))
    await ingest()
    const answer = await api.server.inject({
      method: 'PATCH',
      url: `${list}/${id}`,
      headers: { authorization: `Token ${credentials['red']}` },
      payload: { acknowledged: true },
    })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(await shown('red'), expected)
    await replayDeliveries(db())
    await ingest()
    assert.deepEqual(await shown('red'), expected)
    await sql`delete from prefixes where team_id = ${teams['red']!.teamId}`.execute(db())
    await rematch(api.database.postgres, createOwnershipCache())
    assert.equal(await mark({ BLACKHOLED: false }), 1, 'it concerns the team no more')
    await addPrefix(db(), teams['red']!.teamId, '203.0.113.0/24')
    await rematch(api.database.postgres, createOwnershipCache())
    assert.deepEqual(await shown('red'), expected.slice(0, -1))
    await assertCounts()
  })

  it('leaves the statuses and flags of the detector, which show again without it', async () => {
    await addSource(db(), 'own', { kind: 'generic', settings: mapping })
    const event = { id: 'own-1', network: '203.0.113.9', start: minutesAgo(30).toISOString() }
    const report = async (state: string) => {
      await deliver(db(), 'own', [{ ...event, state, flags: ['BLACKHOLED'] }], minutesAgo(20))
      await ingest()
    }
    await report('active')
    const [found] = await listOf('red', '?source_key=own')
    const statusOf = async () => {
      const [{ status, flags } = { status: [], flags: [] }] = await listOf('red', '?source_key=own')
      return [...status, ...flags].filter((one) => /MITIGATION|BLACKHOLED/.test(one))
    }
    assert.deepEqual(await statusOf(), ['MITIGATION_ACTIVE', 'BLACKHOLED'])
    await mark({ MITIGATION_ACTIVE: true, BLACKHOLED: true }, 'red', [found!.id])
    await mark({ MITIGATION_ACTIVE: false, MITIGATION_ENDED: true, BLACKHOLED: false }, 'red', [found!.id])
    assert.deepEqual(await statusOf(), ['MITIGATION_ACTIVE', 'BLACKHOLED'], 'the detector still reports it')
    await report('over')
    assert.deepEqual(await statusOf(), ['MITIGATION_ENDED', 'BLACKHOLED'])
    await mark({ MITIGATION_ACTIVE: true, MITIGATION_ENDED: false }, 'red', [found!.id])
    assert.deepEqual(await statusOf(), ['MITIGATION_ACTIVE', 'BLACKHOLED'])
    await mark({ MITIGATION_ACTIVE: false }, 'red', [found!.id])
    assert.deepEqual(await statusOf(), ['MITIGATION_ENDED', 'BLACKHOLED'])
    await assertCounts()
  })

  it('does not deadlock with deliveries and other marks of the same events', async () => {
    const bodies = Array.from({ length: 40 }, (_, at) => attack('attack-status', { note: at }))
    await deliver(db(), 'fnm', bodies, minutesAgo(40))
    const ids = (await listOf('red')).map((event) => event.id)
    await Promise.all([
      ingest(),
      ...Array.from({ length: 10 }, (_, at) =>
        mark({ BLACKHOLED: at % 2 === 0 }, at % 3 === 0 ? 'blue' : 'red', at % 2 ? ids : ids.toReversed()),
      ),
    ])
    await mark({ BLACKHOLED: true }, 'red', ids)
    assert.equal(await countOf('red', '?flag=BLACKHOLED'), ids.length)
    await assertCounts()
  })
})
