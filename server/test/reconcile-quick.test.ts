// The quick run against a real database and the sandbox speaker: it processes toggled rows only, and leaves everything that a check
// of the whole region could let wait to the full run.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { insertApprovalRow } from '../src/approval/testing.ts'
import { sql } from 'kysely'
import { planAgeMsMax } from '../src/byoip/regions/region-run.ts'
import { getAnnouncement } from '../src/byoip/announcement/list-announcements.ts'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import type { PlanRow } from '../src/byoip/regions/plan.ts'
import { quickRun, type KnownRegion, type QuickRunDeps } from '../src/byoip/regions/quick-run.ts'
import { reconcileRegion, type ReconcileDeps } from '../src/byoip/regions/reconcile.ts'
import {
  movingMax,
  movingRowsQuery,
  readMovingRows,
  readRegionRows,
} from '../src/byoip/regions/plan-row.store.ts'
import { confirmWithdrawals } from '../src/byoip/regions/reconcile.store.ts'
import { emptyMemory, routerOf } from '../src/byoip/regions/testing.ts'
import { RegionLock, type RegionLease } from '../src/byoip/regions/region-lock.store.ts'
import type { Speaker } from '../src/byoip/regions/speaker.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
  seedTeams,
  teamOf,
} from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

let database: TestDatabase
let region: number
let team: number
let teams: number[]
let lock: RegionLock
let lease: RegionLease
let known: KnownRegion
const router = sandboxRegion('quick')
const speaker = createSandboxSpeaker({ region: 'quick' })

before(async () => {
  database = await createTestDatabase()
  region = (await seedRegions(database.postgres, ['ams'])).ams!
  team = await seedTeam(database.postgres, 'ours')
  teams = await seedTeams(database.postgres, 10)
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, ['announcements', 'approvals', 'region_withdrawals'])
  router.down = false
  router.refuses = () => false
  router.keeps = () => false
  router.restart()
  lock = new RegionLock(database.postgres, region)
  lease = (await lock.hold())!
})
afterEach(() => lock.release())

const write = (statement: ReturnType<typeof sql>) => statement.execute(database.postgres.owner)
const common = () => ({
  db: database.postgres.owner,
  routers: [routerOf(speaker)],
  quorum: null,
  gate: openGate,
  now: () => new Date(),
  elapsedMs: () => performance.now(),
})
const reconcile = async (rest: Partial<ReconcileDeps> = {}) =>
  (known = await reconcileRegion({ ...common(), readRows: readRegionRows, ...rest }, lease))
const quick = (rest: Partial<QuickRunDeps> = {}, found = known) =>
  quickRun({ ...common(), readMoving: readMovingRows, ...rest }, lease, found)
const disable = (ids: readonly number[]) => disableWithoutRequest(database.postgres, ids)
const patch = async (id: number, enabled: boolean, now = new Date()) =>
  patchAnnouncement(
    { postgres: database.postgres, memberToggle: true, now: () => now },
    operationOf(await teamOf(database.postgres, id)),
    id,
    { enabled },
  )
const prefixAt = (at: number) => `10.0.${at}.0/24`
const seed = (prefix: string, enabled = true, teamId = team) =>
  seedAnnouncement(database.postgres, { teamId, prefix, enabled, regions: [region] })
const onRouter = () => [...router.table('pharos').keys()].sort()
type Row = { state: string; reason: string | null; status: string }
const rowOf = async (id: number): Promise<Row> => {
  const { rows } = await sql<Row>`
    select ar.state, ar.reason, a.status from announcement_regions ar join announcements a on a.id = ar.announcement_id
    where a.id = ${id}`.execute(database.postgres.owner)
  return rows[0]!
}
const stateOf = async (id: number) => (await rowOf(id)).state
const regionRow = async () =>
  (
    await sql<{ last_check: Date | null; last_check_result: boolean; last_error: string | null }>`
      select last_check, last_check_result, last_error from regions where id = ${region}`.execute(
      database.postgres.owner,
    )
  ).rows[0]!
const approvals = async () =>
  (await sql<{ state: string }>`select state from approvals order by id`.execute(database.postgres.owner))
    .rows

/** Creates announced prefixes, in the state after a full run. */
async function announceMany(count: number): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at++) ids.push(await seed(prefixAt(at), true, teams[at]))
  await reconcile()
  assert.equal(onRouter().length, count)
  return ids
}

