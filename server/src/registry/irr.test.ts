import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { parseAsn, type Asn } from '../net/asn.ts'
import { parsePrefix } from '../net/prefix.ts'
import { DriverError, type DriverErrorKind } from '../runtime/driver-error.ts'
import { silentLog } from '../runtime/log.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { createIrr, type Irr, type IrrOptions } from './irr.ts'
import type { IrrVerdict } from './irr-verdict.ts'
import type { AsSetMembers, AutNumObject, IrrSource, RouteObject } from './irr-source.ts'
import { until } from '../../../lab/src/wait.ts'

const prefix = parsePrefix('192.0.2.0/24')
const origin = parseAsn(64_496)

describe('judge', () => {
  const cases: readonly [string, readonly string[], IrrVerdict['state'], readonly string[]][] = [
    ['an exact object with this origin', ['192.0.2.0/24 64496'], 'valid', ['192.0.2.0/24 64496']],
    [
      'an exact object with this origin among others',
      ['192.0.2.0/24 64497', '192.0.2.0/24 64496', '192.0.0.0/16 64496'],
      'valid',
      ['192.0.2.0/24 64496'],
    ],
    ['nothing', [], 'missing', []],
    ['a less specific object of another origin', ['192.0.0.0/16 64497'], 'missing', []],
    ['an exact object with another origin', ['192.0.2.0/24 64497'], 'mismatch_asn', ['192.0.2.0/24 64497']],
    [
      'an exact object with another origin beside a less specific one with this',
      ['192.0.0.0/16 64496', '192.0.2.0/24 64497', '192.0.2.0/24 64498'],
      'mismatch_asn',
      ['192.0.2.0/24 64497', '192.0.2.0/24 64498'],
    ],
    [
      'less specific objects with this origin',
      ['192.0.0.0/16 64496', '192.0.0.0/8 64496', '192.0.0.0/16 64497'],
      'mismatch_length',
      ['192.0.0.0/16 64496', '192.0.0.0/8 64496'],
    ],
  ]
  for (const [what, objects, state, expected] of cases) {
    it(`is ${state} with ${what}`, async (t) => {
      const source = fakeSource('one', { objects })
      const verdict = await irrOf(t, [source]).irr.judge(prefix, origin)
      assert.deepEqual([verdict.state, verdict.objects.map(shown)], [state, expected])
      assert.deepEqual([verdict.source, verdict.cached, verdict.fetched], ['one', false, time(0)])
      assert.equal(verdict.reason, undefined)
    })
  }

  it('returns no more than the first 50 objects, and evaluates all of them', async (t) => {
    const many = Array.from({ length: 200 }, (_, at) => `192.0.2.0/24 ${at + 1}`)
    const other = await irrOf(t, [fakeSource('one', { objects: many })]).irr.judge(prefix, origin)
    assert.deepEqual([other.state, other.objects.length], ['mismatch_asn', 50])
    const objects = [...many, '192.0.2.0/24 64496']
    assert.equal((await irrOf(t, [fakeSource('one', { objects })]).irr.judge(prefix, origin)).state, 'valid')
  })

  it('is unavailable without any source', async (t) => {
    assert.deepEqual(await irrOf(t, []).irr.judge(prefix, origin), {
      state: 'unavailable',
      objects: [],
      source: null,
      fetched: null,
      cached: false,
      reason: 'no IRR source is configured',
    })
  })

  it('is valid if any one source has the object, and queries no further sources', async (t) => {
    const [one, two] = [fakeSource('one', {}), fakeSource('two', { objects: ['192.0.2.0/24 64496'] })]
    const three = fakeSource('three', {})
    const verdict = await irrOf(t, [one, two, three]).irr.judge(prefix, origin)
    assert.deepEqual([verdict.state, verdict.source], ['valid', 'two'])
    assert.deepEqual([one.asked.length, three.asked.length], [1, 0])
  })

  it('merges the objects of all sources if none is valid', async (t) => {
    const one = fakeSource('one', { objects: ['192.0.0.0/16 64496'] })
    const two = fakeSource('two', { objects: ['192.0.2.0/24 64497'] })
    const verdict = await irrOf(t, [one, two]).irr.judge(prefix, origin)
    assert.deepEqual([verdict.state, verdict.source], ['mismatch_asn', null])
    assert.deepEqual(verdict.objects.map(shown), ['192.0.2.0/24 64497'])
  })

  it('is valid although another source is down', async (t) => {
    const down = fakeSource('one', { failure: 'unreachable' })
    const two = fakeSource('two', { objects: ['192.0.2.0/24 64496'] })
    const verdict = await irrOf(t, [down, two]).irr.judge(prefix, origin)
    assert.deepEqual([verdict.state, verdict.source], ['valid', 'two'])
  })

  for (const objects of [[], ['192.0.2.0/24 64497'], ['192.0.0.0/16 64496']]) {
    it(`is unavailable, with the source that is down as the reason, if another has ${objects.join() || 'nothing'}`, async (t) => {
      for (const failure of ['unreachable', 'protocol', 'refused'] as const) {
        const sources = [fakeSource('one', { objects }), fakeSource('two', { failure })]
        const verdict = await irrOf(t, sources).irr.judge(prefix, origin)
        assert.deepEqual([verdict.state, verdict.objects, verdict.fetched], ['unavailable', [], null])
        assert.match(verdict.reason!, /^two (does not answer|rejects)/)
      }
    })
  }
})

