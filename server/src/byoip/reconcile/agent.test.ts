// The agent on a sandbox daemon, with files as the reconciler writes them.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test, type TestContext } from 'node:test'
import { createSandboxSpeaker, sandboxRegion } from '../../drivers/sandbox/speaker.ts'
import { blackholeCommunity } from '../../net/community.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { createLog } from '../../runtime/log.ts'
import { Agent } from './agent.ts'
import { handedFile, readHanded, writeHanded, type HandedRoutes } from './handed-routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-agent-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = handedFile(folder, 'ams', 'r1')
const daemon = sandboxRegion('agent')
const table = () => daemon.table('pharos')
const onDaemon = () => [...table().keys()].toSorted()
beforeEach(() => daemon.restart())

const startedAt = new Date('2026-03-01T10:00:00Z')
const minutesLater = (minutes: number) => new Date(startedAt.getTime() + minutes * 60_000)
const routeTo = (prefix: string, communities: string[] = []) => ({
  prefix: parsePrefix(prefix),
  asPath: [64496],
  nextHop: prefix.includes(':') ? '::' : '0.0.0.0',
  communities,
  largeCommunities: [],
})
const networks = [routeTo('203.0.113.0/24'), routeTo('2001:db8:a::/48')]
const host = routeTo('203.0.113.7/32', [blackholeCommunity])
const handed: HandedRoutes = {
  format: 1,
  region: 'ams',
  router: 'r1',
  at: startedAt.toISOString(),
  routes: networks,
  blackholes: [{ route: host, until: minutesLater(30).toISOString() }],
}

/** An agent that runs when the test says so, at the time that it says. */
function agentAt(t: TestContext, clock: { now: Date }): Agent {
  const speaker = createSandboxSpeaker({ region: 'agent' })
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  const agent = new Agent({ speaker, read: () => readHanded(file), now: () => clock.now, log })
  t.after(() => agent.stop())
  return agent
}

test('an empty daemon gets the routes and the black holes that have not ended, once', async (t) => {
  writeHanded(file, handed)
  const agent = agentAt(t, { now: minutesLater(5) })
  await agent.run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.0/24', '203.0.113.7/32'])
  // A reconciler withdraws one: it stays withdrawn.
  table().delete('203.0.113.0/24')
  await agent.run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.7/32'])
})

test('a daemon that has routes gets none', async (t) => {
  writeHanded(file, handed)
  const other = routeTo('198.51.100.0/24')
  table().set(other.prefix, other)
  await agentAt(t, { now: minutesLater(5) }).run()
  assert.deepEqual(onDaemon(), ['198.51.100.0/24'])
})

test('a black hole ends at its time, and nothing else is withdrawn', async (t) => {
  writeHanded(file, handed)
  const clock = { now: minutesLater(5) }
  const agent = agentAt(t, clock)
  await agent.run()
  const stray = routeTo('198.51.100.9/32', [blackholeCommunity])
  table().set(stray.prefix, stray)
  clock.now = minutesLater(29)
  await agent.run()
  assert.equal(onDaemon().length, 4)
  clock.now = minutesLater(30)
  await agent.run()
  assert.deepEqual(onDaemon(), ['198.51.100.9/32', '2001:db8:a::/48', '203.0.113.0/24'])
  // The customer announces the host otherwise.
  table().set(host.prefix, routeTo(host.prefix))
  await agent.run()
  assert.deepEqual(onDaemon(), ['198.51.100.9/32', '2001:db8:a::/48', '203.0.113.0/24', '203.0.113.7/32'])
})

test('a black hole that is over is not announced again, and routes of the day before are not', async (t) => {
  writeHanded(file, handed)
  await agentAt(t, { now: minutesLater(31) }).run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.0/24'])
  daemon.restart()
  await agentAt(t, { now: minutesLater(24 * 60 + 1) }).run()
  assert.deepEqual(onDaemon(), [])
})

test('a file that is cut, changed or missing is not used: the one before stays valid', async (t) => {
  writeHanded(file, { ...handed, routes: [networks[0]!], blackholes: [] })
  const agent = agentAt(t, { now: minutesLater(5) })
  table().set(networks[1]!.prefix, networks[1]!)
  await agent.run()
  const whole = readFileSync(file, 'utf8')
  for (const broken of [whole.slice(0, -20), whole.replace('203.0.113.0/24', '203.0.112.0/24'), ''])
    for (const write of [() => writeFileSync(file, broken), () => rmSync(file, { force: true })]) {
      write()
      assert.throws(() => readHanded(file))
      await agent.run()
    }
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48'])
  writeFileSync(file, whole.replace('203.0.113.0/24', '203.0.112.0/24'))
  daemon.restart()
  await agentAt(t, { now: minutesLater(5) }).run()
  assert.deepEqual(onDaemon(), [])
})
