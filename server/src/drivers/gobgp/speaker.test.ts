import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, it, type TestContext } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { freePort, randomSubnet } from '@pharos/lab/address'
import { Bird } from '@pharos/lab/bird'
import { Gobgpd, type GobgpdOptions } from '@pharos/lab/gobgpd'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { type SpeakerFixture, speakerConformance } from '../../byoip/regions/speaker.conformance.ts'
import type { Route, Speaker } from '../../byoip/regions/speaker.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'
import { encodeRoute, parseOwner } from './codec.ts'
import { startFakeGobgpd } from './testing.ts'
import { type ListPathRequest, ListPathResponseSchema } from './generated/gobgp_pb.js'
import { createGobgpSpeaker } from './speaker.ts'

const owner = '64500:1:1'
const skip = skipWithout('gobgpd', 'gobgp', 'bird', 'birdc')

speakerConformance('GoBGP', conformanceFixture, skip || undefined)

describe('the GoBGP speaker on a real daemon', { skip }, () => {
  it('is unreachable, without rejecting a route, while the daemon has no configuration', async (t) => {
    const gobgpd = await startGobgpd(t, { configured: false })
    const speaker = speakerAt(t, gobgpd.apiAddress)
    await assert.rejects(speaker.probe(), ofKind('unreachable', /no configuration/))
    await assert.rejects(speaker.announce([route('192.0.2.0/24')]), ofKind('unreachable', /started/))
    await assert.rejects(speaker.list(), ofKind('unreachable', /started/))
  })

  it('reports a disabled neighbor as down, with its description', async (t) => {
    const peer = { address: '127.99.99.99', port: 17_900, asn: 64501, description: 'edge router' }
    const gobgpd = await startGobgpd(t, { neighbors: [peer] })
    const speaker = speakerAt(t, gobgpd.apiAddress)
    const before = await speaker.neighbors()
    assert.deepEqual(
      before.map(({ address, description }) => [address, description]),
      [[peer.address, 'edge router']],
    )
    assert.notEqual(before[0]?.state, 'down')
    await gobgpd.gobgp('neighbor', peer.address, 'disable')
    const [after] = await speaker.neighbors()
    assert.deepEqual([after?.state, after?.asn, after?.families], ['down', 64501, []])
    assert.equal(after?.end?.reason, 'disabled')
  })

  it('lists a dynamic neighbor once it is established', async (t) => {
    const gobgpd = await startGobgpd(t, { dynamic: { prefix: '127.0.0.0/8', asn: 64501 } })
    const bird = await startBird(t, gobgpd)
    const speaker = speakerAt(t, gobgpd.apiAddress)
    const neighbor = await waitFor('it is established', async () =>
      (await speaker.neighbors()).find(({ state }) => state === 'established'),
    )
    assert.deepEqual([neighbor.address, neighbor.asn, neighbor.families], [bird.address, 64501, [4, 6]])
  })

  it('queues nothing that a suspended daemon would apply when it continues', async (t) => {
    const gobgpd = await startGobgpd(t)
    const speaker = speakerAt(t, gobgpd.apiAddress, 3_000)
    await untilReachable(speaker)
    await suspend(gobgpd.pid!)
    const calls = numbered(20).map((one) =>
      assert.rejects(speaker.announce([one]), ofKind('unreachable', /./)),
    )
    await Promise.all(calls)
    process.kill(gobgpd.pid!, 'SIGCONT')
    await untilReachable(speaker)
    const patient = speakerAt(t, gobgpd.apiAddress)
    await patient.announce([route('192.0.2.0/24')])
    assert.deepEqual(
      (await patient.list()).map(({ prefix }) => prefix),
      ['192.0.2.0/24'],
    )
  })

  it('notifies a watcher when a suspended daemon answers again', async (t) => {
    const gobgpd = await startGobgpd(t)
    const speaker = speakerAt(t, gobgpd.apiAddress, 3_000)
    let ups = 0
    speaker.watch({ onUp: () => ups++, onTableChange: () => {}, onNeighborChange: () => {} })
    await waitFor('it is connected', () => ups === 1)
    await untilReachable(speaker)
    await suspend(gobgpd.pid!)
    await assert.rejects(speaker.list(), ofKind('unreachable', /./))
    await assert.rejects(speaker.announce([route('192.0.2.0/24')]), ofKind('unreachable', /./))
    assert.equal(ups, 1)
    process.kill(gobgpd.pid!, 'SIGCONT')
    await waitFor('onUp', () => ups === 2)
    await speaker.list()
    assert.equal(ups, 2)
  })

  it('rejects a call during which the daemon is killed, and works again with the next call', async (t) => {
    const gobgpd = await startGobgpd(t)
    const speaker = speakerAt(t, gobgpd.apiAddress)
    const many = Array.from({ length: 20_000 }, (_, at) => route(`10.${at >> 8}.${at & 255}.0/24`))
    await speaker.announce(many)
    const listed = speaker.list().then(
      (routes) => routes.length,
      (error: unknown) => error,
    )
    await gobgpd.kill('SIGKILL')
    const outcome = await listed
    assert.ok(outcome === many.length || (outcome instanceof DriverError && outcome.kind === 'unreachable'))
    await gobgpd.start({ restarted: true })
    assert.deepEqual(await untilReachable(speaker), [])
  })
})

