import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { sampleEvidence, sampleStates } from './samples.ts'
import {
  collectorsMin,
  isNotVisible,
  isOnOtherPath,
  nextRouterChange,
  summarise,
  unexpectedRoutes,
  zombieAfterMs,
  type VisibilityEvidence,
  type ObservedRegion,
  type RouterChange,
  type SeenState,
} from './visibility.ts'

const at = new Date('2026-03-01T10:00:00Z')
const later = (seconds: number): Date => new Date(at.getTime() + seconds * 1000)
const origin = parseAsn(64496)
const announced: RouterChange = { kind: 'announced', at }
const withdrawn: RouterChange = { kind: 'withdrawn', at }

describe('the last change on our routers', () => {
  const region = (state: ObservedRegion['state'], seconds: number, wasUsed = true): ObservedRegion => ({
    state,
    since: later(seconds),
    wasUsed,
  })

  it('is none for a prefix that was never announced', () => {
    assert.equal(nextRouterChange(null, []), null)
    assert.equal(nextRouterChange(null, [region('withdrawn', 0, false), region('announcing', 5)]), null)
  })

  it('is the first region that announces the prefix', () => {
    const regions = [region('announced', 8), region('announced', 3), region('announcing', 1)]
    assert.deepEqual(nextRouterChange(null, regions), { kind: 'announced', at: later(3) })
  })

  it('does not move when another region is added, or the first one is withdrawn', () => {
    const regions = [region('withdrawn', 60), region('announced', 70)]
    assert.equal(nextRouterChange(announced, regions), announced)
  })

  it('is the last region that withdrew the prefix, once none is left', () => {
    const leaving = [region('withdrawn', 60), region('withdrawing', 61)]
    assert.equal(nextRouterChange(announced, leaving), announced)
    const gone = [region('withdrawn', 60), region('withdrawn', 65), region('withdrawn', 99, false)]
    assert.deepEqual(nextRouterChange(announced, gone), { kind: 'withdrawn', at: later(65) })
  })

  it('is undecided while a router rejects the change', () => {
    assert.equal(nextRouterChange(announced, [region('error', 60)]), announced)
    assert.equal(nextRouterChange(withdrawn, [region('error', 60)]), withdrawn)
  })

  it('never moves back in time, and does not depend on the order of the regions', () => {
    const anyRegion = fc.record({
      state: fc.constantFrom('withdrawn', 'announcing', 'announced', 'withdrawing', 'error'),
      since: fc.integer({ min: -100, max: 100 }).map(later),
      wasUsed: fc.boolean(),
    }) as fc.Arbitrary<ObservedRegion>
    fc.assert(
      fc.property(fc.array(anyRegion), fc.constantFrom(null, announced, withdrawn), (regions, before) => {
        const next = nextRouterChange(before, regions)
        if (before) assert.ok(next!.at >= before.at)
        assert.deepEqual(nextRouterChange(before, regions.toReversed()), next)
        assert.deepEqual(nextRouterChange(next, regions), next, 'repeating it changes nothing')
      }),
    )
  })
})

describe('a summary', () => {
  it('counts collectors and origins', () => {
    const states = [...sampleStates(280, origin), ...sampleStates(7, 64511), ...sampleStates(3, 0)]
    const summary = summarise(sampleEvidence({ states, change: announced }), at.getTime())
    const { state, reason, collectorsTotal, collectorsSeeing, origins } = summary
    assert.deepEqual([state, reason, collectorsTotal, collectorsSeeing], ['current', null, 300, 287])
    assert.deepEqual(origins, [
      { asn: 64496, count: 280, expected: true },
      { asn: 64511, count: 7, expected: false },
    ])
  })

  it('is partial unless the routes of enough collectors are known', () => {
    const reasonOf = (rest: Partial<VisibilityEvidence>) => {
      const { state, reason } = summarise(sampleEvidence(rest), at.getTime())
      assert.equal(state, reason === null ? 'current' : 'partial')
      return reason
    }
    assert.equal(reasonOf({}), null)
    assert.equal(reasonOf({ isComplete: false }), 'changes_only')
    assert.equal(reasonOf({ isTruncated: true }), 'too_many_routes')
    assert.equal(reasonOf({ collectors: collectorsMin - 1, states: [] }), 'few_collectors')
  })

  it('concludes nothing good from partial data: no propagation time, and no "not a zombie"', () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const nowMs = at.getTime() + zombieAfterMs
        const { secondsTo80pct, zombie } = summarise({ ...evidence, isComplete: false }, nowMs)
        assert.equal(secondsTo80pct, null)
        if (evidence.change?.kind === 'withdrawn') assert.notEqual(zombie, false)
      }),
    )
  })

  it('has consistent counts, whatever the routes and their order', () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const summary = summarise(evidence, at.getTime())
        const { collectorsTotal, collectorsSeeing, origins, stuck } = summary
        assert.ok(collectorsSeeing <= collectorsTotal && stuck <= collectorsSeeing)
        assert.equal(
          origins.reduce((sum, { count }) => sum + count, 0),
          collectorsSeeing,
        )
        assert.ok(origins.every(({ count }, place) => place === 0 || count <= origins[place - 1]!.count))
        const reversed = { ...evidence, states: evidence.states.toReversed() }
        assert.deepEqual(summarise(reversed, at.getTime()), summary)
      }),
    )
  })
})

