import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { expireAccounts } from './unused-accounts.ts'

let database: TestDatabase
const ring = createKeyRing(['a key of accounts of at least 32 bytes'])
before(async () => {
  database = await createTestDatabase()
  await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(db())
  await sql`insert into users (email, username, password_hash, is_staff, managed_by) values
    ('gone@red.example', 'gone', '-', false, 'team'), ('member@red.example', 'member', '-', false, 'team'),
    ('staff@net.example', 'staff', '-', true, 'team'), ('file@red.example', 'file', '-', false, 'operator')`.execute(
    db(),
  )
  await sql`insert into memberships (team_id, user_id, roles) values (1, 2, '{editor}')`.execute(db())
})
after(() => database[Symbol.asyncDispose]())

const db = () => database.postgres.owner
const expire = () => expireAccounts({ db: db(), ring }, 12, new AbortController().signal)
const wait = (interval: string) =>
  sql`update unused_accounts set since = since - ${interval}::interval, mailed = mailed - ${interval}::interval`.execute(
    db(),
  )
const usersLeft = async () =>
  (await db().selectFrom('users').select('username').orderBy('id').execute()).map(({ username }) => username)
const mailsSent = async () =>
  (await db().selectFrom('mails').select(['recipient', 'template']).orderBy('id').execute()).map(
    ({ recipient, template }) => `${recipient} ${template}`,
  )

describe('an account without a team', () => {
  it('gets a mail 30 days before it is deleted, and not before a year from when that was seen', async () => {
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
    await wait('300 days')
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
    await wait('40 days')
    assert.deepEqual(await expire(), { mailed: 1, deleted: 0 })
    assert.deepEqual(await mailsSent(), ['gone@red.example account-unused'])
    await wait('29 days')
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
  })

  it('begins anew when it joins a team in between', async () => {
    await sql`insert into memberships (team_id, user_id, roles) values (1, 1, '{editor}')`.execute(db())
    await wait('30 days')
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
    await sql`delete from memberships where user_id = 1`.execute(db())
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
    await wait('300 days')
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
  })

  it('begins anew while it is invited', async () => {
    await sql`
      insert into invitations (team_id, email, token_mac, inviter, inviter_name, expires, roles)
      values (1, 'GONE@red.example', '-', 'user:2', 'Member', now() + interval '1 day', '{editor}')`.execute(
      db(),
    )
    await wait('100 days')
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
    await sql`delete from invitations`.execute(db())
    assert.deepEqual(await expire(), { mailed: 0, deleted: 0 })
    await wait('300 days')
  })

  it('is deleted once, whatever the number of processes; members, staff and accounts of the file stay', async () => {
    await wait('50 days')
    assert.deepEqual(await expire(), { mailed: 1, deleted: 0 })
    await wait('31 days')
    const done = await Promise.all([expire(), expire()])
    assert.equal(done[0].deleted + done[1].deleted, 1)
    assert.deepEqual(await usersLeft(), ['member', 'staff', 'file'])
    assert.deepEqual(await mailsSent(), ['gone@red.example account-deleted'])
    const entries = await db()
      .selectFrom('audit_entries')
      .select(['actor', 'target'])
      .where('action', '=', 'account.delete')
      .execute()
    assert.deepEqual(entries, [{ actor: 'pharos', target: 'user:1' }])
  })
})
