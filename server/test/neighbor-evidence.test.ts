// The routes that the neighbors of a router receive, with a real gobgpd and BIRD: a route counts as announced only if
// it is the best path and reaches a neighbor. The sandbox has several neighbors and tables of any size.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { freePort, randomSubnet } from '@pharos/lab/address'
import { Bird } from '@pharos/lab/bird'
import { Gobgpd } from '@pharos/lab/gobgpd'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { sql } from 'kysely'
import { listAnnouncements, listAnnouncementsOfTeam } from '../src/byoip/announcement/list-announcements.ts'
import { listRegions } from '../src/byoip/announcement/region.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
} from '../src/byoip/announcement/testing.ts'
import { readMovingRows, readRegionRows } from '../src/byoip/regions/plan-row.store.ts'
import { quickRun } from '../src/byoip/regions/quick-run.ts'
import { reconcileRegion, type RunReport } from '../src/byoip/regions/reconcile.ts'
import { readEvidence } from '../src/byoip/regions/region-evidence.ts'
import { readRegionStatuses } from '../src/byoip/regions/router.ts'
import { RegionLock, type RegionLease } from '../src/byoip/regions/region-lock.store.ts'
import type { Neighbor, Speaker } from '../src/byoip/regions/speaker.ts'
import { routerOf } from '../src/byoip/regions/testing.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createGobgpSpeaker } from '../src/drivers/gobgp/speaker.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

const prefix = '203.0.113.0/24'
const prefix6 = '2001:db8:a::/48'
let database: TestDatabase
let regionId: number
let team: number
let lock: RegionLock
let lease: RegionLease

before(async () => {
  database = await createTestDatabase()
  regionId = (await seedRegions(database.postgres, ['ams'])).ams!
  team = await seedTeam(database.postgres, 'ours')
  const speakers = JSON.stringify([{ name: 'r1', kind: 'sandbox' }])
  await sql`update regions set speakers = ${speakers}::jsonb`.execute(database.postgres.owner)
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, [
    'announcements',
    'approvals',
    'region_withdrawals',
    'region_routers',
  ])
  await emptyAudit(database.postgres.owner)
  lock = new RegionLock(database.postgres, regionId)
  lease = (await lock.hold())!
})
afterEach(() => lock.release())

const seed = (cidr: string) =>
  seedAnnouncement(database.postgres, { teamId: team, prefix: cidr, enabled: true, regions: [regionId] })
const depsOf = (speaker: Speaker) => ({
  db: database.postgres.owner,
  routers: [routerOf(speaker, { routes: { nextHop4: '192.0.2.1', nextHop6: '2001:db8::1' } })],
  quorum: null,
  gate: openGate,
  readRows: readRegionRows,
  readMoving: readMovingRows,
  now: () => new Date(),
  elapsedMs: () => performance.now(),
})
const runFully = (speaker: Speaker): Promise<RunReport> => reconcileRegion(depsOf(speaker), lease)

/** The state and reason of each announcement, in the order of their ids. */
async function states(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', state, reason) as text from announcement_regions order by announcement_id`.execute(
    database.postgres.owner,
  )
  return rows.map(({ text }) => text)
}

/** Runs until the states are these: BGP sessions and policies take effect after a while. */
const untilStates = (speaker: Speaker, expected: readonly string[]) =>
  waitFor(`the states ${expected.join(', ')}`, async () => {
    await runFully(speaker)
    return JSON.stringify(await states()) === JSON.stringify(expected)
  })

