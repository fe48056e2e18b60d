import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertApprovalRow, withdrawalsOf } from '../approval/testing.ts'
import { sql } from 'kysely'
import { seedRegions } from '../byoip/announcement/testing.ts'
import { createTestDatabase } from '../db/testing.ts'
import { Failure } from '../runtime/error.ts'
import { UsageError } from './command.ts'
import { approvals } from './approvals.ts'
import { runCommand } from './testing.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, approvals, ...args)
let regions: Record<string, number> = {}

before(async () => {
  regions = await seedRegions(database.postgres, ['ams', 'fra'])
})

const change = { value: '198.51.100.0/24', from: 'AS1 via 192.0.2.1', to: 'AS1 via 192.0.2.2' }
const openRoutes = (region: string) =>
  insertApprovalRow(db, {
    area: 'routes',
    kind: 'changes',
    regionId: regions[region]!,
    reason: 'no_rows',
    attrs: { routes: 4 },
    items: [
      ...withdrawalsOf(['192.0.2.0/24', '2001:db8::/32']),
      { change: 'replace', router: 'r1', ...change },
    ],
  })

test('open approvals are listed and shown with their changes, and decided once', async () => {
  assert.equal(await pharos('list'), 'No approvals match.\n')
  const [ams, fra] = [await openRoutes('ams'), await openRoutes('fra')]
  assert.match(
    await pharos('list'),
    new RegExp(
      `^approval ${fra}  routes  fra  open  \\S+  no_rows  3 changes\\n  The database has no row .*4 routes\\.\\napproval ${ams} `,
    ),
  )
  const described = await pharos('show', String(ams))
  assert.match(described, /\n {2}withdraw 192\.0\.2\.0\/24 {2}no team {2}no request found\n/)
  assert.match(
    described,
    /\n {2}replace 198\.51\.100\.0\/24 on r1: AS1 via 192\.0\.2\.1 -> AS1 via 192\.0\.2\.2 {2}no team/,
  )
  const shown = JSON.parse(await pharos('show', String(ams), '--json')) as { items: unknown[] }
  assert.equal(shown.items.length, 3)
  assert.match(await pharos('list', '--region', 'ams'), new RegExp(`^approval ${ams} `))
  assert.match(
    await pharos('approve', String(ams), '--note', 'by telephone'),
    /ams {2}approved.*\n.*\n {2}note: by telephone\n$/,
  )
  assert.match(await pharos('approve', String(ams)), /ams {2}approved/)
  await assert.rejects(
    pharos('reject', String(ams)),
    (error) => error instanceof Failure && error.code === 'conflict',
  )
  assert.match(await pharos('reject', String(fra)), /fra {2}rejected/)
  assert.equal(await pharos('list'), 'No approvals match.\n')
  const all = JSON.parse(await pharos('list', '--state', 'all', '--limit', '1', '--json')) as {
    results: { id: number; state: string }[]
    count: number
  }
  assert.deepEqual([all.results.map(({ id, state }) => [id, state]), all.count], [[[fra, 'rejected']], 2])
  assert.match(await pharos('list', '--state', 'all', '--limit', '1'), /\n1 more: --limit\n$/)
  const { rows } = await sql`
    select actor, target from audit_entries where action = 'approval.decide' order by id`.execute(db)
  assert.deepEqual(rows, [
    { actor: 'operator', target: `approval:${ams}` },
    { actor: 'operator', target: `approval:${fra}` },
  ])
})

test('a decision notifies the loops of its area', async () => {
  const client = await database.postgres.directConnection()
  const received: (string | undefined)[] = []
  client.on('notification', ({ payload }) => void received.push(payload))
  await client.query('listen pharos')
  for (const [area, id] of Object.entries(await openEach())) {
    await pharos('approve', String(id))
    await client.query('select')
    assert.equal(received.at(-1), wakes[area as keyof typeof wakes])
  }
  await client.end()
})

const wakes = { routes: 'approvals', dns: 'dns', shield: 'shield', platform: 'imports' } as const

/** Opens an approval in each area. */
const openEach = async () => ({
  routes: await openRoutes('ams'),
  dns: await insertApprovalRow(db, {
    area: 'dns',
    kind: 'catalog',
    reason: 'many_removals',
    items: [{ change: 'remove', value: 'gone.example.' }],
  }),
  shield: await insertApprovalRow(db, {
    area: 'shield',
    kind: 'no_lists',
    scrubber: 'edge',
    reason: 'no_lists',
    attrs: { count: 1, rules: 2 },
    items: [{ change: 'remove', value: '198.18.0.0/24', router: 'edge' }],
  }),
  platform: await insertApprovalRow(db, {
    area: 'platform',
    kind: 'import',
    reason: 'many_deletions',
    attrs: { source: 'NetBox', deletions: [{ count: 4, noun: 'devices', max: 3 }] },
    items: [{ change: 'remove', value: 'device sw1' }],
  }),
})

test('approvals of each area are listed by it, and shown', async () => {
  const ids = await openEach()
  const lines = {
    routes: /withdraw 192\.0\.2\.0\/24 {2}no team/,
    dns: /^approval \d+ {2}dns {2}catalog zone {2}open .*\n.*\n {2}remove gone\.example\.\n$/,
    shield:
      /^approval \d+ {2}shield {2}edge .*\n {2}The database has no list at all.*\n {2}remove 198\.18\.0\.0\/24 on edge\n$/,
    platform: /^approval \d+ {2}platform {2}NetBox .*\n.*4 devices.*\n {2}remove device sw1\n$/,
  }
  for (const [area, id] of Object.entries(ids)) {
    const listed = await pharos('list', '--area', area)
    assert.match(listed, new RegExp(`^approval ${id}  ${area} `))
    assert.equal(listed.match(/^approval /gm)?.length, 1)
    assert.match(await pharos('show', String(id)), lines[area as keyof typeof lines])
  }
  assert.equal((await pharos('list', '--area', 'dns,shield')).match(/^approval /gm)?.length, 2)
})

test('an approval that does not exist, and a command that does not', async () => {
  await assert.rejects(pharos('approve', '999'), /no such approval/)
  await assert.rejects(pharos('show', '999'), /no such approval/)
  for (const args of [
    [],
    ['drop', '1'],
    ['approve'],
    ['approve', 'x'],
    ['approve', '1', '2'],
    ['list', '--state', 'closd'],
    ['list', '--area', 'roads'],
  ]) {
    await assert.rejects(pharos(...args), UsageError, args.join(' '))
  }
})
