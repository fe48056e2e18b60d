import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables } from '../db/testing.ts'
import { CommandFailure, UsageError } from './command.ts'
import { replay } from './replay.ts'
import { runCommand } from './testing.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, replay, ...args)

before(async () => {
  await sql`insert into sources (key, kind, name, secret_mac) values ('a', 'fastnetmon', 'A', ''), ('b', 'generic', 'B', '')`.execute(
    db,
  )
})

beforeEach(async () => {
  await emptyTables(db, ['deliveries'])
  await sql`
    insert into deliveries (source_key, delivery_id, received, body, state) values
      ('a', 'old failed', now() - interval '10 days', '', 'failed'), ('a', 'failed', now(), '', 'failed'),
      ('a', 'done', now(), '', 'done'), ('b', 'other', now(), '', 'failed')`.execute(db)
})

const again = async () => {
  const { rows } = await sql<{ delivery_id: string }>`
    select delivery_id from deliveries where state = 'new' order by id`.execute(db)
  return rows.map(({ delivery_id }) => delivery_id)
}

test('without options, all stored deliveries are read again', async () => {
  assert.equal(await pharos(), '4 deliveries will be read again; 0 events are rebuilt.\n')
  assert.deepEqual(await again(), ['old failed', 'failed', 'done', 'other'])
})

test('of one source, since a time or for a span, in one state', async () => {
  await pharos('--source', 'a', '--since', '7d', '--state', 'failed')
  assert.deepEqual(await again(), ['failed'])
  await pharos('--source', 'a', '--since', '2020-01-01', '--state', 'done')
  assert.deepEqual(await again(), ['failed', 'done'])
})

test('the operator is in the audit log', async () => {
  await pharos('--source', 'b')
  const { rows } = await sql`
    select actor, target, after from audit_entries where action = 'delivery.replay' order by id desc limit 1`.execute(
    db,
  )
  assert.deepEqual(rows, [
    { actor: 'operator', target: 'source:b', after: { sourceKey: 'b', deliveries: 1, events: 0 } },
  ])
})

test('unknown and invalid arguments are rejected, and nothing is marked', async () => {
  await assert.rejects(pharos('--source', 'c'), (error) => {
    assert.ok(error instanceof CommandFailure)
    assert.match(error.message, /no source c \(did you mean a\?\)/)
    return true
  })
  for (const args of [
    ['--source', ''],
    ['--since', 'yesterday'],
    ['--since', '2999-01-01'],
    ['--state', 'new'],
  ]) {
    await assert.rejects(pharos(...args), UsageError, args.join(' '))
  }
  await assert.rejects(pharos('a'))
  assert.deepEqual(await again(), [])
})
