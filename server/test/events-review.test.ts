// The review of an event by a team, over HTTP: the views of the team and of others afterwards, and that neither
// deliveries nor replays change it.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { EventReview, RelatedEvent } from '@pharos/contract/events/event'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { replayDeliveries } from '../src/events/ingest/replay.ts'
import { rematch } from '../src/events/relate/rematch.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addPrefix, addSource, compareCounts, deliver } from '../src/events/testing.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken } from './support/credentials.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
const credentials: Record<string, string> = {}
let id: string

const list = '/v3/lighthouse/security/events/related'
const db = () => api.database.postgres.owner
const ingest = () => ingestDeliveries(api.database.postgres, createOwnershipCache())
const attack = (action: string, fields: object = {}) => ({
  ...fixture(`fastnetmon-${action}`),
  ip: '203.0.113.77',
  ...fields,
})

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  await addPrefix(db(), red.teamId, '203.0.113.0/24')
  await addPrefix(db(), blue.teamId, '203.0.0.0/16')
  await addSource(db(), 'fnm')
  for (const [name, team] of Object.entries({ red, blue })) {
    credentials[name] = await addApiToken(api, team.teamId, {
      scopes: ['lighthouse:read', 'lighthouse:write'],
    })
  }
  await deliver(db(), 'fnm', [attack('ban')], new Date(Date.now() - 60_000))
  await ingest()
  id = (await listOf('red'))[0]!.id
})
after(() => api[Symbol.asyncDispose]())

const request = (
  method: 'GET' | 'PATCH',
  url: string,
  team: string,
  payload?: object,
  headers: object = {},
) =>
  api.server.inject({
    method,
    url,
    headers: { authorization: `Token ${credentials[team]}`, ...headers },
    ...(payload ? { payload } : {}),
  })
const patch = (team: string, body: object, headers: object = {}, query = '?include=review') =>
  request('PATCH', `${list}/${id}${query}`, team, body, headers)
const listOf = async (team: string, query = '') =>
  (await request('GET', `${list}${query}`, team)).json<{ results: RelatedEvent[] }>().results
const statusOf = async (team: string) => {
  const [element] = await listOf(team)
  const detail = (await request('GET', `${list}/${id}`, team)).json<RelatedEvent>()
  assert.deepEqual(detail.status, element!.status, 'list and detail agree')
  return element!.status
}
const messages = async () =>
  (
    await sql<{ team_id: number; status: string[] }>`
    select team_id, data -> 'status' as status from outbox where type = 'event.updated' order by id`.execute(
      db(),
    )
  ).rows

