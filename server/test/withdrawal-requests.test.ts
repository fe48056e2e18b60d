// Which writers explain a withdrawal to the guard. Every statement that can take an announcement off the routers is listed here, with
// whether it counts as a request for exactly this announcement.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { deleteAnnouncement } from '../src/byoip/announcement/delete-announcement.ts'
import { patchAnnouncement, type Patch } from '../src/byoip/announcement/patch-announcement.ts'
import { suspendAnnouncement } from '../src/byoip/announcement/suspend-announcement.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeams,
  seedUser,
  teamOf,
} from '../src/byoip/announcement/testing.ts'
import { guardPlans } from '../src/byoip/regions/guard.ts'
import { planRoutes, type PlanRow } from '../src/byoip/regions/plan.ts'
import { readRegionRows } from '../src/byoip/regions/plan-row.store.ts'
import { settleRoutes } from '../src/byoip/regions/settle-routes.ts'
import { selfNextHop, type Route } from '../src/byoip/regions/speaker.ts'
import { suspendByValidation } from '../src/byoip/announcement/suspend-announcement.ts'
import { applyPolicy } from '../src/byoip/validation/validation-policy.ts'
import { readSubjectsAfter } from '../src/byoip/validation/validation.store.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { applyDocument } from '../src/platform/apply-document.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'

let database: TestDatabase
let regions: Record<string, number>
let teams: number[]
let staff: number

before(async () => {
  database = await createTestDatabase()
  regions = await seedRegions(database.postgres, ['ams', 'fra'])
  teams = await seedTeams(database.postgres, 10)
  staff = await seedUser(database.postgres, 'staff@example.net', true)
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, ['announcements'])
  await emptyAudit(database.postgres.owner)
})

const owner = () => database.postgres.owner
const now = () => new Date()
const prefixAt = (at: number) => parsePrefix(`10.0.${at}.0/24`)
const count = 10

async function announceAll(): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at++) {
    const seed = { teamId: teams[at]!, prefix: prefixAt(at), enabled: true, regions: Object.values(regions) }
    ids.push(await seedAnnouncement(database.postgres, seed))
  }
  await sql`update announcement_regions set state = 'announced'`.execute(owner())
  return ids
}

const asStaff = { actor: { isStaff: true } }
const patch = async (id: number, body: Patch, rest = {}) => {
  const deps = { postgres: database.postgres, memberToggle: true, now }
  const actor = { userId: staff, roles: ['admin'] as const }
  return patchAnnouncement(
    deps,
    operationOf(await teamOf(database.postgres, id), { actor, ...rest }),
    id,
    body,
  )
}
const patchEach =
  (body: Patch, rest = {}) =>
  async (ids: readonly number[]) => {
    for (const id of ids) await patch(id, body, rest)
  }
const staffOperation = () => operationOf(teams[0]!, { actor: { isStaff: true, userId: staff } })
const apply = (document: Record<string, unknown>, query = {}) =>
  applyDocument(
    { db: owner(), ring: createKeyRing(['a-secret-of-at-least-thirty-two-bytes']) },
    staffOperation(),
    document,
    query,
  )
const fileEntries = () =>
  Array.from({ length: count }, (_, at) => ({
    team: `team-${at}`,
    prefix: prefixAt(at) as string,
    origin_asn: 64496,
  }))

/** Routers still have the routes of announcements that were deleted after their states were observed. */
const deleteEach = async (ids: readonly number[]) => {
  await disableWithoutRequest(database.postgres, ids)
  await sql`update announcement_regions set state = 'withdrawn'`.execute(owner())
  const deps = {
    postgres: database.postgres,
    listDependentZones: async () => [],
    listDependentLists: async () => [],
  }
  for (const id of ids)
    await deleteAnnouncement(deps, operationOf(await teamOf(database.postgres, id)), id, { force: false })
  await sql`update announcement_regions set state = 'withdrawing'`.execute(owner())
}

type Writer = {
  readonly file: string
  /** Whether its withdrawals count as requested; undefined: it cannot withdraw a route. */
  readonly explains?: boolean
  readonly write?: (ids: readonly number[]) => Promise<unknown>
}

