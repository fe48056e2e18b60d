// Announced prefixes that a platform file gives to another team, and regions that it opens again: no router gets a withdrawal.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { getAnnouncement } from '../src/byoip/announcement/list-announcements.ts'
import { operationOf, seedRegions, seedTeams } from '../src/byoip/announcement/testing.ts'
import { createReconcilers } from '../src/byoip/regions/reconcilers.ts'
import { noLastKnownRoutes } from '../src/byoip/regions/testing.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createWaker, type Waker } from '../src/db/wake.ts'
import { sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { documentOf } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { createSpeakers } from '../src/byoip/parts.ts'
import type { Component } from '../src/runtime/component.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { openGate } from '../src/runtime/testing-gate.ts'
import { waitFor } from '../../lab/src/wait.ts'

let database: TestDatabase
let teams: number[]
let waker: Waker
const running: Component[] = []
const router = sandboxRegion('moves-ams')
const prefix = '203.0.113.0/24'

before(async () => {
  database = await createTestDatabase()
  await seedRegions(database.postgres, ['moves-ams'])
  teams = await seedTeams(database.postgres, 2)
  waker = createWaker(database.postgres)
  await waker.start()
})
after(async () => {
  await waker.stop()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await emptyTables(owner(), [
    'announcements',
    'prefixes',
    'asns',
    'former_holdings',
    'blackholes',
    'shield_lists',
  ])
  await emptyAudit(owner())
  await sql`update regions set open = true`.execute(owner())
  router.restart()
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((component) => component.stop?.()))
})

const owner = () => database.postgres.owner
const onRouter = () => [...router.table('pharos').keys()]

type Document = Record<string, unknown>

/** The plan of a dry run. */
function prepare(document: Document, prune = false) {
  const deps = { ring: createKeyRing(['a-secret-of-at-least-thirty-two-bytes']), readText: () => '' }
  const options = { prune, enforce: false }
  return preparePlatform(platformKinds, owner(), documentOf('test', document), deps, options)
}

async function apply(document: Document, prune = false): Promise<readonly string[]> {
  const prepared = await prepare(document, prune)
  await applyPlatform(platformKinds, owner(), prepared, new Date())
  return prepared.plan.notices
}

async function startReconciler(): Promise<void> {
  const component = createReconcilers({
    postgres: database.postgres,
    waker,
    speakersOf: createSpeakers,
    lastKnownRoutes: noLastKnownRoutes,
    gate: openGate,
    report: async () => {},
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
    intervalMs: 200,
  })
  running.push(component)
  await component.start?.()
}

const fileOf = (team: string, verified = true): Document => ({
  prefixes: [{ team, prefix, name: 'Customers' }],
  asns: [{ team, asn: 64496, verified }],
  announcements: [
    { team, prefix, origin_asn: 64496, regions: ['moves-ams'], enabled: true, validated: true },
  ],
})

const rowOf = async () => {
  const { rows } = await sql<{
    id: number
    team_id: number
    state: string
    region_team: number
    is_checked: boolean
  }>`
    select a.id, a.team_id, r.state, r.team_id as region_team, a.checked_origin is not null as is_checked
    from announcements a join announcement_regions r on r.announcement_id = a.id
    where a.prefix = ${prefix} and a.deleted is null and a.enabled`.execute(owner())
  return rows[0]
}
const isAnnounced = () => waitFor('it is announced', async () => (await rowOf())?.state === 'announced')
/** Waits for a full run that began after the call. */
async function nextRun(): Promise<void> {
  const { rows } = await sql<{ at: Date }>`select now() as at`.execute(owner())
  await waitFor('a run', async () => {
    const read = await sql<{ last_check: Date | null }>`select last_check from regions`.execute(owner())
    return (read.rows[0]!.last_check ?? 0) > rows[0]!.at
  })
}
const get = (team: number, id: number) =>
  getAnnouncement({ postgres: database.postgres, now: () => new Date() }, operationOf(team), id)

