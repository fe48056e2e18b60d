import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { withPersonalTexts } from '../db/audit-addresses.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { joinByDomain } from './auto-join.ts'

let database: TestDatabase
let teams: Record<'acme' | 'umbrella', number>

before(async () => {
  database = await createTestDatabase()
})
beforeEach(async () => {
  teams = { acme: await addTeam('acme'), umbrella: await addTeam('umbrella') }
})
afterEach(async () => {
  await sql`delete from teams`.execute(database.postgres.owner)
  await sql`delete from users`.execute(database.postgres.owner)
})
after(() => database[Symbol.asyncDispose]())

const db = () => database.postgres.owner

async function addTeam(slug: string): Promise<number> {
  const row = await db()
    .insertInto('teams')
    .values({ slug, name: slug })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

type Flags = { confirmed?: boolean; staff?: boolean; demo?: boolean }

async function addUser(email: string, { confirmed = true, staff = false, demo = false }: Flags = {}) {
  const { id } = await db()
    .insertInto('users')
    .values({
      email,
      username: email,
      password_hash: '-',
      email_confirmed: confirmed ? new Date() : null,
      is_staff: staff,
      is_demo: demo,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

type Settings = { verified?: boolean; autoJoin?: boolean }

async function addDomain(
  teamId: number,
  domain: string,
  { verified = true, autoJoin = true }: Settings = {},
) {
  await db()
    .insertInto('domains')
    .values({ team_id: teamId, domain, auto_join: autoJoin, verified: verified ? new Date() : null })
    .execute()
}

const join = (userId: number, membersPerTeam = 200): Promise<number | undefined> =>
  db()
    .transaction()
    .execute((trx) =>
      joinByDomain(trx, userId, { membersPerTeam, requestId: 'request', address: '192.0.2.1' }),
    )

async function membersOf(teamId: number): Promise<{ user_id: number; is_admin: boolean }[]> {
  return db()
    .selectFrom('memberships')
    .select(['user_id', 'is_admin'])
    .where('team_id', '=', teamId)
    .orderBy('user_id')
    .execute()
}

describe('a user whose confirmed address is in a verified domain', () => {
  it('becomes a member without the admin role, once, audited in the team', async () => {
    await addDomain(teams.acme, 'acme.example')
    const userId = await addUser('Ann@ACME.example')
    assert.equal(await join(userId), teams.acme)
    assert.equal(await join(userId), undefined)
    assert.deepEqual(await membersOf(teams.acme), [{ user_id: userId, is_admin: false }])
    const { rows } = await sql<{ actor: string; action: string; before: unknown; after: unknown }>`
      select actor, action, before, after from audit_entries where team_id = ${teams.acme}`.execute(db())
    const after = { user_id: userId, email: 'Ann@ACME.example', roles: ['reader'], domain: 'acme.example' }
    const read = await withPersonalTexts(db(), teams.acme, rows)
    assert.deepEqual(read, [{ actor: 'pharos', action: 'member.join', before: null, after }])
  })

  it('joins by a Unicode name as by its A-labels', async () => {
    await addDomain(teams.acme, 'xn--mnchen-3ya.example')
    assert.equal(await join(await addUser('ann@münchen.example')), teams.acme)
  })

  it('joins only for the domain itself, if it is verified and auto-join is enabled', async () => {
    await addDomain(teams.acme, 'acme.example', { autoJoin: false })
    await addDomain(teams.umbrella, 'umbrella.example', { verified: false })
    await addDomain(teams.umbrella, 'mail.example')
    const below = ['a@sub.mail.example', 'a@ail.example', 'a@example', 'mail.example@elsewhere.example']
    for (const email of ['a@acme.example', 'a@umbrella.example', ...below])
      assert.equal(await join(await addUser(email)), undefined, email)
  })

  it('does not join with an unconfirmed address, nor as staff or with a demo account', async () => {
    await addDomain(teams.acme, 'acme.example')
    for (const flags of [{ confirmed: false }, { staff: true }, { demo: true }])
      assert.equal(await join(await addUser(`${Object.keys(flags)[0]}@acme.example`, flags)), undefined)
    assert.deepEqual(await membersOf(teams.acme), [])
  })

  it('does not join after being removed from the team', async () => {
    await addDomain(teams.acme, 'acme.example')
    const userId = await addUser('ann@acme.example')
    await sql`insert into former_members (team_id, user_id) values (${teams.acme}, ${userId})`.execute(db())
    assert.equal(await join(userId), undefined)
  })

  it('keeps the role of an admin', async () => {
    await addDomain(teams.acme, 'acme.example')
    const userId = await addUser('ann@acme.example')
    await db()
      .insertInto('memberships')
      .values({ team_id: teams.acme, user_id: userId, is_admin: true, roles: ['admin'] })
      .execute()
    assert.equal(await join(userId), undefined)
    assert.deepEqual(await membersOf(teams.acme), [{ user_id: userId, is_admin: true }])
  })

  it('does not join a full team, also for concurrent sign-ins', async () => {
    await addDomain(teams.acme, 'acme.example')
    await sql`insert into invitations (team_id, email, roles, token_mac, inviter, inviter_name, expires)
      values (${teams.acme}, 'invited@elsewhere.example', '{editor}', '', 'user:0', '', now() + interval '1 day')`.execute(
      db(),
    )
    const users = await Promise.all(Array.from({ length: 12 }, (_, at) => addUser(`user${at}@acme.example`)))
    const joined = await Promise.all(users.map((userId) => join(userId, 5)))
    assert.equal(joined.filter(Boolean).length, 4)
    assert.equal((await membersOf(teams.acme)).length, 4)
  })

  it('becomes a member once for concurrent sign-ins', async () => {
    await addDomain(teams.acme, 'acme.example')
    const userId = await addUser('ann@acme.example')
    const joined = await Promise.all(Array.from({ length: 8 }, () => join(userId)))
    assert.deepEqual(joined.filter(Boolean), [teams.acme])
  })
})
