import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { Address } from '../../net/address.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { eventFlags, eventSignals, eventStatuses, timelineMax } from '@pharos/contract/events/event'
import { eventIdOf, mergeObservation, networksOf } from './event.ts'
import type { Event, EventObservation } from './event.ts'
import { abridgeJson, canonicalJson, isSameJson, type Json } from './json.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(300)
const source = { key: 'edge', defaults: { sourceTimezone: 'Europe/Amsterdam', sourceCountry: 'NL' } }
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute))

function observation(fields: Partial<EventObservation> = {}): EventObservation {
  return {
    sourceEventId: 'a',
    receivedAt: at(0),
    observedAt: null,
    weight: 0,
    start: null,
    end: null,
    signals: ['pending'],
    flags: [],
    networks: [parsePrefix('203.0.113.77/32')],
    bps: null,
    pps: null,
    ratesAreRepeated: false,
    texts: {},
    seen: {},
    ...fields,
  }
}

const merged = (...observations: EventObservation[]): Event =>
  observations.reduce<Event | undefined>((event, next) => mergeObservation(event, next, source), undefined)!

function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, field]) => [key, reordered(field)] as const)
      .toReversed(),
  )
}

/** As read from the database, where jsonb has reordered the keys. */
function stored(event: Event): Event {
  return {
    ...event,
    parsedData: reordered(JSON.parse(JSON.stringify(event.parsedData))) as Event['parsedData'],
    mergeState: reordered(JSON.parse(JSON.stringify(event.mergeState))) as Event['mergeState'],
  }
}

// Few distinct values, so that ties and truncation are frequent; timeline.test.ts covers timelines with more samples.
const minute = fc.integer({ min: 0, max: 5 })
const time = minute.map(at)
const word = fc.constantFrom('a', 'b', 'c')
const shares = fc.array(
  fc.record(
    { packets: fc.integer({ min: 0, max: 4 }), bytes: fc.integer({ min: 0, max: 4 }) },
    { requiredKeys: [] },
  ),
  { maxLength: 30, size: 'max' },
)
const observations = fc
  .record({
    sourceEventId: fc.constant('a'),
    receivedAt: time,
    observedAt: fc.option(time),
    weight: fc.integer({ min: 0, max: 2 }),
    start: fc.option(time),
    end: fc.option(time),
    signals: fc.subarray([...eventSignals]),
    flags: fc.subarray([...eventFlags]),
    networks: fc.subarray(
      ['10.0.0.0/8', '10.0.0.0/9', '9.0.0.0/8', '2001:db8::/32', '10.1.1.1/32'].map(parsePrefix),
    ),
    bps: fc.option(fc.integer({ min: 0, max: 3 })),
    pps: fc.option(fc.integer({ min: 0, max: 3 })),
    ratesAreRepeated: fc.boolean(),
    texts: fc.record(
      { description: word, classificationKey: word, sourceTimezone: word, sourceCountry: word },
      { requiredKeys: [] },
    ),
    samples: shares.map((list) =>
      list.map(({ packets = 0, bytes = 0 }, i) => ({
        target: `203.0.113.${i % 3}` as Address,
        source: '192.0.2.1' as Address,
        destinationPort: 80,
        packets,
        bytes,
      })),
    ),
    seen: fc.record(
      {
        vectors: fc.array(
          fc.constantFrom('udp.flood', 'udp.amplification.dns', 'tcp.flood', 'tcp.syn_flood', 'x'),
        ),
        top_sources: shares.map((list) => list.map((share, i) => ({ address: `192.0.2.${i}`, ...share }))),
        source_ports: shares.map((list) => list.map((share, i) => ({ port: 53 + i, ...share }))),
        total_bytes: minute,
        thresholds: fc.record({ pps: minute, why: word }),
        mitigation: fc.record({
          actions: fc.array(word),
          rules: fc.array(fc.record({ port: minute, x: word })),
        }),
      },
      { requiredKeys: [] },
    ),
    // The first has no message; two others have the same body.
    delivery: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ delivery: id, ...rest }): EventObservation =>
    id === 1
      ? rest
      : { ...rest, delivery: { id, received: at(id).getTime(), hash: id === 4 ? '2' : String(id) } },
  )