describe('a region with a real router', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  let folder: string
  let gobgpd: Gobgpd
  let bird: Bird
  let speaker: Speaker

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pharos-evidence-'))
    const subnet = randomSubnet()
    const [address, other] = [`${subnet}.1`, `${subnet}.2`]
    const [apiPort, bgpPort] = [await freePort(address, 50_051), await freePort(address, 17_900)]
    const peer = { address: other, port: await freePort(other, 17_900), asn: 64501 }
    gobgpd = new Gobgpd({
      folder,
      address,
      apiPort,
      bgpPort,
      asn: 64500,
      neighbors: [peer],
      deferralSeconds: 1,
    })
    bird = new Bird({ folder, ...peer, neighbor: { address, port: bgpPort, asn: 64500 } })
    await Promise.all([gobgpd.start(), bird.start()])
    speaker = createGobgpSpeaker({ address: gobgpd.apiAddress, owner: '64500:1:1', timeoutMs: 60_000 })
    for (const cidr of [prefix, prefix6]) await seed(cidr)
    await untilStates(speaker, ['announced', 'announced'])
    await waitFor('BIRD has both', async () => (await bird.routes()).length === 2)
  })
  afterEach(async () => {
    await speaker.close()
    await Promise.all([gobgpd.stop(), bird.stop()])
    await rm(folder, { recursive: true, force: true })
  })

  it('does not count a route as announced that an export policy rejects', async () => {
    await gobgpd.rejectExports(true)
    await runFully(speaker)
    assert.deepEqual(await states(), ['announced', 'announced'], 'one check is not enough')
    await runFully(speaker)
    assert.deepEqual(await states(), ['announcing not_advertised', 'announcing not_advertised'])
    await gobgpd.rejectExports(false)
    await untilStates(speaker, ['announced', 'announced'])
  })

  const onlyNeighbor = async () => {
    const [region] = await readRegionStatuses(database.postgres.owner)
    return region!.routers[0]!.neighbors[0]!
  }
  const sessionEnd = async () => {
    await runFully(speaker)
    return (await onlyNeighbor()).end?.reason
  }

  it('reports what the neighbor receives, and why its session ended if it has a prefix limit', async () => {
    await waitFor('the router counts both', async () => {
      await runFully(speaker)
      return (await onlyNeighbor()).received === 2
    })
    const { missing, checked, end } = await onlyNeighbor()
    assert.deepEqual([missing, checked !== null, end], [0, true, null])
    await bird.stop()
    await waitFor('the session is lost', async () => (await sessionEnd()) === 'connection_lost')
    bird = new Bird({ ...bird.options, receiveLimit: 1 })
    await bird.start()
    await seed('198.51.100.0/24')
    await waitFor('it is ended', async () => (await sessionEnd()) === 'notification_received')
    const after = await onlyNeighbor()
    assert.match(after.end!.message, /prefix limit/)
    assert.deepEqual([after.received, after.missing, after.checked], [null, null, null])
  })

  it('does not count a route as announced while the router prefers the route of another network', async () => {
    const better = ['aspath', '64510', 'local-pref', '200']
    await gobgpd.gobgp('global', 'rib', 'add', prefix, ...better)
    await waitFor('BIRD has the other origin', async () =>
      (await bird.routes()).some(({ asPath }) => asPath.at(-1) === 64510),
    )
    await runFully(speaker)
    assert.deepEqual(await states(), ['announcing not_best', 'announced'])
    await gobgpd.gobgp('global', 'rib', 'del', prefix, ...better)
    await untilStates(speaker, ['announced', 'announced'])
  })

  it('keeps what it knew over a restart of the process and a lost session', async () => {
    await gobgpd.rejectExports(true)
    await untilStates(speaker, ['announcing not_advertised', 'announcing not_advertised'])
    await lock.release()
    lease = (await lock.hold())!
    await bird.stop()
    await waitFor('the session is lost', async () =>
      (await speaker.neighbors()).every(({ state }) => state !== 'established'),
    )
    await runFully(speaker)
    assert.deepEqual(await states(), ['announcing no_neighbor', 'announcing no_neighbor'])
  })
})

