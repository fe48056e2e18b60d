import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { seedRegions } from '../byoip/announcement/testing.ts'
import { createTestDatabase } from '../db/testing.ts'
import { Failure } from '../runtime/error.ts'
import { UsageError } from './command.ts'
import { holds } from './holds.ts'
import { runCommand } from './testing.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, holds, ...args)
let regions: Record<string, number> = {}

before(async () => {
  regions = await seedRegions(database.postgres, ['ams', 'fra'])
})

const findings = JSON.stringify([{ reason: 'no_rows', attrs: { routes: 4 } }])
const changes = JSON.stringify([
  { router: 'r1', prefix: '198.51.100.0/24', from: 'AS1 via 192.0.2.1', to: 'AS1 via 192.0.2.2' },
])

async function openHold(region: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into holds (region_id, reason, findings, withdrawals, changes)
    values (${regions[region]}, 'too_many_withdrawals', ${findings}, '{192.0.2.0/24,2001:db8::/32}', ${changes})
    returning id`.execute(db)
  return rows[0]!.id
}

test('open holds are listed with the routes that they would withdraw, and decided once', async () => {
  assert.equal(await pharos('list'), 'No holds match.\n')
  const [ams, fra] = [await openHold('ams'), await openHold('fra')]
  const listed = await pharos('list')
  assert.match(
    listed,
    new RegExp(
      `^hold ${fra}  region fra  open .*\\n  The database has no row .*4 routes\\.\\n  192\\.0\\.2\\.0/24\\n`,
    ),
  )
  assert.match(listed, /\n {2}198\.51\.100\.0\/24 {2}on r1: AS1 via 192\.0\.2\.1 -> AS1 via 192\.0\.2\.2\n/)
  assert.match(await pharos('show', String(ams)), /\n {2}192\.0\.2\.0\/24 {2}no team {2}no request found\n/)
  const shown = JSON.parse(await pharos('show', String(ams), '--json')) as { items: unknown[] }
  assert.equal(shown.items.length, 2)
  assert.match(await pharos('list', '--region', 'ams'), new RegExp(`^hold ${ams} `))
  assert.match(await pharos('approve', String(ams)), /region ams  approved/)
  assert.match(await pharos('approve', String(ams)), /region ams  approved/)
  await assert.rejects(
    pharos('reject', String(ams)),
    (error) => error instanceof Failure && error.code === 'conflict',
  )
  assert.match(await pharos('reject', String(fra)), /region fra  rejected/)
  assert.equal(await pharos('list'), 'No holds match.\n')
  const all = JSON.parse(await pharos('list', '--state', 'all', '--limit', '1', '--json')) as {
    results: { id: number; state: string }[]
    count: number
  }
  assert.deepEqual([all.results.map(({ id, state }) => [id, state]), all.count], [[[fra, 'rejected']], 2])
  assert.match(await pharos('list', '--state', 'all', '--limit', '1'), /\n1 more: --limit\n$/)
  const { rows } = await sql`
    select actor, target from audit_entries where action = 'hold.decide' order by id`.execute(db)
  assert.deepEqual(rows, [
    { actor: 'operator', target: `hold:${ams}` },
    { actor: 'operator', target: `hold:${fra}` },
  ])
})

test('a decision notifies the reconcilers', async () => {
  const client = await database.postgres.directConnection()
  const received: (string | undefined)[] = []
  client.on('notification', ({ payload }) => void received.push(payload))
  await client.query('listen pharos')
  await pharos('approve', String(await openHold('ams')))
  await client.query('select')
  await client.end()
  assert.ok(received.includes('holds'))
})

test('a hold that does not exist, and a command that does not', async () => {
  await assert.rejects(pharos('approve', '999'), /no such hold/)
  await assert.rejects(pharos('show', '999'), /no such hold/)
  for (const args of [
    [],
    ['drop', '1'],
    ['approve'],
    ['approve', 'x'],
    ['approve', '1', '2'],
    ['list', '--state', 'closd'],
  ]) {
    await assert.rejects(pharos(...args), UsageError, args.join(' '))
  }
})

test('a decision about a hold of DNS names the evidence that the list has shown', async () => {
  const { rows } = await sql<{ id: number }>`
    insert into dns_holds (kind, reason, attrs, evidence)
    values ('catalog', 'many_removals', '{"count": 1, "sets": ["gone.example."]}', 'abc123') returning id`.execute(
    db,
  )
  const id = String(rows[0]!.id)
  assert.match(
    await pharos('dns', 'list'),
    new RegExp(`^hold ${id}  catalog zone .* 1 removal  evidence abc123\n`),
  )
  for (const verb of ['approve', 'reject']) {
    await assert.rejects(() => pharos('dns', verb, id), UsageError)
    await assert.rejects(
      () => pharos('dns', verb, id, 'abc124'),
      (error) => error instanceof Failure && error.code === 'conflict',
    )
  }
  assert.match(await pharos('dns', 'approve', id, 'abc123'), /catalog {2}approved/)
})

test('holds of shield are listed and decided in the same way', async () => {
  assert.equal(await pharos('shield', 'list'), 'No holds are open.\n')
  const { rows } = await sql<{ id: number }>`
    insert into shield_holds (scrubber, reason, attrs, evidence)
    values ('edge', 'no_lists', '{"count": 1, "rules": 2, "prefixes": ["198.18.0.0/24"]}', 'a test') returning id`.execute(
    db,
  )
  const id = String(rows[0]!.id)
  assert.match(
    await pharos('shield', 'list'),
    new RegExp(
      `^hold ${id}  scrubber edge  open  \\S+  no_lists\n  The database has no list at all.*\n  198\\.18\\.0\\.0/24\n$`,
    ),
  )
  assert.match(await pharos('shield', 'approve', id), /scrubber edge {2}approved/)
  await assert.rejects(
    () => pharos('shield', 'reject', id),
    (error) => error instanceof Failure && error.code === 'conflict',
  )
  await assert.rejects(() => pharos('shield', 'show', id), UsageError)
})
