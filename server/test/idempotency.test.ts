// Every operation that changes something takes an Idempotency-Key or rejects it with a reason: a repeat gets the first
// answer without an effect, and the same key with another request is rejected. Operations are enumerated from the
// contract.
import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { takesIdempotencyKey } from '@pharos/contract/answers'
import type { Route } from '@pharos/contract/route'
import { digests, type Digest } from '@pharos/contract/messages/notification'
import { routes } from '@pharos/contract/document/routes'
import { createTestApi, type TestApi } from './api.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { missingId, type Subject, type SubjectRequest } from './support/subject.ts'
import { subjects } from './support/subjects.ts'
import { prepareSuccess, type PreparedCall } from './support/successful-call.ts'
import { trackChanges, type Changes } from './support/changes.ts'

/** Operations that change something and take no key. A new one needs a reason of the contract, and a line here. */
const keyless = [
  'refreshSession no_caller',
  'createSessionToken password',
  'logout ends_session',
  'changePassword password',
  'confirmEmail no_caller',
  'changeEmail password',
  'requestPasswordReset no_caller',
  'resetPassword no_caller',
  'createTotp password',
  'confirmTotp ends_session',
  'deleteTotp password',
  'createRecoveryCodes password',
  'createSignInOptions no_caller',
  'createPasskeyOptions password',
  'createPasskey ends_session',
  'deletePasskey password',
  'deleteAccount password',
  'findSignInMethods read',
  'startSingleSignOn no_caller',
  'completeSingleSignOn no_caller',
  'linkIdentity no_caller',
  'recoverSession password',
  'showInvitation no_caller',
  'acceptInvitation no_caller',
  'createProvider password',
  'updateProvider password',
  'testProvider password',
  'changePlatform password',
  'createFirstAccount no_caller',
  'addEventAttachment no_caller',
  'getFlowTimeseries read',
  'exportFlowTimeseries read',
  'getFlowGraph read',
  'simulateShield read',
  'suggestShieldRules read',
  'tryAlertCondition read',
]

let api: TestApi
let fixtures: Fixtures
let changesSince: Changes

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  changesSince = await trackChanges(api.database.postgres.owner)
})
after(() => api[Symbol.asyncDispose]())

const changing = routes.filter(({ method }) => method !== 'GET')
const storesNothing = ({ request: { query } }: PreparedCall) =>
  query?.['dry_run'] === 'true' || query?.['validate'] === 'true'

/** Returns the successful calls of an operation, one per variant. */
async function callsOf(route: Route): Promise<PreparedCall[]> {
  const prepared = []
  for (const subject of subjects.filter((one) => one.route === route.name && isSuccessful(one)))
    prepared.push(await prepareSuccess(api, fixtures, subject, route))
  return prepared.filter((one) => one !== undefined).filter((one) => !storesNothing(one))
}

const isSuccessful = ({ form = '' }: Subject) => !form.startsWith('with a ')

let keys = 0
const newKey = () => ({ 'idempotency-key': `key-${keys++}` })

/** Another request of the same operation: with another body, or about another object. */
function anotherOf({ params = {}, body, form }: SubjectRequest): SubjectRequest {
  if (form) return { form: form.map((part) => (part.filename ? { ...part, filename: 'another.png' } : part)) }
  // The same team: only the path differs.
  if (body === undefined && Object.keys(params).join() === 'team_id')
    return { params: { team_id: 'current' } }
  if (body !== undefined && 'policy' in (body as object)) return { body: { policy: 'required' } }
  if ('zone' in params) return { params: { ...params, zone: anotherZone } }
  const otherBody = namesZone(body)
    ? { ...body, name: anotherZone }
    : mapValues((body ?? {}) as object, anotherValue)
  if (JSON.stringify(otherBody) !== JSON.stringify(body ?? {})) return { body: otherBody }
  return { params: mapValues(params, anotherId) as SubjectRequest['params'] & object }
}

const anotherZone = 'another.example'
const namesZone = (body: unknown): body is { readonly name: string } =>
  (body as { name?: string } | undefined)?.name?.endsWith('.example') ?? false

const mapValues = (record: object, map: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))

/** Another value of the same enumeration, for texts that would otherwise be changed to an invalid one. */
const otherChoices: Readonly<Record<string, string>> = { apply: 'adopt', blackholes: 'blackholes' }

/** Texts with a format stay as they are. */
function anotherValue(value: unknown): unknown {
  if (typeof value === 'string' && value in otherChoices) return otherChoices[value]
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return value.slice(1)
  if (digests.includes(value as Digest)) return digests.find((digest) => digest !== value)
  return typeof value === 'string' && /^[A-Za-z ]{3,}$/.test(value) ? `${value} too` : value
}

function anotherId(value: unknown): unknown {
  if (typeof value === 'number') return missingId
  const text = String(value)
  if (text.includes('-')) return '00000000-0000-4000-8000-000000000000'
  return /^[a-z0-9]{12}$/.test(text) ? 'aaaaaaaaaaaa' : text === 'r1' ? 'r2' : text
}