describe('merging observations', () => {
  test('any order, grouping and number of repeats gives the same event', () => {
    const shuffledWithRepeats = fc.array(observations, { minLength: 1, maxLength: 6 }).chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.array(fc.integer({ min: 0, max: list.length - 1 }), { maxLength: 6 }),
        fc.shuffledSubarray(
          list.map((_, i) => i),
          { minLength: list.length, maxLength: list.length },
        ),
      ),
    )
    fc.assert(
      fc.property(shuffledWithRepeats, ([list, repeats, order]) => {
        const expected = plain(merged(...list))
        assert.deepEqual(plain(merged(...[...order, ...repeats].map((i) => list[i]!))), expected)
        assert.deepEqual(plain(merged(...[...repeats, ...order].map((i) => list[i]!))), expected)
      }),
      { numRuns: runs },
    )
  })

  test('an event read back from the database merges like one that was never stored', () => {
    fc.assert(
      fc.property(fc.array(observations, { minLength: 2, maxLength: 5 }), (list) => {
        const through = list.reduce<Event | undefined>(
          (event, next) => stored(mergeObservation(event, next, source)),
          undefined,
        )!
        assert.equal(canonicalJson(plain(through)), canonicalJson(plain(merged(...list))))
      }),
      { numRuns: runs },
    )
  })

  test('no observation moves the start later, lowers a peak or removes a flag', () => {
    fc.assert(
      fc.property(fc.array(observations, { minLength: 1, maxLength: 5 }), observations, (list, next) => {
        const before = merged(...list)
        const after = mergeObservation(before, next, source)
        if (before.mergeState.start !== undefined) assert.ok(after.start <= before.start)
        assert.ok(after.affectedBps >= before.affectedBps && after.affectedPps >= before.affectedPps)
        assert.deepEqual(
          before.flags.filter((flag) => !after.flags.includes(flag)),
          [],
        )
        assert.ok(after.end === null || after.end >= after.start)
        assert.equal(after.status.filter((status) => status.startsWith('EVENT_')).length, 1)
        assert.equal(after.end !== null, after.status.includes('EVENT_ENDED'))
        assert.deepEqual(
          after.status,
          eventStatuses.filter((status) => after.status.includes(status)),
        )
      }),
      { numRuns: runs },
    )
  })

  test('is pending at first, ongoing after a second signal, and permanently ended after an end', () => {
    const began = observation()
    const goesOn = observation({ signals: ['ongoing'], receivedAt: at(1) })
    const over = observation({ signals: ['ended'], receivedAt: at(2) })
    assert.deepEqual(merged(began).status, ['EVENT_PENDING'])
    assert.deepEqual(merged(began, goesOn).status, ['EVENT_ONGOING'])
    assert.deepEqual(merged(began, goesOn, over).status, ['EVENT_ENDED'])
    assert.deepEqual(merged(over, goesOn, began).end, at(2))
  })

  test('without a stated end, the first ended signal sets the end, not a repetition', () => {
    const over = observation({ signals: ['ended'], receivedAt: at(2) })
    assert.deepEqual(merged(observation(), over, { ...over, receivedAt: at(9) }).end, at(2))
  })

  test('a stated end takes precedence over the time of receipt, and a later stated end over an earlier', () => {
    const over = observation({ signals: ['ended'], receivedAt: at(9) })
    const stated = observation({ end: at(3), receivedAt: at(9) })
    assert.deepEqual(merged(over, stated, observation()).end, at(3))
    assert.deepEqual(merged(stated, { ...stated, end: at(4) }, over, observation()).end, at(4))
  })

  test('an end before the start gives an event that ends at its start', () => {
    const event = merged(observation({ start: at(5) }), observation({ end: at(1), receivedAt: at(6) }))
    assert.deepEqual([event.start, event.end, event.status], [at(5), at(5), ['EVENT_ENDED']])
    const earlier = mergeObservation(event, observation({ start: at(0) }), source)
    assert.deepEqual([earlier.start, earlier.end], [at(0), at(1)])
  })

  test('an event known only from its mitigation ends with the mitigation', () => {
    const active = observation({ signals: ['mitigation_active'] })
    const gone = observation({ signals: ['mitigation_ended'], receivedAt: at(4) })
    assert.deepEqual(merged(active).status, ['EVENT_PENDING', 'MITIGATION_ACTIVE'])
    assert.deepEqual(merged(active, gone).status, ['EVENT_ENDED', 'MITIGATION_ENDED'])
    assert.deepEqual(merged(active, gone).end, at(4))
    assert.deepEqual(merged(active, gone, observation()).status, ['EVENT_PENDING', 'MITIGATION_ENDED'])
  })

  test('a peak keeps the time at which it was first reached', () => {
    const event = merged(
      observation({ bps: 100, receivedAt: at(2) }),
      observation({ bps: 900, receivedAt: at(1) }),
      observation({ bps: 900, receivedAt: at(3) }),
    )
    assert.equal(event.affectedBps, 900)
    assert.deepEqual(event.parsedData.peaks, { bps: { value: 900, at: at(1).toISOString() } })
  })

  test('a timeline has the signals of each delivery once, by time, and only rates of that moment', () => {
    const began = observation({ bps: 500, pps: 5, receivedAt: at(1) })
    const repeated = observation({
      signals: ['ongoing'],
      bps: 500,
      ratesAreRepeated: true,
      receivedAt: at(3),
    })
    const late = observation({ signals: ['ongoing'], bps: 900, observedAt: at(2), receivedAt: at(9) })
    const over = observation({ signals: [], end: at(4), receivedAt: at(5) })
    const silent = observation({ signals: [], receivedAt: at(6) })
    const expected = [
      { at: at(1).toISOString(), signals: ['pending'], bps: 500, pps: 5 },
      { at: at(2).toISOString(), signals: ['ongoing'], bps: 900 },
      { at: at(3).toISOString(), signals: ['ongoing'] },
      { at: at(5).toISOString(), signals: ['ended'] },
    ]
    const event = merged(over, late, repeated, silent, began, late, began)
    assert.deepEqual(event.parsedData.timeline, expected)
    assert.equal(event.affectedBps, 900)
    assert.equal(merged(silent).parsedData.timeline, undefined)
  })

  test('an attack with a thousand deliveries has a timeline of bounded size, the same in any order', () => {
    const deliveries = Array.from({ length: 1_000 }, (_, second) =>
      observation({
        signals: ['ongoing'],
        bps: second,
        receivedAt: new Date(at(0).getTime() + second * 1000),
      }),
    )
    const all = [observation(), ...deliveries, observation({ signals: ['ended'], receivedAt: at(20) })]
    const timeline = merged(...all).parsedData.timeline!
    assert.ok(timeline.length > timelineMax / 2 && timeline.length <= timelineMax, `${timeline.length}`)
    assert.deepEqual(timeline[0]!.signals, ['pending'])
    assert.deepEqual(timeline.at(-1)!.signals, ['ended'])
    assert.ok(timeline.some(({ bps }) => bps === 999))
    assert.deepEqual(merged(...all.toReversed()).parsedData.timeline, timeline)
    const evenFirst = [...all.filter((_, i) => i % 2 === 0), ...all.filter((_, i) => i % 2 === 1)]
    assert.deepEqual(merged(...evenFirst, ...deliveries).parsedData.timeline, timeline)
  })

  test('a more specific classification of the same kind is no second vector', () => {
    const vague = observation({ seen: { vectors: ['udp.flood'] } })
    const close = observation({ seen: { vectors: ['udp.amplification.dns'] } })
    assert.deepEqual(merged(vague, close, vague).parsedData.vectors, ['udp.amplification.dns'])
    assert.deepEqual(merged(vague, close).flags, [])
    assert.deepEqual(merged(close, observation({ seen: { vectors: ['tcp.flood'] } })).flags, ['MULTI_VECTOR'])
  })

  test('the largest of several networks is the affected one, and all are kept', () => {
    const event = merged(
      observation({ networks: [parsePrefix('2001:db8::/32'), parsePrefix('198.51.100.0/24')] }),
      observation({ networks: [parsePrefix('203.0.112.0/23')] }),
    )
    assert.equal(event.affectedNetwork, '203.0.112.0/23')
    assert.deepEqual(networksOf(event), ['203.0.112.0/23', '198.51.100.0/24', '2001:db8::/32'])
    assert.deepEqual(event.flags, ['IPV6'])
  })

  test('configured values of the source are used only if no delivery has better ones', () => {
    const silent = merged(observation())
    assert.deepEqual([silent.sourceTimezone, silent.sourceCountry], ['Europe/Amsterdam', 'NL'])
    assert.deepEqual([silent.classificationKey, silent.sourceLocation], ['unknown', ''])
    const event = merged(observation({ texts: { sourceCountry: 'DE' } }), observation({ weight: 9 }))
    assert.equal(event.sourceCountry, 'DE')
  })
})