describe('an announced prefix of another team in the file', () => {
  it('moves to that team with its regions, and no router gets a change', async () => {
    await apply(fileOf('team-0'))
    await startReconciler()
    await isAnnounced()
    const { id } = (await rowOf())!
    await sql`insert into announcements (team_id, prefix, origin_asn, managed_by) values (${teams[1]!}, ${prefix}, 64496, 'team')`.execute(
      owner(),
    )
    const changes = router.changes
    const notices = await apply({
      ...fileOf('team-1'),
      asns: [
        { team: 'team-0', asn: 64496, verified: false },
        { team: 'team-1', asn: 64496, verified: true },
      ],
    })
    assert.deepEqual(notices, [`prefix ${prefix} moves from team team-0 to team team-1`])
    await nextRun()
    assert.deepEqual(await rowOf(), {
      id,
      team_id: teams[1],
      region_team: teams[1],
      state: 'announced',
      is_checked: true,
    })
    assert.deepEqual([router.changes, onRouter()], [changes, [prefix]])
    assert.equal((await get(teams[1]!, id)).body.status, 'announced')
    await assert.rejects(get(teams[0]!, id), { code: 'not_found' })
    const { rows } = await sql<{ team_id: number }>`select team_id from prefixes`.execute(owner())
    assert.deepEqual(rows, [{ team_id: teams[1] }])
    const former = await sql<{ team_id: number }>`
      select distinct team_id from former_holdings where prefix = ${prefix}`.execute(owner())
    assert.deepEqual(former.rows, [{ team_id: teams[0] }])
  })

  it('stays if its origin is not verified for that team', async () => {
    await apply(fileOf('team-0'))
    const { asns: _, ...rest } = fileOf('team-1')
    await assert.rejects(
      apply(rest),
      /is an announcement of team team-0; to move it, add AS64496 of team-1 to asns/,
    )
  })

  it('is in the audit log of both teams, and neither reads which team the other one is', async () => {
    const [announcement] = fileOf('team-0')['announcements'] as object[]
    const described = (team: string, description: string) => ({
      ...fileOf(team),
      asns: [
        { team: 'team-0', asn: 64496, verified: team === 'team-0' },
        { team: 'team-1', asn: 64496, verified: team === 'team-1' },
      ],
      announcements: [{ ...announcement, team, description }],
    })
    await apply(described('team-0', 'Web servers'))
    await emptyAudit(owner())
    await apply(described('team-1', 'Mail'))
    const { id } = (await rowOf())!
    const { rows } = await sql<{ team_id: number; before: object | null; after: object | null }>`
      select team_id, before, after from audit_entries where target = ${`announcement:${id}`}
        and action = 'announcement.update' order by id`.execute(owner())
    assert.deepEqual(rows, [
      { team_id: teams[0], before: { team: 'team-0', description: 'Web servers' }, after: null },
      { team_id: teams[1], before: null, after: { team: 'team-1', description: 'Mail' } },
    ])
  })

  const rule = (of: string) =>
    sql`with list as (insert into shield_lists (team_id, prefix, version) values (${teams[0]!}, ${of}, 1) returning id, team_id)
      insert into shield_rules (list_id, team_id, sequence, enabled, action, match) select id, team_id, 1, true, 'deny', '{}' from list`.execute(
      owner(),
    )
  const blackhole = (host: string) =>
    sql`insert into blackholes (team_id, host, forced, expires)
      values (${teams[0]!}, ${host}, true, now() + interval '1 hour')`.execute(owner())
  const moved = {
    ...fileOf('team-1'),
    asns: [
      { team: 'team-0', asn: 64496, verified: false },
      { team: 'team-1', asn: 64496, verified: true },
    ],
  }
  const kept = (use: string) => `${prefix} stays with team team-0 because of its ${use}; end that first`
  const uses: Readonly<Record<string, readonly [use: () => Promise<unknown>, messages: readonly string[]]>> =
    {
      'a shield list with rules': [() => rule(prefix), [kept(`shield list of ${prefix}`)]],
      'a shield list of a part': [() => rule('203.0.113.128/25'), [kept('shield list of 203.0.113.128/25')]],
      'a black hole': [() => blackhole('203.0.113.7/32'), [kept('black hole of 203.0.113.7')]],
      'all of these': [
        async () => {
          await rule(prefix)
          await blackhole('203.0.113.7/32')
          await blackhole('203.0.113.8/32')
        },
        [
          kept('black hole of 203.0.113.7'),
          kept('black hole of 203.0.113.8'),
          kept(`shield list of ${prefix}`),
        ],
      ],
    }
  for (const [what, [use, messages]] of Object.entries(uses))
    it(`stays while the former team has ${what} in it, and a dry run names it`, async () => {
      await apply(fileOf('team-0'))
      const { id } = (await rowOf())!
      const planned = await prepare(moved)
      await use()
      const problems = messages.map((message) => ({ path: ['announcements', 0, 'team'], message }))
      // The existing plan is refused, and a new plan is not made.
      await assert.rejects(applyPlatform(platformKinds, owner(), planned, new Date()), { problems })
      await assert.rejects(prepare(moved), { problems })
      assert.deepEqual([(await rowOf())?.id, (await rowOf())?.team_id], [id, teams[0]])
    })

  it('moves while the former team has only lists without rules, ended black holes, and others of other prefixes', async () => {
    await apply(fileOf('team-0'))
    await sql`insert into shield_lists (team_id, prefix, version) values (${teams[0]!}, ${prefix}, 1)`.execute(
      owner(),
    )
    await blackhole('203.0.113.7/32')
    await sql`update blackholes set ended = now()`.execute(owner())
    await blackhole('198.51.100.1/32')
    await rule('198.51.100.0/24')
    await apply(moved)
    assert.equal((await rowOf())?.team_id, teams[1])
  })
})

describe('a closed region', () => {
  it('is opened by a file that names it without `open`, also for new announcements, and withdraws none meanwhile', async () => {
    const location = { key: 'here', name: 'Here', country: 'NL', timezone: 'Europe/Amsterdam' }
    const region = { slug: 'moves-ams', name: 'MOVES-AMS', location: 'here', speaker: { kind: 'sandbox' } }
    await apply({ ...fileOf('team-0'), locations: [location], regions: [region] })
    await startReconciler()
    await isAnnounced()
    const changes = router.changes
    // Pruned while its announcements need it: closed instead of deleted.
    await apply({ regions: [] }, true)
    const isOpen = async () =>
      (await sql<{ open: boolean }>`select open from regions`.execute(owner())).rows[0]!.open
    assert.equal(await isOpen(), false)
    await nextRun()
    const added = { team: 'team-0', prefix: '198.51.100.0/24', origin_asn: 64496 }
    const announced = { ...added, regions: ['moves-ams'], enabled: true, validated: true }
    await apply({ locations: [location], regions: [region], announcements: [announced] })
    assert.equal(await isOpen(), true)
    await waitFor('both are announced', async () => onRouter().length === 2)
    assert.equal((await rowOf())?.state, 'announced')
    assert.equal(router.changes, changes + 1, 'only the new route was sent')
  })
})
