import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TouchedPrefixes, VrpSource } from '../../registry/vrp-source.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { silentLog } from '../../runtime/log.ts'
import { createRtrSource, type RtrLimits } from './source.ts'
import {
  cachePdu,
  slow,
  startFakeCache,
  startVrpCache,
  type FakeCache,
  type ReceivedPdu,
  type Script,
} from './testing.ts'
import { until } from '../../../../lab/src/wait.ts'

const [first, second, third] = [
  '192.0.2.0/24-26 AS64500',
  '2001:db8::/32-48 AS64501',
  '198.51.100.0/24 AS64502',
]

describe('an RTR source', () => {
  it('requests the complete set of a new cache and uses it at End of Data, not before', async (t) => {
    const cache = await started(t, () => [
      cachePdu.response(7),
      cachePdu.announce(first!),
      cachePdu.routerKey(),
      cachePdu.announce(second!),
    ])
    const source = follow(t, cache)
    await until(() => cache.received.length === 1)
    await sleep(50)
    assert.equal(source.current(), undefined)
    assert.deepEqual(cache.received[0], { pdu: { type: 'reset_query' }, version: 1 })
    cache.cachePdu(cachePdu.end(7, 1))
    await until(() => source.current())
    assert.deepEqual(asns(source, '192.0.2.0/24'), [64500])
    assert.deepEqual(asns(source, '2001:db8::/48'), [64501])
    assert.deepEqual(source.touched, ['all'])
    const { state, vrps, problem, asOf, expires } = source.status()
    assert.deepEqual([state, vrps, problem], ['current', 2, null])
    assert.equal(expires!.getTime() - asOf!.getTime(), 7_200_000)
  })

  it('requests the changes when it is notified, and applies them as a whole', async (t) => {
    const cache = await started(t, (received) =>
      received.pdu.type === 'reset_query'
        ? [cachePdu.response(7), cachePdu.announce(first!), cachePdu.announce(second!), cachePdu.end(7, 1)]
        : [cachePdu.response(7), cachePdu.withdraw(first!), cachePdu.announce(third!)],
    )
    const source = follow(t, cache)
    await until(() => source.current())
    cache.cachePdu(cachePdu.notify(7, 2))
    await until(() => cache.received.length === 2)
    assert.deepEqual(cache.received[1], { pdu: { type: 'serial_query', session: 7, serial: 1 }, version: 1 })
    await sleep(50)
    assert.deepEqual(asns(source, '192.0.2.0/24'), [64500])
    cache.cachePdu(cachePdu.end(7, 2))
    await until(() => source.touched.length === 2)
    assert.deepEqual(asns(source, '192.0.2.0/24'), [])
    assert.deepEqual(asns(source, '198.51.100.0/24'), [64502])
    assert.deepEqual(sorted(source.touched[1]!), ['192.0.2.0/24', '198.51.100.0/24'])
  })

  it('reports no touched prefixes for a delta without a net change', async (t) => {
    const cache = await started(t, (received) =>
      received.pdu.type === 'reset_query'
        ? full()
        : [
            cachePdu.response(7),
            cachePdu.withdraw(first!),
            cachePdu.announce(first!),
            cachePdu.announce(third!),
            cachePdu.withdraw(third!),
            cachePdu.end(7, 2),
          ],
    )
    const source = follow(t, cache)
    await until(() => source.current())
    cache.cachePdu(cachePdu.notify(7, 2))
    await until(() => cache.received.length === 2)
    await sleep(50)
    assert.deepEqual([source.touched, source.status().problem], [['all'], null])
  })

  it('ignores a notification of the current serial, and queries once more after one during an answer', async (t) => {
    let serial = 1
    const cache = await started(t, (received) =>
      received.pdu.type === 'reset_query' ? full() : [cachePdu.response(7), cachePdu.end(7, ++serial)],
    )
    const source = follow(t, cache)
    await until(() => source.current())
    cache.cachePdu(cachePdu.notify(7, 1))
    await sleep(50)
    assert.equal(cache.received.length, 1)
    cache.cachePdu(cachePdu.notify(7, 2), cachePdu.notify(7, 3))
    await until(() => cache.received.length === 3)
    await sleep(50)
    assert.equal(cache.received.length, 3)
  })

  it('requests the complete set when the cache sends a Cache Reset', async (t) => {
    let resets = 0
    const cache = await started(t, (received) => {
      if (received.pdu.type === 'serial_query') return [cachePdu.reset()]
      return resets++ === 0 ? full() : [cachePdu.response(7), cachePdu.announce(third!), cachePdu.end(7, 9)]
    })
    const source = follow(t, cache)
    await until(() => source.current())
    cache.cachePdu(cachePdu.notify(7, 9))
    await until(() => source.touched.length === 2)
    assert.deepEqual(asns(source, '198.51.100.0/24'), [64502])
    assert.deepEqual(sorted(source.touched[1]!), ['192.0.2.0/24', '198.51.100.0/24'])
    assert.equal(cache.connections(), 1)
  })

  it('keeps its set while the cache is unreachable, and then requests the complete set', async (t) => {
    const cache = await started(t, (_, connection) =>
      connection === 0 ? full() : [cachePdu.response(7), cachePdu.announce(second!), cachePdu.end(7, 1)],
    )
    const source = follow(t, cache)
    await until(() => source.current())
    const { asOf } = source.current()!
    cache.drop()
    await until(() => source.status().problem !== null)
    assert.deepEqual([source.current()?.asOf, asns(source, '192.0.2.0/24')], [asOf, [64500]])
    assert.match(source.status().problem!, /closed/)
    // The same session and serial as after a restart of the cache: they prove no continuity.
    await until(() => source.touched.length === 2)
    assert.deepEqual(cache.received[1]?.pdu, { type: 'reset_query' })
    assert.deepEqual(sorted(source.touched[1]!), ['192.0.2.0/24', '2001:db8::/32'])
    assert.equal(source.status().problem, null)
  })

  it('starts a new session when the session ID changes, and keeps its set until then', async (t) => {
    const changes = [cachePdu.notify(8, 1), cachePdu.response(8), cachePdu.end(8, 2)]
    for (const change of changes) {
      const cache = await started(t, (received, connection) => {
        if (received.pdu.type === 'serial_query')
          return change === changes[2] ? [cachePdu.response(7), change] : [change]
        return connection === 0
          ? full()
          : [cachePdu.response(8), cachePdu.announce(second!), cachePdu.end(8, 1)]
      })
      const source = follow(t, cache, { firstRetryMs: 200 })
      await until(() => source.current())
      cache.cachePdu(cachePdu.notify(7, 2))
      await until(() => source.status().problem !== null)
      assert.deepEqual(asns(source, '192.0.2.0/24'), [64500])
      await until(() => asns(source, '2001:db8::/32').length === 1)
      assert.deepEqual(asns(source, '192.0.2.0/24'), [])
      const reported = cache.received.map(({ pdu }) =>
        pdu.type === 'error_report' ? `error ${pdu.code}` : pdu.type,
      )
      assert.deepEqual(reported, ['reset_query', 'serial_query', 'error 0', 'reset_query'])
    }
  })

  const broken: readonly [string, code: number, delta: readonly Buffer[]][] = [
    ['announces a VRP twice', 7, [cachePdu.announce(first!)]],
    ['withdraws an unknown VRP', 6, [cachePdu.withdraw(second!)]],
    ['answers out of turn', 0, [cachePdu.reset()]],
    ['sends a PDU type that does not exist', 5, [Buffer.from([1, 11, 0, 0, 0, 0, 0, 8])]],
    ['changes the version', 8, [cachePdu.announce(third!, 0)]],
    ['sends an invalid length', 0, [Buffer.from([1, 4, 0, 0, 0, 0, 0, 21])]],
    ['ends another session', 0, [cachePdu.end(8, 2)]],
    ['sends a prefix with host bits', 0, [hostBits()]],
  ]
  for (const [what, code, delta] of broken) {
    it(`sends error ${code} to a cache that ${what}, applies nothing, and requests the complete set`, async (t) => {
      const cache = await started(t, (received, connection) => {
        if (received.pdu.type === 'reset_query')
          return connection === 0 ? full() : [...full().slice(0, 2), cachePdu.end(7, 3)]
        return received.pdu.type === 'serial_query'
          ? [cachePdu.response(7), cachePdu.announce(third!), ...delta]
          : undefined
      })
      const source = follow(t, cache)
      await until(() => source.current())
      cache.cachePdu(cachePdu.notify(7, 2))
      await until(() => cache.received.length === 4)
      await until(() => source.status().problem === null)
      const report = cache.received.map(({ pdu }) => pdu).find((pdu) => pdu.type === 'error_report')
      assert.equal(report?.code, code)
      assert.equal(cache.received[3]?.pdu.type, 'reset_query')
      assert.deepEqual([asns(source, '198.51.100.0/24'), source.touched], [[], ['all']])
    })
  }

  it('never answers an Error Report with one, however malformed', async (t) => {
    const malformed = cachePdu.error(0, 'text')
    malformed.writeUInt32BE(4_000, 8)
    for (const report of [
      cachePdu.error(1, 'trouble'),
      malformed,
      cachePdu.error(99),
      cachePdu.error(0, 'x', 0),
    ]) {
      const cache = await started(t, (_, connection) => (connection === 0 ? [report] : full()))
      const source = follow(t, cache)
      await until(() => source.current())
      await sleep(20)
      assert.deepEqual([...new Set(cache.received.map(({ pdu }) => pdu.type))], ['reset_query'])
    }
  })

  it('waits for a cache that has no data yet without disconnecting', async (t) => {
    let queries = 0
    const cache = await started(t, () => (queries++ === 0 ? [cachePdu.error(2, 'not yet')] : full()))
    const source = follow(t, cache, { lastRetryMs: 50 })
    await until(() => source.status().problem === 'it has no data yet')
    await until(() => source.current())
    assert.equal(cache.connections(), 1)
  })

  it('uses version 0 with a cache that answers in it', async (t) => {
    const cache = await started(t, ({ pdu }) =>
      pdu.type === 'reset_query'
        ? [
            cachePdu.notify(7, 1, 2),
            cachePdu.response(7, 0),
            cachePdu.announce(first!, 0),
            cachePdu.end0(7, 1),
          ]
        : undefined,
    )
    const source = follow(t, cache)
    await until(() => source.current())
    assert.equal(source.status().expires!.getTime() - source.status().asOf!.getTime(), 7_200_000)
    cache.cachePdu(cachePdu.notify(7, 2, 0))
    await until(() => cache.received.length === 2)
    assert.deepEqual(cache.received[1], { pdu: { type: 'serial_query', session: 7, serial: 1 }, version: 0 })
  })

  it('uses version 0 with a cache that rejects version 1, or disconnects because of it', async (t) => {
    const refusals: readonly Script[] = [
      () => [cachePdu.error(4, 'version 0 only', 0)],
      (_, __, socket) => void socket.destroy(),
    ]
    for (const refuse of refusals) {
      const cache = await started(t, (received, ...rest) =>
        received.version === 1
          ? refuse(received, ...rest)
          : [cachePdu.response(7, 0), cachePdu.announce(first!, 0), cachePdu.end0(7, 1)],
      )
      const source = follow(t, cache)
      await until(() => source.current())
      assert.deepEqual(
        cache.received.map(({ version }) => version),
        [1, 0],
      )
    }
  })

  it('is unavailable once its VRPs have expired, and reports that', async (t) => {
    const cache = await started(t, (_, connection) => (connection === 0 ? full() : undefined))
    const source = follow(t, cache, { expireMsMax: 1_000 })
    await until(() => source.current())
    cache.drop()
    await until(() => source.touched.length === 2)
    assert.deepEqual([source.touched, source.current()], [['all', 'all'], undefined])
    assert.equal(source.status().state, 'unavailable')
  })

  it('confirms its set at the refresh interval, which prevents expiry', async (t) => {
    const cache = await started(t, (received) =>
      received.pdu.type === 'reset_query' ? full() : [cachePdu.response(7), cachePdu.end(7, 1)],
    )
    const source = follow(t, cache, { refreshMsMax: 60, expireMsMax: 4_000 })
    await until(() => source.current())
    await sleep(5_000)
    assert.ok(source.current())
    assert.deepEqual(source.touched, ['all'])
  })

  it('requests the complete set at intervals, and corrects the effects of wrong deltas', async (t) => {
    let resets = 0
    const cache = await started(t, (received) => {
      if (received.pdu.type === 'serial_query') return [cachePdu.response(7), cachePdu.end(7, 1)]
      return resets++ === 0
        ? full()
        : [cachePdu.response(7), cachePdu.announce(first!), cachePdu.announce(third!), cachePdu.end(7, 1)]
    })
    const source = follow(t, cache, { fullResetMs: 100 })
    await until(() => source.touched.length === 2)
    assert.deepEqual(source.touched[1], ['198.51.100.0/24'])
    assert.equal(cache.connections(), 1)
  })

  it('disconnects from a cache that does not answer, or answers endlessly, and retries', async (t) => {
    const silent = await started(t, (_, connection) => (connection === 0 ? undefined : full()))
    const one = follow(t, silent, { answerTimeoutMs: 80 })
    await until(() => one.status().problem === 'no answer within 80 ms')
    await until(() => one.current())
    const endless = await started(t, (_, connection, socket) => {
      if (connection > 0) return full()
      const timer = setInterval(() => socket.write(cachePdu.routerKey()), 20)
      socket.once('close', () => clearInterval(timer))
      return [cachePdu.response(7)]
    })
    const other = follow(t, endless, { answerTimeoutMs: 5_000, answerTotalMs: 150 })
    await until(() => other.status().problem === 'no complete answer within 150 ms')
    await until(() => other.current())
  })

  it('limits the number of VRPs', async (t) => {
    const cache = await started(t, () => [
      cachePdu.response(7),
      cachePdu.announce(first!),
      cachePdu.announce(second!),
      cachePdu.end(7, 1),
    ])
    const source = follow(t, cache, { vrpsMax: 1 })
    await until(() => source.status().problem === 'more than 1 VRPs')
    await until(() => cache.received.some(({ pdu }) => pdu.type === 'error_report' && pdu.code === 1))
    assert.equal(source.current(), undefined)
  })

  it('does not apply a delta that removes too many VRPs, and requests the complete set instead', async (t) => {
    const many = Array.from({ length: 10 }, (_, i) => `10.0.${i}.0/24 AS${64500 + i}`)
    const { cache, set } = await startVrpCache()
    t.after(() => cache[Symbol.asyncDispose]())
    const source = follow(t, cache, {}, 3_600_000)
    set(many)
    await until(() => source.current()?.table.size === 10)
    const { asOf } = source.current()!
    set(many.slice(0, 7))
    await until(() => source.suspicion())
    assert.deepEqual(cache.received.map(({ pdu }) => pdu.type).slice(-2), ['serial_query', 'reset_query'])
    assert.deepEqual([asns(source, '10.0.9.0/24'), source.current()!.asOf], [[64509], asOf])
    set(many.slice(0, 9))
    await until(() => !source.suspicion())
    assert.deepEqual([asns(source, '10.0.8.0/24'), asns(source, '10.0.9.0/24')], [[64508], []])
  })

  it('has no set while the first one is empty, and uses the first that is not', async (t) => {
    const { cache, set } = await startVrpCache()
    t.after(() => cache[Symbol.asyncDispose]())
    const source = follow(t, cache, {}, 3_600_000)
    await until(() => source.suspicion())
    assert.deepEqual([source.current(), source.status().state], [undefined, 'unavailable'])
    assert.match(source.status().problem!, /^it has 0 VRPs instead of some; not used until/)
    set([first!])
    await until(() => source.current())
    assert.deepEqual([source.suspicion(), source.status().problem], [undefined, null])
  })

  it('backs off after each failure, with jitter, and resets the delay after a success', async (t) => {
    const times: number[] = []
    const cache = await started(t, (_, __, socket) => {
      times.push(performance.now())
      socket.destroy()
      return undefined
    })
    follow(t, cache, { firstRetryMs: 40, lastRetryMs: 160, random: () => 1 })
    await until(() => times.length === 13)
    const waits = times.slice(1).map((time, i) => time - times[i]!)
    for (const [i, wait] of waits.entries()) assert.ok(wait >= ([40, 80][i] ?? 160) - 2, `${waits}`)
    // Without the bound the last wait would be 80 s.
    assert.ok(waits.at(-1)! < 40_000, `${waits}`)
  })

  it('stops in every state', async (t) => {
    const cache = await started(t, () => full())
    const source = follow(t, cache)
    await until(() => source.current())
    await source.stop?.()
    cache.cachePdu(cachePdu.notify(7, 2))
    await sleep(100)
    assert.deepEqual([cache.received.length, cache.connections()], [1, 1])
    assert.ok(source.current())
  })
})