describe('the id of an event', () => {
  test('is derived from source and event id without ambiguity', () => {
    assert.equal(eventIdOf('a', 'bc'), eventIdOf('a', 'bc'))
    assert.notEqual(eventIdOf('ab', 'c'), eventIdOf('a', 'bc'))
    assert.match(eventIdOf('a', 'b'), /^[a-z2-7]{20}$/)
  })
})

describe('values are the same JSON', () => {
  test('exactly if their canonical texts are equal', () => {
    const near = fc.jsonValue({ maxDepth: 3 }).chain((value) => {
      const copy = reordered(JSON.parse(JSON.stringify(value)))
      return fc.tuple(fc.constant(value), fc.oneof(fc.constant(copy), fc.jsonValue({ maxDepth: 2 })))
    })
    fc.assert(
      fc.property(near, ([a, b]) => {
        assert.equal(isSameJson(a, b), canonicalJson(a as Json) === canonicalJson(b as Json))
      }),
      { numRuns: runs },
    )
  })

  test('whether a field is undefined or absent, and for equal times', () => {
    assert.ok(isSameJson({ a: 1, b: undefined }, { a: 1 }) && isSameJson({ a: 1 }, { a: 1, b: undefined }))
    assert.ok(isSameJson({ t: at(1) }, { t: at(1) }) && !isSameJson({ t: at(1) }, { t: at(2) }))
    assert.ok(!isSameJson([1], { 0: 1 }) && !isSameJson({ a: 1 }, { b: 1 }) && !isSameJson(null, {}))
  })
})

describe('an abridged copy', () => {
  test('is bounded, contains nothing that PostgreSQL rejects, and keeps a key named __proto__', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        const text = JSON.stringify(abridgeJson(value))
        assert.ok(text.length < 200_000)
        assert.ok(!text.includes('\\u0000'))
        assert.ok(text.isWellFormed())
      }),
      { numRuns: runs },
    )
    const copy = abridgeJson(JSON.parse('{"__proto__":{"a":1},"nul":"a\\u0000b","half":"\\ud800"}'))
    assert.equal(canonicalJson(copy), '{"__proto__":{"a":1},"half":"\uFFFD","nul":"ab"}')
    assert.ok(
      JSON.stringify(abridgeJson(Array.from({ length: 1e5 }, () => 'x'.repeat(1e4)))).length < 100_000,
    )
  })

  test('is truncated if it is nested too deeply', () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    assert.ok(JSON.stringify(abridgeJson(deep)).length < 100)
  })
})

function plain(event: Event) {
  return JSON.parse(JSON.stringify(event)) as ReturnType<typeof abridgeJson>
}
