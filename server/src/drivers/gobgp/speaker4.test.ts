// The speaker for GoBGP 4.x. Debian has no such daemon (see daemon4.long.test.ts), so these tests use a server that
// behaves like the published source of 4.x.
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { freePort } from '@pharos/lab/address'
import { waitFor } from '@pharos/lab/wait'
import { type SpeakerFixture, speakerConformance } from '../../byoip/regions/speaker.conformance.ts'
import { type Route, selfNextHop, type Speaker } from '../../byoip/regions/speaker.ts'
import { type Prefix, parsePrefix } from '../../net/prefix.ts'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'
import { createGobgpSpeaker } from './speaker.ts'
import { type FakeGobgp4, startFakeGobgp4 } from './testing-gobgp4.ts'
import { startFakeGobgpd } from './testing.ts'

const owner = '64500:1:1'

speakerConformance('GoBGP 4.x (simulated)', conformanceFixture)

it('detects which version answers', async (t) => {
  const gobgp = await fakeFor(t)
  assert.deepEqual(await speakerAt(t, gobgp.address).probe(), {
    name: 'GoBGP',
    version: '4.x',
    asn: 64500,
    routerId: '192.0.2.1',
    key: '192.0.2.1 64500:1:1',
  })
})

it('is unreachable, without rejecting a route, while the daemon has no configuration', async (t) => {
  const speaker = speakerAt(t, (await fakeFor(t, { configured: false })).address)
  await assert.rejects(speaker.probe(), ofKind('unreachable', /no configuration/))
  await assert.rejects(speaker.announce([route('192.0.2.0/24')]), ofKind('unreachable', /started/))
  await assert.rejects(speaker.list(), ofKind('unreachable', /started/))
})

it('probes the daemon before each change, and uses three calls only', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = speakerAt(t, gobgp.address)
  await speaker.announce([route('192.0.2.0/24')])
  await speaker.list()
  await speaker.withdraw([route('192.0.2.0/24')])
  const [asked, changed] = ['GetBgp', 'AddPathStream']
  const listed = ['ListPath', 'ListPath']
  assert.deepEqual(gobgp.calls, [asked, asked, changed, ...listed, asked, changed])
})

it('sends nothing without routes', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = speakerAt(t, gobgp.address)
  await speaker.announce([])
  await speaker.withdraw([])
  assert.deepEqual(await speaker.find([]), [])
  assert.deepEqual(gobgp.calls, [])
})

it('returns only the requested paths, even with a release that returns more', async (t) => {
  const speaker = speakerAt(t, (await fakeFor(t, { lookup: 'longer' })).address)
  await speaker.announce([route('10.0.0.0/8'), route('10.1.0.0/16'), route('2001:db8::/32')])
  const found = await speaker.find([parsePrefix('10.0.0.0/8'), parsePrefix('10.0.0.0/7')])
  assert.deepEqual(
    found.map(({ prefix }) => prefix),
    ['10.0.0.0/8'],
  )
})

it('does not treat an answer without octets as an empty list', async (t) => {
  const gobgp = await fakeFor(t, { typedOnly: true })
  const speaker = speakerAt(t, gobgp.address)
  await speaker.announce([route('192.0.2.0/24')])
  await assert.rejects(speaker.list(), ofKind('protocol', /octets/))
  await assert.rejects(speaker.find([parsePrefix('192.0.2.0/24')]), ofKind('protocol', /octets/))
})

it('does not mistake a route with the owner community from a neighbor for an announced one', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = speakerAt(t, gobgp.address)
  await speaker.announce([route('192.0.2.0/24'), route('2001:db8::/32')])
  assert.equal((await speaker.list()).length, 2)
  gobgp.markAllLearned('fe80::1%eth0')
  assert.deepEqual(await speaker.list(), [])
})

it('detects that a daemon was upgraded or downgraded', async (t) => {
  const old = await startFakeGobgpd({ list: (call) => call.end() })
  const port = Number(old.address.split(':')[1])
  const speaker = speakerAt(t, old.address)
  assert.equal((await speaker.probe()).version, '3.x')
  await speaker.announce([route('192.0.2.0/24')])
  old.stop()
  const upgraded = await startFakeGobgp4({ port })
  assert.deepEqual(await untilReachable(speaker), [], 'the first successful call uses its dialect')
  await speaker.announce([route('192.0.2.0/24')])
  assert.equal((await speaker.list()).length, 1)
  assert.equal((await speaker.probe()).version, '4.x')
  upgraded.stop()
  const again = await startFakeGobgpd({ list: (call) => call.end(), port })
  t.after(again.stop)
  assert.deepEqual(await untilReachable(speaker), [])
  await speaker.withdraw([route('192.0.2.0/24')])
  assert.equal(again.changes.length, 1)
})

it('reports possible route changes if an event stream ends while the connection is open', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = speakerAt(t, gobgp.address)
  const seen = { ups: 0, tableChanges: 0, neighborChanges: 0 }
  speaker.watch({
    onUp: () => seen.ups++,
    onTableChange: () => seen.tableChanges++,
    onNeighborChange: () => seen.neighborChanges++,
  })
  await waitFor('the events are followed', () => gobgp.calls.includes('WatchEvent'))
  gobgp.endEvents()
  gobgp.setNeighbor(false)
  await waitFor('both events', () => seen.tableChanges === 1 && seen.neighborChanges === 1)
  assert.deepEqual(seen, { ups: 1, tableChanges: 1, neighborChanges: 1 })
  assert.equal(gobgp.calls.filter((call) => call === 'WatchEvent').length, 2)
})

