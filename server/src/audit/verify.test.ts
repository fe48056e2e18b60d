// Verifies chains that were tampered with in every known way, on a real database.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { writeAudit } from '../db/audit.ts'
import { maintain } from '../db/maintenance.ts'
import { createTestDatabase, emptyAudit } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { expireAudit } from './expire.ts'
import { sealAll } from './seal.ts'
import { findHead, listSeals } from './seal.store.ts'
import { anEntry, tamper } from './testing.ts'
import { verifyAudit, type VerifyOptions } from './verify.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
beforeEach(() => emptyAudit(db))

const [oldKey, newKey] = [
  'an old secret of thirty-two bytes or more',
  'a new secret of thirty-two bytes or more',
]
const ring = createKeyRing([oldKey])
const never = new AbortController().signal
const seal = (keys = ring, limit?: number) => sealAll(db, keys, never, limit)
const verify = (options: VerifyOptions = {}, keys = ring) => verifyAudit({ db, ring: keys }, options)

/** Adds entries and returns their ids in order. */
async function write(count: number): Promise<number[]> {
  await writeAudit(db, ...Array.from({ length: count }, (_, at) => ({ ...anEntry, after: { at } })))
  const { rows } = await sql<{
    id: number
  }>`select id from audit_entries order by id desc limit ${count}`.execute(db)
  return rows.map(({ id }) => id).toReversed()
}

const kindsOf = async (options?: VerifyOptions, keys = ring) =>
  (await verify(options, keys)).broken.map(({ kind, sequence, entryId }) => [kind, sequence ?? entryId])

describe('sealing', () => {
  it('gives every entry the next position, in batches, and then has nothing left to do', async () => {
    await write(25)
    assert.deepEqual(await seal(ring, 10), { sealed: 25, missing: [] })
    assert.deepEqual(await seal(), { sealed: 0, missing: [] })
    const result = await verify()
    assert.deepEqual([result.right, result.brokenCount, result.waiting], [25, 0, 0])
    assert.deepEqual(result.head, await findHead(db))
  })

  it('seals an entry that is committed after one with a higher id was sealed', async () => {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const early = db.transaction().execute(async (trx) => {
      await writeAudit(trx, { ...anEntry, target: 'test:early' })
      begun.resolve()
      await goOn.promise
    })
    await begun.promise
    await writeAudit(db, { ...anEntry, target: 'test:late' })
    assert.equal((await seal()).sealed, 1)
    goOn.resolve()
    await early
    assert.equal((await seal()).sealed, 1)
    const seals = await listSeals(db, 0, 10)
    assert.deepEqual(
      seals.map(({ sequence, target }) => [sequence, target]),
      [
        [1, 'test:late'],
        [2, 'test:early'],
      ],
    )
    assert.ok(seals[0]!.entryId > seals[1]!.entryId)
    const { right, brokenCount } = await verify()
    assert.deepEqual([right, brokenCount], [2, 0])
  })

  it('never seals twice or breaks the chain with concurrent sealers', async () => {
    await write(60)
    const runs = await Promise.allSettled([1, 2, 3, 4].map(() => seal(ring, 7)))
    await seal()
    const { right, brokenCount } = await verify()
    assert.deepEqual([right, brokenCount], [60, 0])
    const refused = runs.filter(({ status }) => status === 'rejected')
    assert.ok(refused.length < runs.length)
  })

  it('does not seal entries that were rolled back', async () => {
    await db
      .transaction()
      .execute(async (trx) => {
        await writeAudit(trx, anEntry)
        throw new Error('rolled back')
      })
      .catch(() => {})
    assert.equal((await seal()).sealed, 0)
  })

  it('records that an entry was deleted before it was sealed', async () => {
    const [first, second] = await write(2)
    await tamper(db, sql`delete from audit_entries where id = ${first}`)
    assert.deepEqual(await seal(), { sealed: 1, missing: [first] })
    assert.equal((await seal()).sealed, 1)
    const seals = await listSeals(db, 0, 10)
    assert.deepEqual(
      seals.map(({ entryId, action, target }) => [entryId === second, action, target]),
      [
        [true, 'test.write', 'test:1'],
        [false, 'audit.missing', `audit:${first}`],
      ],
    )
    assert.equal((await verify()).brokenCount, 0)
  })

  it('is independent of the settings of the connection', async () => {
    await sql`insert into audit_entries (at, actor, action, target, before, address)
      values ('2026-03-01 10:00:00.000001+00', 'a', 'b', 'c', '{"b": 1.50, "a": [1e3, "ü"]}', '192.0.2.1')`.execute(
      db,
    )
    await seal()
    const plain = await listSeals(db, 0, 1)
    const other = await db.transaction().execute(async (trx) => {
      for (const setting of [
        "timezone = 'Asia/Kathmandu'",
        "datestyle = 'SQL, DMY'",
        "bytea_output = 'escape'",
      ])
        await sql`set local ${sql.raw(setting)}`.execute(trx)
      return listSeals(trx, 0, 1)
    })
    assert.deepEqual(other, plain)
    assert.equal(plain[0]!.at, '1772359200000001')
    assert.equal(plain[0]!.before, '{"a": [1000, "ü"], "b": 1.50}')
    assert.equal(plain[0]!.address, '192.0.2.1/32')
  })
})