describe('judge with an as-set', () => {
  const objects = ['192.0.2.0/24 64497']
  const sets = (members: Record<string, readonly (number | string)[]>) =>
    fakeSource('one', { objects, members })

  it('is valid if a member holds the exact object, and returns the member and its path', async (t) => {
    const source = sets({ 'AS-X': [1, 'AS-Y', 'AS-Z'], 'AS-Y': [2, 'AS-X'], 'AS-Z': [3, 64_497] })
    const verdict = await irrOf(t, [source]).irr.judge(prefix, origin, { asSet: 'as-x' })
    assert.equal(verdict.state, 'valid')
    assert.deepEqual(verdict.member, { asn: 64_497, through: ['AS-X', 'AS-Z'] })
    assert.deepEqual(verdict.objects.map(shown), objects)
    assert.match(verdict.reason!, /AS64497 .* AS-X/)
  })

  it('queries no set if the origin itself is valid, or if there is no exact object', async (t) => {
    for (const objects of [['192.0.2.0/24 64496'], ['192.0.0.0/16 64497']]) {
      const source = fakeSource('one', { objects, members: { 'AS-X': [64_497] } })
      const verdict = await irrOf(t, [source]).irr.judge(prefix, origin, { asSet: 'AS-X' })
      assert.equal(verdict.member, undefined)
      assert.deepEqual(source.asked, ['192.0.2.0/24'])
    }
  })

  const refusals: readonly [
    string,
    Record<string, readonly (number | string)[]>,
    string,
    RegExp | undefined,
  ][] = [
    ['no member', { 'AS-X': [1, 'AS-Y'], 'AS-Y': [2] }, 'AS-X', undefined],
    ['no such set', {}, 'AS-X', /no as-set AS-X/],
    ['an invalid name', { 'AS-X': [64_497] }, 'AS-X\n!mfoo', /no valid name/],
    ['the name of an ASN', { AS64497: [64_497] }, 'AS64497', /no valid name/],
    [
      'a member that is too deep',
      Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`AS-X${at}`, [at === 11 ? 64_497 : `AS-X${at + 1}`]]),
      ),
      'AS-X0',
      /deep/,
    ],
    [
      'a member behind too many sets',
      { 'AS-X': [...Array.from({ length: 60 }, (_, at) => `AS-Y${at}`), 'AS-LAST'], 'AS-LAST': [64_497] },
      'AS-X',
      /more than 50 sets/,
    ],
  ]
  for (const [what, members, asSet, reason] of refusals) {
    it(`is not valid by ${what}`, async (t) => {
      const { irr } = irrOf(t, [sets(members)], { asSetsMax: 50 })
      const verdict = await irr.judge(prefix, origin, { asSet })
      assert.equal(verdict.state, 'mismatch_asn')
      assert.deepEqual(verdict.objects.map(shown), objects)
      if (reason) assert.match(verdict.reason!, reason)
      else assert.equal(verdict.reason, undefined)
    })
  }

  it('uses the set of the first source that has it, and of none after one that is down', async (t) => {
    const first = fakeSource('one', { objects, members: { 'AS-X': [1] } })
    const second = fakeSource('two', { members: { 'AS-X': [64_497] } })
    const { irr, clock } = irrOf(t, [first, second])
    assert.equal((await irr.judge(prefix, origin, { asSet: 'AS-X' })).state, 'mismatch_asn')
    first.setFailure = 'unreachable'
    clock.seconds += 400
    const verdict = await irr.judge(prefix, origin, { asSet: 'AS-X', maxAgeSeconds: 1 })
    assert.deepEqual([verdict.state, verdict.reason], ['unavailable', 'one does not answer'])
  })
})

