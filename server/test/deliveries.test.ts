// The results of deliveries: validation without storing, and the lists of deliveries and sources for staff.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { DeliveryValidation } from '@pharos/contract/events/event'
import type { DetectorSource, IngestDelivery, IngestDeliveryDetail } from '@pharos/contract/events/delivery'
import { routes } from '@pharos/contract/document/routes'
import { sourceSecretMac } from '../src/events/ingest/delivery.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'

let api: TestApi
let staff: Record<string, string>

before(async () => {
  api = await createTestApi()
  const team = await addTeam(api, 'ours')
  const { email } = await addUser(api, 'staff', [team], { staff: true })
  staff = { authorization: `Bearer ${(await api.signIn(email)).access}` }
  await api.database.postgres.owner
    .insertInto('sources')
    .values(
      ['fnm', 'am', 'quiet'].map((key) => ({
        key,
        kind: key === 'am' ? 'alertmanager' : 'fastnetmon',
        name: `the source ${key}`,
        secret_mac: sourceSecretMac(api.config.secret, 'detector secret'),
      })),
    )
    .execute()
})
after(() => api[Symbol.asyncDispose]())

const deliver = (source: string, payload: unknown, query = '') =>
  api.server.inject({
    method: 'POST',
    url: `/v3/ingest/events/${source}${query}`,
    headers: { 'content-type': 'application/json', authorization: 'Token detector secret' },
    body: Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
  })
const get = async <T>(path: string): Promise<T> => {
  const answer = await api.server.inject({ method: 'GET', url: `/v3/admin/${path}`, headers: staff })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<T>()
}
type Page<T> = { readonly results: T[]; readonly count: number }
const deliveries = async (query = '') => (await get<Page<IngestDelivery>>(`deliveries?${query}`)).results
const sources = async (query = '') => (await get<Page<DetectorSource>>(`sources?${query}`)).results

const batch = () => {
  const { alerts, ...envelope } = fixture('alertmanager-firing') as { alerts: object[] }
  return { ...envelope, alerts: [{ labels: {} }, { ...alerts[0], startsAt: '2100-01-01T00:00:00Z' }] }
}

describe('the validation of a delivery', () => {
  it('returns the events, errors and notes with their places, and stores nothing', async () => {
    const answer = await deliver('am', batch(), '?validate=true')
    assert.equal(answer.statusCode, 200, answer.body)
    const { validated, state, error, notes, event_count, events } = answer.json<DeliveryValidation>()
    assert.deepEqual([validated, state, event_count], [true, 'partial', 1])
    assert.equal(error, '/alerts/0/fingerprint: a string is expected, not undefined')
    assert.deepEqual(
      notes.map(({ severity, code, place, message }) => [severity, code, place, message]),
      [
        ['error', 'type', '/alerts/0/fingerprint', 'A string is expected, not undefined.'],
        [
          'warning',
          'time_future',
          '/alerts/1/startsAt',
          'The time 2100-01-01T00:00:00.000Z is more than a day in the future: the time of receipt is used instead.',
        ],
      ],
    )
    const [event] = events
    assert.equal(event!.affected_network, '203.0.113.77/32')
    assert.equal(event!.affected_bps, 950_500_000)
    assert.ok(new Date(event!.start) <= new Date())
    assert.deepEqual(event!.parsed_data.peaks?.pps?.value, 88_000)
    assert.deepEqual(await deliveries(), [])
  })

  it('returns why a whole delivery would fail, and accepts a repeated delivery id', async () => {
    const answer = await deliver('fnm', Buffer.from('<xml/>'), '?validate=true')
    const { state, error, events } = answer.json<DeliveryValidation>()
    assert.deepEqual([answer.statusCode, state, events], [200, 'failed', []])
    assert.match(error!, /^the delivery is not JSON: /)
    assert.deepEqual(await deliveries(), [])
  })

  it('requires the secret of the source, and is stored with validate=false', async () => {
    const url = '/v3/ingest/events/fnm?validate=true'
    assert.equal((await api.server.inject({ method: 'POST', url, body: '{}' })).statusCode, 401)
    assert.equal((await deliver('fnm', {}, '?validate=maybe')).statusCode, 422)
    assert.equal((await deliver('fnm', {}, '?validate=false')).statusCode, 202)
    assert.equal((await deliveries()).length, 1)
    await api.database.postgres.owner.deleteFrom('deliveries').execute()
  })
})

