import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { ingestDeliveries } from '../../server/src/events/ingest/ingest.ts'
import { maintain } from '../../server/src/db/maintenance.ts'
import { createTestDatabase } from '../../server/src/db/testing.ts'
import { createOwnershipCache } from '../../server/src/inventory/holding/ownership.ts'
import { createKeyRing } from '../../server/src/runtime/secrets.ts'
import { claimReport } from '../../server/src/report/mailed-report.store.ts'
import { releaseReport } from './demo-report.ts'
import { demoAccounts, demoHistory, prepareDemo } from './demo.ts'
import { playRecording } from './history.ts'

const secret = createKeyRing(['a-secret-of-at-least-thirty-two-bytes'])
const now = new Date('2026-03-10T17:23:45Z')
const dayMs = 86_400_000

test('the history covers 30 days before any time, and each delivery occurs once', () => {
  for (const at of [now, new Date('2024-02-29T00:00:00Z'), new Date('2027-12-31T23:59:59Z')]) {
    const history = demoHistory(at)
    assert.deepEqual(demoHistory(at), history)
    assert.equal(new Set(history.map(({ deliveryId }) => deliveryId)).size, history.length)
    const times = history.map(({ received }) => received.getTime())
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    assert.ok(times[0]! >= at.getTime() - 30 * dayMs && times.at(-1)! <= at.getTime())
    assert.ok(history.length > 2_800, `${history.length} deliveries`)
  }
})

test('a recording merges messages, resolves times and lists, and leaves out the future', () => {
  const recording = {
    id: 'a',
    source: 's',
    ago: 100,
    body: { alarm: { id: 1, opened: { $unix: 0 } }, packets: { $each: { ttl: 9 }, $items: [{ ip: 'x' }] } },
    messages: [
      { id: 'open', after: 40, body: { alarm: { measured: { $unix: 40 } } } },
      { id: 'later', after: 101, body: {} },
    ],
  }
  const [delivery, ...others] = playRecording(`${JSON.stringify(recording)}\n`, new Date(1_000_000))
  assert.deepEqual(others, [])
  assert.deepEqual(delivery, {
    sourceKey: 's',
    deliveryId: 'a-open',
    received: new Date(940_000),
    body: { alarm: { id: 1, opened: 900, measured: 940 }, packets: [{ ttl: 9, ip: 'x' }] },
  })
})

test('every delivery is processed, and both teams have many events and none in common', async () => {
  await using database = await createTestDatabase()
  const db = database.postgres.owner
  const rowsOf = async <T>(query: ReturnType<typeof sql>) => (await query.execute(db)).rows as T[]
  await prepareDemo(database.postgres, { secret }, now)
  const report = await ingestDeliveries(database.postgres, createOwnershipCache())
  assert.equal(report.failed, 0)
  assert.equal(report.done, demoHistory(now).length)

  const events = await rowsOf<{ id: string; classification_key: string; end_at: Date | null; v6: boolean }>(
    sql`select id, classification_key, end_at, family(affected_network) = 6 as v6 from events`,
  )
  assert.equal(events.length, 300)
  assert.ok(new Set(events.map((event) => event.classification_key)).size >= 10)
  assert.ok(!events.some((event) => event.classification_key === 'unknown'))
  assert.ok(events.filter((event) => event.v6).length >= 20)
  assert.ok(events.filter((event) => event.end_at === null).length >= 4)

  const ofTeam = async (slug: string) =>
    (
      await rowsOf<{ event_id: string }>(
        sql`select event_id from team_events e join teams t on t.id = e.team_id where t.slug = ${slug}`,
      )
    ).map(({ event_id }) => event_id)
  const [demo, other] = [await ofTeam('demo'), await ofTeam('other')]
  assert.ok(demo.length > 120 && other.length > 60, `${demo.length} and ${other.length}`)
  assert.ok(new Set(demo).isDisjointFrom(new Set(other)))
  assert.ok(demo.length + other.length < events.length, 'some concern no team')

  await maintain(db)
  const [{ strays }] = (await rowsOf<{ strays: number }>(
    sql`select count(*)::integer as strays from deliveries_default`,
  )) as [{ strays: number }]
  assert.equal(strays, 0, 'every month has a partition')
})