describe('autNum', () => {
  const [open, regional] = [
    { source: 'RADB', text: 'open' },
    { source: 'RIPE', text: 'regional' },
  ]

  it('returns the text of the first source that has the object', async (t) => {
    const sources = [
      fakeSource('one', {}),
      fakeSource('two', { autNum: { ...open, text: 'text' } }),
      fakeSource('three', { autNum: open }),
    ]
    const { irr } = irrOf(t, sources)
    assert.deepEqual(await irr.autNum(origin), {
      state: 'found',
      text: 'text',
      source: 'two',
      fetched: time(0),
    })
  })

  it('is unavailable if an earlier source is down, which may have another object', async (t) => {
    const sources = [fakeSource('one', { failure: 'unreachable' }), fakeSource('two', { autNum: regional })]
    const answer = await irrOf(t, sources).irr.autNum(origin)
    assert.deepEqual(answer, { state: 'unavailable', reason: 'one does not answer' })
  })

  it('returns the text of a regional registry, where an earlier source has that of an open one', async (t) => {
    const sources = [fakeSource('one', { autNum: open }), fakeSource('two', { autNum: regional })]
    const answer = await irrOf(t, sources).irr.autNum(origin)
    assert.deepEqual(answer, { state: 'found', text: 'regional', source: 'two', fetched: time(0) })
    sources[1]!.failure = 'unreachable'
    assert.equal((await irrOf(t, sources).irr.autNum(origin)).state, 'unavailable')
  })

  it('is missing if no source has it, and unavailable without a source', async (t) => {
    assert.deepEqual(await irrOf(t, [fakeSource('one', {})]).irr.autNum(origin), {
      state: 'missing',
      fetched: time(0),
    })
    assert.equal((await irrOf(t, []).irr.autNum(origin)).state, 'unavailable')
  })
})

