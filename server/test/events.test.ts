// Events over HTTP, from a detector's delivery to the list and the detail that a team reads.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { sourceSecretMac } from '../src/events/ingest/delivery.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'

let api: TestApi
let ours: TestTeam
let theirs: TestTeam
let bearer: Record<string, string>
let foreignBearer: Record<string, string>

before(async () => {
  api = await createTestApi()
  ours = await addTeam(api, 'ours')
  theirs = await addTeam(api, 'theirs')
  bearer = await bearerOf(ours)
  foreignBearer = await bearerOf(theirs)
  const { owner } = api.database.postgres
  const secret_mac = sourceSecretMac(api.config.secret, 'detector secret')
  await owner
    .insertInto('sources')
    .values({ key: 'fnm', kind: 'fastnetmon', name: 'edge', secret_mac })
    .execute()
  await owner
    .insertInto('prefixes')
    .values({ team_id: ours.teamId, prefix: '203.0.113.0/24', name: 'web' })
    .execute()
  await owner.insertInto('prefixes').values({ team_id: theirs.teamId, prefix: '2001:db8:10::/48' }).execute()
})
after(() => api[Symbol.asyncDispose]())

async function bearerOf(team: TestTeam): Promise<Record<string, string>> {
  const { email } = await addUser(api, 'user', [team])
  return { authorization: `Bearer ${(await api.signIn(email)).access}` }
}

const path = '/v3/ingest/events/fnm'
const token = { authorization: 'Token detector secret' }

function deliver(payload: unknown, headers: Record<string, string> = token, url = path) {
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload)
  return api.server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
}

const get = (url: string, headers = bearer) => api.server.inject({ method: 'GET', url, headers })
const list = '/v3/lighthouse/security/events/related'
const ingest = () => ingestDeliveries(api.database.postgres, createOwnershipCache())