describe('the propagation time', () => {
  const secondsOf = (rest: Partial<VisibilityEvidence>) =>
    summarise(sampleEvidence({ change: announced, ...rest }), at.getTime()).secondsTo80pct
  const arriving = (...seconds: number[]): SeenState[] =>
    seconds.map((one) => ({ origin, isOurs: true, atMs: later(one).getTime() }))

  it('of an announcement is the time at which 80 % of all collectors had it', () => {
    const states = arriving(1, 2, 3, 4, 5, 6, 7, 41, 90)
    assert.equal(secondsOf({ states, collectors: 10 }), 41)
    assert.equal(secondsOf({ states: states.slice(0, 7), collectors: 10 }), null)
  })

  it('of a withdrawal counts only collectors that had the route', () => {
    const gone = (second: number): SeenState => ({ origin: 0, isOurs: false, atMs: later(second).getTime() })
    const never = gone(-3600)
    const states = [gone(10), gone(20), gone(30), gone(50), ...arriving(-60), never, never]
    assert.equal(secondsOf({ states, change: withdrawn, collectors: 20 }), 50)
    assert.equal(secondsOf({ states: [never], change: withdrawn, collectors: 20 }), null)
  })

  it('is not measured if changes were missed', () => {
    assert.equal(secondsOf({ states: sampleStates(300, origin), isContinuous: false }), null)
  })

  it('does not change once it was measured', () => {
    assert.equal(secondsOf({ states: [], settledSeconds: 41 }), 41)
  })

  it('agrees with a count of each second', () => {
    const seconds = fc.array(fc.integer({ min: -30, max: 200 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(seconds, fc.nat(60), (times, absent) => {
        const collectors = Math.max(collectorsMin, times.length + absent)
        const reached = Array.from({ length: 201 }, (_, second) => second).find(
          (second) =>
            times.filter((time) => Math.max(0, time) <= second).length >= Math.ceil(collectors * 0.8),
        )
        assert.equal(secondsOf({ states: arriving(...times), collectors }), reached ?? null)
      }),
    )
  })
})

describe('a zombie', () => {
  const zombieOf = (count: number, minutes: number, rest: Partial<VisibilityEvidence> = {}) =>
    summarise(
      sampleEvidence({ states: sampleStates(count, origin), change: withdrawn, ...rest }),
      later(minutes * 60).getTime(),
    ).zombie

  it('is a route at several collectors a quarter of an hour after the withdrawal', () => {
    assert.equal(zombieOf(12, 20), true)
    assert.equal(zombieOf(12, 14), false)
    assert.equal(zombieOf(12, 20, { change: announced }), false)
    assert.equal(zombieOf(12, 20, { change: null }), false)
  })

  it('needs two collectors, and 1 % of all', () => {
    assert.equal(zombieOf(1, 20, { collectors: 20 }), false)
    assert.equal(zombieOf(2, 20, { collectors: 20 }), true)
    assert.equal(zombieOf(2, 20), false)
    assert.equal(zombieOf(3, 20), true)
  })

  it('is not a route that another network announces with the same origin', () => {
    const states = sampleStates(200, origin).map((state) => ({ ...state, isOurs: false }))
    assert.equal(zombieOf(0, 20, { states }), false)
  })

  it('is not known from partial data, unless there is one', () => {
    assert.equal(zombieOf(0, 20, { isComplete: false }), null)
    assert.equal(zombieOf(12, 20, { isComplete: false }), true)
  })

  it('stays one with more collectors and more time', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), fc.nat(100), fc.nat(100), (count, more, minutes, longer) => {
        if (zombieOf(count, minutes) !== true) return
        assert.equal(zombieOf(Math.min(300, count + more), minutes + longer), true)
      }),
    )
  })
})