describe('cached answers', () => {
  const right = ['192.0.2.0/24 64496']

  it('are used until they expire, and contain their age', async (t) => {
    const source = fakeSource('one', { objects: right })
    const { irr, clock } = irrOf(t, [source], { cacheSeconds: 60 })
    await irr.judge(prefix, origin)
    clock.seconds = 59
    const kept = await irr.judge(prefix, origin)
    assert.deepEqual([kept.cached, kept.fetched, source.asked.length], [true, time(0), 1])
    clock.seconds = 60
    const again = await irr.judge(prefix, origin)
    assert.deepEqual([again.cached, again.fetched, source.asked.length], [false, time(60), 2])
  })

  it('are not used for a caller that requires newer ones', async (t) => {
    const source = fakeSource('one', { objects: [] })
    const { irr, clock } = irrOf(t, [source])
    await irr.judge(prefix, origin)
    source.objects = right
    assert.equal((await irr.judge(prefix, origin)).state, 'missing')
    assert.equal((await irr.judge(prefix, origin, { maxAgeSeconds: 0 })).state, 'valid')
    clock.seconds = 10
    assert.equal((await irr.judge(prefix, origin, { maxAgeSeconds: 11 })).cached, true)
    assert.equal((await irr.judge(prefix, origin, { maxAgeSeconds: 10 })).cached, false)
  })

  it('are shared by concurrent callers, and one of them may abort', async (t) => {
    const source = fakeSource('one', { objects: right })
    const { irr } = irrOf(t, [source])
    source.hold()
    const abort = new AbortController()
    const gaveUp = irr.judge(prefix, origin, { signal: abort.signal })
    const others = Array.from({ length: 100 }, () => irr.judge(prefix, origin))
    abort.abort(new Error('aborted'))
    await assert.rejects(gaveUp, /aborted/)
    source.release()
    assert.deepEqual(new Set((await Promise.all(others)).map(({ state }) => state)), new Set(['valid']))
    assert.equal(source.asked.length, 1)
  })

  it('are not shared with a caller that requires a new query', async (t) => {
    const source = fakeSource('one', { objects: [] })
    const { irr } = irrOf(t, [source])
    source.hold()
    const before = irr.judge(prefix, origin)
    const after = irr.judge(prefix, origin, { maxAgeSeconds: 0 })
    assert.equal(source.asked.length, 2)
    source.release()
    await Promise.all([before, after])
  })

  it('are stale at once if the serial of their source changes, and watchers are notified', async (t) => {
    const source = fakeSource('one', { objects: [], serial: '1' })
    const { irr, poll } = irrOf(t, [source])
    let told = 0
    irr.watch(() => told++)
    await poll()
    assert.equal((await irr.judge(prefix, origin)).state, 'missing')
    await poll()
    assert.equal((await irr.judge(prefix, origin)).cached, true)
    const before = told
    source.objects = right
    source.serialText = '2'
    await poll()
    assert.equal(told, before + 1)
    assert.equal((await irr.judge(prefix, origin)).state, 'valid')
  })

  it('are cached although the source returns no serial', async (t) => {
    const source = fakeSource('one', { objects: right })
    const { irr, poll } = irrOf(t, [source])
    await irr.judge(prefix, origin)
    await poll()
    assert.equal((await irr.judge(prefix, origin)).cached, true)
  })

  it('are not used if they were queried before a change that was notified since', async (t) => {
    const source = fakeSource('one', { objects: [], serial: '1' })
    const { irr, poll } = irrOf(t, [source])
    await poll()
    source.hold()
    const slow = irr.judge(prefix, origin)
    source.serialText = '2'
    await poll()
    source.release()
    await slow
    source.objects = right
    assert.equal((await irr.judge(prefix, origin)).state, 'valid')
  })

  it('are used during an outage, with their age, up to a limit', async (t) => {
    const source = fakeSource('one', { objects: right, serial: '1' })
    const { irr, clock } = irrOf(t, [source], { cacheSeconds: 60, staleMaxSeconds: 600 })
    await irr.judge(prefix, origin)
    source.failure = 'unreachable'
    clock.seconds = 599
    const kept = await irr.judge(prefix, origin)
    assert.deepEqual([kept.state, kept.cached, kept.fetched], ['valid', true, time(0)])
    assert.equal((await irr.judge(prefix, origin, { maxAgeSeconds: 60 })).state, 'unavailable')
    clock.seconds = 600
    assert.equal((await irr.judge(prefix, origin)).state, 'unavailable')
  })

  it('are not used during an outage if the source changed before it', async (t) => {
    const source = fakeSource('one', { objects: right, serial: '1' })
    const { irr, poll } = irrOf(t, [source])
    await poll()
    await irr.judge(prefix, origin)
    source.serialText = '2'
    await poll()
    source.failure = 'unreachable'
    assert.equal((await irr.judge(prefix, origin)).state, 'unavailable')
  })
})

