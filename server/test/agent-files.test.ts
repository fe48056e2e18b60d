// The files that reconcilers write for agents: the routes of each router as a full run has read them back, with the ends of black holes.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { sql } from 'kysely'
import { seedAnnouncement, seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { Agent } from '../src/byoip/regions/agent.ts'
import {
  agentKeys,
  createHandedFiles,
  createHandedReader,
  handedFile,
  parseAgentKey,
  type HandedRoutes,
} from '../src/byoip/regions/handed-routes.ts'
import { createReconcilers } from '../src/byoip/regions/reconcilers.ts'
import { noLastKnownRoutes } from '../src/byoip/regions/testing.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { createWaker } from '../src/db/wake.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { createSpeakers } from '../src/byoip/parts.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { openGate } from '../src/runtime/testing-gate.ts'
import { waitFor } from '../../lab/src/wait.ts'

let database: TestDatabase
const folder = mkdtempSync(join(tmpdir(), 'pharos-agents-'))
before(async () => void (database = await createTestDatabase()))
after(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const slug = 'agent-ams'
const file = handedFile(folder, slug, slug)
const onRouter = () => [...sandboxRegion(slug).table('pharos').keys()].toSorted()
const ring = createKeyRing(['k'.repeat(32)])
const read = createHandedReader({
  file,
  stateDir: join(folder, 'state'),
  keys: agentKeys(ring).map(parseAgentKey),
  now: () => new Date(),
})
const readHanded = (): HandedRoutes => {
  const { handed, problem } = read()
  assert.equal(problem, undefined)
  return handed!
}
const log = createLog({ logLevel: 'silent', logFormat: 'json' })

/** Starts reconcilers, and returns a function that stops them. */
async function reconcile(agentsDir: string): Promise<() => Promise<void>> {
  const waker = createWaker(database.postgres)
  await waker.start()
  const component = createReconcilers({
    postgres: database.postgres,
    waker,
    speakersOf: createSpeakers,
    lastKnownRoutes: noLastKnownRoutes,
    handedFiles: createHandedFiles(agentsDir, ring),
    gate: openGate,
    report: async () => {},
    log,
    metrics: createMetrics(),
    intervalMs: 200,
  })
  await component.start?.()
  return async () => {
    await component.stop?.()
    await waker.stop()
  }
}

it('has what an agent needs to fill a restarted router, and a folder that cannot be written stops no run', async () => {
  const { owner } = database.postgres
  const { [slug]: region } = await seedRegions(database.postgres, [slug])
  const teamId = await seedTeam(database.postgres, 'ours', ['ipam', 'shield'])
  const seed = { teamId, prefix: '203.0.113.0/24', enabled: true, regions: [region!] }
  await seedAnnouncement(database.postgres, seed)
  const { rows } = await sql<{ expires: Date }>`
    with added as (insert into blackholes (team_id, host, forced, expires)
      values (${teamId}, '203.0.113.7/32', true, now() + interval '1 hour') returning id, team_id, expires),
    placed as (insert into blackhole_regions (blackhole_id, region_id, team_id, state)
      select id, ${region!}, team_id, 'announcing' from added)
    select expires from added`.execute(owner)
  const blocked = join(folder, 'blocked')
  writeFileSync(blocked, '')
  const stopFirst = await reconcile(blocked)
  await waitFor('both are announced', () => onRouter().length === 2)
  await stopFirst()

  const stop = await reconcile(folder)
  await waitFor('the file', () => existsSync(file))
  const { routes, blackholes, region: of, router } = readHanded()
  assert.deepEqual([of, router, routes.map(({ prefix }) => prefix)], [slug, slug, ['203.0.113.0/24']])
  assert.deepEqual(
    blackholes.map(({ route, until }) => [route.prefix, until]),
    [['203.0.113.7/32', rows[0]!.expires.toISOString()]],
  )
  await sql`update blackholes set ended = now()`.execute(owner)
  await sql`select pg_notify('pharos', 'routers')`.execute(owner)
  await waitFor('the file without the black hole', () => readHanded().blackholes.length === 0)
  await stop()

  sandboxRegion(slug).restart()
  const speaker = createSandboxSpeaker({ region: slug })
  const agent = new Agent({ speaker, read, now: () => new Date(), log })
  await agent.run()
  await agent.stop()
  assert.deepEqual(onRouter(), ['203.0.113.0/24'])
})