test('a second start changes neither announcements nor the history', async () => {
  await using database = await createTestDatabase()
  const db = database.postgres.owner
  await prepareDemo(database.postgres, { secret }, now)
  await sql`update announcements set enabled = false where prefix = '203.0.113.0/24'`.execute(db)
  await sql`update deliveries set state = 'done'`.execute(db)
  const stateOf = async () => [
    await db.selectFrom('deliveries').selectAll().orderBy('id').execute(),
    await db.selectFrom('announcements').selectAll().orderBy('id').execute(),
    await db.selectFrom('users').selectAll().orderBy('id').execute(),
  ]
  const before = await stateOf()
  await prepareDemo(database.postgres, { secret }, new Date(now.getTime() + 3 * dayMs))
  assert.deepEqual(await stateOf(), before)
})

test('ids follow the order of the file', async () => {
  await using database = await createTestDatabase()
  await prepareDemo(database.postgres, { secret }, now)
  const { rows } = await sql`select host(prefix) as address from announcements order by id limit 2`.execute(
    database.postgres.owner,
  )
  assert.deepEqual(rows, [{ address: '203.0.113.0' }, { address: '2001:db8:a::' }])
})

test('the accounts are marked as demo accounts, each in a team', async () => {
  await using database = await createTestDatabase()
  await prepareDemo(database.postgres, { secret }, now)
  const { rows } = await sql`
    select u.email, u.is_demo, u.is_staff, m.roles, t.name as team
    from users u join memberships m on m.user_id = u.id join teams t on t.id = m.team_id order by u.id`.execute(
    database.postgres.owner,
  )
  assert.deepEqual(rows, [
    { email: 'demo@demo.example', is_demo: true, is_staff: false, roles: ['admin'], team: 'Demo Networks' },
    { email: 'other@demo.example', is_demo: true, is_staff: false, roles: ['admin'], team: 'Other Networks' },
    { email: 'staff@demo.example', is_demo: true, is_staff: true, roles: ['editor'], team: 'Demo Networks' },
    {
      email: 'network@demo.example',
      is_demo: true,
      is_staff: false,
      roles: ['network'],
      team: 'Demo Networks',
    },
    { email: 'dns@demo.example', is_demo: true, is_staff: false, roles: ['dns'], team: 'Demo Networks' },
    {
      email: 'reader@demo.example',
      is_demo: true,
      is_staff: false,
      roles: ['reader'],
      team: 'Demo Networks',
    },
  ])
  assert.deepEqual(
    demoAccounts.map(({ email }) => email),
    rows.map((row) => (row as { email: string }).email),
  )
})

test('a database with other teams gets no accounts with a published password', async () => {
  await using database = await createTestDatabase()
  const db = database.postgres.owner
  await sql`insert into teams (slug, name) values ('customer', 'A customer')`.execute(db)
  await assert.rejects(
    prepareDemo(database.postgres, { secret }, now),
    /team customer, which is not part of the demo/,
  )
  assert.deepEqual(await db.selectFrom('users').selectAll().execute(), [])
})

test('a first start subscribes the admin to the report, and holds last month back until its traffic is there', async () => {
  await using database = await createTestDatabase()
  const { owner } = database.postgres
  const settings = () =>
    owner.selectFrom('notification_settings').select(['user_id', 'mail', 'monthly_report']).execute()
  const claim = await prepareDemo(database.postgres, { secret }, now)
  assert.equal(claim?.month, '2026-02')
  assert.deepEqual(await settings(), [{ user_id: 1, mail: true, monthly_report: true }])
  assert.equal(await claimReport(owner, claim.teamId, claim.month, 60), undefined)
  await releaseReport(owner, claim)
  assert.equal((await claimReport(owner, claim.teamId, claim.month, 60))?.attempts, 2)
  await owner.updateTable('notification_settings').set({ monthly_report: false }).execute()
  assert.equal(await prepareDemo(database.postgres, { secret }, now), undefined)
  assert.equal((await settings())[0]!.monthly_report, false)
})

test('a first start adds zones, and a second one keeps what was changed', async () => {
  await using database = await createTestDatabase()
  await prepareDemo(database.postgres, { secret }, now)
  const { owner } = database.postgres
  const zones = () =>
    owner.selectFrom('dns_zones').select(['name', 'dnssec', 'version']).orderBy('name').execute()
  const first = await zones()
  assert.deepEqual(
    first.map(({ name, dnssec }) => [name, dnssec]),
    [
      ['113.0.203.in-addr.arpa.', 'disabled'],
      ['harbor.example.', 'disabled'],
      ['lighthouse.example.', 'signing'],
    ],
  )
  await prepareDemo(database.postgres, { secret }, now)
  assert.deepEqual(await zones(), first)
})
