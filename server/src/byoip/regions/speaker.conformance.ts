// The conformance suite of every speaker, run for the sandbox and for the real daemon. It uses only the port; tests that need the
// daemon itself (a foreign route, a restart) use the fixture.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'
import {
  type InstalledRoute,
  type Neighbor,
  type Route,
  type Speaker,
  SpeakerError,
  type SpeakerEvents,
  sameRoute,
  selfNextHop,
} from './speaker.ts'
import { until } from '../../../../lab/src/wait.ts'
import { scaled } from '../../runtime/testing-scale.ts'

export type SpeakerFixture = {
  readonly speaker: Speaker
  /** Another owner on the same daemon. */
  readonly stranger: Speaker
  /** Another client of the same owner on the same daemon, which the test closes. */
  connect(): Speaker
  /** The same for the other owner. */
  connectStranger(): Speaker
  /** A speaker whose daemon does not exist, and its configured timeout. */
  readonly absent: { readonly speaker: Speaker; readonly timeoutMs: number }
  /** Adds a foreign route at the daemon, as an operator would. */
  addByHand(prefix: string): Promise<void>
  /** Adds a foreign route of AS64510 at the daemon that is better than every route of the speakers. */
  addBetter(prefix: string): Promise<void>
  /** Sets or removes an export policy that rejects everything. */
  rejectExports(rejects: boolean): Promise<void>
  /** Lists every prefix of the daemon that was added by hand. */
  listByHand(): Promise<readonly string[]>
  /** Removes every route from the daemon by hand, whoever its owner is. */
  clearByHand(): Promise<void>
  /** The daemon's only neighbor, which supports IPv4 and IPv6. */
  readonly neighbor: { readonly address: string; readonly asn: number }
  /** Enables or disables the neighbor; the daemon may take a while to notice. */
  setNeighbor(isUp: boolean): Promise<void>
  /** Restarts the daemon; resolves when it answers again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Runs the suite; `make` starts one daemon for all tests. `skip` is the reason to skip it. */
export function speakerConformance(name: string, make: () => Promise<SpeakerFixture>, skip?: string): void {
  describe(`the ${name} speaker`, { skip: skip ?? false }, () => {
    let fixture: SpeakerFixture
    before(async () => {
      fixture = await make()
    })
    after(async () => {
      await fixture?.stop()
    })

    it('returns its identity', async () => {
      const identity = await fixture.speaker.probe()
      assert.ok(identity.name.length > 0)
      assert.ok(identity.version.length > 0)
    })

    it('lists an announced IPv4 and IPv6 route with all of its attributes', async () => {
      await starting(fixture, [])
      await fixture.speaker.announce([rich4, rich6, plain4, plain6])
      await assertListed(fixture.speaker, [rich4, rich6, plain4, plain6])
    })

    it('finds exactly the requested prefixes, with all of their attributes', async () => {
      const specifics = [route('198.51.100.0/25'), route('2001:db8:a::/49')]
      await starting(fixture, [rich4, rich6, plain4, plain6, ...specifics])
      const absent = ['192.0.2.0/24', '198.51.0.0/16', '2001:db8::/32', '203.0.113.0/25'] as Prefix[]
      const requested = [rich4.prefix, plain6.prefix, rich6.prefix, ...absent]
      assertSame(await fixture.speaker.find(requested), [rich4, plain6, rich6])
      assertSame(await fixture.speaker.find([plain4.prefix, plain4.prefix]), [plain4])
      assertSame(await fixture.speaker.find(absent), [])
      assertSame(await fixture.speaker.find([]), [])
    })

    it('lists only its own routes, also if others have the same prefix', async () => {
      await starting(fixture, [plain4])
      await fixture.addByHand('192.0.2.0/24')
      await fixture.addByHand(plain4.prefix)
      await fixture.stranger.announce([rich4, plain4])
      assertSame(await fixture.speaker.find(['192.0.2.0/24' as Prefix, rich4.prefix, plain4.prefix]), [
        plain4,
      ])
    })

    it('reports whether its route is the best path of the prefix', async () => {
      await starting(fixture, [plain4, plain6, rich4, rich6])
      await Promise.all([fixture.addBetter(rich4.prefix), fixture.addBetter(plain6.prefix)])
      const bestOf = (routes: readonly InstalledRoute[]) =>
        routes.filter(({ isBest }) => isBest).map(({ prefix }) => prefix)
      assert.deepEqual(bestOf(await fixture.speaker.list()).sort(), [rich6.prefix, plain4.prefix].sort())
      const found = await fixture.speaker.find([plain4.prefix, rich4.prefix, plain6.prefix])
      assert.equal(found.length, 3)
      assert.deepEqual(bestOf(found), [plain4.prefix])
    })

    it('returns what a neighbor receives, with the origins, after the export policies', async () => {
      const { speaker, neighbor } = fixture
      await starting(fixture, [plain4, plain6, rich4, rich6])
      await fixture.addBetter(rich4.prefix)
      await fixture.addByHand('192.0.2.0/24')
      await fixture.setNeighbor(true)
      await untilNeighbor(speaker, ({ state }) => state === 'established')
      await speaker.list()
      const { asn } = await speaker.probe()
      const received = async (family: Family) => [
        ...(await speaker.advertised(neighbor.address, family, 1_000))!,
      ]
      assert.deepEqual(
        new Map(await received(4)),
        new Map<string, number | null>([
          [plain4.prefix, asn],
          [rich4.prefix, 64510],
          ['192.0.2.0/24', asn],
        ]),
      )
      assert.deepEqual(
        new Map(await received(6)),
        new Map<string, number | null>([
          [plain6.prefix, asn],
          [rich6.prefix, 64496],
        ]),
      )
      await fixture.rejectExports(true)
      assert.deepEqual([...(await received(4)), ...(await received(6))], [])
      await fixture.rejectExports(false)
      assert.equal((await received(4)).length, 3)
      assert.equal(await speaker.advertised(neighbor.address, 4, 2), undefined, 'the table is larger')
    })

    it('rejects a question about an unknown neighbor', async () => {
      await fixture.speaker.list()
      await assert.rejects(
        fixture.speaker.advertised('192.0.2.99', 4, 1_000),
        (error) => error instanceof SpeakerError && error.kind === 'refused',
      )
    })

    it('changes nothing when the same routes are announced again', async () => {
      await starting(fixture, [rich4, rich6])
      await fixture.speaker.announce([rich4, rich6])
      await assertListed(fixture.speaker, [rich4, rich6])
    })

    it('replaces the attributes of a prefix that is announced again', async () => {
      await starting(fixture, [rich4, rich6])
      const replaced4 = { ...rich4, asPath: [], communities: ['64500:1'], largeCommunities: [] }
      const replaced6 = { ...rich6, asPath: [64511], nextHop: '2001:db8::2' }
      await fixture.speaker.announce([replaced4, replaced6])
      await assertListed(fixture.speaker, [replaced4, replaced6])
    })

    it('withdraws only the given prefixes', async () => {
      await starting(fixture, [rich4, rich6, plain4, plain6])
      await fixture.speaker.withdraw([rich4, plain6])
      await assertListed(fixture.speaker, [rich6, plain4])
    })

    it('withdraws a prefix whatever its attributes are', async () => {
      await starting(fixture, [rich4, rich6])
      await fixture.speaker.withdraw([
        { ...plain4, prefix: rich4.prefix },
        { ...plain6, prefix: rich6.prefix },
      ])
      await assertListed(fixture.speaker, [])
    })

    it('accepts the withdrawal of an absent prefix', async () => {
      await starting(fixture, [rich4])
      await fixture.speaker.withdraw([plain4, plain6])
      await assertListed(fixture.speaker, [rich4])
    })

    it('does not withdraw more specific or covering prefixes', async () => {
      await starting(fixture, [rich4, rich6])
      await fixture.speaker.withdraw([
        route('198.51.100.0/25'),
        route('198.51.0.0/16'),
        route('2001:db8:a::/49'),
        route('2001:db8::/32'),
      ])
      await assertListed(fixture.speaker, [rich4, rich6])
    })

    it('does nothing for an empty list of routes', async () => {
      await starting(fixture, [rich4, rich6])
      await fixture.stranger.announce([plain4])
      await fixture.addByHand('192.0.2.0/24')
      await fixture.speaker.withdraw([])
      await fixture.speaker.announce([])
      await assertListed(fixture.speaker, [rich4, rich6])
      await assertListed(fixture.stranger, [plain4])
      assert.deepEqual(await fixture.listByHand(), ['192.0.2.0/24'])
    })

    it('neither lists nor changes routes of others', async () => {
      await starting(fixture, [])
      await fixture.stranger.announce([plain4, rich6])
      await fixture.addByHand('192.0.2.0/24')
      await fixture.addByHand('2001:db8:ffff::/48')
      await assertListed(fixture.speaker, [])
      await fixture.speaker.withdraw([plain4, rich6, route('192.0.2.0/24'), route('2001:db8:ffff::/48')])
      await assertListed(fixture.stranger, [plain4, rich6])
      assert.deepEqual([...(await fixture.listByHand())].sort(), ['192.0.2.0/24', '2001:db8:ffff::/48'])
    })

    it('distinguishes its own route from a foreign route for the same prefix', async () => {
      await starting(fixture, [])
      await fixture.addByHand('192.0.2.0/24')
      await fixture.stranger.announce([route('192.0.2.0/24', { asPath: [64510] })])
      const ours = route('192.0.2.0/24', { asPath: [64496] })
      await fixture.speaker.announce([ours])
      await assertListed(fixture.speaker, [ours])
      await fixture.speaker.withdraw([ours])
      await assertListed(fixture.speaker, [])
      assert.equal((await fixture.stranger.list()).length, 1)
      assert.deepEqual(await fixture.listByHand(), ['192.0.2.0/24'])
    })

    it('keeps announced routes when a client closes its connection', async () => {
      await starting(fixture, [])
      const other = fixture.connect()
      await other.announce([rich4, rich6])
      await other.close()
      await assert.rejects(other.list(), (error) => error instanceof SpeakerError)
      await assertListed(fixture.speaker, [rich4, rich6])
    })

    it('holds thousands of routes, lists them in full, and withdraws them', async () => {
      await starting(fixture, [rich4, rich6])
      const many = manyRoutes(scaled(10_000))
      await fixture.speaker.announce(many)
      await assertListed(fixture.speaker, [rich4, rich6, ...many])
      await fixture.speaker.withdraw(many)
      await assertListed(fixture.speaker, [rich4, rich6])
    })

    it('applies concurrent calls', async () => {
      await starting(fixture, [])
      const many = manyRoutes(40)
      await Promise.all(many.map((one) => fixture.speaker.announce([one])))
      await assertListed(fixture.speaker, many)
    })

    it('lists nothing after a restart of the daemon, and can announce again', async () => {
      await starting(fixture, [rich4, rich6])
      await fixture.restart()
      await assertListed(fixture.speaker, [])
      await fixture.speaker.announce([rich4])
      await assertListed(fixture.speaker, [rich4])
    })

    it('notifies a watcher when the daemon is back', async () => {
      await starting(fixture, [rich4])
      const client = fixture.connect()
      await client.list()
      const received = watch(client)
      await fixture.restart()
      await until(() => received.ups > 0)
      received.stop()
      const before = received.ups
      await fixture.restart()
      await fixture.speaker.list()
      assert.equal(received.ups, before)
      await client.close()
    })

    it('lists its neighbors, established and not', async () => {
      const { speaker, neighbor } = fixture
      await fixture.setNeighbor(true)
      const up = await untilNeighbor(speaker, ({ state }) => state === 'established')
      assert.deepEqual([up.address, up.asn, up.families], [neighbor.address, neighbor.asn, [4, 6]])
      assert.ok(up.since && Math.abs(Date.now() - up.since.getTime()) < 600_000, String(up.since))
      await fixture.setNeighbor(false)
      const lost = await untilNeighbor(speaker, ({ state }) => state !== 'established')
      assert.deepEqual([lost.address, lost.asn, lost.families], [neighbor.address, neighbor.asn, []])
      await fixture.setNeighbor(true)
      await untilNeighbor(speaker, ({ state }) => state === 'established')
    })

    it('notifies a watcher when a session is lost, and when it is established again', async () => {
      const { speaker } = fixture
      await fixture.setNeighbor(true)
      await untilNeighbor(speaker, ({ state }) => state === 'established')
      const client = fixture.connect()
      const received = await watching(fixture, client)
      await fixture.setNeighbor(false)
      await until(() => received.neighborChanges === 1)
      assert.notEqual((await onlyNeighbor(client)).state, 'established')
      await fixture.setNeighbor(true)
      await until(() => received.neighborChanges === 2)
      assert.equal((await onlyNeighbor(client)).state, 'established')
      assert.equal(received.tableChanges, 0)
      await client.close()
    })

    it('notifies a watcher when another client removes its routes', async () => {
      await starting(fixture, [])
      const client = fixture.connect()
      const received = await watching(fixture, client)
      await client.announce([rich4, rich6, ...manyRoutes(1_000)])
      await fixture.clearByHand()
      await until(() => received.tableChanges > 0)
      assert.deepEqual(await client.list(), [])
      await client.close()
    })

    it('notifies a watcher when another client of the owner adds, changes or removes a route', async () => {
      await starting(fixture, [])
      const client = fixture.connect()
      const received = await watching(fixture, client)
      await fixture.speaker.announce([rich4])
      await until(() => received.tableChanges === 1)
      await fixture.speaker.announce([{ ...rich4, asPath: [64511] }])
      await until(() => received.tableChanges === 2)
      await fixture.speaker.withdraw([rich4])
      await until(() => received.tableChanges === 3)
      await client.close()
    })

    it("does not notify a watcher of its own speaker's changes, however many", async () => {
      await starting(fixture, [])
      const [client, observer] = [fixture.connect(), fixture.connect()]
      const observed = await watching(fixture, observer)
      const received = await watching(fixture, client)
      const many = manyRoutes(scaled(10_000))
      for (let start = 0; start < many.length; start += 1_000) {
        const part = many.slice(start, start + 1_000)
        await client.announce(part)
        await client.announce(part.map((one) => ({ ...one, asPath: [64511] })))
        await client.withdraw(part)
      }
      await client.announce([rich4])
      await fixture.clearByHand()
      await until(() => received.tableChanges > 0)
      assert.equal(received.tableChanges, 1, 'only the changes made by hand')
      assert.ok(
        observed.tableChanges < 1_000,
        `${observed.tableChanges} calls for ${3 * many.length} changes by another client`,
      )
      await Promise.all([client.close(), observer.close()])
    })

    it('does not notify a watcher of foreign routes', async () => {
      await starting(fixture, [plain4])
      const client = fixture.connect()
      const received = await watching(fixture, client)
      const other = await watching(fixture, fixture.stranger)
      await fixture.addByHand('192.0.2.0/24')
      const someone = fixture.connectStranger()
      await someone.announce([rich4])
      await until(() => other.tableChanges > 0)
      assert.equal(received.tableChanges, 0)
      other.stop()
      await Promise.all([client.close(), someone.close()])
    })

    it('keeps notifying a watcher after a restart, and reports nothing else of it', async () => {
      await starting(fixture, [rich4])
      const client = fixture.connect()
      const received = await watching(fixture, client)
      await fixture.restart()
      await until(() => received.ups > 0)
      assert.deepEqual(await client.list(), [])
      assert.equal(received.tableChanges, 0)
      await untilNotified(received, fixture.connect())
      await client.close()
    })

    it('reports `unreachable` within the timeout if the daemon does not run', async () => {
      const { speaker, timeoutMs } = fixture.absent
      const calls: (() => Promise<unknown>)[] = [
        () => speaker.probe(),
        () => speaker.list(),
        () => speaker.find([rich4.prefix]),
        () => speaker.announce([rich4]),
        () => speaker.withdraw([rich4]),
        () => speaker.neighbors(),
      ]
      for (const call of calls) {
        const startedMs = performance.now()
        await assert.rejects(call, (error) => error instanceof SpeakerError && error.kind === 'unreachable')
        assert.ok(performance.now() - startedMs < timeoutMs + 1_000)
      }
    })
  })
}

type WatcherCalls = { ups: number; tableChanges: number; neighborChanges: number; readonly stop: () => void }

/** Counts the calls of a watcher. */
function watch(speaker: Speaker): WatcherCalls {
  const counts = { ups: 0, tableChanges: 0, neighborChanges: 0 }
  const events: SpeakerEvents = {
    onUp: () => counts.ups++,
    onTableChange: () => counts.tableChanges++,
    onNeighborChange: () => counts.neighborChanges++,
  }
  return Object.assign(counts, { stop: speaker.watch(events) })
}

/** Like `watch`, but resolves once the watcher is known to be called; the counts restart at 0. */
async function watching(fixture: SpeakerFixture, speaker: Speaker): Promise<WatcherCalls> {
  const received = watch(speaker)
  await untilNotified(received, speaker === fixture.stranger ? fixture.connectStranger() : fixture.connect())
  return Object.assign(received, { ups: 0, tableChanges: 0, neighborChanges: 0 })
}

let probes = 0

/** Makes changes by another client until the watcher is called. */
async function untilNotified(received: WatcherCalls, other: Speaker): Promise<void> {
  // A separate prefix each time: if another owner has a route for the same prefix, a change may not be reported.
  const probe = route(`10.255.${probes++ % 256}.0/24`)
  for (let at = 0; at < 100 && received.tableChanges === 0; at++) {
    await (at % 2 === 0 ? other.announce([probe]) : other.withdraw([probe]))
    for (let wait = 0; wait < 50 && received.tableChanges === 0; wait++) await sleep(10)
  }
  assert.ok(received.tableChanges > 0, 'the watcher is not called')
  await other.close()
}

async function onlyNeighbor(speaker: Speaker): Promise<Neighbor> {
  const neighbors = await speaker.neighbors()
  assert.equal(neighbors.length, 1, JSON.stringify(neighbors))
  return neighbors[0]!
}

/** A session takes seconds to be established. */
async function untilNeighbor(speaker: Speaker, is: (neighbor: Neighbor) => boolean): Promise<Neighbor> {
  for (let at = 0; at < 3_000; at++) {
    const neighbor = await onlyNeighbor(speaker)
    if (is(neighbor)) return neighbor
    await sleep(10)
  }
  return assert.fail('the neighbor did not change within 30 s')
}

function route(prefix: string, rest: Partial<Route> = {}): Route {
  const canonical = prefix as Prefix
  const plain = { asPath: [], nextHop: selfNextHop(canonical), communities: [], largeCommunities: [] }
  return { prefix: canonical, ...plain, ...rest }
}

const plain4 = route('203.0.113.0/24')
const plain6 = route('2001:db8:b::/48')
const rich4 = route('198.51.100.0/24', {
  asPath: [4_200_000_001, 64496],
  nextHop: '192.0.2.1',
  communities: ['64500:100', '65535:666', '0:0'],
  largeCommunities: ['4200000001:1:4294967295', '64500:0:0'],
})
const rich6 = route('2001:db8:a::/48', {
  ...rich4,
  prefix: '2001:db8:a::/48' as Prefix,
  nextHop: '2001:db8::1',
})

/** Returns routes without duplicates, half IPv4, half IPv6. */
function manyRoutes(count: number): Route[] {
  return Array.from({ length: count }, (_, at) => {
    const attributes = { asPath: [64_496 + (at % 16)], communities: [`64500:${at % 1000}`] }
    if (at % 2 === 0) return route(`10.${(at >> 9) & 255}.${(at >> 1) & 255}.0/24`, attributes)
    return route(`2001:db8:${(0x1000 + at).toString(16)}::/48`, attributes)
  })
}

/** Restarts the daemon, so that tests are independent of each other, and announces the initial routes. */
async function starting(fixture: SpeakerFixture, routes: readonly Route[]): Promise<void> {
  await fixture.restart()
  await fixture.speaker.announce(routes)
}

async function assertListed(speaker: Speaker, expected: readonly Route[]): Promise<void> {
  assertSame(await speaker.list(), expected)
}

function assertSame(listed: readonly Route[], expected: readonly Route[]): void {
  const byPrefix = new Map(listed.map((one) => [one.prefix, one]))
  assert.equal(listed.length, byPrefix.size, 'a prefix is listed twice')
  for (const want of expected) {
    const got = byPrefix.get(want.prefix)
    assert.ok(got && sameRoute(got, want), `expected ${JSON.stringify(want)}, listed ${JSON.stringify(got)}`)
  }
  assert.equal(listed.length, expected.length, 'routes are listed that were never announced')
}