describe('a region with several neighbors', () => {
  const router = sandboxRegion('evidence-ams')
  const speaker = createSandboxSpeaker({ region: 'evidence-ams' })
  const neighbor = (address: string, rest: Partial<Neighbor> = {}): Neighbor => ({
    address,
    asn: 64501,
    state: 'established',
    families: [4, 6],
    ...rest,
  })

  beforeEach(() => {
    router.restart()
    router.exports = () => true
    router.outranks = () => undefined
    router.refuses = router.drops = () => false
    router.neighbors = [neighbor('192.0.2.1'), neighbor('192.0.2.2'), neighbor('192.0.2.3', { asn: 64500 })]
  })

  it('counts a route as announced as long as one external neighbor receives it', async () => {
    for (const cidr of [prefix, prefix6]) await seed(cidr)
    router.exports = (cidr, address) => (cidr === prefix ? address === '192.0.2.3' : address !== '192.0.2.1')
    for (let run = 0; run < 4; run++) {
      await runFully(speaker)
      assert.deepEqual(await states(), ['announced', 'announced'], String(run))
    }
    await runFully(speaker)
    assert.deepEqual(await states(), ['announcing not_advertised', 'announced'])
  })

  it('counts every desired route that gets nowhere, and is as desired once none is left', async () => {
    const cidrs = [prefix, prefix6, '198.51.100.0/24', '192.0.2.0/24', '10.1.0.0/16']
    for (const cidr of cidrs) await seed(cidr)
    router.refuses = (cidr) => cidr === prefix
    router.drops = (cidr) => cidr === prefix6
    router.outranks = (cidr) => (cidr === '198.51.100.0/24' ? 64666 : undefined)
    router.exports = (cidr) => cidr !== '192.0.2.0/24'
    const region = async () => (await readRegionStatuses(database.postgres.owner))[0]!
    const ofTeam = async () => {
      const page = { ordering: 'slug', limit: 10, offset: 0 }
      return (await listRegions({ postgres: database.postgres }, operationOf(team), page)).results[0]!
    }
    for (let run = 0; run < 5; run++) await runFully(speaker)
    const expected = [
      'error refused',
      'announcing not_shown',
      'announcing not_best',
      'announcing not_advertised',
    ]
    assert.deepEqual(await states(), [...expected, 'announced'])
    const { routes_missing: missing, last_check_result: result, error } = await region()
    assert.deepEqual([missing, result, error], [4, false, null])
    assert.equal((await ofTeam()).last_check_result, false)
    router.refuses = router.drops = () => false
    router.outranks = () => undefined
    router.exports = () => true
    for (let run = 0; run < 3; run++) await runFully(speaker)
    assert.deepEqual([(await region()).routes_missing, (await region()).last_check_result], [0, true])
    assert.equal((await ofTeam()).last_check_result, true)
    router.neighbors = [neighbor('192.0.2.1', { state: 'active', families: [] })]
    await runFully(speaker)
    assert.equal((await ofTeam()).last_check_result, false)
  })

  it('tells staff how many neighbors receive a route, and nobody else', async () => {
    for (const cidr of [prefix, prefix6, '198.51.100.0/24']) await seed(cidr)
    router.exports = (cidr, address) => cidr !== prefix && (cidr !== prefix6 || address !== '192.0.2.1')
    router.outranks = (cidr) => (cidr === '198.51.100.0/24' ? 64666 : undefined)
    const heardBy = async () => {
      const query = { include: 'region_states,evidence', ordering: 'id', limit: 10, offset: 0 }
      const deps = { postgres: database.postgres, now: () => new Date(), readEvidence }
      const { results } = await listAnnouncementsOfTeam(deps, null, team, query)
      const shown = await listAnnouncements(deps, operationOf(team), { ...query, include: 'region_states' })
      assert.ok(shown.results.every(({ region_states: own }) => !('heard_by' in own![0]!)))
      return results.map(({ region_states: own }) => {
        const found = own![0]!.heard_by
        return found && [found.level, found.heard, found.neighbors, found.unchecked].join(' ')
      })
    }
    assert.deepEqual(await heardBy(), [null, null, null])
    for (let run = 0; run < 5; run++) await runFully(speaker)
    assert.deepEqual(await states(), ['announcing not_advertised', 'announced', 'announcing not_best'])
    assert.deepEqual(await heardBy(), ['best 0 2 0', 'advertised 1 2 0', 'rib 0 0 0'])
  })

  it('asks one neighbor of a router per full run, and none in a quick run', async () => {
    const asked: string[] = []
    const watched = new Proxy(speaker, {
      get: (target, name: keyof Speaker) =>
        name === 'advertised'
          ? (address: string, family: 4 | 6, pathsMax: number) => {
              asked.push(`${address} ${family}`)
              return target.advertised(address, family, pathsMax)
            }
          : target[name].bind(target),
    })
    await seed(prefix)
    const report = await runFully(watched)
    assert.deepEqual(asked.splice(0), ['192.0.2.1 4', '192.0.2.1 6'])
    await seed(prefix6)
    await quickRun(depsOf(watched), lease, report)
    assert.deepEqual([asked.splice(0), await states()], [[], ['announced', 'announced']])
    await runFully(watched)
    assert.deepEqual(asked, ['192.0.2.2 4', '192.0.2.2 6'])
  })

  it('is not read as failed if a neighbor cannot be asked, or if its table is too large', async () => {
    await seed(prefix)
    router.exports = () => false
    const unasked = (answer: () => Promise<undefined>) =>
      new Proxy(speaker, {
        get: (target, name: keyof Speaker) => (name === 'advertised' ? answer : target[name].bind(target)),
      })
    const gone = sandboxRegion('evidence-gone')
    gone.down = true
    const failing = createSandboxSpeaker({ region: 'evidence-gone' })
    for (const answer of [
      async () => undefined,
      () => failing.advertised('192.0.2.1', 4, 1).then(() => undefined),
    ])
      for (let run = 0; run < 6; run++) {
        const { failures } = await runFully(unasked(answer))
        assert.deepEqual([failures, await states()], [[], ['announced']])
      }
  })

  it('decides about a route that was enabled again by checks of its own time', async () => {
    const id = await seed(prefix)
    router.exports = () => false
    for (let run = 0; run < 5; run++) await runFully(speaker)
    assert.deepEqual(await states(), ['announcing not_advertised'])
    await disableWithoutRequest(database.postgres, [id])
    await runFully(speaker)
    assert.deepEqual(await states(), ['withdrawn'])
    router.exports = () => true
    await sql`update announcements set enabled = true where id = ${id}`.execute(database.postgres.owner)
    await runFully(speaker)
    assert.deepEqual(await states(), ['announced'])
  })
})