/** Returns the speaker as a plain object, so that a test can replace a method. */
const forward = (rest: Partial<Speaker>): Speaker => ({
  probe: () => speaker.probe(),
  list: () => speaker.list(),
  find: (prefixes) => speaker.find(prefixes),
  advertised: (...args) => speaker.advertised(...args),
  announce: (routes) => speaker.announce(routes),
  withdraw: (routes) => speaker.withdraw(routes),
  neighbors: () => speaker.neighbors(),
  watch: (events) => speaker.watch(events),
  close: async () => {},
  ...rest,
})
const neverCalled = () => assert.fail('the router is read')

describe('a quick run', () => {
  it('announces and withdraws toggled rows, reads no other routes, and stores the observed states', async () => {
    const ids = await announceMany(4)
    const late = await seed('203.0.113.0/24', false)
    const asked: string[][] = []
    const find: Speaker['find'] = (prefixes) => {
      asked.push(prefixes.toSorted())
      return speaker.find(prefixes)
    }
    await patch(ids[0]!, false)
    await patch(late, true)
    const steps: string[][] = []
    const kept: QuickRunDeps['kept'] = {
      forget: (prefixes) => steps.push(['forget', ...prefixes]),
      remember: async (afters, among) => {
        steps.push(['remember', ...afters.flatMap(({ after }) => [...after.keys()]), 'among', ...among!])
      },
    }
    const report = await quick({ kept, routers: [routerOf(forward({ list: neverCalled, find }))] })
    assert.deepEqual(report, { moving: 2, announced: 1, withdrawn: 1, refused: 0, full: 'soon' })
    assert.deepEqual(steps, [
      ['forget', prefixAt(0)],
      ['remember', '203.0.113.0/24', 'among', prefixAt(0), '203.0.113.0/24'],
    ])
    assert.deepEqual(onRouter(), [prefixAt(1), prefixAt(2), prefixAt(3), '203.0.113.0/24'])
    assert.deepEqual(asked, [
      [prefixAt(0), '203.0.113.0/24'],
      [prefixAt(0), '203.0.113.0/24'],
    ])
    assert.deepEqual(await rowOf(ids[0]!), { state: 'withdrawn', reason: null, status: 'withdrawn' })
    assert.deepEqual(await rowOf(late), { state: 'announced', reason: null, status: 'announced' })
  })

  it('queries the database once and the router never if nothing is in motion', async () => {
    await announceMany(2)
    const untouched: RegionLease = { ...lease, readMemory: neverCalled }
    const idle = forward({ list: neverCalled, find: neverCalled, announce: neverCalled })
    const report = await quickRun(
      { ...common(), readMoving: readMovingRows, routers: [routerOf(idle)] },
      untouched,
      known,
    )
    assert.deepEqual([report.moving, report.full], [0, undefined])
  })

  it('finds the rows in motion by an index, however large the region is', async () => {
    await write(sql`
      insert into announcements (team_id, prefix, origin_asn, irr_validated, rpki_validated, loa_validated,
        vouched, clearance, claimed, checked_origin)
      select ${team}, ('10.' || n / 256 || '.' || n % 256 || '.0/24')::cidr, 64496, now(), now(), now(),
        '{irr,rpki,loa}', 'passed', now(), 64496
      from generate_series(1, 3000) n`)
    await write(sql`
      insert into announcement_regions (announcement_id, region_id, team_id, configured, state)
      select id, ${region}, team_id, true, 'announcing' from announcements`)
    // The count runs while all rows are in motion, as after the first load, and is not repeated.
    await write(sql`vacuum analyze announcement_regions, announcements`)
    await write(sql`update announcement_regions set state = 'announced'`)
    const { rows } = await sql<Record<string, string>>`explain ${movingRowsQuery(region)}`.execute(
      database.postgres.owner,
    )
    const steps = rows.map((row) => row['QUERY PLAN']).join('\n')
    assert.match(steps, /using announcement_regions_in_motion/)
    assert.doesNotMatch(steps, /Seq Scan/)
  })

  it('does not mark the region as checked, nor as failed if its router is unreachable', async () => {
    const [id] = await announceMany(1)
    const { last_check } = await regionRow()
    await patch(id!, false)
    await quick()
    assert.deepEqual((await regionRow()).last_check, last_check)
    await patch(id!, true)
    router.down = true
    await assert.rejects(quick(), /disabled/)
    const failed = await regionRow()
    assert.deepEqual([failed.last_check, failed.last_check_result], [last_check, false])
    assert.equal((await rowOf(id!)).status, 'announcing')
  })

  it('adds announcements, withdrawals and refusals of the router to the history, with their duration', async () => {
    const id = await seed('203.0.113.0/24', false)
    await reconcile()
    await patch(id, true, new Date(Date.now() - 250))
    await quick()
    await patch(id, false)
    await quick()
    router.refuses = () => true
    await patch(id, true)
    await quick()
    await quick()
    const { rows } = await sql<{ kind: string; took_ms: number | null; detail: object }>`
      select kind, took_ms, detail from announcement_history
      where announcement_id = ${id} and region_id = ${region} and team_id = ${team} and actor = 'reconciler'
      order by id`.execute(database.postgres.owner)
    assert.deepEqual(
      rows.map(({ kind, detail }) => [kind, detail]),
      [
        ['announced', {}],
        ['withdrawn', {}],
        ['refused', { reason: 'refused' }],
      ],
    )
    const [announced, withdrawn, refused] = rows.map((row) => row.took_ms)
    assert.ok(announced! >= 250 && announced! < 60_000, `${announced} ms`)
    assert.ok(withdrawn! >= 0 && withdrawn! < 60_000, `${withdrawn} ms`)
    assert.equal(refused, null)
  })

  it('reports each change once with its time since the request, also over restarts of the router', async () => {
    const id = await seed('203.0.113.0/24', false)
    await reconcile()
    let settled: number[] = []
    const onSettled = (tookMs: readonly number[]) => void settled.push(...tookMs)
    const settledBy = async (run: () => Promise<unknown>) => {
      settled = []
      await run()
      return settled
    }
    const within = ([one, ...others]: readonly number[], min: number, max: number) =>
      assert.ok(one! >= min && one! <= max && others.length === 0, String([one, ...others]))
    const hourMs = 3_600_000
    const shown = async () => {
      const { body } = await getAnnouncement(
        { postgres: database.postgres, now: () => new Date() },
        operationOf(await teamOf(database.postgres, id)),
        id,
        { include: 'region_states' },
      )
      return body.region_states![0]!
    }
    await patch(id, true, new Date(Date.now() - hourMs))
    router.down = true
    await assert.rejects(quick({ onSettled }), /disabled/)
    router.down = false
    within(await settledBy(() => quick({ onSettled })), hourMs, hourMs + 60_000)
    assert.deepEqual(await settledBy(() => reconcile({ onSettled })), [])
    const { took_ms: took } = await shown()
    assert.ok(took! >= hourMs, String(took))

    router.restart()
    const only = {
      readRows: readRegionRows,
      onSettled,
      routers: [routerOf(forward({ announce: async () => {} }))],
    }
    assert.deepEqual(await settledBy(() => reconcile(only)), [])
    assert.equal(await stateOf(id), 'announcing')
    assert.deepEqual(await settledBy(() => reconcile({ onSettled })), [])
    assert.equal(await stateOf(id), 'announced')
    assert.equal((await shown()).took_ms, took)

    await patch(id, false)
    within(await settledBy(() => quick({ onSettled })), 0, 60_000)
    const { rows } = await sql<{ took_ms: number | null }>`
      select took_ms from announcement_history where announcement_id = ${id} and actor = 'reconciler' order by id`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(
      rows.map(({ took_ms: ms }) => ms !== null),
      [true, false, true],
    )
  })

  it('reports no change of before that an older release has saved', async () => {
    const id = await seed('203.0.113.0/24', false)
    await reconcile()
    await patch(id, true, new Date(Date.now() - 3_600_000))
    await quick()
    await write(sql`update announcement_regions set settled = null`)
    const settled: number[] = []
    const onSettled = (tookMs: readonly number[]) => void settled.push(...tookMs)
    router.restart()
    await reconcile({ onSettled, routers: [routerOf(forward({ announce: async () => {} }))] })
    await reconcile({ onSettled })
    assert.deepEqual([await stateOf(id), settled], ['announced', []])
  })

  it('leaves a row unchanged that was toggled while it ran', async () => {
    const [id] = await announceMany(1)
    await patch(id!, false)
    let found = 0
    const find: Speaker['find'] = async (prefixes) => {
      const routes = await speaker.find(prefixes)
      if (found++ === 1) await patch(id!, true)
      return routes
    }
    await quick({ routers: [routerOf(forward({ find }))] })
    assert.deepEqual([await stateOf(id!), onRouter()], ['announcing', []])
    await quick()
    assert.deepEqual([await stateOf(id!), onRouter()], ['announced', [prefixAt(0)]])
  })

  it('withdraws nothing that was enabled again before the confirmation', async () => {
    const [id] = await announceMany(1)
    await patch(id!, false)
    const rows = await readMovingRows(database.postgres.owner, region)
    await patch(id!, true)
    const report = await quick({ readMoving: async () => rows })
    assert.deepEqual([report.withdrawn, onRouter()], [0, [prefixAt(0)]])
  })
})

