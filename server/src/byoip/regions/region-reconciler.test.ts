// One reconciler whose database never answers, on a simulated router, while another process may withdraw routes from it.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Postgres } from '../../db/postgres.ts'
import { createSandboxSpeaker, sandboxRegion } from '../../drivers/sandbox/speaker.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { fail } from '../../runtime/error.ts'
import { createLog } from '../../runtime/log.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { RegionReconciler } from './region-reconciler.ts'
import { noLastKnownRoutes } from './testing.ts'
import { until } from '../../../../lab/src/wait.ts'

const first = parsePrefix('192.0.2.0/24')
const second = parsePrefix('198.51.100.0/24')
const third = parsePrefix('203.0.113.0/24')
const router = sandboxRegion('without-database')
const onRouter = () => [...router.table('pharos').keys()].sort()
const withdrawElsewhere = (prefix: Prefix) => router.table('pharos').delete(prefix)

let reconciler: RegionReconciler
/** How often the router was read. */
let lists = 0

beforeEach(() => {
  router.restart()
  router.refuses = () => false
  const speaker = createSandboxSpeaker({ region: 'without-database' })
  const list = speaker.list.bind(speaker)
  const counting = Object.assign(speaker, { list: () => (lists++, list()) })
  const postgres = {
    directConnection: async () => {
      throw fail('unavailable', 'database')
    },
  } as unknown as Postgres
  const region = { id: 1, slug: 'ams', speakers: [], quorum: null, communities: [], largeCommunities: [] }
  const routes = [first, second, third].map((prefix) => ({
    prefix,
    asPath: [64500],
    nextHop: '0.0.0.0',
    communities: [],
    largeCommunities: [],
  }))
  const deps = {
    postgres,
    speakersOf: () => [{ name: 'r1', speaker: counting, routes: {} }],
    lastKnownRoutes: noLastKnownRoutes,
    gate: {
      state: 'unknown' as const,
      mayApply: async () => {
        throw fail('unavailable', 'database')
      },
    },
    report: async () => {},
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
    intervalMs: 5,
  }
  const kept = { region, routers: [{ name: 'r1', routes }], at: new Date().toISOString() }
  reconciler = new RegionReconciler(deps, region, kept)
  reconciler.start()
})
afterEach(() => reconciler.stop())

/** Several runs that begin and end after now. */
async function afterRuns(): Promise<void> {
  const before = lists
  reconciler.wakeFully()
  await until(() => lists >= before + 3)
}

describe('a reconciler without a database', () => {
  it('restores a restarted router once, and nothing that is withdrawn later', async () => {
    await until(() => onRouter().length === 3)
    withdrawElsewhere(second)
    await afterRuns()
    assert.deepEqual(onRouter(), [first, third])
    withdrawElsewhere(first)
    withdrawElsewhere(third)
    await afterRuns()
    assert.deepEqual(onRouter(), [])
    router.restart()
    await until(() => onRouter().length === 3)
  })

  it('continues a restore that was interrupted, without what was withdrawn meanwhile', async () => {
    router.refuses = (prefix) => prefix === third
    router.restart()
    await until(() => onRouter().length === 2)
    await afterRuns()
    withdrawElsewhere(second)
    await afterRuns()
    assert.deepEqual(onRouter(), [first])
    router.refuses = () => false
    await until(() => onRouter().includes(third))
    assert.deepEqual(onRouter(), [first, third])
  })
})