describe('an announced prefix', () => {
  const minutes = (count: number) => later(count * 60).getTime()
  const seenBy = (ours: number, others = 0, rest: Partial<VisibilityEvidence> = {}) => {
    const states = [
      ...sampleStates(ours, origin),
      ...sampleStates(others, origin).map((state) => ({ ...state, isOurs: false })),
    ]
    return summarise(sampleEvidence({ states, change: announced, ...rest }), minutes(20))
  }

  it('is not visible if less than 20 % of the collectors see it after 15 minutes, until 50 % do', () => {
    assert.equal(isNotVisible(false, seenBy(59), minutes(15)), true)
    assert.equal(isNotVisible(false, seenBy(60), minutes(15)), false)
    assert.equal(isNotVisible(false, seenBy(0), minutes(14)), false)
    assert.equal(isNotVisible(true, seenBy(149), minutes(20)), true)
    assert.equal(isNotVisible(true, seenBy(150), minutes(20)), false)
    assert.equal(isNotVisible(false, seenBy(0, 60), minutes(20)), false, 'also on another path')
  })

  it('is on another path if collectors see its origin, and none of them through us', () => {
    assert.equal(isOnOtherPath(false, seenBy(0, 2), minutes(15)), true)
    assert.equal(isOnOtherPath(false, seenBy(0, 1), minutes(15)), false)
    assert.equal(isOnOtherPath(false, seenBy(0, 200), minutes(14)), false)
    assert.equal(isOnOtherPath(true, seenBy(1, 200), minutes(20)), false)
    assert.equal(isOnOtherPath(false, seenBy(0, 0), minutes(20)), false)
  })

  it('keeps what is known of it without enough current data, and nothing once it is withdrawn', () => {
    for (const before of [true, false])
      for (const rest of [{ isComplete: false }, { collectors: 9 }, { isTruncated: true }]) {
        assert.equal(isNotVisible(before, seenBy(0, 2, rest), minutes(20)), before)
        assert.equal(isOnOtherPath(before, seenBy(0, 2, rest), minutes(20)), before)
      }
    for (const change of [withdrawn, null]) {
      assert.equal(isNotVisible(true, seenBy(0, 2, { change }), minutes(20)), false)
      assert.equal(isOnOtherPath(true, seenBy(0, 2, { change }), minutes(20)), false)
    }
  })
})

describe('routes of other networks', () => {
  const prefix = parsePrefix('203.0.113.0/24')
  const half = parsePrefix('203.0.113.0/25')
  const routesOf = (rest: Partial<VisibilityEvidence>) =>
    unexpectedRoutes(prefix, summarise(sampleEvidence({ change: announced, ...rest }), at.getTime()))

  it('are other origins, and parts of the prefix with another origin', () => {
    const moreSpecifics = [{ prefix: half, states: [...sampleStates(9, 64511), ...sampleStates(5, origin)] }]
    const states = [...sampleStates(200, origin), ...sampleStates(3, 64510)]
    assert.deepEqual(routesOf({ states, moreSpecifics }), [
      { cidr: half, asn: 64511, count: 9 },
      { cidr: prefix, asn: 64510, count: 3 },
    ])
  })

  it('are no warning if one collector reports them, or if we do not announce the prefix', () => {
    assert.deepEqual(routesOf({ states: sampleStates(1, 64510) }), [])
    assert.deepEqual(routesOf({ states: sampleStates(9, 64510), change: withdrawn }), [])
  })
})

const anyState: fc.Arbitrary<SeenState> = fc.record({
  origin: fc.constantFrom(0, origin, 64510, 64511),
  isOurs: fc.boolean(),
  atMs: fc.integer({ min: -3_600, max: 3_600 }).map((second) => later(second).getTime()),
})

const anyEvidence: fc.Arbitrary<VisibilityEvidence> = fc
  .record({
    states: fc.array(anyState, { maxLength: 60 }),
    collectors: fc.nat(80),
    isComplete: fc.boolean(),
    isTruncated: fc.boolean(),
    isContinuous: fc.boolean(),
    change: fc.constantFrom(null, announced, withdrawn),
  })
  .map(sampleEvidence)