describe('work that a quick run leaves to the full run', () => {
  const leaves = async (rest: Partial<QuickRunDeps> = {}, found = known) => {
    const before = onRouter()
    const held = await approvals()
    const report = await quick(rest, found)
    assert.deepEqual([report.withdrawn, report.full], [0, 'now'])
    for (const prefix of before) assert.ok(onRouter().includes(prefix), `${prefix} is gone`)
    assert.deepEqual(await approvals(), held, 'it writes no approval')
    return report
  }

  it('is everything, if more rows were toggled than it reads', async () => {
    await announceMany(1)
    const rows: PlanRow[] = Array.from({ length: movingMax + 1 }, (_, at) => {
      const row = {
        announcementId: at,
        teamId: team,
        regionId: region,
        originAsn: 64496,
        checkedOrigin: 64496,
        desired: true,
        requested: false,
        state: 'announcing',
      }
      return {
        ...row,
        prefix: `10.1.${at}.0/24`,
        reason: null,
        attrs: null,
        announcedOrigin: null,
        changedMs: null,
        changedEntry: null,
        limitMs: null,
      } as PlanRow
    })
    assert.equal((await leaves({ readMoving: async () => rows })).announced, 0)
    assert.equal((await quick({ readMoving: async () => rows.slice(0, movingMax) })).announced, movingMax)
  })

  it('is every withdrawal if there are too many; announcements are sent', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 4))
    const late = await seed('203.0.113.0/24')
    const report = await leaves()
    assert.deepEqual([report.announced, await stateOf(late)], [1, 'announced'])
    const { state, reason } = await rowOf(ids[0]!)
    assert.deepEqual([state, reason], ['withdrawing', null])
    assert.equal((await reconcile()).held, 4)
  })

  it('is counted over the whole region, not over the toggled rows', async () => {
    const ids = await announceMany(5)
    await disable(ids)
    await leaves({}, { ...known, observed: 99 })
    const report = await quick({}, { ...known, observed: 100 })
    assert.deepEqual([report.withdrawn, report.full], [5, 'soon'])
  })

  it('is a withdrawal that exceeds the budget together with those of the last ten minutes', async () => {
    const ids = await announceMany(10)
    for (const id of ids.slice(0, 2)) {
      await disable([id])
      assert.equal((await quick()).withdrawn, 1)
    }
    await disable(ids.slice(2, 4))
    await leaves()
    await patch(ids[3]!, true)
    assert.equal((await quick()).withdrawn, 1)
    await disable([ids[4]!])
    await leaves()
    assert.equal(onRouter().length, 7)
  })

  it('is no withdrawal that was requested by name, whatever their number and whatever is held', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(6))
    await reconcile()
    for (const id of ids.slice(0, 6)) await patch(id, false)
    const report = await quick()
    assert.deepEqual([report.withdrawn, report.full, onRouter().length], [6, 'soon', 4])
  })

  it('is every withdrawal while an approval is open, because it would belong to it', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 4))
    await reconcile()
    assert.deepEqual(await approvals(), [{ state: 'open' }])
    assert.equal((await quick()).moving, 0, 'rows that wait for staff are not in motion')
    await disable([ids[5]!])
    assert.equal((await leaves()).moving, 1)
    assert.equal((await reconcile()).held, 5)
  })

  it('is every withdrawal if a row is invalid, here or anywhere in the region', async () => {
    const ids = await announceMany(10)
    await disable([ids[0]!])
    await leaves({}, { ...known, quarantined: 1 })
    const bad = await seed('203.0.113.0/24', false)
    await patch(bad, true)
    const readMoving: QuickRunDeps['readMoving'] = async (...args) =>
      (await readMovingRows(...args)).map((row) =>
        row.announcementId === bad ? { ...row, originAsn: 0 } : row,
      )
    const report = await leaves({ readMoving })
    assert.deepEqual([report.moving, report.announced, await stateOf(bad)], [2, 0, 'error'])
    // Staff have approved the invalid row, so that the guard does not report it any more.
    const acknowledged = {
      area: 'routes',
      kind: 'changes',
      reason: 'invalid_rows',
      state: 'rejected',
    } as const
    await insertApprovalRow(database.postgres.owner, { ...acknowledged, regionId: region })
    await patch(bad, false)
    await patch(bad, true)
    await leaves({ readMoving })
  })

  it('is a route that the router reports without a request', async () => {
    const ids = await announceMany(3)
    await disable([ids[0]!])
    const find: Speaker['find'] = () => speaker.list()
    await leaves({ routers: [routerOf(forward({ find }))] })
  })

  it('is what the guard must not count: a damped prefix waits, and is not read again', async () => {
    const [id] = await announceMany(1)
    const start = Date.now() - 10 * 60_000
    for (let at = 0; at < 13; at++) await patch(id!, at % 2 === 1, new Date(start + at * 1000))
    await quick()
    assert.deepEqual(onRouter(), [])
    await patch(id!, true, new Date(start + 13_000))
    await quick()
    assert.deepEqual([onRouter(), await stateOf(id!)], [[], 'announcing'])
    assert.equal((await rowOf(id!)).reason, 'damped')
    assert.equal((await quick()).moving, 0)
  })

  it('is a route that stays: it is reported once, not counted again, and deleted from the state when it is gone', async () => {
    const ids = await announceMany(10)
    const at = new Date()
    router.keeps = (prefix) => prefix === prefixAt(0)
    await patch(ids[0]!, false, at)
    const report = await quick()
    assert.deepEqual([report.withdrawn, report.full], [1, 'soon'])
    assert.deepEqual(await rowOf(ids[0]!), {
      state: 'withdrawing',
      reason: 'withdrawal_sent',
      status: 'withdrawing',
    })
    assert.equal((await quick()).moving, 0)
    const { rows: before } = await sql`select ctid, xmin from announcement_regions`.execute(
      database.postgres.owner,
    )
    for (let run = 0; run < 5; run++) assert.equal((await reconcile()).withdrawn, 1)
    const { rows: after } = await sql`select ctid, xmin from announcement_regions`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(after, before, 'it is not stored again')
    await disable(ids.slice(1, 3))
    assert.equal((await quick()).withdrawn, 2, 'one and two are three')
    router.keeps = () => false
    await reconcile()
    assert.deepEqual(await rowOf(ids[0]!), { state: 'withdrawn', reason: null, status: 'withdrawn' })
    assert.deepEqual(await approvals(), [])
  })
})

