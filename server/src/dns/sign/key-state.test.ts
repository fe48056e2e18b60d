// The states of DNSSEC: each row of the table, and a model of every resolver, which never fails with the waits and fails with less.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  defaultWaits,
  nextState,
  waitsFor,
  type DnssecFacts,
  type ParentFacts,
  type Waits,
  type ZoneDnssec,
  type ZoneKey,
} from './key-state.ts'
import { Simulation, type World } from '../dnssec/testing-resolver.ts'

const now = 1_000_000
const [zoneTtl, keyTtl, dsTtl, propagation] = [300, 3600, 86_400, 2]

const key = (id: number, rest: Partial<ZoneKey>): ZoneKey => ({
  id,
  state: 'active',
  introduced: undefined,
  dsSeen: undefined,
  retired: undefined,
  ...rest,
})
const zone = (
  status: ZoneDnssec['status'],
  keys: readonly ZoneKey[],
  isRemovalRequested = false,
): ZoneDnssec => ({
  status,
  keys,
  isRemovalRequested,
})
const parent = (rest: Partial<ParentFacts>): ParentFacts => ({
  checked: now,
  isSettled: true,
  hasDs: false,
  dsAnywhere: [],
  dsEverywhere: [],
  dsTtl: 0,
  dsLastSeen: undefined,
  ...rest,
})
const withDs = (...ids: number[]): ParentFacts =>
  parent({ hasDs: true, dsAnywhere: ids, dsEverywhere: ids, dsTtl, dsLastSeen: now })
const facts = (rest: Partial<DnssecFacts> = {}): DnssecFacts => ({
  isServed: true,
  canSign: true,
  isValid: true,
  zoneTtl,
  keyTtl,
  propagation,
  parent: parent({}),
  ...rest,
})
const outcome = (from: ZoneDnssec, given: DnssecFacts, at = now): unknown[] => {
  const { status, reason, due } = nextState(from, given, at)
  return [status, reason, due]
}
const statesOf = ({ keys }: ZoneDnssec): string[] => keys.map(({ state }) => state)

describe('DNSSEC that is being enabled', () => {
  const fresh = zone('signing', [key(1, { state: 'introduced' })])
  const served = zone('signing', [key(1, { state: 'introduced', introduced: now })])

  it('waits for the name servers, then for caches, then for the parent', () => {
    const wait = Math.max(zoneTtl, keyTtl)
    assert.deepEqual(outcome(fresh, facts({ isServed: false })), ['signing', 'name_servers', undefined])
    assert.deepEqual(outcome(fresh, facts()), ['signing', 'caches', now + wait])
    assert.deepEqual(outcome(served, facts({ isServed: false }), now + wait - 1), [
      'signing',
      'caches',
      now + wait,
    ])
    assert.deepEqual(outcome(served, facts(), now + wait), ['pending_ds', 'ds_missing', undefined])
    assert.deepEqual(statesOf(nextState(served, facts(), now + wait)), ['active'])
  })

  it('is active once all servers of the parent have a DS record of a key', () => {
    const pending = zone('pending_ds', [key(1, {})])
    const unsettled = { ...withDs(1), isSettled: false }
    assert.deepEqual(outcome(pending, facts({ parent: undefined })), [
      'pending_ds',
      'parent_unavailable',
      undefined,
    ])
    assert.deepEqual(outcome(pending, facts({ parent: unsettled })), ['pending_ds', 'ds_missing', undefined])
    assert.deepEqual(outcome(pending, facts({ parent: withDs(1) })), ['active', undefined, undefined])
    assert.equal(nextState(pending, facts({ parent: withDs(1) }), now).keys[0]!.dsSeen, now)
  })
})