describe('a source that fails', () => {
  it('is queried again after a growing back-off, with jitter', async (t) => {
    const source = fakeSource('one', { failure: 'unreachable' })
    const { irr, clock } = irrOf(t, [source], { random: () => 0.5 })
    const rests: number[] = []
    for (let failure = 0; failure < 9; failure++) {
      await irr.judge(prefix, origin)
      const asked = source.asked.length
      await irr.judge(prefix, origin)
      assert.equal(source.asked.length, asked, 'queried during the back-off')
      const retryMs = irr.status()[0]!.retryAt!.getTime()
      rests.push(retryMs - clock.now().getTime())
      clock.seconds = retryMs / 1_000
    }
    assert.deepEqual(rests, [750, 1_500, 3_000, 6_000, 12_000, 24_000, 45_000, 45_000, 45_000])
  })

  it('counts many queries that fail together as one failure', async (t) => {
    const source = fakeSource('one', { failure: 'unreachable' })
    const { irr, clock } = irrOf(t, [source], { random: () => 0 })
    source.hold()
    const all = Array.from({ length: 50 }, (_, at) => irr.judge(parsePrefix(`10.0.${at}.0/24`), origin))
    source.release()
    assert.ok((await Promise.all(all)).every(({ state }) => state === 'unavailable'))
    assert.equal(irr.status()[0]!.retryAt!.getTime() - clock.now().getTime(), 500)
  })

  it('is up again after its next answer, and watchers are notified', async (t) => {
    const source = fakeSource('one', { failure: 'unreachable' })
    const { irr, clock, poll } = irrOf(t, [source])
    let told = 0
    const stop = irr.watch(() => told++)
    await irr.judge(prefix, origin)
    assert.equal(irr.status()[0]!.state, 'down')
    assert.match(irr.status()[0]!.error!, /one: unreachable/)
    source.failure = undefined
    await poll()
    assert.equal(irr.status()[0]!.state, 'down', 'it is not queried during the back-off')
    clock.seconds = 2
    await poll()
    const { state, since, error, retryAt } = irr.status()[0]!
    assert.deepEqual([state, since, error, retryAt, told], ['up', time(2), null, null, 1])
    stop()
  })

  it('stays down while only its serial is answered', async (t) => {
    const source = fakeSource('one', { objects: ['192.0.2.0/24 64496'], serial: '1' })
    const { irr, clock, poll } = irrOf(t, [source])
    await poll()
    await irr.judge(prefix, origin)
    let told = 0
    irr.watch(() => told++)
    source.routeObjects = async () => {
      throw new DriverError('unreachable', 'one: no answer')
    }
    await irr.judge(prefix, origin, { maxAgeSeconds: 0 })
    for (let second = 10; second < 40; second += 10) {
      clock.seconds = second
      await poll()
    }
    assert.deepEqual([irr.status()[0]!.state, told], ['down', 0])
    source.routeObjects = async () => source.objects.map(routeOf)
    clock.seconds = 1_000
    await until(() => irr.status()[0]!.state === 'up')
    assert.equal(told, 1)
  })

  it('answers other queries if it rejects one', async (t) => {
    const source = fakeSource('one', { failure: 'refused' })
    const { irr } = irrOf(t, [source])
    assert.match((await irr.judge(prefix, origin)).reason!, /rejects/)
    assert.equal(irr.status()[0]!.state, 'up')
    source.failure = undefined
    assert.equal((await irr.judge(prefix, origin)).state, 'missing')
  })

  it('is not counted as failed after an internal error', async (t) => {
    const source = fakeSource('one', {})
    source.routeObjects = () => Promise.reject(new TypeError('a bug'))
    await assert.rejects(irrOf(t, [source]).irr.judge(prefix, origin), TypeError)
  })
})

it('closes its sources when it is stopped, and queries nothing after that', async (t) => {
  const source = fakeSource('one', {})
  const { irr } = irrOf(t, [source])
  await irr.start!()
  await irr.stop!()
  assert.equal(source.isClosed, true)
})

function shown({ prefix, origin }: RouteObject): string {
  return `${prefix} ${origin}`
}

function time(seconds: number): Date {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1_000)
}