describe('one delivery', () => {
  const sendAs = (source: string, id: string) =>
    api.server.inject({
      method: 'POST',
      url: `/v3/ingest/events/${source}`,
      headers: {
        'content-type': 'application/json',
        authorization: 'Token detector secret',
        'idempotency-key': id,
      },
      body: '{}',
    })
  const read = (id: string, query = '') =>
    api.server.inject({ url: `/v3/admin/deliveries/${encodeURIComponent(id)}${query}`, headers: staff })
  after(() => api.database.postgres.owner.deleteFrom('deliveries').execute())

  it('is read by the delivery_id of the 202, whatever the sender chose', async () => {
    for (const id of [undefined, 'a/b?c=1 %25', 'ünï'.repeat(90), '9'.repeat(200), '/'.repeat(200), '..']) {
      const sent = id === undefined ? await deliver('fnm', {}) : await sendAs('fnm', id)
      assert.equal(sent.statusCode, 202, sent.body)
      const { delivery_id } = sent.json()
      const answer = await read(delivery_id)
      assert.equal(answer.statusCode, 200, `${delivery_id} ${answer.body}`)
      assert.deepEqual([answer.json().delivery_id, answer.json().source_key], [delivery_id, 'fnm'])
    }
  })

  it('is read by the id of the list too, unless a sender has chosen that id', async () => {
    const sent = (await sendAs('fnm', 'by-row')).json()
    const [row] = await deliveries(`delivery_id=by-row`)
    assert.equal((await read(String(row!.id))).json().delivery_id, sent.delivery_id)
    await sendAs('fnm', String(row!.id))
    assert.equal((await read(String(row!.id))).json().delivery_id, String(row!.id))
    assert.equal((await read(String(row!.id), '?source_key=am')).statusCode, 404)
    assert.equal((await read('999999999')).statusCode, 404)
  })

  it('needs its source if several sources have sent the id', async () => {
    for (const source of ['fnm', 'am']) await sendAs(source, 'both')
    const answer = await read('both')
    assert.deepEqual([answer.statusCode, answer.json().code], [409, 'conflict'])
    assert.match(answer.json().detail, /The sources am, fnm have a delivery of this id/)
    for (const source of ['fnm', 'am'])
      assert.equal((await read('both', `?source_key=${source}`)).json().source_key, source)
    assert.equal((await read('both', '?source_key=quiet')).statusCode, 404)
  })
})

describe('a body that no source can read', () => {
  const ofSources = routes.filter(({ permission }) => permission.credential === 'source')
  const form = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n{}\r\n--b--\r\n'
  const unreadable: Record<string, readonly [Record<string, string>, Buffer | string]> = {
    gzip: [{ 'content-encoding': 'gzip' }, gzipSync('{}')],
    'two encodings': [{ 'content-encoding': 'gzip, br' }, gzipSync('{}')],
    'an unknown encoding': [{ 'content-encoding': 'x-own' }, '{}'],
    'a form': [{ 'content-type': 'multipart/form-data; boundary=b' }, form],
    'several parts': [{ 'content-type': ' Multipart/Mixed; boundary=b' }, form],
  }

  it('is 415 with what to send instead, at each operation of detectors, and is not stored', async () => {
    assert.deepEqual(ofSources.map(({ name }) => name).toSorted(), ['addEventAttachment', 'ingestDelivery'])
    for (const { path, name } of ofSources)
      for (const [what, [headers, body]] of Object.entries(unreadable)) {
        const url = path.replace('{source_key}', 'fnm').replace('{source_event_id}', '1')
        const authorization = 'Token detector secret'
        const answer = await api.server.inject({
          method: 'POST',
          url,
          headers: { authorization, ...headers },
          body,
        })
        assert.equal(answer.statusCode, 415, `${name}: ${what}`)
        const { code, detail } = answer.json<{ code: string; detail: string }>()
        assert.equal(code, 'unsupported_media_type')
        assert.match(detail, /^Send the body without a Content-Encoding\.$|--data-binary/)
      }
    assert.deepEqual(await deliveries(), [])
  })

  it('is none of another media type, or with the encoding identity', async () => {
    const accepted = [
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'text/plain; charset=latin1' },
      { 'content-type': 'no media type' },
      { 'content-encoding': 'identity' },
    ]
    for (const headers of accepted) {
      const authorization = 'Token detector secret'
      const { statusCode } = await api.server.inject({
        method: 'POST',
        url: '/v3/ingest/events/fnm',
        headers: { authorization, ...headers },
        body: '{}',
      })
      assert.equal(statusCode, 202, JSON.stringify(headers))
    }
    await api.database.postgres.owner.deleteFrom('deliveries').execute()
  })
})