describe('if a step of a quick run fails', () => {
  const failsWith = async (pattern: RegExp, rest: Partial<QuickRunDeps>, under = lease) => {
    const before = onRouter()
    await assert.rejects(
      quickRun({ ...common(), readMoving: readMovingRows, ...rest }, under, known),
      pattern,
    )
    assert.deepEqual(onRouter(), before)
  }

  it('nothing is withdrawn, at whichever step, and the region reports it', async () => {
    const ids = await announceMany(3)
    await patch(ids[0]!, false)
    const bare = { ...lease, recordWithdrawals: async () => {} }
    const withoutMemory = { ...bare, readMemory: () => Promise.reject(new Error('connection lost')) }
    const unrecorded: RegionLease = {
      ...bare,
      readMemory: () => lease.readMemory(),
      recordWithdrawals: () => Promise.reject(new Error('not noted')),
    }
    await failsWith(/query failed/, { readMoving: () => Promise.reject(new Error('query failed')) })
    assert.equal((await regionRow()).last_error, 'query failed')
    await failsWith(/connection lost/, {}, withoutMemory)
    await failsWith(/not noted/, {}, unrecorded)
    await failsWith(/no ASN/, {
      routers: [{ ...routerOf(speaker), asn: () => Promise.reject(new Error('no ASN')) }],
    })
    await failsWith(/cut/, { routers: [routerOf(forward({ find: () => Promise.reject(new Error('cut')) }))] })
    await reconcile()
    assert.deepEqual([onRouter(), await stateOf(ids[0]!)], [[prefixAt(1), prefixAt(2)], 'withdrawn'])
  })

  it('nothing of an outdated plan is sent, whichever step took the time', async () => {
    const ids = await announceMany(2)
    await patch(ids[0]!, false)
    // The clock is read at the start, by the guard, and before each call to the router.
    for (const reads of [1, 2, 3]) {
      let calls = 0
      await failsWith(/old/, { elapsedMs: () => (calls++ < reads ? 0 : planAgeMsMax + 1) })
    }
    assert.deepEqual(await approvals(), [])
  })

  it('nothing is sent under a lease that another process has taken over', async () => {
    const ids = await announceMany(2)
    await patch(ids[0]!, false)
    await seed('203.0.113.0/24')
    await write(sql`update regions set epoch = epoch + 1 where id = ${region}`)
    await failsWith(/taken over/, {})
    // The fencing alone, with the epoch read just before.
    const memory = emptyMemory
    await failsWith(/taken over/, {}, { ...lease, readMemory: async () => memory })
  })
})