describe('verifying', () => {
  it('detects any change of any column, and reports the entry', async () => {
    const changes: Record<string, fc.Arbitrary<string>> = {
      at: fc.integer({ min: 1, max: 1000 }).map((n) => `at + ${n} * interval '1 microsecond'`),
      team_id: fc.integer({ min: 8, max: 1000 }).map(String),
      actor: fc.constantFrom(`'user:8'`, `'user:7 '`, `''`),
      credential: fc.constantFrom('null', `'session:b'`, `''`),
      by_staff: fc.constant('true'),
      action: fc.constantFrom(`'team.updatE'`, `''`),
      target: fc.constantFrom(`'team:8'`, `''`),
      before: fc.constantFrom('null', `'null'`, `'{"n": 1.00}'`, `'{"n": 1}'`, `'{"n": "1.0"}'`, `'{}'`),
      after: fc.constantFrom('null', `'{"n": 10000000000000000000000001}'`, `'[]'`),
      request_id: fc.constantFrom('null', `''`, `'R'`),
      address: fc.constantFrom('null', `'192.0.2.2'`, `'192.0.2.1/24'`, `'::ffff:192.0.2.1'`),
      id: fc.constant('default'),
    }
    await write(1)
    const { rows } = await sql<{ id: number }>`insert into audit_entries
      (team_id, actor, credential, action, target, before, after, request_id, address) values
      (7, 'user:7', 'session:a', 'team.update', 'team:7', '{"n": 1.0}', '{"n": 10000000000000000000000000}', 'r', '192.0.2.1') returning id`.execute(
      db,
    )
    const { id } = rows[0]!
    await write(1)
    await seal()
    assert.equal((await verify()).brokenCount, 0)
    await sql`create table kept_entry as select * from audit_entries where id = ${id}`.execute(db)
    for (const [column, values] of Object.entries(changes)) {
      for (const value of new Set(fc.sample(values, { numRuns: 12, seed: 4 }))) {
        const target = sql.ref(column)
        await tamper(db, sql`update audit_entries set ${target} = ${sql.raw(value)} where id = ${id}`)
        const { broken, right } = await verify()
        assert.deepEqual(
          broken.map(({ kind, sequence, entryId }) => [kind, sequence, entryId])[0],
          [column === 'id' ? 'missing entry' : 'changed', 2, id],
          `${column} = ${value}`,
        )
        assert.equal(right, 2, `${column}: the other entries are valid`)
        await tamper(
          db,
          sql`delete from audit_entries where target = 'team:7' or actor like 'user:%' or id = ${id}`,
          sql`insert into audit_entries overriding system value select * from kept_entry`,
          sql`delete from audit_unsealed`,
        )
        assert.equal((await verify()).brokenCount, 0)
      }
    }
  })

  it('detects a deleted entry, a deleted seal, and swapped seals', async () => {
    const ids = await write(6)
    await seal()
    await sql`create table kept_seals as select * from audit_seals`.execute(db)
    const restore = () =>
      tamper(db, sql`delete from audit_seals`, sql`insert into audit_seals select * from kept_seals`)

    await tamper(db, sql`delete from audit_seals where sequence = 3`)
    assert.deepEqual(await kindsOf(), [['missing seal', 3]])
    await restore()

    await tamper(
      db,
      sql`update audit_seals set sequence = -1 where sequence = 2`,
      sql`update audit_seals set sequence = 2 where sequence = 3`,
      sql`update audit_seals set sequence = 3 where sequence = -1`,
    )
    assert.deepEqual((await kindsOf()).slice(0, 2), [
      ['wrong order', 2],
      ['wrong order', 3],
    ])
    await restore()

    await tamper(db, sql`update audit_seals set team_id = 9 where sequence = 5`)
    assert.deepEqual(await kindsOf(), [['changed', 5]])
    await restore()

    await tamper(db, sql`delete from audit_entries where id = ${ids[3]}`)
    assert.deepEqual(await kindsOf(), [['missing entry', 4]])
  })

  it('detects an old entry that is neither sealed nor queued, and counts queued ones', async () => {
    await write(2)
    await seal()
    await sql`insert into audit_entries (at, actor, action, target) values
      (now() - interval '2 minutes', 'a', 'b', 'waits'), (now() - interval '2 minutes', 'a', 'b', 'hidden')`.execute(
      db,
    )
    await write(1)
    assert.deepEqual([(await verify()).waiting, await kindsOf()], [2, []])
    const { rows } = await sql<{ id: number }>`select id from audit_entries where target = 'hidden'`.execute(
      db,
    )
    await sql`delete from audit_unsealed where entry_id = ${rows[0]!.id}`.execute(db)
    const { waiting, broken } = await verify()
    assert.equal(waiting, 1)
    assert.deepEqual(
      broken.map(({ kind, entryId }) => [kind, entryId]),
      [['missing seal', rows[0]!.id]],
    )
  })

  it('detects a truncated end by an earlier head', async () => {
    await write(3)
    await seal()
    const noted = (await findHead(db))!
    await write(2)
    await seal()
    assert.deepEqual(await kindsOf({ noted }), [])
    await tamper(
      db,
      sql`delete from audit_entries where id in (select entry_id from audit_seals where sequence > 2)`,
      sql`delete from audit_seals where sequence > 2`,
    )
    assert.deepEqual(await kindsOf(), [], 'not detected without the head')
    assert.deepEqual(await kindsOf({ noted }), [['end cut off', 3]])
    await write(2)
    await seal()
    assert.deepEqual(await kindsOf({ noted }), [['other head', 3]])
  })

  it('detects a truncated beginning', async () => {
    await write(4)
    await seal()
    await tamper(
      db,
      sql`delete from audit_entries where id in (select entry_id from audit_seals where sequence <= 2)`,
      sql`delete from audit_seals where sequence <= 2`,
    )
    assert.deepEqual(await kindsOf(), [['beginning missing', 3]])
  })

  it('can start in the middle of the chain', async () => {
    const ids = await write(6)
    await seal()
    await tamper(db, sql`update audit_entries set actor = 'mallory' where id = ${ids[1]}`)
    assert.deepEqual(await kindsOf(), [['changed', 2]])
    const { right, notCheckable, brokenCount } = await verify({ from: 4 })
    assert.deepEqual([right, notCheckable, brokenCount], [2, 1, 0])
  })

  it('rejects a chain sealed with a key that is not in the ring', async () => {
    await write(2)
    await seal(createKeyRing(['a secret of another installation, long enough']))
    assert.deepEqual(await kindsOf(), [
      ['unknown key', 1],
      ['unknown key', 2],
    ])
  })

  it('verifies across a key rotation, and reports seals whose key was removed', async () => {
    await write(3)
    await seal()
    const rotated = createKeyRing([newKey, oldKey])
    await write(2)
    await seal(rotated)
    assert.deepEqual([(await verify({}, rotated)).right, await kindsOf({}, rotated)], [5, []])
    const withoutOld = createKeyRing([newKey])
    assert.deepEqual(
      (await kindsOf({}, withoutOld)).map(([kind]) => kind),
      ['unknown key', 'unknown key', 'unknown key'],
    )
    const { rows } = await sql<{
      id: string
    }>`select key_id as id from audit_seals where sequence = 1`.execute(db)
    const retiredKeys = new Set([rows[0]!.id])
    const { right, notCheckable, brokenCount } = await verify({ retiredKeys }, withoutOld)
    assert.deepEqual([right, notCheckable, brokenCount], [2, 3, 0])
    await tamper(db, sql`update audit_seals set key_id = ${rows[0]!.id} where sequence = 5`)
    assert.deepEqual(await kindsOf({ retiredKeys }, withoutOld), [['unknown key', 5]])
  })
})