it('refuses plaintext to another machine unless it is configured', () => {
  const at = (address: string, insecure = false) => createGobgpSpeaker({ address, owner, insecure })
  for (const address of [
    '192.0.2.1:50051',
    'gobgpd.example:50051',
    '[2001:db8::1]:50051',
    '127.0.0.1.example:1',
  ])
    assert.throws(() => at(address), /plaintext/)
  for (const address of ['127.0.0.1:50051', 'localhost:50051', '[::1]:50051', 'unix:/run/gobgpd.sock'])
    void at(address).close()
  void at('192.0.2.1:50051', true).close()
})

it('sends nothing without routes', async (t) => {
  const fake = await fakeFor(t)
  const speaker = speakerAt(t, fake.address)
  await speaker.announce([])
  await speaker.withdraw([])
  assert.equal(fake.calls(), 0)
})

it('sends many routes in messages of 500, in one call', async (t) => {
  const fake = await fakeFor(t)
  await speakerAt(t, fake.address).announce(numbered(1_201))
  assert.deepEqual(
    fake.changes.map(({ paths }) => paths.length),
    [500, 500, 201],
  )
  assert.equal(fake.calls(), 1)
})

it('announces all other routes when some are rejected, and returns the rejected ones', async (t) => {
  const bad = new Set([7, 8, 700])
  const fake = await fakeFor(t, {
    refuse: ({ paths }) =>
      paths.some(({ nlriBinary }) => bad.has(numberOf(nlriBinary))) ? 'no such thing' : undefined,
  })
  const announced = speakerAt(t, fake.address).announce(numbered(1_000))
  await assert.rejects(announced, (error) => {
    assert.ok(error instanceof DriverError)
    assert.equal(error.kind, 'refused')
    assert.deepEqual(
      error.refused.map(({ subject }) => subject),
      ['10.0.7.0/24', '10.0.8.0/24', '10.2.188.0/24'],
    )
    return true
  })
  const taken = new Set(
    fake.changes.flatMap(({ paths }) => paths.map(({ nlriBinary }) => numberOf(nlriBinary))),
  )
  assert.equal(taken.size, 997)
})

it('announces the other routes when one cannot be encoded', async (t) => {
  const fake = await fakeFor(t)
  const routes = [route('192.0.2.0/24', { nextHop: '::' }), route('203.0.113.0/24')]
  await assert.rejects(speakerAt(t, fake.address).announce(routes), ofKind('refused', /192\.0\.2\.0\/24/))
  assert.equal(fake.changes[0]?.paths.length, 1)
})

it('does not treat a list that ends in an error as complete', async (t) => {
  const path = encodeRoute(route('192.0.2.0/24'), parseOwner(owner))
  const one = create(ListPathResponseSchema, { destination: { paths: [{ ...path, neighborIp: '<nil>' }] } })
  const fake = await fakeFor(t, {
    list: (call) => {
      call.write(one)
      call.emit('error', { code: 14, details: 'going away' })
    },
  })
  await assert.rejects(speakerAt(t, fake.address).list(), ofKind('unreachable', /going away/))
})