const testing = 'byoip/announcement/testing.ts'
const announcementFiles = 'byoip/announcement'
const writers: Record<string, Writer> = {
  'PATCH of the team: enabled': {
    file: `${announcementFiles}/patch-announcement.ts`,
    explains: true,
    write: patchEach({ enabled: false }),
  },
  'PATCH of the team: one region': {
    file: `${announcementFiles}/patch-announcement.ts`,
    explains: true,
    write: patchEach({ enabled: false, region: 'ams' }),
  },
  'PATCH of the team: all regions': {
    file: `${announcementFiles}/patch-announcement.ts`,
    explains: true,
    write: patchEach({ regions: ['fra'] }),
  },
  'PATCH of staff': {
    file: `${announcementFiles}/patch-announcement.ts`,
    explains: true,
    write: patchEach({ enabled: false }, asStaff),
  },
  'suspension by staff': {
    file: `${announcementFiles}/suspend-announcement.ts`,
    explains: true,
    write: async (ids) => {
      for (const id of ids)
        await suspendAnnouncement({ db: owner(), now }, staffOperation(), id, { reason: 'Complaint 7.' })
    },
  },
  'DELETE of the team': {
    file: `${announcementFiles}/delete-announcement.ts`,
    explains: true,
    write: deleteEach,
  },
  'suspension by the validation policy': {
    file: 'byoip/validation/validation-policy.ts',
    explains: false,
    write: async () => {
      await sql`update announcements set vouched = '{}'`.execute(owner())
      await sql`
        insert into announcement_validations (announcement_id, team_id, name, state, note, since)
        select id, team_id, 'rpki', 'invalid', '', '2026-01-01' from announcements`.execute(owner())
      const subjects = await readSubjectsAfter(owner(), 0, count)
      const failing = subjects.map((subject) => ({ ...subject, clearance: 'pending' as const }))
      const policy = { onLoss: 'suspend', graceHours: 1 } as const
      await applyPolicy({ db: owner(), policy, suspend: suspendByValidation }, failing, [], now())
    },
  },
  'a platform document that prunes': {
    file: 'platform/kinds/announcement.store.ts',
    explains: false,
    write: async () => {
      await sql`update announcements set managed_by = 'operator'`.execute(owner())
      const plan = await apply({ announcements: [] }, { prune: true, deletions: count }).catch(
        (error: Error) => error.message,
      )
      const [, evidence] = /evidence=([0-9a-f]+)/.exec(String(plan)) ?? []
      await apply({ announcements: [] }, { prune: true, deletions: count, evidence })
    },
  },
  'a platform document that suspends': {
    file: 'platform/kinds/announcement.store.ts',
    explains: false,
    write: async () => apply({ announcements: fileEntries().map((one) => ({ ...one, suspended: true })) }),
  },
  'a restore that adopts the routers': {
    file: 'byoip/regions/settle-routes.ts',
    explains: false,
    write: async (ids) => {
      const items = ids.map((id, at) => ({
        source: 'ams',
        subject: prefixAt(at),
        kind: 'add',
        team_id: teams[at]!,
        database: { announcement_id: id },
        network: null,
        decision: 'adopt',
      }))
      await owner()
        .transaction()
        .execute((trx) => settleRoutes(trx, { actor: `user:${staff}` }, now(), items))
    },
  },
  'a statement in the database': {
    file: testing,
    explains: false,
    write: (ids) => disableWithoutRequest(database.postgres, ids),
  },
  'functions that the others call': { file: `${announcementFiles}/announcement.store.ts` },
  'shown status': { file: 'byoip/status/status.store.ts' },
  'checks of announcements': { file: 'byoip/validation/validation.store.ts' },
  'new announcements': { file: `${announcementFiles}/create-announcements.store.ts` },
  'observed states': { file: 'byoip/regions/reconcile.store.ts' },
  'forgotten routes of a restore': { file: 'byoip/regions/settle-routes.store.ts' },
}

