// The agent on a sandbox daemon, with files as the reconciler writes them.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test, type TestContext } from 'node:test'
import { createSandboxSpeaker, sandboxRegion } from '../../drivers/sandbox/speaker.ts'
import { blackholeCommunity } from '../../net/community.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { createLog } from '../../runtime/log.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { Agent } from './agent.ts'
import {
  agentKeys,
  createHandedFiles,
  createHandedReader,
  handedFile,
  parseAgentKey,
  type HandedRoutes,
} from './handed-routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-agent-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = handedFile(folder, 'ams', 'r1')
const ring = createKeyRing(['k'.repeat(32)])
const files = createHandedFiles(folder, ring)
const daemon = sandboxRegion('agent')
const table = () => daemon.table('pharos')
const onDaemon = () => [...table().keys()].toSorted()
const stateDir = join(folder, 'state')
beforeEach(() => {
  daemon.restart()
  rmSync(stateDir, { recursive: true, force: true })
})
const reader = (now: () => Date, keyRing = ring) =>
  createHandedReader({ file, stateDir, keys: agentKeys(keyRing).map(parseAgentKey), now })

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

/** An agent with a manual clock, run by the test. */
function agentAt(t: TestContext, clock: { now: Date }): Agent {
  const speaker = createSandboxSpeaker({ region: 'agent' })
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  const now = () => clock.now
  const agent = new Agent({ speaker, read: reader(now), now, log })
  t.after(() => agent.stop())
  return agent
}

test('an empty daemon gets the routes and the black holes that have not ended, once', async (t) => {
  await files.save(handed)
  const agent = agentAt(t, { now: minutesLater(5) })
  await agent.run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.0/24', '203.0.113.7/32'])
  // A reconciler withdraws one: it stays withdrawn.
  table().delete('203.0.113.0/24')
  await agent.run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.7/32'])
})

test('a daemon that has routes gets none', async (t) => {
  await files.save(handed)
  const other = routeTo('198.51.100.0/24')
  table().set(other.prefix, other)
  await agentAt(t, { now: minutesLater(5) }).run()
  assert.deepEqual(onDaemon(), ['198.51.100.0/24'])
})

test('a black hole ends at its time, and nothing else is withdrawn', async (t) => {
  await files.save(handed)
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
  await files.save(handed)
  await agentAt(t, { now: minutesLater(31) }).run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.0/24'])
  daemon.restart()
  await agentAt(t, { now: minutesLater(24 * 60 + 1) }).run()
  assert.deepEqual(onDaemon(), [])
})

test('a file that is cut, changed, missing, forged, older, from the future or of another router is not used, not even after a restart', async (t) => {
  await files.save({ ...handed, routes: [networks[0]!], blackholes: [] })
  const own = readFileSync(file, 'utf8')
  const read = reader(() => minutesLater(5))
  assert.deepEqual(read().handed?.routes, [networks[0]])

  const textOf = async (changes: Partial<HandedRoutes>, keyRing = ring): Promise<string> => {
    const other = join(folder, 'other')
    mkdirSync(other, { recursive: true })
    const next = { ...handed, at: minutesLater(1).toISOString(), ...changes }
    await createHandedFiles(other, keyRing).save(next)
    return readFileSync(handedFile(other, next.region, next.router), 'utf8')
  }
  const bad = {
    cut: own.slice(0, -20),
    changed: own.replace('203.0.113.0/24', '203.0.112.0/24'),
    empty: '',
    'of a hash': `sha256 ${'0'.repeat(64)}\n${own.split('\n')[1]}\n`,
    'of another key': await textOf({}, createKeyRing(['o'.repeat(32)])),
    older: await textOf({ at: minutesLater(-1).toISOString() }),
    'of the future': await textOf({ at: minutesLater(60).toISOString() }),
    'of another router': await textOf({ router: 'r2' }),
    'of another region': await textOf({ region: 'fra' }),
  }
  for (const [what, text] of [...Object.entries(bad), ['missing', undefined] as const]) {
    if (text === undefined) rmSync(file)
    else writeFileSync(file, text)
    for (const one of [read, reader(() => minutesLater(5))]) {
      const { handed: used, problem } = one()
      assert.deepEqual(used?.routes, [networks[0]], what)
      assert.ok(problem, what)
    }
  }
  // The router's host restarts.
  await agentAt(t, { now: minutesLater(5) }).run()
  assert.deepEqual(onDaemon(), ['203.0.113.0/24'])

  writeFileSync(file, await textOf({ blackholes: [] }))
  await agentAt(t, { now: minutesLater(5) }).run()
  daemon.restart()
  await agentAt(t, { now: minutesLater(5) }).run()
  assert.deepEqual(onDaemon(), ['2001:db8:a::/48', '203.0.113.0/24'])
})

test('the keys of a ring that is rotated are all accepted, and that of a removed key is not', async () => {
  await files.save(handed)
  const [older, newer] = ['k'.repeat(32), 'n'.repeat(32)]
  const now = () => minutesLater(5)
  assert.equal(agentKeys(createKeyRing([newer, older])).length, 2)
  assert.ok(reader(now, createKeyRing([newer, older]))().handed)
  rmSync(stateDir, { recursive: true })
  const { handed: used, problem } = reader(now, createKeyRing([newer]))()
  assert.deepEqual([used, problem], [undefined, 'no key has signed the content'])
  for (const text of ['', 'a', own44(31), own44(33)]) assert.throws(() => parseAgentKey(text))
})

const own44 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')