describe('active DNSSEC', () => {
  const active = zone('active', [key(1, { dsSeen: 1 })])

  it('stays active while the parent is silent or its servers disagree', () => {
    assert.equal(nextState(active, facts({ parent: undefined }), now).status, 'active')
    assert.equal(nextState(active, facts({ parent: parent({ isSettled: false }) }), now).status, 'active')
  })

  it('waits for the parent again, with a warning, if the DS record is gone', () => {
    assert.deepEqual(outcome(active, facts()), ['pending_ds', 'ds_removed', undefined])
  })

  it('is an error if no DS record is one of its keys, until one is', () => {
    const foreign = parent({ hasDs: true, dsTtl, dsLastSeen: now })
    assert.deepEqual(outcome(active, facts({ parent: foreign })), ['error', 'ds_mismatch', undefined])
    const failed = { ...active, status: 'error' as const }
    assert.deepEqual(outcome(failed, facts({ parent: foreign })), ['error', 'ds_mismatch', undefined])
    assert.deepEqual(outcome(failed, facts({ parent: withDs(1) })), ['active', undefined, undefined])
  })

  it('is an error while keys do not open or signatures are invalid, and goes on afterwards', () => {
    assert.deepEqual(outcome(active, facts({ canSign: false })), ['error', 'keys_not_readable', undefined])
    assert.deepEqual(outcome(active, facts({ isValid: false })), ['error', 'signatures_invalid', undefined])
    const fresh = zone('error', [key(1, { state: 'introduced' })])
    assert.equal(nextState(fresh, facts({ isServed: false }), now).status, 'signing')
  })
})

describe('a rollover', () => {
  it('gives the parent the new key after all caches have it, and removes the old one after its DS record left all caches', () => {
    const old = key(1, { dsSeen: 1 })
    const introduced = key(2, { state: 'introduced', introduced: now })
    const started = zone('active', [old, introduced])
    const given = facts({ parent: withDs(1) })
    const wait = Math.max(zoneTtl, keyTtl)
    assert.deepEqual(outcome(started, given), ['active', 'caches', now + wait])
    const switched = nextState(started, given, now + wait)
    assert.deepEqual([switched.reason, ...statesOf(switched)], ['ds_missing', 'retiring', 'active'])
    assert.deepEqual(statesOf(nextState(switched, facts({ parent: withDs(1, 2) }), now)), [
      'retiring',
      'active',
    ])
    const replaced = nextState(switched, facts({ parent: withDs(2) }), now)
    assert.deepEqual(
      [replaced.reason, replaced.due, ...statesOf(replaced)],
      ['ds_caches', now + dsTtl, 'retiring', 'active'],
    )
    const back = nextState(replaced, facts({ parent: withDs(1, 2) }), now)
    assert.equal(back.keys[0]!.retired, undefined)
    assert.deepEqual(statesOf(nextState(replaced, facts({ parent: withDs(2) }), now + dsTtl)), [
      'removed',
      'active',
    ])
  })
})

describe('DNSSEC that is being disabled', () => {
  const keys = [key(1, { dsSeen: 1 })]
  const absent = (checked: number): ParentFacts => parent({ checked, dsTtl, dsLastSeen: now })
  const wait = defaultWaits.unsign(facts(), absent(now))

  it('is unsigned at once if the parent never had a DS record', () => {
    const next = nextState(zone('pending_disabled', keys), facts(), now)
    assert.deepEqual([next.status, ...statesOf(next)], ['disabled', 'removed'])
  })

  it('waits for caches after the DS record was last seen, and asks the parent once more', () => {
    const from = zone('pending_disabled', keys)
    assert.deepEqual(outcome(from, facts({ parent: absent(now) })), [
      'pending_disabled',
      'ds_caches',
      now + wait,
    ])
    assert.equal(
      nextState(from, facts({ parent: absent(now + wait - 1) }), now + wait).status,
      'pending_disabled',
    )
    assert.equal(nextState(from, facts({ parent: absent(now + wait) }), now + wait).status, 'disabled')
  })

  it('does not take silence for an absent DS record', () => {
    const silent = { ...absent(now + wait), isSettled: false }
    assert.equal(
      nextState(zone('pending_disabled', keys), facts({ parent: silent }), now + wait).status,
      'pending_disabled',
    )
    assert.equal(
      nextState(zone('pending_disabled', keys), facts({ parent: undefined }), now + wait).status,
      'pending_disabled',
    )
  })

  it('is active again if the DS record comes back, but not if its removal was requested', () => {
    assert.equal(
      nextState(zone('pending_disabled', keys), facts({ parent: withDs(1) }), now).status,
      'active',
    )
    const requested = nextState(zone('pending_disabled', keys, true), facts({ parent: withDs(1) }), now)
    assert.deepEqual([requested.status, requested.reason], ['pending_disabled', 'ds_present'])
    const gone = nextState(requested, facts({ parent: absent(now) }), now)
    assert.deepEqual([gone.status, gone.isRemovalRequested], ['pending_disabled', false])
  })
})