function full(): Buffer[] {
  return [cachePdu.response(7), cachePdu.announce(first!), cachePdu.end(7, 1, slow)]
}

function hostBits(): Buffer {
  const octets = cachePdu.announce('203.0.113.0/24 AS1')
  octets[15] = 1
  return octets
}

async function started(t: TestContext, script: Script): Promise<FakeCache> {
  const cache = await startFakeCache((received: ReceivedPdu, ...rest) =>
    received.pdu.type === 'error_report' ? undefined : script(received, ...rest),
  )
  t.after(() => cache[Symbol.asyncDispose]())
  return cache
}

type Followed = VrpSource & { readonly touched: TouchedPrefixes[] }

function follow(t: TestContext, cache: FakeCache, limits: Partial<RtrLimits> = {}, confirmMs = 0): Followed {
  const source = createRtrSource({
    name: 'rtr://test',
    host: '127.0.0.1',
    port: cache.port,
    log: silentLog,
    now: () => new Date(),
    confirmMs,
    limits: { firstRetryMs: 20, ...limits },
  })
  const touched: TouchedPrefixes[] = []
  source.onChange((one) => touched.push(one))
  void source.start?.()
  t.after(() => source.stop?.())
  return Object.assign(source, { touched })
}

function asns(source: VrpSource, prefix: string): number[] {
  return (
    source
      .current()
      ?.table.judge(parsePrefix(prefix), 1)
      .covering.map(({ asn }) => asn) ?? []
  )
}

function sorted(touched: TouchedPrefixes): string[] {
  return touched === 'all' ? ['all'] : [...touched].sort()
}