/** `poll` queries the serial of every source once, by the clock of the test. */
describe('a source that lost its data', () => {
  const hosts = Array.from({ length: 5 }, (_, i) => parsePrefix(`192.0.2.${i}/32`))
  const objects = hosts.map((host) => `${host} 64496`)
  const judgeAll = (irr: Irr) =>
    Promise.all(hosts.map(async (host) => (await irr.judge(host, origin, { maxAgeSeconds: 0 })).state))

  it('is not used, and its last answers are used with their age', async (t) => {
    const source = fakeSource('one', { objects })
    const { irr, clock } = irrOf(t, [source])
    assert.deepEqual(await judgeAll(irr), Array(5).fill('valid'))
    source.objects = []
    clock.seconds = 400
    const verdict = await irr.judge(hosts[0]!, origin)
    assert.deepEqual([verdict.state, verdict.cached, verdict.fetched], ['valid', true, time(0)])
    assert.deepEqual(await judgeAll(irr), Array(5).fill('unavailable'))
    const unknown = await irr.judge(prefix, origin)
    assert.deepEqual(
      [unknown.state, unknown.reason],
      ['unavailable', 'one returns no objects any more; not used until confirmed'],
    )
    assert.deepEqual(
      irr.status().map(({ state, error }) => [state, error]),
      [['suspicious', 'one returns no objects any more']],
    )
    source.objects = objects
    await irr.start?.()
    await until(() => irr.status()[0]!.state === 'up')
    assert.deepEqual(await judgeAll(irr), Array(5).fill('valid'))
  })

  it('is replaced by another source at once', async (t) => {
    const [one, two] = [fakeSource('one', { objects }), fakeSource('two', { objects })]
    const { irr } = irrOf(t, [one, two])
    await judgeAll(irr)
    one.objects = []
    assert.deepEqual(await judgeAll(irr), Array(5).fill('valid'))
    assert.equal((await irr.judge(hosts[0]!, origin, { maxAgeSeconds: 0 })).source, 'two')
  })

  it('is detected by its serial before any query, and cached answers are kept', async (t) => {
    const source = fakeSource('one', { objects, serial: '1' })
    const { irr, poll } = irrOf(t, [source])
    await poll()
    await judgeAll(irr)
    let told = 0
    irr.watch(() => told++)
    source.objects = []
    source.serialText = '0'
    await until(() => irr.status()[0]!.state === 'suspicious')
    const verdict = await irr.judge(hosts[0]!, origin)
    assert.deepEqual([verdict.state, verdict.cached, told], ['valid', true, 0])
  })

  it('is used again once it has had no objects for the confirmation time', async (t) => {
    const source = fakeSource('one', { objects })
    const { irr } = irrOf(t, [source], { confirmSeconds: 0.1 })
    await judgeAll(irr)
    source.objects = []
    let told = 0
    irr.watch(() => told++)
    await judgeAll(irr)
    await irr.start?.()
    await until(() => irr.status()[0]!.state === 'up')
    assert.deepEqual([await judgeAll(irr), told], [Array(5).fill('missing'), 1])
  })

  it('is not one that refuses a query that it answered before', async (t) => {
    const source = fakeSource('one', { objects, serial: '1' })
    const { irr, poll } = irrOf(t, [source])
    await poll()
    await judgeAll(irr)
    let told = 0
    irr.watch(() => told++)
    source.routeObjects = async (asked) => {
      if (asked === hosts[4]) throw new DriverError('refused', 'one: too large')
      return source.objects.map(routeOf).filter((route) => route.prefix === asked)
    }
    source.objects = objects.slice(1)
    source.serialText = '2'
    await until(() => told > 0)
    assert.deepEqual(await judgeAll(irr), ['missing', ...Array(3).fill('valid'), 'unavailable'])
  })

  it('is one that lost everything: a single deleted object is missing at once, and so are two of two', async (t) => {
    const source = fakeSource('one', { objects })
    const { irr } = irrOf(t, [source])
    await judgeAll(irr)
    source.objects = objects.slice(1)
    source.routeObjects = async (asked) =>
      source.objects.map(routeOf).filter((route) => route.prefix === asked)
    assert.deepEqual(await judgeAll(irr), ['missing', ...Array(4).fill('valid')])
    const few = fakeSource('one', { objects })
    const other = irrOf(t, [few]).irr
    for (const host of hosts.slice(0, 2)) await other.judge(host, origin)
    few.objects = []
    assert.equal((await other.judge(hosts[0]!, origin, { maxAgeSeconds: 0 })).state, 'missing')
  })
})