async function stored(): Promise<number> {
  const { n } = await api.database.postgres.owner
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

describe('a delivery', () => {
  it('is accepted with the secret as token, as password of Basic and in the query', async () => {
    const basic = `Basic ${Buffer.from('any name:detector secret').toString('base64')}`
    const before = await stored()
    const answers = [
      await deliver({}),
      await deliver({}, { authorization: basic }),
      await deliver({}, {}, `${path}?token=detector%20secret`),
    ]
    for (const answer of answers) {
      assert.equal(answer.statusCode, 202, answer.body)
      assert.deepEqual(Object.keys(answer.json()), ['delivery_id'])
    }
    assert.equal(await stored(), before + 3)
  })

  it('gets the same refusal for a wrong secret, no secret, an unknown source and an unsupported scheme', async () => {
    const before = await stored()
    const answers = [
      await deliver({}, { authorization: 'Token wrong' }),
      await deliver({}, {}),
      await deliver({}, { authorization: 'Bearer detector secret' }),
      await deliver({}, { authorization: 'Basic detector' }),
      await deliver({}, { authorization: 'Token ' }),
      await deliver({}, {}, `${path}?token=`),
      await deliver({}, { authorization: 'Token wrong' }, `${path}?token=detector%20secret`),
      await deliver({}, token, '/v3/ingest/events/other'),
      await deliver({}, token, '/v3/ingest/events/f%00'),
      await deliver({}, bearer),
    ]
    const bodies = answers.map((answer) => ({ ...answer.json<object>(), request_id: '' }))
    for (const answer of answers.slice(0, 8)) assert.equal(answer.statusCode, 401, answer.body)
    assert.deepEqual(bodies.slice(1, 8), Array(7).fill(bodies[0]))
    assert.ok([401, 404].includes(answers[8]!.statusCode))
    assert.equal(answers[9]!.statusCode, 401)
    assert.equal(await stored(), before)
  })

  it('is stored once for one Idempotency-Key or webhook-id, whatever its format', async () => {
    const before = await stored()
    for (const name of ['idempotency-key', 'webhook-id']) {
      const first = await deliver({ n: 1 }, { ...token, [name]: `id by ${name}` })
      const again = await deliver({ n: 1 }, { ...token, [name]: `id by ${name}` })
      assert.deepEqual([first.statusCode, again.statusCode], [202, 202])
      const replayed = [first, again].map(({ headers }) => headers['idempotency-replayed'])
      assert.deepEqual(replayed, [undefined, 'true'])
      const answer = { delivery_id: `id by ${name}` }
      assert.deepEqual([first.json(), again.json()], [answer, answer])
      const other = await deliver({ n: 2 }, { ...token, [name]: `id by ${name}` })
      assert.deepEqual([other.statusCode, other.json().code], [422, 'idempotency_mismatch'])
    }
    assert.equal(await stored(), before + 2)
    const long = 'x'.repeat(3_000)
    const first = await deliver({}, { ...token, 'webhook-id': long })
    const again = await deliver({}, { ...token, 'webhook-id': long })
    assert.match(first.json<{ delivery_id: string }>().delivery_id, /^sha256:[0-9a-f]{64}$/)
    assert.deepEqual(first.json(), again.json())
    assert.equal(await stored(), before + 3)
  })

  it('is stored byte for byte, whatever its media type and even if it is not JSON', async () => {
    const bytes = Buffer.from([0, 1, 2, 0xff, 0x7b])
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'nonsense/x',
    ]) {
      assert.equal((await deliver(bytes, { ...token, 'content-type': type })).statusCode, 202)
    }
    const rows = await api.database.postgres.owner
      .selectFrom('deliveries')
      .select(['body', 'content_type'])
      .orderBy('id', 'desc')
      .limit(4)
      .execute()
    assert.deepEqual(
      rows.map(({ body }) => body),
      Array(4).fill(bytes),
    )
    assert.equal(rows[0]!.content_type, 'nonsense/x')
    assert.equal((await deliver('')).statusCode, 202)
    await ingest()
    const failed = await api.database.postgres.owner
      .selectFrom('deliveries')
      .select('error')
      .where('state', '=', 'failed')
      .execute()
    assert.ok(failed.length >= 5 && failed.every(({ error }) => error !== null && error.length > 5))
  })

  it('is accepted at the size limit, and rejected with 413 beyond it', async () => {
    const limit = api.config.deliveryLimitBytes
    assert.equal((await deliver(Buffer.alloc(limit, 0x20))).statusCode, 202)
    assert.equal((await deliver(Buffer.alloc(limit + 1, 0x20))).statusCode, 413)
  })
})