describe('every validating resolver', () => {
  const world: fc.Arbitrary<World> = fc.record({
    ds: fc.integer({ min: 1, max: 9 }),
    key: fc.integer({ min: 1, max: 9 }),
    data: fc.integer({ min: 1, max: 9 }),
    propagation: fc.nat(3),
    registrar: fc.nat(5),
  })

  /** Enables, rolls over and disables DNSSEC, and returns whether a resolver failed. */
  function failsIn(world: World, waits: Waits): boolean {
    const simulation = new Simulation(world, waits)
    simulation.run(10)
    simulation.addKey(1)
    simulation.zone = { ...simulation.zone, status: 'signing' }
    simulation.runUntil(({ status }) => status === 'active')
    simulation.run(10)
    simulation.addKey(2)
    simulation.runUntil(({ keys }) => keys[0]!.state === 'removed')
    simulation.run(10)
    simulation.zone = { ...simulation.zone, status: 'pending_disabled', isRemovalRequested: true }
    simulation.runUntil(({ status }) => status === 'disabled')
    simulation.run(30)
    return simulation.failures.length > 0
  }

  it('never fails', () => {
    fc.assert(
      fc.property(world, (world) => !failsIn(world, defaultWaits)),
      { numRuns: 500 },
    )
  })

  it('never fails with shorter waits before resolvers that limit their caches, and fails before others', () => {
    const cache = 2
    fc.assert(
      fc.property(world, (world) => !failsIn({ ...world, cache }, waitsFor(cache))),
      { numRuns: 500 },
    )
    const worlds = fc.sample(world, { numRuns: 300, seed: 1 })
    assert.ok(worlds.some((world) => failsIn(world, waitsFor(cache))))
  })

  const mutants: Record<string, Waits> = {
    'unsigning after the DS TTL alone': { ...defaultWaits, unsign: (_, { dsTtl }) => dsTtl },
    'unsigning after the greater of both TTLs': {
      ...defaultWaits,
      unsign: ({ keyTtl }, { dsTtl }) => Math.max(dsTtl, keyTtl),
    },
    'a new DS record before the key is in every cache': {
      ...defaultWaits,
      introduce: ({ zoneTtl }) => zoneTtl,
    },
    'a new DS record before the signatures are in every cache': {
      ...defaultWaits,
      introduce: ({ keyTtl }) => keyTtl,
    },
    'removing the old key before its DS record left the caches': { ...defaultWaits, retire: () => 0 },
  }
  for (const [name, waits] of Object.entries(mutants)) {
    it(`fails with ${name}`, () => {
      const worlds = fc.sample(world, { numRuns: 300, seed: 1 })
      assert.ok(worlds.some((world) => failsIn(world, waits)))
    })
  }

  it('fails if signatures are removed by force while the parent has a DS record', () => {
    const simulation = new Simulation({ ds: 3, key: 3, data: 3, propagation: 0, registrar: 0 }, defaultWaits)
    simulation.addKey(1)
    simulation.zone = { ...simulation.zone, status: 'signing' }
    simulation.runUntil(({ status }) => status === 'active')
    simulation.run(5)
    assert.deepEqual(simulation.failures, [])
    simulation.force()
    simulation.run(5)
    assert.ok(simulation.failures.length > 0)
  })
})