describe('an operation that takes an Idempotency-Key', () => {
  for (const route of changing.filter(takesIdempotencyKey)) {
    it(`returns the first answer again and changes nothing: ${route.name}`, async () => {
      const calls = await callsOf(route)
      assert.notEqual(calls.length, 0, 'no caller succeeds with it')
      for (const { send } of calls) {
        const key = newKey()
        const first = await send({}, key)
        assert.ok(first.statusCode < 300, `${first.statusCode} ${first.body}`)
        assert.equal(first.headers['idempotency-replayed'], undefined)
        await api.settled()
        await changesSince()
        const second = await send({}, key)
        assert.equal(second.headers['idempotency-replayed'], 'true')
        assert.equal(second.statusCode, first.statusCode)
        assert.equal(second.body, first.body)
        assert.equal(second.headers['content-type'], first.headers['content-type'])
        assert.equal(second.headers.etag, first.headers.etag)
        await api.settled()
        assert.deepEqual(await changesSince(), [])
      }
    })
  }

  for (const route of changing.filter(takesIdempotencyKey)) {
    it(`rejects the key with another request: ${route.name}`, async () => {
      const [call] = await callsOf(route)
      const { request, send } = call!
      const other = anotherOf(request)
      assert.notDeepEqual({ ...request, ...other }, request)
      const key = newKey()
      assert.ok((await send({}, key)).statusCode < 300)
      await api.settled()
      await changesSince()
      const answer = await send(other, key)
      assert.equal(answer.statusCode, 422, answer.body)
      assert.equal(answer.json().code, 'idempotency_mismatch')
      if (route.name !== 'ingestDelivery')
        assert.match(answer.json().detail, /: the (method|path or query|body)\b.* differs?\./)
      assert.deepEqual(await changesSince(), [])
    })
  }
})

test('a validation of a delivery ignores the key: a delivery with the same key is stored', async () => {
  const route = routes.find(({ name }) => name === 'ingestDelivery')!
  const [call] = await callsOf(route)
  const key = newKey()
  await changesSince()
  for (const _ of [1, 2]) {
    const validation = await call!.send({ query: { validate: 'true' } }, key)
    assert.deepEqual([validation.statusCode, validation.headers['idempotency-replayed']], [200, undefined])
  }
  await api.settled()
  assert.deepEqual(await changesSince(), [])
  const delivery = await call!.send({}, key)
  assert.deepEqual([delivery.statusCode, delivery.headers['idempotency-replayed']], [202, undefined])
})

describe('an operation that takes no Idempotency-Key', () => {
  it('is in the list, with its reason', () => {
    const found = changing.filter(({ keyless: reason }) => reason !== null)
    assert.deepEqual(
      found.map(({ name, keyless: reason }) => `${name} ${reason}`),
      keyless,
    )
  })

  // One succeeds only without an account, one deletes its caller: setup.test.ts and personal-data.test.ts.
  const elsewhere = new Set(['createFirstAccount', 'deleteAccount'])
  const isTried = (route: Route) => !takesIdempotencyKey(route) && !elsewhere.has(route.name)
  for (const route of changing.filter(isTried)) {
    it(`rejects a request with one, and changes nothing: ${route.name}`, async () => {
      const [call] = await callsOf(route)
      await api.settled()
      await changesSince()
      const answer = await call!.send({}, newKey())
      assert.equal(answer.statusCode, 422, answer.body)
      const { code, errors } = answer.json()
      assert.deepEqual([code, errors[0].loc], ['invalid', ['header', 'Idempotency-Key']])
      assert.deepEqual(await changesSince(), [])
      assert.ok((await call!.send()).statusCode < 300, 'without the header it succeeds')
    })
  }
})

describe('a request that failed', () => {
  it('does not use up its key', async () => {
    const route = routes.find(({ name }) => name === 'createAnnouncements')!
    const subject = subjects.find((one) => one.route === route.name)!
    const { request, send } = (await prepareSuccess(api, fixtures, subject, route))!
    const key = newKey()
    await changesSince()
    const wrong = await send({ body: { ...(request.body as object), origin_asn: 64_499 } }, key)
    assert.equal(wrong.statusCode, 422)
    assert.deepEqual(await changesSince(), [])
    assert.equal((await send({}, key)).statusCode, 201)
  })
})

describe('requests with the same key at the same time', () => {
  it('create one announcement: the others get 409 with Retry-After, or its answer', async () => {
    const route = routes.find(({ name }) => name === 'createAnnouncements')!
    const subject = subjects.find((one) => one.route === route.name)!
    const { send } = (await prepareSuccess(api, fixtures, subject, route))!
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: 8 }, () => send({}, key)))
    const ids = new Set<number>()
    for (const answer of answers) {
      if (answer.statusCode === 201) ids.add(answer.json().results[0].id)
      else {
        assert.deepEqual([answer.statusCode, answer.json().code], [409, 'idempotency_in_flight'])
        assert.equal(answer.headers['retry-after'], '1')
      }
    }
    assert.equal(ids.size, 1)
    const last = await send({}, key)
    assert.deepEqual([last.statusCode, last.headers['idempotency-replayed']], [201, 'true'])
    assert.ok(ids.has(last.json().results[0].id))
  })
})
