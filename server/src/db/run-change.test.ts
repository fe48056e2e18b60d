// Stored answers of idempotent requests, on a real database.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createKeyRing } from '../runtime/secrets.ts'
import type { Operation } from '../operation/operation.ts'
import { runChange, type ChangeOptions } from './run-change.ts'
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
  const actor = { kind: 'token', tokenId: 'abc', teamId, isAdmin: true, isStaff: false } as const
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
  assert.deepEqual(await createSecret('one', { sealedUnder: ring }), first)
  assert.doesNotMatch(JSON.stringify(await keptBody('one')), /very secret/)
})

test('an answer without a secret is stored in plain text', async () => {
  const first = await createSecret('two', {})
  assert.deepEqual(await createSecret('two', {}), first)
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
