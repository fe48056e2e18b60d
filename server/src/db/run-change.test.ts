// Stored answers of idempotent requests, on a real database.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createKeyRing } from '../runtime/secrets.ts'
import type { Operation } from '../operation/operation.ts'
import { fail, Failure } from '../runtime/error.ts'
import { runChange, runOwnerChange, runPreparedChange, type ChangeOptions } from './run-change.ts'
import type { Trx } from './postgres.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

const ring = createKeyRing(['a secret of the tests that is long enough'])

let database: TestDatabase
let teamId: number

before(async () => {
  database = await createTestDatabase()
  const team = await database.postgres.owner
    .insertInto('teams')
    .values({ slug: 'red', name: 'Red' })
    .returning('id')
    .executeTakeFirstOrThrow()
  teamId = team.id
})
after(() => database[Symbol.asyncDispose]())

function operationWith(key: string): Operation {
  const actor = { kind: 'token', tokenId: 'abc', teamId, roles: ['admin'], isStaff: false } as const
  return {
    actor: { ...actor, modules: [], scopes: [] } as unknown as Operation['actor'],
    requestId: randomUUID(),
    address: '192.0.2.9',
    dryRun: false,
    ifMatch: null,
    idempotency: { key, requestHash: Buffer.alloc(32) },
  }
}

let made = 0
const createSecret = (key: string, options: ChangeOptions) =>
  runChange(
    database.postgres,
    operationWith(key),
    async () => ({ body: { id: ++made, secret: `a very secret word ${made}` }, etag: '"1"' }),
    options,
  )

const keptBody = async (key: string): Promise<unknown> => {
  const { owner } = database.postgres
  const row = await owner
    .selectFrom('idempotency_keys')
    .select('body')
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  return row.body
}

test('an answer with a secret is repeated, and its secret is not in the database in plain text', async () => {
  const first = await createSecret('one', { sealedUnder: ring })
  assert.deepEqual(await createSecret('one', { sealedUnder: ring }), { ...first, replayed: true })
  assert.doesNotMatch(JSON.stringify(await keptBody('one')), /very secret/)
})

test('an answer without a secret is stored in plain text', async () => {
  const first = await createSecret('two', {})
  assert.deepEqual(await createSecret('two', {}), { ...first, replayed: true })
  assert.deepEqual(await keptBody('two'), first.body)
})

test('an answer sealed for one key cannot be opened for another', async () => {
  await createSecret('three', { sealedUnder: ring })
  const body = JSON.stringify(await keptBody('three'))
  await createSecret('four', { sealedUnder: ring })
  await database.postgres.owner
    .updateTable('idempotency_keys')
    .set({ body })
    .where('key', '=', 'four')
    .execute()
  await assert.rejects(createSecret('four', { sealedUnder: ring }), /unable to authenticate/)
})

const codeOf = async (promise: Promise<unknown>): Promise<string | undefined> => {
  try {
    await promise
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
  return undefined
}

const renameTeam = (name: string) => async (trx: Trx) => {
  await trx.updateTable('teams').set({ name }).where('id', '=', teamId).execute()
  return { body: { name } }
}
const teamName = async () =>
  (await database.postgres.owner.selectFrom('teams').select('name').executeTakeFirstOrThrow()).name

test('the key of a failed request is not stored: the request runs again', async () => {
  const failing = runChange(database.postgres, operationWith('failed'), () =>
    Promise.reject(fail('conflict', 'noOpenRegion')),
  )
  assert.equal(await codeOf(failing), 'conflict')
  const { replayed, body } = await createSecret('failed', {})
  assert.equal(replayed, undefined)
  assert.ok('id' in body)
})

test('a refusal is thrown after the commit, without the key', async () => {
  const refuse = () =>
    runOwnerChange(database.postgres.owner, operationWith('refused'), async (trx) => ({
      ...(await renameTeam('checked')(trx)),
      refusal: fail('conflict', 'noOpenRegion'),
    }))
  assert.equal(await codeOf(refuse()), 'conflict')
  assert.equal(await teamName(), 'checked')
  assert.equal(await codeOf(refuse()), 'conflict')
})

test('a request with the key of one that is still running fails at once, with the delay for a repeat', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>()
  const first = runChange(database.postgres, operationWith('at once'), async () => {
    begin()
    await allowed
    return { body: { id: 0 } }
  })
  await begun
  await assert.rejects(createSecret('at once', {}), (error) => {
    assert.ok(error instanceof Failure)
    assert.deepEqual([error.code, error.retryAfterSeconds], ['idempotency_in_flight', 1])
    return true
  })
  allow()
  await first
  assert.deepEqual(await createSecret('at once', {}), { body: { id: 0 }, replayed: true })
})

test('an answer is repeated with its fields in the same order, and one without a body too', async () => {
  const ordered = { zone: { b: 1, a: [2] }, id: 7 }
  const answer = () => runChange(database.postgres, operationWith('order'), async () => ({ body: ordered }))
  assert.equal(JSON.stringify((await answer()).body), JSON.stringify((await answer()).body))
  const empty = () => runChange(database.postgres, operationWith('empty'), async () => ({ body: null }))
  assert.deepEqual([await empty(), await empty()], [{ body: null }, { body: null, replayed: true }])
})

test('a preparation does not run again for a stored answer', async () => {
  let prepared = 0
  const change = () =>
    runPreparedChange(
      database.postgres,
      operationWith('prepared'),
      async () => ++prepared,
      async (_trx, id) => ({ body: { id } }),
    )
  assert.deepEqual(
    [await change(), await change()],
    [{ body: { id: 1 } }, { body: { id: 1 }, replayed: true }],
  )
  assert.equal(prepared, 1)
})

test('a dry run changes nothing, stores no key and lists the changed, added and removed fields', async () => {
  const operation = { ...operationWith('dry'), dryRun: true }
  const before = await teamName()
  const { body, status } = await runOwnerChange(database.postgres.owner, operation, async (trx) => ({
    ...(await renameTeam('another')(trx)),
    before: { name: before, old: 1, same: null },
    beside: { before: { beside: 1 }, after: { beside: 2 } },
  }))
  assert.equal(status, 200)
  assert.deepEqual(body, {
    dry_run: true,
    changes: [
      { field: 'name', before, after: 'another' },
      { field: 'beside', before: 1, after: 2 },
      { field: 'old', before: 1, after: null },
    ],
    result: { name: 'another' },
  })
  assert.equal(await teamName(), before)
  await assert.rejects(keptBody('dry'))
})
