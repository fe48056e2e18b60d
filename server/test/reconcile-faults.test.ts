// R3: for any fault between the database and the plan, at most three routes are withdrawn, and an approval is opened:
// in full runs, and in quick runs before a full one.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { removalsMax } from '../src/approval/budget.ts'
import type { PlanRow } from '../src/byoip/regions/plan.ts'
import { quickRun, type KnownRegion } from '../src/byoip/regions/quick-run.ts'
import { reconcileRegion } from '../src/byoip/regions/reconcile.ts'
import { readMovingRows, readRegionRows } from '../src/byoip/regions/plan-row.store.ts'
import { routerOf } from '../src/byoip/regions/testing.ts'
import { RegionLock, type RegionLease } from '../src/byoip/regions/region-lock.store.ts'
import { seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { scaled } from '../src/runtime/testing-scale.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

const announced = 40
const resting = 20
const router = sandboxRegion('faults')
const speaker = createSandboxSpeaker({ region: 'faults' })

let database: TestDatabase
let region: number
let elsewhere: number
let team: number
let lock: RegionLock
let lease: RegionLease

before(async () => {
  database = await createTestDatabase()
  const regions = await seedRegions(database.postgres, ['ams', 'fra'])
  region = regions.ams!
  elsewhere = regions.fra!
  team = await seedTeam(database.postgres, 'ours')
  lock = new RegionLock(database.postgres, region)
  lease = (await lock.hold())!
})
after(async () => {
  await lock.release()
  await database[Symbol.asyncDispose]()
})

type Fault =
  | { readonly name: string; readonly rows: (rows: PlanRow[]) => readonly PlanRow[] }
  | { readonly name: string; readonly statement: ReturnType<typeof sql> }

/** The rows that a faulty query would return to the planner. `dice` are numbers below 1. */
const faults: Record<string, (dice: readonly [number, number]) => Fault> = {
  emptyFilter: () => ({ name: 'an empty result', rows: () => [] }),
  truncatedPage: ([a]) => ({
    name: 'a truncated page',
    rows: (rows) => rows.slice(0, Math.floor(a * announced)),
  }),
  droppedRows: ([a]) => {
    const step = 2 + Math.floor(a * 8)
    return { name: 'every nth row missing', rows: (rows) => rows.filter((_, at) => at % step !== 0) }
  },
  otherRegion: () => ({
    name: 'rows of another region',
    rows: (rows) => rows.map((row) => ({ ...row, regionId: elsewhere })),
  }),
  shiftedJoin: ([a]) => ({
    name: 'each row joined with a neighbour',
    rows: (rows) =>
      rows.map((row, at) => ({
        ...row,
        desired: rows[(at + announced / 2 + Math.floor(a * 10)) % rows.length]!.desired,
      })),
  }),
  crossJoin: () => ({
    name: 'each row joined with both answers',
    rows: (rows) => rows.flatMap((row) => [row, { ...row, desired: !row.desired }]),
  }),
  nullRegion: ([a, b]) => ({
    name: 'rows without a region',
    rows: (rows) => some(rows, a, b, (row) => ({ ...row, regionId: null as never })),
  }),
  nullDesired: ([a, b]) => ({
    name: 'rows without values',
    rows: (rows) => some(rows, a, b, (row) => ({ ...row, desired: null as never })),
  }),
  garbledPrefix: ([a, b]) => ({
    name: 'prefixes that cannot be parsed',
    rows: (rows) => some(rows, a, b, (row) => ({ ...row, prefix: row.prefix.slice(0, 5) })),
  }),
  duplicatedRows: ([a, b]) => ({
    name: 'duplicate rows',
    rows: (rows) => [...rows, ...some(rows, a, b, (row) => row).slice(0, 1 + Math.floor(a * rows.length))],
  }),
  allFlipped: () => ({
    name: 'all rows flipped',
    rows: (rows) => rows.map((row) => ({ ...row, desired: false })),
  }),
  // The same faults in the database itself: the last check before the call sees the same rows as the plan.
  unconfigured: () => ({
    name: 'an update without a where',
    statement: sql`update announcement_regions set configured = false`,
  }),
  disabled: () => ({ name: 'everything disabled', statement: sql`update announcements set enabled = false` }),
  suspended: () => ({
    name: 'everything suspended',
    statement: sql`update announcements set suspended = true, suspended_by = 'staff'`,
  }),
  deleted: ([a]) => ({
    name: 'rows deleted',
    statement: sql`delete from announcement_regions where announcement_id % 60 >= ${Math.floor(a * 30)}`,
  }),
  otherRegionStored: () => ({
    name: 'rows moved to another region',
    statement: sql`update announcement_regions set region_id = ${elsewhere}`,
  }),
}

/** Changes a series of rows, including at least one announced row. */
function some(rows: PlanRow[], a: number, b: number, change: (row: PlanRow) => PlanRow): PlanRow[] {
  const from = Math.floor(a * (announced - 1))
  const to = from + 1 + Math.floor(b * rows.length)
  return rows.map((row, at) => (at >= from && at < to ? change(row) : row))
}

/** Forty announced and twenty disabled prefixes, all in their desired state. */
async function start(): Promise<void> {
  const { owner } = database.postgres
  await emptyTables(owner, ['announcements', 'approvals', 'region_withdrawals'], { restart: true })
  await sql`
    insert into announcements (team_id, prefix, origin_asn, enabled, status, irr_validated, rpki_validated, loa_validated,
      vouched, clearance, claimed, checked_origin)
    select ${team}, ('10.0.' || n || '.0/24')::cidr, 64496, n < ${announced}, 'announced', now(), now(), now(),
      '{irr,rpki,loa}', 'passed', now(), 64496
    from generate_series(0, ${announced + resting - 1}) n`.execute(owner)
  await sql`
    insert into announcement_regions (announcement_id, region_id, team_id, configured, state)
    select id, ${region}, team_id, true, case when enabled then 'announced' else 'withdrawn' end
    from announcements`.execute(owner)
  router.restart()
  await run()
  assert.equal(router.table('pharos').size, announced)
}

const common = () => ({
  db: database.postgres.owner,
  routers: [routerOf(speaker)],
  quorum: null,
  gate: openGate,
  now: () => new Date(),
  elapsedMs: () => performance.now(),
})

/** The rows of the last full run without a fault. */
let known: KnownRegion

async function run(fault?: Fault): Promise<void> {
  const readRows = async (...args: Parameters<typeof readRegionRows>) => {
    const rows = await readRegionRows(...args)
    return fault && 'rows' in fault ? fault.rows(rows) : rows
  }
  const report = await reconcileRegion({ ...common(), readRows }, lease)
  if (!fault) known = report
}

/** For a fault in the query, the quick run has lost its condition as well: it reads the whole region. */
async function runQuickly(fault: Fault): Promise<void> {
  const readMoving = async (...args: Parameters<typeof readRegionRows>) =>
    'rows' in fault ? fault.rows(await readRegionRows(...args)) : readMovingRows(...args)
  await quickRun({ ...common(), readMoving }, lease, known)
}

/** Marks every row changed by a faulty statement as toggled, as the same bug in the product would. */
async function putInMotion(): Promise<void> {
  await sql`
    update announcement_regions ar set state = 'withdrawing', reason = null from announcements a
    where a.id = ar.announcement_id and ar.state = 'announced'
      and not (a.enabled and ar.configured and not a.suspended)`.execute(database.postgres.owner)
}

async function openApprovals(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) n from approvals where state = 'open'`.execute(
    database.postgres.owner,
  )
  return rows[0]!.n
}

it('never withdraws more than three routes because of a fault, and always asks staff', async (t) => {
  assert.equal(removalsMax(announced), 3)
  const names = Object.keys(faults)
  const seen = new Map<string, number>()
  const numRuns = scaled(100)
  const anyFault = fc.record({
    kind: fc.constantFrom(...names),
    dice: fc.tuple(
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
    ),
    runs: fc.integer({ min: 1, max: 3 }),
    /** Quick runs before the full ones. */
    quick: fc.integer({ min: 0, max: 3 }),
  })
  type Example = { kind: string; dice: [number, number]; runs: number; quick: number }
  const examples = names.flatMap((kind) =>
    [0, 2].map((quick): [Example] => [{ kind, dice: [0.5, 0.5], runs: 2, quick }]),
  )
  await fc.assert(
    fc.asyncProperty(anyFault, async ({ kind, dice, runs, quick }) => {
      const key = quick > 0 ? `${kind} (quick)` : kind
      seen.set(key, (seen.get(key) ?? 0) + 1)
      await start()
      const fault = faults[kind]!(dice)
      if ('statement' in fault) await fault.statement.execute(database.postgres.owner)
      if ('statement' in fault && quick > 0) await putInMotion()
      for (let at = 0; at < quick; at++) await runQuickly(fault)
      assert.equal(await openApprovals(), 0, 'a quick run opens no approval')
      for (let at = 0; at < runs; at++) await run(fault)
      const withdrawn =
        announced - [...router.table('pharos').keys()].filter((prefix) => isAnnounced(prefix)).length
      assert.ok(withdrawn <= 3, `${fault.name}: ${withdrawn} withdrawn`)
      assert.equal(await openApprovals(), 1, `${fault.name}: no approval`)
    }),
    { numRuns, examples, endOnFailure: true },
  )
  t.diagnostic(`faults injected: ${[...seen].map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
})

const isAnnounced = (prefix: string): boolean => Number(prefix.split('.')[2]) < announced

it('converges by itself after the fault', async () => {
  for (const kind of ['emptyFilter', 'otherRegion', 'duplicatedRows', 'allFlipped']) {
    await start()
    await run(faults[kind]!([0.5, 0.5]))
    await run()
    assert.equal(router.table('pharos').size, announced)
    assert.equal(await openApprovals(), 0)
    const { rows } =
      await sql`select state, count(*) n from announcement_regions group by state order by state`.execute(
        database.postgres.owner,
      )
    assert.deepEqual(rows, [
      { state: 'announced', n: announced },
      { state: 'withdrawn', n: resting },
    ])
  }
})
