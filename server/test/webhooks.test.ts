// Webhooks of a team over HTTP: creating, changing, testing, sending and reading, with a real receiver that verifies signatures
// with the library of the specification.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DeliveryDetail, Webhook, WebhookWithSecret } from '@pharos/contract/messages/webhook'
import { sql } from 'kysely'
import { Webhook as Verifier } from 'standardwebhooks'
import { startEndpoint, type Endpoint } from '../src/drivers/webhook/testing.ts'
import { addMessage } from '../src/outbox/testing.ts'
import { webhooksPart } from '../src/webhook/parts.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { addDelivery, addWebhook } from '../src/webhook/testing.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'

let api: TestApi
let endpoint: Endpoint
let teamId: number
let admin: string
let program: string
let answer = 204

const events = ['event.started', 'event.ended'] as const

before(async () => {
  api = await createTestApi({
    PHAROS_WEBHOOK_PORTS_ALLOWED: '1-65535',
    PHAROS_WEBHOOK_NETWORKS_ALLOWED: '127.0.0.0/8',
    PHAROS_WEBHOOKS_PER_TEAM: '5',
    PHAROS_WEBHOOK_TESTS_PER_MINUTE: '3',
  })
  endpoint = await startEndpoint((_heard, response) => response.writeHead(answer).end('<b>noted</b>'))
  const red = await addTeam(api, 'red')
  teamId = red.teamId
  const { email } = await addUser(api, 'admin', [red], { admin: true })
  admin = `Bearer ${(await api.signIn(email)).access}`
  const scopes = ['webhooks:read', 'webhooks:write']
  program = `Token ${await addApiToken(api, teamId, { scopes, isAdmin: true })}`
})
after(async () => {
  await endpoint[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
type Headers = Record<string, string>

async function call(method: Method, path: string, payload?: object, headers: Headers = {}, as = admin) {
  const response = await api.server.inject({
    method,
    url: `/v3/webhooks${path}`,
    headers: { authorization: as, ...headers },
    ...(payload ? { payload } : {}),
  })
  const { statusCode: status, headers: answered, body } = response
  return { status, headers: answered, body: body === '' ? undefined : (JSON.parse(body) as unknown) }
}

async function create(more: object = {}): Promise<WebhookWithSecret> {
  const { status, body } = await call('POST', '', { url: endpoint.url, events, ...more })
  assert.equal(status, 201, JSON.stringify(body))
  return body as WebhookWithSecret
}

const remove = (id: number) => call('DELETE', `/${id}`)

describe('a webhook', () => {
  it('is created with a secret that is returned once, and later read without it', async () => {
    const { secret, ...made } = await create({ description: 'the pager' })
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const got = await call('GET', `/${made.id}`)
    assert.deepEqual(got.body, made)
    assert.equal(made.enabled, true)
    assert.deepEqual(made.events, [...events])
    const list = await call('GET', '?enabled=true')
    assert.deepEqual(list.body, { results: [made], count: 1 })
    const [same, other] = [endpoint.url, `${endpoint.url}/other`].map(encodeURIComponent)
    assert.deepEqual((await call('GET', `?url=${same}`)).body, { results: [made], count: 1 })
    assert.deepEqual((await call('GET', `?url=${other}`)).body, { results: [], count: 0 })
    await remove(made.id)
  })

  it('is created by a program with the scope, and returned again for a repeat; its secret is stored only encrypted', async () => {
    const request = () =>
      call('POST', '', { url: endpoint.url, events }, { 'idempotency-key': 'one' }, program)
    const [first, second] = [await request(), await request()]
    assert.deepEqual(second.body, first.body)
    const { id, secret, created_by } = first.body as WebhookWithSecret
    assert.match(created_by, /^token:/)
    const bare = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const { owner } = api.database.postgres
    for (const table of ['idempotency_keys', 'webhooks', 'audit_entries'] as const) {
      const { rows } = await sql<{ text: string }>`
        select string_agg(t::text, ' ') as text from ${sql.table(table)} t`.execute(owner)
      for (const form of [secret, bare.toString('base64'), bare.toString('hex')])
        assert.ok(!rows[0]!.text.includes(form), table)
    }
    await remove(id)
  })

  it('with a forbidden address is rejected at once, with a fix', async () => {
    const refused = await call('POST', '', { url: 'https://169.254.169.254/latest/meta-data', events })
    assert.equal(refused.status, 422)
    const { errors } = refused.body as { errors: { loc: string[]; msg: string }[] }
    assert.deepEqual(errors[0]!.loc, ['body', 'url'])
    assert.match(errors[0]!.msg, /public internet/)
    const { id } = await create()
    assert.equal((await call('PATCH', `/${id}`, { url: 'http://10.0.0.1/' })).status, 422)
    await remove(id)
  })

  it('is limited to a number per team', async () => {
    const made = []
    for (let i = 0; i < 5; i++) made.push((await create()).id)
    const { status, body } = await call('POST', '', { url: endpoint.url, events })
    assert.deepEqual([status, (body as { code: string }).code], [403, 'quota_exceeded'])
    for (const id of made) assert.equal((await remove(id)).status, 204)
  })

  it('changes under If-Match, and shows why it is disabled', async () => {
    const { id } = await create()
    const path = `/${id}`
    const { headers } = await call('GET', path)
    const tag = { 'if-match': String(headers['etag']) }
    const off = await call('PATCH', path, { enabled: false }, tag)
    assert.deepEqual([off.status, (off.body as Webhook).disabled_reason], [200, 'user'])
    assert.equal((await call('PATCH', path, { enabled: true }, tag)).status, 412)
    assert.equal((await call('DELETE', path, undefined, tag)).status, 412)
    const again = await call('PATCH', path, { enabled: false }, { 'if-match': String(off.headers['etag']) })
    assert.deepEqual(
      [again.body, again.headers['etag']],
      [off.body, off.headers['etag']],
      'no change, no version',
    )
    const { owner } = api.database.postgres
    await sql`update webhooks set disabled_reason = 'failing', failing_since = now(), failures = 9,
      resting_until = now() + interval '1 hour' where id = ${id}`.execute(owner)
    const on = (await call('PATCH', path, { enabled: true })).body as Webhook
    assert.deepEqual([on.enabled, on.disabled_reason, on.failing_since], [true, null, null])
    await remove(id)
    assert.equal((await call('GET', path)).status, 404)
  })

  it('that is disabled sends nothing of its pending deliveries', async () => {
    const { id } = await create()
    const delivery = await addDelivery(api.database.postgres.owner, id)
    await call('PATCH', `/${id}`, { enabled: false })
    const { body } = await call('GET', `/${id}/deliveries/${delivery}`)
    assert.equal((body as DeliveryDetail).state, 'cancelled')
    assert.equal((await call('POST', `/${id}/deliveries/${delivery}/redeliver`)).status, 409)
    await remove(id)
  })

  it('and enabled later sends no message that was written while it was being disabled', async () => {
    const { id } = await create()
    await call('PATCH', `/${id}`, { enabled: false })
    const delivery = await addDelivery(api.database.postgres.owner, id)
    await call('PATCH', `/${id}`, { enabled: true })
    const { body } = await call('GET', `/${id}/deliveries/${delivery}`)
    assert.equal((body as DeliveryDetail).state, 'cancelled')
    await remove(id)
  })

  it('audits its changes', async () => {
    const { id } = await create()
    await call('PATCH', `/${id}`, { description: 'new' })
    await call('POST', `/${id}/rotate-secret`)
    await remove(id)
    const rows = await api.database.postgres.owner
      .selectFrom('audit_entries')
      .select('action')
      .where('target', '=', `webhook:${id}`)
      .orderBy('at')
      .execute()
    const actions = ['webhook.create', 'webhook.update', 'webhook.rotate_secret', 'webhook.delete']
    assert.deepEqual(rows.map(({ action }) => action).toSorted(), actions.toSorted())
  })
})

describe('a test', () => {
  it('is sent at once and returns the result, signed with the new secret and for a day with the old one', async () => {
    const { id, secret } = await create()
    const rotated = (await call('POST', `/${id}/rotate-secret`)).body as WebhookWithSecret
    assert.notEqual(rotated.secret, secret)
    const { status, body } = await call('POST', `/${id}/test`)
    const detail = body as DeliveryDetail
    assert.equal(status, 200)
    assert.deepEqual([detail.state, detail.type, detail.last_status], ['delivered', 'webhook.test', 204])
    const received = endpoint.received.at(-1)!
    assert.equal(received.headers['webhook-id'], detail.message_id)
    for (const one of [secret, rotated.secret]) {
      const seen = new Verifier(one).verify(received.body, received.headers as Record<string, string>)
      assert.deepEqual(seen, detail.payload)
    }
    await remove(id)
  })

  it('is sent once for requests with the same Idempotency-Key, also at the same time', async () => {
    const { id } = await create()
    const before = endpoint.received.length
    const test = () => call('POST', `/${id}/test`, undefined, { 'idempotency-key': 'test' })
    const answers = await Promise.all([test(), test(), test()])
    const ids = new Set<number>()
    for (const { status, body, headers } of answers) {
      if (status === 200) ids.add((body as DeliveryDetail).id)
      else
        assert.deepEqual(
          [status, (body as { code: string }).code, headers['retry-after']],
          [409, 'idempotency_in_flight', '1'],
        )
    }
    assert.equal(ids.size, 1)
    const last = await test()
    assert.deepEqual(
      [last.headers['idempotency-replayed'], (last.body as DeliveryDetail).state],
      ['true', 'delivered'],
    )
    assert.equal(endpoint.received.length, before + 1)
    await remove(id)
  })

  it('that fails is not retried, and does not change the webhook', async () => {
    const { id } = await create()
    answer = 500
    const { body } = await call('POST', `/${id}/test`)
    answer = 204
    const { state, last_error, next_attempt, attempts } = body as DeliveryDetail
    assert.deepEqual([state, last_error, next_attempt], ['failed', 'the response was 500', null])
    assert.equal(attempts[0]!.answer, '<b>noted</b>')
    const webhook = (await call('GET', `/${id}`)).body as Webhook
    assert.deepEqual([webhook.failing_since, webhook.enabled], [null, true])
    await remove(id)
  })

  it('is limited to a few per minute and team', async () => {
    const { id } = await create()
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await call('POST', `/${id}/test`)).status)
    assert.equal(statuses.at(-1), 429)
    await remove(id)
  })
})

describe('deliveries', () => {
  it('are listed newest first, by state and type, for one webhook', async () => {
    const { owner } = api.database.postgres
    const id = await addWebhook(owner, api.config.secret, teamId)
    const other = await addWebhook(owner, api.config.secret, teamId)
    await addDelivery(owner, other)
    const ids = [
      await addDelivery(owner, id, { state: 'delivered' }),
      await addDelivery(owner, id, { state: 'failed' }),
      await addDelivery(owner, id, { state: 'failed', type: 'event.ended' }),
    ]
    const list = async (query: string) => {
      const { body } = await call('GET', `/${id}/deliveries${query}`)
      const { results, count } = body as { results: { id: number }[]; count: number }
      return [results.map((one) => one.id), count]
    }
    assert.deepEqual(await list(''), [ids.toReversed(), 3])
    assert.deepEqual(await list('?state=failed&limit=1'), [[ids[2]], 2])
    assert.deepEqual(await list('?state=failed&state=delivered&type=event.started'), [[ids[1], ids[0]], 2])
    assert.deepEqual(await list('?offset=9'), [[], 3])
    const wrong = await call('GET', `/${other}/deliveries/${ids[0]}`)
    assert.equal(wrong.status, 404)
    await remove(id)
    await remove(other)
  })

  it('are sent by the loop of the collector when an event happens, and again on request', async () => {
    const { secret, id } = await create()
    const { postgres } = api.database
    const metrics = createMetrics()
    const log = createLog(api.config)
    const part = webhooksPart({ ...api.shared, log, metrics })
    await part.start!()
    const before = endpoint.received.length
    await addMessage(postgres.owner, teamId, { id: 'x' })
    await endpoint.arrived(before + 1)
    const { body, headers } = endpoint.received.at(-1)!
    const seen = new Verifier(secret).verify(body, headers as Record<string, string>) as { data: object }
    assert.deepEqual(seen.data, { id: 'x' })
    const { body: list } = await call('GET', `/${id}/deliveries`)
    const [{ id: delivery }] = (list as { results: [{ id: number }] }).results
    // It is redelivered while the result of the first may still be stored: the test waits until the first is delivered.
    for (let state = ''; state !== 'delivered';) {
      state = ((await call('GET', `/${id}/deliveries/${delivery}`)).body as DeliveryDetail).state
    }
    const again = await call('POST', `/${id}/deliveries/${delivery}/redeliver`)
    assert.deepEqual([again.status, (again.body as DeliveryDetail).state], [202, 'pending'])
    await endpoint.arrived(before + 2)
    assert.equal(endpoint.received.at(-1)!.headers['webhook-id'], headers['webhook-id'])
    await part.stop!()
    const text = await metrics.registry.metrics()
    assert.match(text, /^pharos_webhook_deliveries_total\{outcome="delivered"\} 2$/m)
    const webhook = (await call('GET', `/${id}`)).body as Webhook
    assert.ok(webhook.last_delivery)
    await remove(id)
  })
})