describe('retention', () => {
  const at = (time: string, target: string) =>
    sql`insert into audit_entries (at, actor, action, target) values (${time}::timestamptz, 'a', 'b.c', ${target})`.execute(
      db,
    )

  it('drops whole months with their seals, records it, and leaves a chain that verifies', async () => {
    await at('2025-01-10Z', 'january')
    await at('2025-02-10Z', 'february')
    await at('2025-03-01Z', 'march')
    // Started in February and sealed after an entry of March.
    await at('2025-02-28 23:59:59Z', 'straggler')
    await at('2025-03-15Z', 'march too')
    assert.deepEqual(await expireAudit(db, 3, new Date('2025-06-20T12:00:00Z')), [], 'no entry is sealed yet')
    await seal()
    const noted = (await listSeals(db, 0, 1))[0]!
    const dropped = await expireAudit(db, 3, new Date('2025-06-20T12:00:00Z'))
    assert.deepEqual(dropped, ['audit_entries_2025_01', 'audit_entries_2025_02'])
    const { rows } = await sql<{ target: string }>`select target from audit_entries order by id`.execute(db)
    assert.deepEqual(
      rows.map(({ target }) => target),
      ['march', 'march too', 'audit'],
    )
    await seal()
    const { notCheckable, right, brokenCount } = await verify()
    assert.deepEqual([notCheckable, right, brokenCount], [2, 2, 0])
    assert.deepEqual(await kindsOf({ noted }), [['head expired', 1]])
    assert.deepEqual(await expireAudit(db, 3, new Date('2025-06-25T12:00:00Z')), [])
    await tamper(db, sql`delete from audit_entries where target = 'march too'`)
    assert.deepEqual(await kindsOf(), [['missing entry', 5]])
  })

  it('keeps the last seal, so that the chain continues after all months were dropped', async () => {
    await at('2025-01-10Z', 'january')
    await at('2025-01-11Z', 'january')
    await seal()
    await expireAudit(db, 1, new Date('2026-06-20T12:00:00Z'))
    await write(1)
    await seal()
    const { right, notCheckable, brokenCount } = await verify()
    assert.deepEqual([right, notCheckable, brokenCount], [2, 1, 0])
  })

  it('moves entries into their month without sealing them twice, and protects them from changes there as well', async () => {
    await write(3)
    await maintain(db)
    await write(1)
    assert.equal((await seal()).sealed, 4)
    assert.equal((await verify()).brokenCount, 0)
    const { rows } = await sql<{ part: string }>`
      select inhrelid::regclass::text as part from pg_inherits where inhparent = 'audit_entries'::regclass`.execute(
      db,
    )
    assert.ok(rows.length > 3)
    for (const part of ['audit_entries', 'audit_seals', ...rows.map(({ part }) => part)]) {
      await assert.rejects(sql`truncate ${sql.table(part)}`.execute(db), /is refused/, part)
      const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(part)}`.execute(db)
      if (rows[0]!.n === 0) continue
      await assert.rejects(sql`delete from ${sql.table(part)}`.execute(db), /is refused/, part)
    }
    await assert.rejects(sql`update audit_entries set actor = 'x'`.execute(db), /is refused/)
    await assert.rejects(sql`update audit_seals set key_id = 'x'`.execute(db), /is refused/)
  })
})