it('never requests the whole table when it looks up some prefixes', async (t) => {
  const path = encodeRoute(route('203.0.113.0/24'), parseOwner(owner))
  const asked: string[][] = []
  const fake = await fakeFor(t, {
    list: (call) => {
      asked.push((call.request as ListPathRequest).prefixes.map(({ prefix }) => prefix))
      // A path that was not requested, as from a daemon that does not support the selection.
      call.write(
        create(ListPathResponseSchema, { destination: { paths: [{ ...path, neighborIp: '<nil>' }] } }),
      )
      call.end()
    },
  })
  const speaker = speakerAt(t, fake.address)
  assert.deepEqual(await speaker.find([]), [])
  assert.deepEqual(await speaker.find([parsePrefix('192.0.2.0/24')]), [])
  assert.deepEqual(asked, [['192.0.2.0/24']])
})

it('rejects the whole list if one of its own routes cannot be decoded', async (t) => {
  const path = encodeRoute(route('192.0.2.0/24'), parseOwner(owner))
  const fake = await fakeFor(t, {
    list: (call) => {
      const nlriBinary = path.nlriBinary.subarray(0, 2)
      call.write(
        create(ListPathResponseSchema, {
          destination: { paths: [{ ...path, nlriBinary, neighborIp: '<nil>' }] },
        }),
      )
      call.end()
    },
  })
  await assert.rejects(speakerAt(t, fake.address).list(), ofKind('protocol', /unreadable/))
})

it('is unreachable when the daemon does not answer within the timeout', async (t) => {
  const fake = await fakeFor(t)
  let isPending = true
  const patient = speakerAt(t, fake.address)
  const late = assert.rejects(patient.list(), ofKind('unreachable', /./)).then(() => (isPending = false))
  await assert.rejects(speakerAt(t, fake.address, 200).list(), ofKind('unreachable', /./))
  assert.ok(isPending, 'the timeout of the other is a minute')
  await patient.close()
  await late
})

it('reads a table for longer than the timeout as long as it arrives, and stops when nothing arrives any more', async (t) => {
  const one = (at: number) => {
    const path = encodeRoute(numbered(at + 1)[at]!, parseOwner(owner))
    return create(ListPathResponseSchema, { destination: { paths: [{ ...path, neighborIp: '<nil>' }] } })
  }
  let isStuck = false
  const fake = await fakeFor(t, {
    list: async (call) => {
      if ((call.request as ListPathRequest).family?.safi !== 1) return
      for (let at = 0; at < 8; at++) {
        call.write(one(at))
        await sleep(300)
      }
      if (!isStuck) call.end()
    },
  })
  const speaker = speakerAt(t, fake.address, 2_000)
  const prefixes = numbered(8).map(({ prefix }) => prefix)
  assert.equal((await speaker.find(prefixes)).length, 8)
  isStuck = true
  await assert.rejects(speaker.find(prefixes), ofKind('unreachable', /no message for/))
})

it('sends 5,000 routes under one timeout', async (t) => {
  const fake = await fakeFor(t)
  const speaker = speakerAt(t, fake.address)
  await speaker.announce(numbered(10_001))
  assert.deepEqual(fake.changes.map(({ paths }) => paths.length).slice(-2), [500, 1])
  assert.equal(fake.calls(), 3)
})

it('opens another connection if the open one transfers nothing any more', async (t) => {
  const fake = await fakeFor(t, { list: (call) => call.end() })
  const relay = await startRelay(t, fake.address)
  const speaker = speakerAt(t, relay.address, 300)
  let ups = 0
  speaker.watch({ onUp: () => ups++, onTableChange: () => {}, onNeighborChange: () => {} })
  await waitFor('it is connected', () => ups > 0)
  // On a busy machine an answer may take longer than the timeout, which has to be short here.
  const answers = () => waitFor('it answers', () => speaker.list().catch(() => undefined))
  await answers()
  const before = ups
  relay.swallow()
  await assert.rejects(speaker.list(), ofKind('unreachable', /./))
  await waitFor('it is reached again', () => ups > before)
  assert.deepEqual(await answers(), [])
})