function irrOf(t: TestContext, sources: readonly IrrSource[], options: Partial<IrrOptions> = {}) {
  const clock = { seconds: 0, now: () => time(clock.seconds) }
  const irr: Irr = createIrr({
    sources,
    log: silentLog,
    metrics: createMetrics(),
    now: clock.now,
    random: () => 0,
    pollSeconds: 0.005,
    ...options,
  })
  t.after(() => irr.stop?.())
  const poll = async (): Promise<void> => {
    await irr.start?.()
    const before = sources.map((source) => (source as FakeSource).polls)
    for (let at = 0; at < 200; at++) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      const isResting = irr.status().some(({ state, retryAt }) => state === 'down' && retryAt! > clock.now())
      if (isResting && at > 10) return
      if (sources.every((source, at) => (source as FakeSource).polls >= before[at]! + 2)) return
    }
    assert.fail('no poll')
  }
  return { irr, clock, poll }
}

type FakeSource = ReturnType<typeof fakeSource>

type Holds = {
  readonly objects?: readonly string[]
  readonly members?: Record<string, readonly (number | string)[]>
  readonly autNum?: AutNumObject
  readonly serial?: string
  readonly failure?: DriverErrorKind
}

/** Objects are written as `prefix origin`. Between `hold` and `release` no query is answered. */
function fakeSource(name: string, { objects = [], members = {}, autNum, serial, failure }: Holds) {
  let gate: PromiseWithResolvers<void> | undefined
  const answer = async <T>(
    question: string,
    value: () => T,
    fails: () => DriverErrorKind | undefined,
  ): Promise<T> => {
    if (question !== '') source.asked.push(question)
    if (question !== '') await gate?.promise
    const kind = fails()
    if (kind) throw new DriverError(kind, `${name}: ${kind}`)
    return value()
  }
  const source = {
    name,
    label: name,
    asked: [] as string[],
    polls: 0,
    isClosed: false,
    objects,
    failure,
    /** Queries of sets only. */
    setFailure: undefined as DriverErrorKind | undefined,
    serialText: serial,
    hold: () => void (gate = Promise.withResolvers<void>()),
    release: () => gate?.resolve(),
    routeObjects: (prefix: string): Promise<readonly RouteObject[]> =>
      answer(
        prefix,
        () => source.objects.map(routeOf),
        () => source.failure,
      ),
    autNum: (asn: Asn) =>
      answer(
        `AS${asn}`,
        () => autNum,
        () => source.failure,
      ),
    asSetMembers: (name: string) =>
      answer(
        name,
        () => (Object.hasOwn(members, name) ? membersOf(members[name]!) : undefined),
        () => source.setFailure ?? source.failure,
      ),
    serial: () => {
      source.polls++
      return answer(
        '',
        () => source.serialText,
        () => source.failure,
      )
    },
    isSuspicious: () => false,
    problems: () => [],
    close: async () => void (source.isClosed = true),
  }
  return source satisfies IrrSource
}

function routeOf(text: string): RouteObject {
  const [prefix = '', origin = ''] = text.split(' ')
  return { prefix: parsePrefix(prefix), origin: parseAsn(origin), source: 'TEST' }
}

function membersOf(list: readonly (number | string)[]): AsSetMembers {
  return {
    asns: list.filter((member) => typeof member === 'number').map((asn) => parseAsn(asn)),
    sets: list.filter((member) => typeof member === 'string'),
  }
}
