// Every record has an ETag: for If-None-Match at its GET, and for If-Match at operations that replace, change or delete
// it. Operations are enumerated from the contract.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { takesIfMatch, takesIfNoneMatch } from '@pharos/contract/answers'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { isPage } from '@pharos/contract/scalar'
import { createTestApi, type TestApi } from './api.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { subjects } from './support/subjects.ts'
import { prepareSuccess, type PreparedCall } from './support/successful-call.ts'

/** Operations with GET that return JSON and are neither a list nor a record, with the reason. */
const untagged: Readonly<Record<string, string>> = {
  getDeviceMetrics: 'computed from measurements of the requested time',
  getPortUsage: 'computed from measurements of the requested time',
  getTransceiverMetrics: 'computed from measurements of the requested time',
  getRelatedEventTraffic: 'computed from flows of the requested time',
  exportAccount: 'written to the audit log each time, and contains that entry the next time',
  getSetupProgress: 'computed from the settings and elements of the installation now',
  getShieldTraffic: 'computed from flows of the requested time',
  getStatus: 'computed from the state of the installation now',
  getTimezone: 'computed for the requested place and time',
  listPlatformKinds: 'a list without pages, the same until another release',
  listRegistries: 'a list without pages, of what processes report now',
  showSetup: 'whether there is an account now, asked once',
  search: 'a list without pages, for the text of the request',
  verifyAsn: 'the state of proofs, which are queried by the request',
}

/** Operations that change a record with an ETag and take no If-Match, with the reason. */
const unmatched: Readonly<Record<string, string>> = {}

let api: TestApi
let fixtures: Fixtures

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

const isRecord = ({ method, response, stream }: Route): boolean =>
  method === 'GET' && response !== null && !stream && !isPage(response)
const records = routes.filter((route) => isRecord(route) && takesIfNoneMatch(route))
const routeOf = (name: string): Route => routes.find((route) => route.name === name)!

const subjectsOf = ({ name }: Route) => subjects.filter(({ route }) => route === name)

async function callOf(route: Route): Promise<PreparedCall> {
  for (const subject of subjectsOf(route)) {
    const call = await prepareSuccess(api, fixtures, subject, route)
    if (call) return call
  }
  throw new Error(`no successful call of ${route.name}`)
}

const tagOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  String(headers['etag'])

describe('the contract', () => {
  it('has an ETag at each record that it names', () => {
    const named = {
      'cross connect': ['getCrossConnect'],
      'webhook delivery': ['getWebhookDelivery'],
      report: ['getMonthlyReport'],
      approvals: ['getApproval'],
      customer: ['getCustomer'],
      'letters and attachments of staff': ['getLetterToReview', 'getAttachmentOfAny'],
      'detector delivery': ['getDelivery'],
    }
    for (const [what, names] of Object.entries(named))
      for (const name of names) assert.ok(takesIfNoneMatch(routeOf(name)), `${what}: ${name}`)
    for (const name of ['updateUser', 'updateNotificationSettings'])
      assert.ok(takesIfMatch(routeOf(name)), name)
  })

  it('has an ETag at every record', () => {
    const without = routes.filter((route) => isRecord(route) && !takesIfNoneMatch(route))
    assert.deepEqual(without.map(({ name }) => name).toSorted(), Object.keys(untagged).toSorted())
  })

  it('takes If-Match wherever a record with an ETag is replaced, changed or deleted', () => {
    const tagged = new Set(records.map(({ path }) => path))
    const without = routes.filter(
      (route) =>
        ['PUT', 'PATCH', 'DELETE'].includes(route.method) && tagged.has(route.path) && !takesIfMatch(route),
    )
    assert.deepEqual(without.map(({ name }) => name).toSorted(), Object.keys(unmatched).toSorted())
  })
})

describe('the ETag of', () => {
  for (const route of records)
    it(`${route.name} is sent, and If-None-Match with it returns 304 without a body`, async () => {
      const { send } = await callOf(route)
      const first = await send()
      assert.equal(first.statusCode, 200, first.body)
      assert.match(tagOf(first), /^"[\w.-]+"$/)
      let answer = await send({}, { 'if-none-match': tagOf(first) })
      // A record with links, or with measurements of now, may have become another one between the two requests.
      if (answer.statusCode !== 304) answer = await send({}, { 'if-none-match': tagOf(answer) })
      assert.deepEqual([answer.statusCode, answer.body], [304, ''])
      const other = await send({}, { 'if-none-match': '"other"' })
      assert.equal(other.statusCode, 200)
    })
})

describe('If-Match', () => {
  /** The operation that changes the record, and the operation that returns its ETag. */
  const changes = [
    ['updateUser', 'getSessionToken'],
    ['updateNotificationSettings', 'getNotificationSettings'],
    ['deleteAttachment', 'getAttachmentOfAny'],
  ] as const

  for (const [change, read] of changes)
    it(`of ${change} is compared with the ETag of ${read}`, async () => {
      const { presented, request, send } = await callOf(routeOf(change))
      const get = async () =>
        api.server.inject({
          method: 'GET',
          url: routeOf(read).path.replace(/\{(\w+)\}/, (_all, name) => String(request.params?.[name])),
          headers: { authorization: presented.authorization! },
        })
      const before = await get()
      assert.equal(before.statusCode, 200, before.body)
      const refused = await send({}, { 'if-match': '"other"' })
      assert.deepEqual([refused.statusCode, refused.json().code], [412, 'precondition_failed'])
      assert.equal((await get()).json().user_etag, before.json().user_etag)
      const changed = await send({}, { 'if-match': tagOf(before) })
      assert.ok(changed.statusCode < 300, changed.body)
      const after = await get()
      if (changed.statusCode === 204) return assert.equal(after.statusCode, 404)
      assert.equal(tagOf(changed), tagOf(after))
      const outdated = await send({ body: request.body }, { 'if-match': tagOf(before) })
      assert.equal(outdated.statusCode, tagOf(before) === tagOf(after) ? 200 : 412)
    })

  it('lets only one of two changes of notification settings with the same ETag pass', async () => {
    const { presented, send } = await callOf(routeOf('updateNotificationSettings'))
    const url = routeOf('getNotificationSettings').path
    const read = await api.server.inject({ url, headers: { authorization: presented.authorization! } })
    const body = (attack_bps: number) => ({ body: { ...read.json(), attack_bps } })
    const answers = await Promise.all(
      [1_000, 2_000].map((bps) => send(body(bps), { 'if-match': tagOf(read) })),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 412])
  })
})