describe('the events of a team', () => {
  const uuid = '0b8a4c52-6f0e-4d1b-9a57-1f2c3d4e5f60'
  let id = ''

  before(async () => {
    for (const name of ['ban', 'attack-status', 'unban', 'ipv6-ban'])
      await deliver(fixture(`fastnetmon-${name}`))
    await ingest()
    id = (await get(list)).json<{ results: { id: string }[] }>().results[0]!.id
  })

  it('are listed with exactly the fields of the specification', async () => {
    const { results, count } = (await get(list)).json<{ results: Record<string, unknown>[]; count: number }>()
    assert.equal(count, 1)
    assert.deepEqual(
      Object.keys(results[0]!),
      (
        'id flags status affected_network source_timezone start end source_key source_event_id source_resource_id ' +
        'source_location_id source_country source_location target_country target_location classification_key ' +
        'description affected_bps affected_pps relationships'
      ).split(' '),
    )
    assert.equal(results[0]!.source_event_id, uuid)
    assert.deepEqual(results[0]!.status, ['EVENT_ENDED'])
    assert.deepEqual(Object.keys((results[0]!.relationships as object[])[0]!), [
      'id',
      'match_resouce_name',
      'match_resource_link',
      'match_resource',
      'match_type',
      'match_value',
    ])
  })

  it('are returned in detail with parsed_data and has_attachment and without relationships', async () => {
    const answer = await get(`${list}/${id}`)
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    const { parsed_data: parsed, has_attachment, ...record } = answer.json<Record<string, unknown>>()
    const [{ relationships: _, ...element }] = (await get(list)).json<{
      results: [Record<string, unknown>]
    }>().results
    assert.deepEqual(record, element)
    assert.equal(has_attachment, false)
    assert.deepEqual(Object.keys(parsed as object).toSorted(), [
      'destination_ports',
      'mitigation',
      'peaks',
      'protocols',
      'source',
      'source_ports',
      'thresholds',
      'timeline',
      'top_sources',
      'vectors',
    ])
  })

  it('are hidden from other teams: not in the list, and 404 in the detail as if they did not exist', async () => {
    const foreign = (await get(list, foreignBearer)).json<{ results: { id: string }[]; count: number }>()
    assert.equal(foreign.count, 1)
    assert.notEqual(foreign.results[0]!.id, id)
    const answers = [await get(`${list}/${id}`, foreignBearer), await get(`${list}/none`, foreignBearer)]
    const bodies = answers.map((answer) => ({ ...answer.json<object>(), request_id: '' }))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [404, 404],
    )
    assert.deepEqual(bodies[0], bodies[1])
    for (const strange of ['%00', '%F0%9F%92%A9', "'%20or%201=1", 'no-such-event', 'x'.repeat(299)]) {
      assert.equal((await get(`${list}/${strange}`)).statusCode, 404, strange)
    }
  })

  it('are found by every filter, and a nullable filter that is empty matches missing values', async () => {
    const count = async (query: string) => {
      const answer = await get(`${list}?${query}`)
      assert.equal(answer.statusCode, 200, `${query}: ${answer.body}`)
      return answer.json<{ count: number }>().count
    }
    const day = new Date().toISOString().slice(0, 10)
    const found = [
      'flag=INCOMING',
      'flag=OUTGOING&flag=INCOMING',
      'affected_network=203.0.113.77',
      'affected_network=203.0.0.0/16',
      'affected_network=113.77',
      'description=AMPLIFICATION',
      `start=${day}T00:00:00Z`,
      `start=${day}`,
      'end=2199-01-01T00:00:00%2B02:00',
      'flag=&start=&end=&affected_network=&description=',
      'ordering=-start,affected_bps&limit=1000',
    ]
    for (const query of found) assert.equal(await count(query), 1, query)
    const missed = [
      'flag=OUTGOING',
      'affected_network=203.0.113.78',
      'affected_network=%25',
      'description=_',
      'start=2199-01-01T00:00:00Z',
      'end=1999-01-01T00:00:00Z',
    ]
    for (const query of missed) assert.equal(await count(query), 0, query)
  })

  it('reject invalid queries', async () => {
    const bad = [
      'limit=0',
      'limit=1001',
      'limit=',
      'offset=-1',
      'offset=1.5',
      'flag=NONE',
      'start=yesterday',
      'start=2026-02-01&end=2026-01-01',
      'affected_network=10.0.0.1/8',
      'affected_network=::ffff:10.0.0.1',
      'ordering=colour',
      'ordering=',
      'flags=INCOMING',
      'limit=1&limit=2',
    ]
    for (const query of bad) {
      const answer = await get(`${list}?${query}`)
      assert.equal(answer.statusCode, 422, query)
      assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8')
    }
  })

  it('have an exact count and links to the adjacent pages', async () => {
    const beyond = await get(`${list}?offset=50&limit=10`)
    assert.deepEqual(beyond.json(), { results: [], count: 1 })
    assert.match(String(beyond.headers.link), /[?/offset=0>; rel="prev"/]offset=0[^>]*>; rel="prev"/)
  })

  it('require the module lighthouse', async () => {
    const poor = await addTeam(api, 'poor', ['ipam'])
    const headers = await bearerOf(poor)
    for (const url of [list, `${list}/${id}`]) {
      const answer = await get(url, headers)
      assert.equal(answer.statusCode, 403)
      assert.equal(answer.json<{ code: string }>().code, 'module_disabled')
    }
  })
})
