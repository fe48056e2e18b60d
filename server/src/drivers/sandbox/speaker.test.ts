import assert from 'node:assert/strict'
import { it } from 'node:test'
import { speakerConformance, type SpeakerFixture } from '../../byoip/regions/speaker.conformance.ts'
import type { Route } from '../../byoip/regions/speaker.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createSandboxSpeaker, sandboxRegion } from './speaker.ts'

speakerConformance('sandbox', async (): Promise<SpeakerFixture> => {
  const region = sandboxRegion('conformance')
  const byHand = region.table.bind(region, 'by hand')
  const better = new Set<string>()
  region.outranks = (prefix) => (better.has(prefix) ? 64510 : undefined)
  sandboxRegion('absent').down = true
  return {
    speaker: createSandboxSpeaker({ region: 'conformance' }),
    stranger: createSandboxSpeaker({ region: 'conformance', owner: 'stranger' }),
    connect: () => createSandboxSpeaker({ region: 'conformance' }),
    connectStranger: () => createSandboxSpeaker({ region: 'conformance', owner: 'stranger' }),
    absent: { speaker: createSandboxSpeaker({ region: 'absent', timeoutMs: 100 }), timeoutMs: 100 },
    addByHand: async (prefix) => void byHand().set(prefix, plain(prefix)),
    addBetter: async (prefix) => void better.add(prefix),
    rejectExports: async (rejects) => void (region.exports = () => !rejects),
    listByHand: async () => [...byHand().keys()],
    clearByHand: async () => region.clear(),
    neighbor: region.neighbors[0]!,
    setNeighbor: async (isUp) => {
      const families = isUp ? ([4, 6] as const) : []
      region.neighbors = region.neighbors.map((neighbor) => ({
        ...neighbor,
        families,
        state: isUp ? 'established' : 'active',
      }))
    },
    restart: async () => {
      better.clear()
      region.restart()
    },
    stop: async () => {},
  }
})

it('shares its routes between the speakers of one region name only', async () => {
  const ams = createSandboxSpeaker({ region: 'sandbox-ams' })
  await ams.announce([plain('192.0.2.0/24')])
  assert.equal((await createSandboxSpeaker({ region: 'sandbox-ams' }).list()).length, 1)
  assert.equal((await createSandboxSpeaker({ region: 'sandbox-fra' }).list()).length, 0)
})

it('is unreachable if its latency exceeds its timeout', async () => {
  const slow = createSandboxSpeaker({ region: 'sandbox-slow', latencyMs: 60_000, timeoutMs: 20 })
  await assert.rejects(slow.list(), (error) => error instanceof DriverError && error.kind === 'unreachable')
})

it('announces the other routes when it rejects one, and returns the rejected one', async () => {
  sandboxRegion('sandbox-strict').refuses = (prefix) => prefix === '192.0.2.0/24'
  const strict = createSandboxSpeaker({ region: 'sandbox-strict' })
  const announced = strict.announce([plain('192.0.2.0/24'), plain('203.0.113.0/24')])
  await assert.rejects(announced, (error) => {
    assert.ok(error instanceof DriverError)
    assert.equal(error.kind, 'refused')
    assert.deepEqual(
      error.refused.map(({ subject }) => subject),
      ['192.0.2.0/24'],
    )
    return true
  })
  assert.deepEqual(
    (await strict.list()).map(({ prefix }) => prefix),
    ['203.0.113.0/24'],
  )
})

it('sends no change without routes', async () => {
  const region = sandboxRegion('sandbox-quiet')
  const speaker = createSandboxSpeaker({ region: 'sandbox-quiet' })
  await speaker.announce([])
  await speaker.withdraw([])
  assert.equal(region.changes, 0)
  await speaker.announce([plain('192.0.2.0/24')])
  assert.equal(region.changes, 1)
})

function plain(prefix: string): Route {
  return { prefix: prefix as Prefix, asPath: [], nextHop: '0.0.0.0', communities: [], largeCommunities: [] }
}