it('rejects running calls when it is closed', async (t) => {
  const fake = await fakeFor(t)
  const speaker = speakerAt(t, fake.address)
  const running = assert.rejects(speaker.list(), ofKind('unreachable', /./))
  setTimeout(() => void speaker.close(), 50)
  await running
})

it('reports that another service answers', async (t) => {
  const fake = await fakeFor(t, { onlyMethod: '/other.Service/Do' })
  const speaker = speakerAt(t, fake.address)
  for (const call of [() => speaker.probe(), () => speaker.list(), () => speaker.announce(numbered(1))])
    await assert.rejects(call, ofKind('protocol', /neither GoBGP 3\.x nor 4\.x/))
})

it('detects the version once per connection', async (t) => {
  const fake = await fakeFor(t, { list: (call) => call.end() })
  const speaker = speakerAt(t, fake.address)
  await speaker.list()
  await speaker.find([parsePrefix('192.0.2.0/24')])
  assert.equal(fake.probes(), 1)
  await speaker.announce(numbered(3))
  await speaker.withdraw(numbered(3))
  assert.equal(fake.probes(), 3, 'the daemon is probed before each change')
})

it('detects the version again after an invalid answer', async (t) => {
  let answers = 0
  const fake = await fakeFor(t, {
    list: (call) => {
      if (answers++ < 2) call.emit('error', { code: 12, details: 'unknown service' })
      else call.end()
    },
  })
  const speaker = speakerAt(t, fake.address)
  await assert.rejects(speaker.list(), ofKind('protocol', /unknown service/))
  assert.deepEqual(await speaker.list(), [])
  assert.equal(fake.probes(), 2)
})

