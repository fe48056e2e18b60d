import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { open } from '../runtime/secrets.ts'
import { UsageError } from './command.ts'
import { runCommand, testRing } from './testing.ts'
import { userCommand } from './user.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, userCommand, ...args)

before(async () => {
  await sql`insert into users (email, password_hash, username, totp_enabled) values
    ('Anna@red.example', 'x', 'anna', now()), ('ben@red.example', 'x', 'ben', null)`.execute(db)
  await sql`insert into second_factors (user_id, secret_sealed) select id, 'x' from users`.execute(db)
  await sql`insert into recovery_codes (user_id, code_mac) select id, 'x' from users`.execute(db)
  await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(db)
  await sql`insert into sessions (user_id, team_id, expires)
    select id, 1, now() + interval '1 day' from users`.execute(db)
})

const openSessionsOf = async () => {
  const { rows } = await sql<{ email: string }>`
    select email from sessions s join users u on u.id = s.user_id where revoked is null`.execute(db)
  return rows.map(({ email }) => email)
}

const stateOf = async () => {
  const { rows } = await sql`select u.email, totp_enabled is not null as on,
      (select count(*)::integer from second_factors f where f.user_id = u.id) as factors,
      (select count(*)::integer from recovery_codes c where c.user_id = u.id) as codes
    from users u order by id`.execute(db)
  return rows
}

test('a user who is locked out signs in with the password alone, with no session left; audited, notified by mail', async () => {
  const printed = await pharos('reset-second-factor', 'anna@RED.example')
  assert.match(
    printed,
    /^The second factors of Anna@red\.example, passkeys included, .*signs in with the password alone/,
  )
  assert.deepEqual(await stateOf(), [
    { email: 'Anna@red.example', on: false, factors: 0, codes: 0 },
    { email: 'ben@red.example', on: false, factors: 1, codes: 1 },
  ])
  assert.deepEqual(await openSessionsOf(), ['ben@red.example'])
  const audit = await db.selectFrom('audit_entries').selectAll().execute()
  assert.deepEqual(
    audit.map(({ actor, action, target, after: now }) => [actor, action, target, now]),
    [['operator', 'totp.reset', 'user:1', { second_factor: false }]],
  )
  const mails = await db.selectFrom('mails').selectAll().execute()
  assert.deepEqual(
    mails.map(({ recipient, template }) => [recipient, template]),
    [['Anna@red.example', 'second-factor-changed']],
  )
  const content = JSON.parse(open(testRing, 'mail', mails[0]!.content_sealed!, mails[0]!.template).toString())
  assert.equal(content.change, 'off')
})

test('if there is nothing to do, it changes nothing and reports that', async () => {
  const before = await stateOf()
  await assert.rejects(
    pharos('reset-second-factor', 'ben@red.example'),
    /ben@red\.example has no second factor/,
  )
  await assert.rejects(
    pharos('reset-second-factor', 'nobody@red.example'),
    /no such user nobody@red\.example/,
  )
  assert.deepEqual(await stateOf(), before)
  assert.equal((await db.selectFrom('mails').selectAll().execute()).length, 1)
})

test('missing arguments are reported', async () => {
  for (const args of [[], ['reset'], ['reset-second-factor'], ['reset-second-factor', 'a@b.c', 'd@e.f']])
    await assert.rejects(pharos(...args), UsageError, args.join(' '))
})

test('the sessions of one user end, and no others; audited', async () => {
  await sql`delete from sessions`.execute(db)
  await sql`
    insert into sessions (user_id, team_id, address, user_agent, expires)
    select u.id, t.id, '192.0.2.1', '', now() + interval '1 hour' from users u, teams t, generate_series(1, 2)`.execute(
    db,
  )
  assert.equal(
    await pharos('sign-out', 'anna@RED.example'),
    'All sessions of Anna@red.example were revoked.\n',
  )
  const { rows } = await sql`
    select u.username, u.session_version, count(*) filter (where s.revoked is null)::integer as open
    from users u join sessions s on s.user_id = u.id group by u.id order by u.id`.execute(db)
  assert.deepEqual(rows, [
    { username: 'anna', session_version: 3, open: 0 },
    { username: 'ben', session_version: 1, open: 2 },
  ])
  const audit = await db
    .selectFrom('audit_entries')
    .select(['actor', 'target'])
    .where('action', '=', 'session.revoke_all')
    .execute()
  assert.deepEqual(audit, [{ actor: 'operator', target: 'user:1' }])
  await assert.rejects(pharos('sign-out', 'nobody@red.example'), /no such user nobody@red\.example/)
})

test('an account is exported as JSON, without its password', async () => {
  const exported = JSON.parse(await pharos('export', 'anna@RED.example'))
  assert.deepEqual([exported.profile.email, exported.profile.has_password], ['Anna@red.example', true])
  assert.equal(exported.session_count, exported.sessions.length)
  assert.equal('password_hash' in exported.profile, false)
  await assert.rejects(pharos('export', 'nobody@red.example'), /no such user nobody@red\.example/)
})

test('an account is deleted, after a trial, and the last admin only by force', async () => {
  const users = async () =>
    (await db.selectFrom('users').select('username').orderBy('id').execute()).map((row) => row.username)
  await sql`insert into memberships (team_id, user_id, is_admin, roles) values (1, 1, true, '{admin}')`.execute(
    db,
  )
  await assert.rejects(pharos('delete', 'anna@red.example'), /is the last admin of Red/)
  await assert.rejects(pharos('delete', 'nobody@red.example'), /no such user/)
  assert.match(
    await pharos('delete', 'anna@red.example', '--force', '--dry-run'),
    /^Would delete Anna@red\.example \(user 1\) .*teams: Red\.$/m,
  )
  assert.deepEqual(await users(), ['anna', 'ben'])
  await sql`update users set managed_by = 'operator' where id = 1`.execute(db)
  assert.match(
    await pharos('delete', 'anna@RED.example', '--force'),
    /^Deleted Anna@red\.example .*\nThe platform file manages the account/,
  )
  assert.deepEqual(await users(), ['ben'])
  assert.match(await pharos('delete', 'ben@red.example'), /^Deleted ben@red\.example .*teams: none\.\n$/)
  const audit = await db
    .selectFrom('audit_entries')
    .select(['actor', 'target'])
    .where('action', '=', 'account.delete')
    .where('team_id', 'is', null)
    .orderBy('id')
    .execute()
  assert.deepEqual(audit, [
    { actor: 'operator', target: 'user:1' },
    { actor: 'operator', target: 'user:2' },
  ])
})
