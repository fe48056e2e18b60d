import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { createWrongPasswords, requirePassword, type PasswordCheckDeps } from './password-check.ts'
import { hashPassword } from './password.ts'

let database: TestDatabase
let passwordHash: string
before(async () => {
  database = await createTestDatabase()
  passwordHash = await hashPassword('the right one')
  await sql`insert into users (email, password_hash, username) values ('a@example.net', ${passwordHash}, 'a'),
    ('b@example.net', ${passwordHash}, 'b')`.execute(database.postgres.owner)
})
after(() => database[Symbol.asyncDispose]())

const depsOf = (): PasswordCheckDeps => ({
  db: database.postgres.owner,
  hashing: createSemaphore({ permits: 4, waiting: 100, retryAfterSeconds: 1 }),
  wrongPasswords: createWrongPasswords(),
})
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'right',
    (error: { code?: string }) => error.code,
  )

describe('the current password', () => {
  it('returns the hash that it was compared with, and is not limited while right', async () => {
    const deps = depsOf()
    for (let times = 0; times < 8; times++)
      assert.equal(await requirePassword(deps, 1, 'the right one'), passwordHash)
  })

  it('may be wrong five times per user, also for concurrent requests', async () => {
    const deps = depsOf()
    const codes = await Promise.all(
      Array.from({ length: 12 }, () => codeOf(requirePassword(deps, 1, 'a wrong one'))),
    )
    assert.deepEqual(codes.toSorted(), [...Array(7).fill('rate_limited'), ...Array(5).fill('wrong_password')])
    assert.equal(await codeOf(requirePassword(deps, 1, 'the right one')), 'rate_limited')
    assert.equal(await codeOf(requirePassword(deps, 2, 'the right one')), 'right')
  })

  it('is wrong for a user who no longer exists', async () => {
    assert.equal(await codeOf(requirePassword(depsOf(), 99, 'the right one')), 'wrong_password')
  })
})