async function conformanceFixture(): Promise<SpeakerFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-gobgp-'))
  const { gobgpd, bird } = await withNeighbor(folder)
  await Promise.all([gobgpd.start(), bird.start()])
  const connect = (owner: string) =>
    createGobgpSpeaker({ address: gobgpd.apiAddress, owner, timeoutMs: patienceMs })
  const nobody = `127.0.0.1:${await freePort()}`
  const fixture = {
    speaker: connect(owner),
    stranger: connect('64500:1:2'),
    connect: () => connect(owner),
    connectStranger: () => connect('64500:1:2'),
    absent: { speaker: createGobgpSpeaker({ address: nobody, owner, timeoutMs: 1_000 }), timeoutMs: 1_000 },
    addByHand: async (prefix: string) => {
      const family = prefix.includes(':') ? ['-a', 'ipv6'] : []
      await gobgpd.gobgp('global', 'rib', 'add', ...family, prefix)
    },
    addBetter: async (prefix: string) => {
      const family = prefix.includes(':') ? ['-a', 'ipv6'] : []
      await gobgpd.gobgp('global', 'rib', 'add', ...family, prefix, 'aspath', '64510', 'local-pref', '200')
    },
    rejectExports: (rejects: boolean) => gobgpd.rejectExports(rejects),
    listByHand: async () => {
      const texts = [await gobgpd.gobgp('global', 'rib'), await gobgpd.gobgp('global', 'rib', '-a', 'ipv6')]
      // Routes of Pharos have a large community; the test's own route has no community.
      const lines = texts
        .flatMap((text) => text.split('\n'))
        .filter((line) => !line.includes('LargeCommunity'))
      return lines.flatMap((line) => /\s([0-9a-f.:]+\/\d+)\s/.exec(line)?.[1] ?? [])
    },
    clearByHand: async () => {
      await gobgpd.gobgp('global', 'rib', 'del', 'all')
      await gobgpd.gobgp('global', 'rib', 'del', 'all', '-a', 'ipv6')
    },
    neighbor: bird.options,
    setNeighbor: (isUp: boolean) => (isUp ? bird.start() : bird.stop()),
    restart: async () => {
      await gobgpd.kill('SIGKILL')
      await gobgpd.start({ restarted: true })
      await Promise.all([untilReachable(fixture.speaker), untilReachable(fixture.stranger)])
    },
    stop: async () => {
      await Promise.all([fixture.speaker.close(), fixture.stranger.close(), fixture.absent.speaker.close()])
      await Promise.all([gobgpd.stop(), bird.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
  return fixture
}

/** A gobgpd and a BIRD that are neighbors. */
async function withNeighbor(folder: string): Promise<{ gobgpd: Gobgpd; bird: Bird }> {
  const options = await gobgpdOptions(folder)
  const address = options.address.replace(/\.1$/, '.2')
  const peer = { address, port: await freePort(address, 17_900), asn: 64501 }
  const neighbor = { address: options.address, port: options.bgpPort, asn: options.asn }
  return {
    gobgpd: new Gobgpd({ ...options, neighbors: [peer] }),
    bird: new Bird({ folder, ...peer, neighbor }),
  }
}

async function gobgpdOptions(folder: string) {
  const address = `${randomSubnet()}.1`
  const [apiPort, bgpPort] = [await freePort(address, 50_051), await freePort(address, 17_900)]
  return { folder, address, apiPort, bgpPort, asn: 64500, neighbors: [] }
}

async function startGobgpd(t: TestContext, rest: Partial<GobgpdOptions> = {}): Promise<Gobgpd> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-gobgp-'))
  const gobgpd = new Gobgpd({ ...(await gobgpdOptions(folder)), ...rest })
  t.after(async () => {
    await gobgpd.stop()
    await rm(folder, { recursive: true, force: true })
  })
  await gobgpd.start()
  return gobgpd
}

/**
 * A relay for connections; after `swallow` open connections stay open and transfer no data, as with an unreachable
 * machine.
 */
async function startRelay(t: TestContext, target: string) {
  const sockets = new Set<Socket>()
  const relay = createServer((socket) => {
    const [host, port] = target.split(':')
    const onward = connect(Number(port), host!)
    for (const one of [socket, onward]) sockets.add(one.on('error', () => {}))
    socket.pipe(onward).pipe(socket)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    relay.close()
  })
  return {
    address: `127.0.0.1:${(relay.address() as AddressInfo).port}`,
    swallow: () => {
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}

/** A BIRD that connects to it. */
async function startBird(t: TestContext, { options }: Gobgpd): Promise<{ address: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bird-'))
  const address = options.address.replace(/\.1$/, '.2')
  const neighbor = { address: options.address, port: options.bgpPort, asn: options.asn }
  const bird = new Bird({ folder, address, port: await freePort(address, 17_900), asn: 64501, neighbor })
  t.after(async () => {
    await bird.stop()
    await rm(folder, { recursive: true, force: true })
  })
  await bird.start()
  return { address }
}

async function fakeFor(t: TestContext, behaviour?: Parameters<typeof startFakeGobgpd>[0]) {
  const fake = await startFakeGobgpd(behaviour)
  t.after(fake.stop)
  return fake
}

/** Resolves when no thread of the process runs any more: until then it answers. */
async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  const tasks = `/proc/${pid}/task`
  const isStopped = (task: string) => /\) [Tt] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'))
  await waitFor('it is suspended', () => readdirSync(tasks).every(isStopped))
}

/** A daemon that works answers within a minute, on a busy machine too. */
const patienceMs = 60_000

function speakerAt(t: TestContext, address: string, timeoutMs = patienceMs): Speaker {
  const speaker = createGobgpSpeaker({ address, owner, timeoutMs })
  t.after(() => speaker.close())
  return speaker
}

/** The connection of a client to a restarted daemon is restored within half a second. */
async function untilReachable(speaker: Speaker): Promise<readonly Route[]> {
  const endMs = performance.now() + 300_000
  for (;;) {
    try {
      return await speaker.list()
    } catch (error) {
      if (performance.now() > endMs) throw error
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

function numbered(count: number): Route[] {
  return Array.from({ length: count }, (_, at) => route(`10.${at >> 8}.${at & 255}.0/24`))
}

function numberOf(nlri: Uint8Array): number {
  return nlri[2]! * 256 + nlri[3]!
}

function route(prefix: string, rest: Partial<Route> = {}): Route {
  return {
    prefix: parsePrefix(prefix),
    asPath: [],
    nextHop: '0.0.0.0',
    communities: [],
    largeCommunities: [],
    ...rest,
  }
}