describe('deleted announcements', () => {
  const remove = (id: number, daysAgo = 0) =>
    write(sql`update announcements set enabled = false, deleted = now() - make_interval(days => ${daysAgo})
      where id = ${id}`)
  const putOnRouter = (prefix: string) =>
    router.table('pharos').set(prefix, { prefix, asPath: [64496], nextHop: '0.0.0.0' } as never)
  const withdrawnBy = async (run: () => Promise<{ withdrawn: number }>) => (await run()).withdrawn

  it('are evidence that a route may be withdrawn, for the full run only', async () => {
    const [id] = await announceMany(2)
    await remove(id!)
    assert.equal(await withdrawnBy(quick), 0)
    assert.equal(await withdrawnBy(reconcile), 1)
    assert.deepEqual(onRouter(), [prefixAt(1)])
  })

  it('are ignored if another announcement has the prefix now', async () => {
    const [id] = await announceMany(1)
    await remove(id!, 1)
    const next = await seed(prefixAt(0))
    const report = await reconcile()
    assert.deepEqual([report.quarantined, report.withdrawn, await stateOf(next)], [0, 0, 'announced'])
    await patch(next, false)
    assert.equal(await withdrawnBy(quick), 1)
    assert.equal(await stateOf(next), 'withdrawn')
  })

  it('count only in their newest version, so that two deletions of one prefix do not conflict', async () => {
    const [first] = await announceMany(1)
    await remove(first!, 2)
    const second = await seed(prefixAt(0), false)
    await remove(second, 1)
    const third = await seed(prefixAt(0), false)
    await remove(third)
    await reconcile()
    assert.deepEqual([known.quarantined, onRouter()], [0, []])
  })

  it('are no evidence if they never held the prefix, even for a new announcement of it', async () => {
    const claim = await seedAnnouncement(database.postgres, {
      teamId: team,
      prefix: '192.0.2.0/24',
      validated: false,
      regions: [region],
    })
    putOnRouter('192.0.2.0/24')
    const gone = await seed('198.51.100.0/24', false)
    await remove(gone)
    await seedAnnouncement(database.postgres, { teamId: team, prefix: '198.51.100.0/24' })
    putOnRouter('198.51.100.0/24')
    assert.equal(await withdrawnBy(reconcile), 0)
    assert.deepEqual([onRouter().length, await stateOf(claim)], [2, 'withdrawn'])
    assert.deepEqual(await approvals(), [{ state: 'open' }])
    const prefixes = ['192.0.2.0/24', '198.51.100.0/24'].map(parsePrefix)
    const confirmed = await lease.fence(database.postgres.owner, (trx) =>
      confirmWithdrawals(trx, region, prefixes, []),
    )
    assert.deepEqual(confirmed, [])
  })

  it('do not confirm a withdrawal of a prefix that another announcement has enabled', async () => {
    const [id] = await announceMany(1)
    const rows = (await readRegionRows(database.postgres.owner, region)).map((row) => ({
      ...row,
      desired: false,
    }))
    await remove(id!)
    await seed(prefixAt(0))
    const report = await reconcile({ readRows: async () => rows })
    assert.deepEqual([report.withdrawn, onRouter()], [0, [prefixAt(0)]])
  })
})