describe('the review of an event', () => {
  it('is shown to its team alone, in lists, filters, detail and messages', async () => {
    const answer = await patch('red', {
      verdict: 'false_positive',
      acknowledged: true,
      comment: 'Our own\nload test.',
    })
    assert.equal(answer.statusCode, 200, answer.body)
    const { review, status } = answer.json<{ review: EventReview; status: string[] }>()
    assert.deepEqual(status, ['EVENT_PENDING', 'ACKNOWLEDGED', 'FALSE_POSITIVE'])
    assert.deepEqual(
      review.comments.map(({ text }) => text),
      ['Our own\nload test.'],
    )
    assert.ok(review.acknowledged && review.acknowledged_by!.startsWith('token:'))
    assert.deepEqual(await statusOf('red'), status)
    assert.deepEqual(await statusOf('blue'), ['EVENT_PENDING'])
    assert.equal((await listOf('red', '?status=FALSE_POSITIVE')).length, 1)
    assert.equal((await listOf('blue', '?status=FALSE_POSITIVE')).length, 0)
    assert.deepEqual(await messages(), [{ team_id: red.teamId, status }])
    const ofBlue = (await request('GET', `${list}/${id}?include=review`, 'blue')).json<{
      review: EventReview
    }>()
    assert.deepEqual(ofBlue.review, {
      verdict: null,
      acknowledged: null,
      acknowledged_by: null,
      comments: [],
    })
    assert.equal(
      (await request('GET', `${list}/${id}`, 'red')).json<{ review?: EventReview }>().review,
      undefined,
    )
    assert.deepEqual((await request('GET', `${list}/${id}?include=review`, 'red')).json(), answer.json())
    const { kept, counted } = await compareCounts(db())
    assert.deepEqual(kept, counted)
  })

  it('is not changed by later deliveries, a replay, or the loss of the prefix for a time', async () => {
    await deliver(db(), 'fnm', [attack('attack-status'), attack('unban')], new Date(Date.now() - 30_000))
    await ingest()
    const ended = ['EVENT_ENDED', 'ACKNOWLEDGED', 'FALSE_POSITIVE']
    assert.deepEqual(await statusOf('red'), ended)
    assert.deepEqual(await statusOf('blue'), ['EVENT_ENDED'])
    await replayDeliveries(db())
    await ingest()
    assert.deepEqual(await statusOf('red'), ended)
    await sql`delete from prefixes where team_id = ${red.teamId}`.execute(db())
    await rematch(api.database.postgres, createOwnershipCache())
    assert.equal(
      (await patch('red', { acknowledged: false })).statusCode,
      404,
      'it concerns the team no more',
    )
    await addPrefix(db(), red.teamId, '203.0.113.0/24')
    await rematch(api.database.postgres, createOwnershipCache())
    assert.deepEqual(await statusOf('red'), ended)
    const { kept, counted } = await compareCounts(db())
    assert.deepEqual(kept, counted)
  })

  it('takes If-Match with the version of the review, which deliveries do not change', async () => {
    const { etag } = (await request('GET', `${list}/${id}`, 'red')).headers
    await deliver(db(), 'fnm', [attack('attack-status', { note: 1 })], new Date(Date.now() - 10_000))
    await ingest()
    const first = await patch('red', { verdict: 'attack' }, { 'if-match': String(etag) })
    assert.equal(first.statusCode, 200, first.body)
    assert.equal((await patch('red', { verdict: null }, { 'if-match': String(etag) })).statusCode, 412)
    assert.deepEqual(await statusOf('red'), ['EVENT_ENDED', 'ACKNOWLEDGED'])
    const current = (await request('GET', `${list}/${id}`, 'red')).headers.etag
    assert.equal(
      (await patch('red', {}, { 'if-match': String(current) }, '')).headers.etag,
      current,
      'nothing changes',
    )
    const count = (await messages()).length
    assert.equal((await patch('red', { verdict: 'attack', acknowledged: true })).statusCode, 200)
    assert.equal((await messages()).length, count, 'nothing changed, nothing is reported')
  })

  it('is stored once for one Idempotency-Key, and by two requests at once in turn', async () => {
    const key = { 'idempotency-key': 'review-1' }
    const answers = [
      await patch('red', { comment: 'once' }, key),
      await patch('red', { comment: 'once' }, key),
    ]
    assert.deepEqual(answers[0]!.json(), answers[1]!.json())
    const together = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        patch('red', { comment: `at once ${at}`, acknowledged: at % 2 === 0 }),
      ),
    )
    for (const { statusCode, body } of together) assert.equal(statusCode, 200, body)
    const { review } = (await patch('red', { acknowledged: true })).json<{ review: EventReview }>()
    const texts = review.comments.map(({ text }) => text)
    assert.equal(texts.filter((text) => text === 'once').length, 1)
    assert.equal(texts.filter((text) => text.startsWith('at once')).length, 8)
  })

  it('does not deadlock with deliveries about the same event', async () => {
    const bodies = Array.from({ length: 40 }, (_, at) => attack('attack-status', { note: at }))
    await deliver(db(), 'fnm', bodies, new Date(Date.now() - 40 * 60_000))
    const [, ...answers] = await Promise.all([
      ingest(),
      ...Array.from({ length: 10 }, (_, at) =>
        patch('red', { verdict: at % 2 ? 'attack' : 'false_positive' }),
      ),
    ])
    // On a busy machine an operation may wait for longer than a request lasts, which is a 503.
    const statuses = new Set(answers.map((one) => (one as { statusCode: number }).statusCode))
    assert.ok(statuses.delete(200))
    statuses.delete(503)
    assert.deepEqual([...statuses], [])
    const { rows: found } = await sql<{ deadlocks: string }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(db())
    assert.equal(Number(found[0]!.deadlocks), 0)
    const { rows } = await sql<{
      verdict: string
    }>`select verdict from event_reviews where team_id = ${red.teamId}`.execute(db())
    assert.equal((await statusOf('red')).includes('FALSE_POSITIVE'), rows[0]!.verdict === 'false_positive')
  })

  it('is refused without the scope, with an empty comment and after a hundred comments', async () => {
    const reader = await addApiToken(api, red.teamId, { scopes: ['lighthouse:read'] })
    const url = `${list}/${id}`
    const denied = await api.server.inject({
      method: 'PATCH',
      url,
      headers: { authorization: `Token ${reader}` },
      payload: {},
    })
    assert.equal(denied.statusCode, 403)
    for (const body of [
      { comment: '' },
      { verdict: 'maybe' },
      { acknowledged: null },
      { comment: 'a\u202eb' },
    ])
      assert.equal((await patch('red', body)).statusCode, 422, JSON.stringify(body))
    await sql`insert into event_comments (team_id, event_id, text, author)
      select ${blue.teamId}, ${id}, 'text', 'user:1' from generate_series(1, 100)`.execute(db())
    const full = await patch('blue', { comment: 'one more', acknowledged: true })
    assert.deepEqual([full.statusCode, full.json<{ code: string }>().code], [403, 'quota_exceeded'])
    assert.deepEqual(await statusOf('blue'), ['EVENT_ENDED'], 'all or nothing')
  })

  it('of staff is shown to the team without the name', async () => {
    const { email } = await addUser(api, 'boss', [red], { staff: true })
    const { access } = await api.signIn(email)
    const headers = { authorization: `Bearer ${access}` }
    const answer = await api.server.inject({
      method: 'PATCH',
      url: `${list}/${id}?include=review`,
      headers,
      payload: { comment: 'by staff' },
    })
    assert.match(answer.json<{ review: EventReview }>().review.comments.at(-1)!.author, /^user:/)
    const shown = (await patch('red', {})).json<{ review: EventReview }>().review
    assert.equal(shown.comments.at(-1)!.author, 'staff')
  })
})
