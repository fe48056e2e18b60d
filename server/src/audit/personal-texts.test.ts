import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { writeAudit } from '../db/audit.ts'
import { erasePersonalTexts, withPersonalTexts } from '../db/audit-addresses.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { expireAudit } from './expire.ts'
import { sealAll } from './seal.ts'
import { verifyAudit } from './verify.ts'

let database: TestDatabase
const ring = createKeyRing(['a key of the audit log, 32 bytes or more'])

before(async () => {
  database = await createTestDatabase()
})
after(() => database[Symbol.asyncDispose]())

const db = () => database.postgres.owner
const seal = () => sealAll(db(), ring, AbortSignal.timeout(60_000))
type Stored = { readonly before: unknown; readonly after: unknown }
const entriesOf = async (target: string): Promise<Stored[]> =>
  (
    await sql<Stored>`select before, after from audit_entries where target = ${target} order by id`.execute(
      db(),
    )
  ).rows
const read = async (target: string, teamId: number | null) =>
  withPersonalTexts(db(), teamId, await entriesOf(target))

describe('an address in the audit log', () => {
  it('is beside the entry, which is read with it', async () => {
    const before = { email: 'Ann@acme.example', roles: ['reader'], user_id: 41 }
    const after = { invitations_withdrawn: ['bo@acme.example'], description: 'ann@acme.example' }
    await writeAudit(db(), {
      teamId: 3,
      actor: 'user:1',
      action: 'member.remove',
      target: 'member:9',
      before,
      after,
    })
    const [stored] = await entriesOf('member:9')
    assert.doesNotMatch(JSON.stringify([stored!.before, stored!.after]), /Ann@acme|bo@acme/)
    assert.deepEqual(await read('member:9', 3), [{ before, after }])
  })

  it('is not read for another team, whose entry has the reference', async () => {
    const [stored] = await entriesOf('member:9')
    const { email } = stored!.before as { email: { audit_address: string } }
    assert.deepEqual(await withPersonalTexts(db(), 4, [{ before: { email }, after: null }]), [
      { before: { email: null }, after: null },
    ])
  })

  it('that a user writes as a reference is stored as a text', async () => {
    const [{ before } = { before: null }] = await entriesOf('member:9')
    const { email } = before as { email: { audit_address: string } }
    const entry = { teamId: 3, actor: 'user:1', action: 'team.update', target: 'team:3' }
    await writeAudit(db(), { ...entry, after: { name: JSON.stringify(email) } })
    assert.deepEqual((await read('team:3', 3))[0]!.after, { name: JSON.stringify(email) })
  })

  it('is emptied with the account, by its number and by the address, and the chain stays valid', async () => {
    const entry = { teamId: 3, actor: 'user:1', action: 'member.invite', target: 'member:10' }
    await writeAudit(db(), { ...entry, after: { email: 'ann@ACME.example' } })
    await writeAudit(db(), { ...entry, after: { email: 'bo@acme.example' } })
    await writeAudit(db(), {
      ...entry,
      action: 'user.update',
      target: 'user:41',
      before: { display_name: 'Ann' },
      after: { display_name: 'Anna', country: 'CH' },
    })
    await seal()
    await db()
      .transaction()
      .execute((trx) => erasePersonalTexts(trx, 41, 'ann@acme.example'))
    assert.deepEqual(
      (await read('member:10', 3)).map(({ after }) => after),
      [{ email: null }, { email: 'bo@acme.example' }],
    )
    assert.deepEqual(await read('user:41', 3), [
      { before: { display_name: null }, after: { display_name: null, country: 'CH' } },
    ])
    const [removed] = await read('member:9', 3)
    assert.deepEqual(removed, {
      before: { email: null, roles: ['reader'], user_id: 41 },
      after: { invitations_withdrawn: ['bo@acme.example'], description: 'ann@acme.example' },
    })
    const verified = await verifyAudit({ db: db(), ring })
    assert.deepEqual([verified.brokenCount, verified.waiting], [0, 0])
  })

  it('is in the entries of the release before, which are sealed and read with the others', async () => {
    await sql`insert into audit_entries (team_id, actor, action, target, after)
      values (3, 'user:1', 'member.invite', 'member:11', '{"email": "cy@acme.example"}')`.execute(db())
    await seal()
    assert.deepEqual(await read('member:11', 3), [{ before: null, after: { email: 'cy@acme.example' } }])
    assert.equal((await verifyAudit({ db: db(), ring })).brokenCount, 0)
  })

  it('is deleted with the month of its entry', async () => {
    await sql`select create_month_partitions('2024-01-01'::date)`.execute(db())
    await sql`insert into audit_addresses (key, at, team_id, value) values ('aaaaaaaaaaaaaaaa', '2024-01-15', 3, 'old@acme.example')`.execute(
      db(),
    )
    await expireAudit(db(), 12, new Date('2026-12-01'))
    const { rows } = await sql`select from audit_addresses where at < '2024-02-01'`.execute(db())
    assert.equal(rows.length, 0)
    assert.deepEqual((await read('member:11', 3))[0]!.after, { email: 'cy@acme.example' })
  })
})
