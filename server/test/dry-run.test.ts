// Every changing operation of ipam, dns, shield and of the operator takes dry_run: it answers 200 with the plan,
// without storing or waking a loop, and the real call then applies the plan. Operations are enumerated from the
// contract.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { takesIdempotencyKey } from '@pharos/contract/answers'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { createTestApi, type TestApi } from './api.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { subjects } from './support/subjects.ts'
import { prepareSuccess, type PreparedCall } from './support/successful-call.ts'
import { trackChanges, type Changes } from './support/changes.ts'

let api: TestApi
let fixtures: Fixtures
let changesSince: Changes
/** Returns the names of the loops that were notified since the last call. */
let takeNotifications: () => Promise<string[]>
let stopListening: () => Promise<void>

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  changesSince = await trackChanges(api.database.postgres.owner)
  const connection = await api.database.postgres.directConnection()
  let notified: string[] = []
  connection.on('notification', ({ payload = '' }) => notified.push(payload))
  await connection.query('listen pharos')
  takeNotifications = async () => {
    // Notifications arrive in the order of their commits: earlier ones have arrived.
    await connection.query(`notify pharos, 'last'`)
    while (notified.at(-1) !== 'last') await once(connection, 'notification')
    const taken = notified.slice(0, -1)
    notified = []
    return taken
  }
  stopListening = () => connection.end()
})
after(async () => {
  await stopListening()
  await api[Symbol.asyncDispose]()
})

/** Each is one step described by its answer: there is no plan. */
const ofInventory = [
  'pollDevice',
  'maintainDevice',
  'addDeviceAttachment',
  'deleteAttachment',
  'moveCrossConnect',
]

/** A plan of a secret would be another secret. */
const ofSecrets = ['createTsigKey']

/** By path, not by declaration: a route without `dryRun` fails. */
const planned = routes.filter(
  ({ name, method, path, keyless }) =>
    method !== 'GET' &&
    keyless !== 'read' &&
    /^\/v3\/(ipam|dns|admin|lighthouse\/security\/shield)\//.test(path) &&
    !ofInventory.includes(name) &&
    !ofSecrets.includes(name),
)

type Plan = {
  readonly dry_run: boolean
  readonly changes: readonly { field: string; before: unknown; after: unknown }[]
  readonly result: Record<string, unknown> | null
}

/** Values that every run of the change sets again: ids, and the time of the change. */
const isNew = (field: string): boolean =>
  [
    'id',
    'uploaded',
    'reviewed',
    'created',
    'decided',
    'verified',
    'revoked',
    'check_requested',
    'zone_id',
    'applied',
    // Read for a dry run only.
    'what_if',
    'on_host',
    // Fields of a key that a dry run does not store.
    'keys',
    'ds_records',
  ].includes(field)

const withoutNew = (record: object | null): object =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([field]) => !isNew(field)))

/** Times and ids within the record differ between the plan and the real call. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, one: unknown) =>
      isNew(key) || (typeof one === 'string' && /^\d{4}-\d\d-\d\dT/.test(one)) ? null : one,
    ),
  )

async function callsOf(route: Route): Promise<PreparedCall[]> {
  const prepared = []
  for (const subject of subjects.filter((one) => one.route === route.name))
    prepared.push(await prepareSuccess(api, fixtures, subject, route))
  return prepared.filter((one) => one !== undefined)
}

describe('a dry run', () => {
  for (const route of planned) {
    it(`states the plan and stores nothing: ${route.name}`, async () => {
      assert.ok(route.dryRun, 'the route declares no dry run')
      const calls = await callsOf(route)
      assert.notEqual(calls.length, 0, 'no caller succeeds with it')
      for (const { request, send } of calls) {
        const { dry_run: _, ...query } = request.query ?? {}
        await api.settled()
        await changesSince()
        await takeNotifications()
        const key = takesIdempotencyKey(route) ? { 'idempotency-key': 'a-plan' } : undefined
        const answer = await send({ query: { ...query, dry_run: 'true' } }, key)
        await api.settled()
        assert.equal(answer.statusCode, 200, answer.body)
        assert.deepEqual(await changesSince(), [])
        assert.deepEqual(await takeNotifications(), [])
        const plan = answer.json<Plan>()
        assert.equal(plan.dry_run, true)
        assert.notEqual(plan.changes.length, 0, 'no change is planned')
        for (const { field, after: value } of plan.changes)
          if (plan.result !== null && field in plan.result) assert.deepEqual(value, plan.result[field])

        // The plan of a creation always contains the results of its checks.
        const include = route.name === 'createAnnouncements' ? { include: 'validations' } : {}
        const real = await send({ query: { ...query, ...include } })
        assert.equal(real.statusCode, route.success, real.body)
        const result = real.body === '' ? null : real.json<object>()
        assert.deepEqual(comparable(withoutNew(plan.result)), comparable(withoutNew(result)))
      }
    })
  }

  it('is declared for no operation that reads', () => {
    assert.deepEqual(
      routes.filter(({ method, dryRun }) => method === 'GET' && dryRun),
      [],
    )
  })
})