it('notifies a watcher of its own change if it is applied after the call timed out', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = createGobgpSpeaker({ address: gobgp.address, owner, timeoutMs: 500 })
  t.after(() => speaker.close())
  let tableChanges = 0
  speaker.watch({ onUp: () => {}, onTableChange: () => tableChanges++, onNeighborChange: () => {} })
  await waitFor('the events are followed', () => gobgp.calls.includes('WatchEvent'))
  gobgp.delayChanges(true)
  await assert.rejects(speaker.announce([route('192.0.2.0/24')]), ofKind('unreachable', /./))
  gobgp.delayChanges(false)
  await waitFor('the event', () => tableChanges === 1)
})

it('reports a disabled neighbor as down', async (t) => {
  const gobgp = await fakeFor(t)
  gobgp.disableNeighbor()
  const [neighbor] = await speakerAt(t, gobgp.address).neighbors()
  assert.deepEqual([neighbor?.state, neighbor?.families, neighbor?.end], ['down', [], { reason: 'disabled' }])
})

it('reports why a session is down, with the text of the daemon', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = speakerAt(t, gobgp.address)
  const endOf = async (numbers: object) => {
    gobgp.endSession(numbers)
    return (await speaker.neighbors())[0]?.end
  }
  const message = 'cease, maximum number of prefixes reached'
  const reasons = []
  for (let disconnectReason = 0; disconnectReason <= 13; disconnectReason++)
    reasons.push((await endOf({ disconnectReason }))?.reason ?? '')
  assert.deepEqual(reasons, [
    '',
    'disabled',
    'hold_timer',
    'notification_sent',
    'notification_received',
    'connection_lost',
    'connection_lost',
    '',
    'connection_lost',
    'connection_lost',
    'invalid_message',
    'notification_received',
    'disabled',
    'wrong_asn',
  ])
  const received = { disconnectReason: 4, disconnectMessage: message }
  assert.deepEqual(await endOf(received), { reason: 'notification_received', detail: message })
  const overLimit = { ...received, adminState: 3 }
  assert.deepEqual(await endOf(overLimit), { reason: 'prefix_limit', detail: message })
})

it('announces all other routes when some are rejected, and returns the rejected ones', async (t) => {
  const gobgp = await fakeFor(t)
  const speaker = speakerAt(t, gobgp.address)
  const bad = { ...route('10.0.3.0/24'), nextHop: '::' }
  const many = Array.from({ length: 700 }, (_, at) => route(`10.${at >> 8}.${at & 255}.0/24`))
  await assert.rejects(speaker.announce([...many.toSpliced(3, 1), bad]), (error) => {
    assert.ok(error instanceof DriverError)
    assert.deepEqual(
      error.refused.map(({ subject }) => subject),
      ['10.0.3.0/24'],
    )
    return true
  })
  assert.equal((await speaker.list()).length, 699)
})

async function conformanceFixture(): Promise<SpeakerFixture> {
  const gobgp = await startFakeGobgp4()
  const connect = (owner: string) =>
    createGobgpSpeaker({ address: gobgp.address, owner, timeoutMs: patienceMs })
  const nobody = `127.0.0.1:${await freePort()}`
  const fixture = {
    speaker: connect(owner),
    stranger: connect('64500:1:2'),
    connect: () => connect(owner),
    connectStranger: () => connect('64500:1:2'),
    absent: { speaker: createGobgpSpeaker({ address: nobody, owner, timeoutMs: 1_000 }), timeoutMs: 1_000 },
    addByHand: async (prefix: string) => gobgp.addByHand(prefix),
    addBetter: async (prefix: string) => gobgp.addBetter(prefix),
    rejectExports: async (rejects: boolean) => gobgp.rejectExports(rejects),
    listByHand: async () => gobgp.listByHand(),
    clearByHand: async () => gobgp.clearByHand(),
    neighbor: gobgp.neighbor,
    setNeighbor: async (isUp: boolean) => gobgp.setNeighbor(isUp),
    restart: async () => {
      await gobgp.restart()
      await Promise.all([untilReachable(fixture.speaker), untilReachable(fixture.stranger)])
    },
    stop: async () => {
      await Promise.all([fixture.speaker.close(), fixture.stranger.close(), fixture.absent.speaker.close()])
      gobgp.stop()
      assert.ok(!gobgp.calls.includes('DeletePath'), 'the call that can withdraw everything was used')
    },
  }
  return fixture
}

async function fakeFor(t: TestContext, options?: Parameters<typeof startFakeGobgp4>[0]): Promise<FakeGobgp4> {
  const gobgp = await startFakeGobgp4(options)
  t.after(() => {
    gobgp.stop()
    assert.ok(!gobgp.calls.includes('DeletePath'), 'the call that can withdraw everything was used')
  })
  return gobgp
}

/** A daemon that works answers within a minute, on a busy machine too. */
const patienceMs = 60_000

function speakerAt(t: TestContext, address: string): Speaker {
  const speaker = createGobgpSpeaker({ address, owner })
  t.after(() => speaker.close())
  return speaker
}

/** A call that is too early is unreachable; other errors are rethrown. */
async function untilReachable(speaker: Speaker): Promise<readonly Route[]> {
  const endMs = performance.now() + 300_000
  for (;;) {
    try {
      return await speaker.list()
    } catch (error) {
      const isEarly = error instanceof DriverError && error.kind === 'unreachable'
      if (!isEarly || performance.now() > endMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

function ofKind(kind: DriverErrorKind, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof DriverError, String(error))
    assert.equal(error.kind, kind, error.message)
    assert.match(error.message, message)
    return true
  }
}

function route(prefix: string): Route {
  const canonical: Prefix = parsePrefix(prefix)
  return {
    prefix: canonical,
    asPath: [],
    nextHop: selfNextHop(canonical),
    communities: [],
    largeCommunities: [],
  }
}