describe('the deliveries for staff', () => {
  const binary = Buffer.from([0xff, 0x00, 0x7b])

  before(async () => {
    await deliver('fnm', fixture('fastnetmon-ban'))
    await deliver('am', fixture('alertmanager-resolved'))
    await deliver('am', batch())
    await deliver('fnm', binary)
    await ingestDeliveries(api.database.postgres, createOwnershipCache())
    await deliver('am', {})
  })

  it('are listed with what became of them, newest first, and by every filter', async () => {
    const all = await deliveries()
    assert.deepEqual(
      all.map(({ source_key, state, event_count, error }) => [
        source_key,
        state,
        event_count,
        error !== null,
      ]),
      [
        ['am', 'new', null, false],
        ['fnm', 'failed', 0, true],
        ['am', 'partial', 1, true],
        ['am', 'done', 1, false],
        ['fnm', 'done', 1, false],
      ],
    )
    const count = async (query: string) => (await deliveries(query)).length
    assert.equal(await count('source_key=fnm'), 2)
    assert.equal(await count('source_key=fnm&source_key=am'), 5)
    assert.equal(await count('state=failed&state=partial'), 2)
    assert.equal(await count(`delivery_id=${all[0]!.delivery_id}`), 1)
    assert.equal(await count(`start=${encodeURIComponent(all[1]!.received)}`), 2)
    assert.equal(await count('end=2020-01-01'), 0)
    assert.deepEqual(
      (await deliveries('ordering=id&limit=2&offset=1')).map(({ id }) => id),
      [all[3]!.id, all[2]!.id],
    )
  })

  it('are returned with their body, notes and events', async () => {
    const [partial] = await deliveries('state=partial')
    const { notes, event_ids, content, content_encoding } = await get<IngestDeliveryDetail>(
      `deliveries/${partial!.id}`,
    )
    assert.deepEqual([content_encoding, JSON.parse(content)], ['utf-8', batch()])
    assert.equal(event_ids.length, 1)
    assert.deepEqual(
      notes.map(({ severity, place }) => [severity, place]),
      [
        ['error', '/alerts/0/fingerprint'],
        ['warning', '/alerts/1/startsAt'],
      ],
    )
    const [failed] = await deliveries('state=failed')
    const detail = await get<IngestDeliveryDetail>(`deliveries/${failed!.id}`)
    assert.deepEqual([detail.content_encoding, detail.content], ['base64', binary.toString('base64')])
    assert.deepEqual(
      detail.notes.map(({ code, message }) => [code, message]),
      [['not_utf8', 'The delivery is not UTF-8 text.']],
    )
  })

  it('show which sources fail, with the last failure', async () => {
    const all = await sources()
    assert.deepEqual(
      all.map((one) => [one.key, one.failing, one.waiting, one.deliveries_24h, one.failures_24h]),
      [
        ['am', true, 1, 3, 1],
        ['fnm', true, 0, 2, 1],
        ['quiet', false, 0, 0, 0],
      ],
    )
    const [, fnm, quiet] = all
    assert.match(fnm!.last_failure!.error!, /UTF-8/)
    assert.equal((await deliveries(`source_key=fnm&state=failed`))[0]!.id, fnm!.last_failure!.id)
    assert.ok(fnm!.last_success !== null && fnm!.last_success <= fnm!.last_delivery!)
    assert.deepEqual([quiet!.last_delivery, quiet!.last_success, quiet!.last_failure], [null, null, null])
    assert.deepEqual(
      (await sources('failing=true')).map(({ key }) => key),
      ['am', 'fnm'],
    )
    assert.deepEqual(
      (await sources('failing=false&key=quiet')).map(({ key }) => key),
      ['quiet'],
    )
    assert.deepEqual(
      (await sources('ordering=-last_delivery')).map(({ key }) => key),
      ['am', 'fnm', 'quiet'],
    )
  })

  it('a source no longer fails once a delivery of it was read', async () => {
    await deliver('fnm', fixture('fastnetmon-unban'))
    await ingestDeliveries(api.database.postgres, createOwnershipCache())
    const [fnm] = await sources('key=fnm')
    assert.deepEqual([fnm!.failing, fnm!.failures_24h], [false, 1])
  })
})