const readAms = () => readRegionRows(owner(), regions.ams!)

/** Guards the region while its router has every route. */
function guard(rows: readonly PlanRow[]) {
  const routes: Route[] = Array.from({ length: count }, (_, at) => ({
    prefix: prefixAt(at),
    asPath: [64496],
    nextHop: selfNextHop(prefixAt(at)),
    communities: [],
    largeCommunities: [],
  }))
  const plan = planRoutes({ regionId: regions.ams!, asn: 64500, routes: {} }, rows, routes)
  return guardPlans([{ router: 'r1', plan }], { routes: count, recent: [], decisions: [] })
}

describe('a withdrawal', () => {
  for (const [name, { explains, write }] of Object.entries(writers)) {
    if (!write) continue
    it(`is ${explains ? 'sent' : 'held'} beyond the budget after ${name}`, async () => {
      const ids = await announceAll()
      await write(ids)
      const rows = await readAms()
      assert.deepEqual(
        rows.map(({ desired, requested }) => [desired, requested]),
        ids.map(() => [false, explains]),
      )
      const { withdraw, held } = guard(rows)
      assert.deepEqual([withdraw.length, held.size], explains ? [count, 0] : [0, count])
    })
  }

  it('has no other writer in the source', () => {
    const writes =
      /\b((saveAnnouncements?|setSuspended|suspend)\(trx|markDeleted\(trx, teamId, id)\b|\bupdate announcements?(_regions)?\b|into announcement_regions|delete from announcements?\b/
    const cwd = new URL('../src/', import.meta.url).pathname
    const files = globSync('**/*.ts', { cwd })
      .filter((file) => file === testing || !/(\.test|\/testing.*|\/samples)\.ts$/.test(file))
      .filter((file) => writes.test(readFileSync(`${cwd}${file}`, 'utf8')))
    const listed = new Set(Object.values(writers).map(({ file }) => file))
    assert.deepEqual(files.toSorted(), [...listed].toSorted())
  })
})

describe('the explanation', () => {
  it('is taken in the order of the changes, also after the clock was set back', async () => {
    const ids = await announceAll()
    for (const id of ids) await patch(id, { enabled: false })
    for (const id of ids) await patch(id, { enabled: true })
    // The entries so far were written before the clock was set back by an hour.
    await owner()
      .transaction()
      .execute(async (trx) => {
        await sql`set local session_replication_role = replica`.execute(trx)
        await sql`update audit_entries set at = at + interval '1 hour'`.execute(trx)
      })
    await sql`update announcement_regions set state = 'announced'`.execute(owner())
    for (const id of ids) await patch(id, { enabled: false })
    assert.deepEqual(
      (await readAms()).map(({ requested }) => requested),
      ids.map(() => true),
    )
  })

  it('of one region is none for another, and a later change of a text is none for either', async () => {
    const ids = await announceAll()
    await sql`update announcements set managed_by = 'operator'`.execute(owner())
    await apply({ announcements: fileEntries().map((one) => ({ ...one, suspended: true })) })
    for (const id of ids) await patch(id, { description: 'Web' })
    assert.ok((await readAms()).every(({ desired, requested }) => !desired && !requested))
    await apply({ announcements: fileEntries().map((one) => ({ ...one, suspended: false })) })
    await sql`update announcement_regions set state = 'withdrawing', configured = false
      where region_id = ${regions.ams!}`.execute(owner())
    for (const id of ids) await patch(id, { enabled: false, region: 'fra' })
    const fra = await readRegionRows(owner(), regions.fra!)
    assert.ok(fra.every(({ requested }) => requested))
  })

  it('stays valid if a platform document changes a text only', async () => {
    const ids = await announceAll()
    for (const id of ids) await patch(id, { enabled: false, region: 'ams' })
    await apply({ announcements: fileEntries().map((one) => ({ ...one, description: 'Web' })) })
    assert.ok((await readAms()).every(({ requested }) => requested))
    for (const id of ids) await patch(id, { enabled: false, region: 'fra' })
    assert.ok((await readAms()).every(({ requested }) => requested))
  })
})
