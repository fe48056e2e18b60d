import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Prefix } from '../../net/prefix.ts'
import { hearingOf, nextNeighbor, updateChecks, type NeighborCheck } from './evidence.ts'
import { selfNextHop, type Advertised, type Neighbor, type Route } from './speaker.ts'

const asn = 64500
const start = Date.parse('2026-03-01T10:00:00Z')
const at = (minutes: number) => new Date(start + minutes * 60_000)
const four = '203.0.113.0/24' as Prefix
const six = '2001:db8::/32' as Prefix

const neighbor = (address: string, rest: Partial<Neighbor> = {}): Neighbor => ({
  address,
  asn: 64501,
  state: 'established',
  families: [4, 6],
  ...rest,
})
const route = (prefix: Prefix, origin = 64496): Route => ({
  prefix,
  asPath: [origin],
  nextHop: selfNextHop(prefix),
  communities: [],
  largeCommunities: [],
})
const receiving = (...prefixes: Prefix[]): Advertised => new Map(prefixes.map((prefix) => [prefix, 64496]))

/** A router with these neighbors that answers each question of a run from `answers`. */
function rounds(neighbors: readonly Neighbor[], answers: (address: string) => Advertised | undefined) {
  let checks: readonly NeighborCheck[] = []
  const asked: string[] = []
  const run = (
    minutes: number,
    { now = neighbors, observed = [route(four)], changed = new Set<Prefix>() } = {},
  ): void => {
    const next = nextNeighbor(now, asn, checks)
    if (next) asked.push(next.address)
    const answered = (next?.families ?? []).map((family) => {
      return { address: next!.address, family, advertised: answers(next!.address) }
    })
    checks = updateChecks(checks, { asn, neighbors: now, observed, changed }, answered, at(minutes))
  }
  const hearing = (prefix = four, sinceMs: number | null = null, now = neighbors) =>
    hearingOf(now, asn, checks).hearing(prefix, sinceMs)
  const heardBy = (prefix = four, sinceMs: number | null = null) =>
    hearingOf(neighbors, asn, checks).heardBy(prefix, sinceMs)
  return { run, hearing, heardBy, asked }
}

describe('the neighbors of a router', () => {
  it('are asked one after the other, the one of the oldest check first', () => {
    const { run, asked } = rounds([neighbor('a'), neighbor('b'), neighbor('c')], () => receiving(four))
    for (let minute = 0; minute < 7; minute++) run(minute)
    assert.deepEqual(asked, ['a', 'b', 'c', 'a', 'b', 'c', 'a'])
  })

  it('count if they are established, carry the family, and belong to another network', () => {
    const internal = neighbor('internal', { asn })
    const down = neighbor('down', { state: 'active', families: [] })
    const only4 = neighbor('only4', { families: [4] })
    assert.deepEqual(nextNeighbor([internal, down, only4], asn, []), { address: 'only4', families: [4] })
    assert.deepEqual(nextNeighbor([internal, down], asn, []), { address: 'internal', families: [4, 6] })
    assert.deepEqual(nextNeighbor([down, only4], asn, []), { address: 'only4', families: [4] })
    assert.equal(nextNeighbor([down], asn, []), undefined)
  })
})

describe('a route', () => {
  it('is heard if one of the neighbors receives it with its origin', () => {
    const { run, hearing, heardBy } = rounds([neighbor('a'), neighbor('b')], (address) =>
      receiving(...(address === 'b' ? [four] : [])),
    )
    assert.equal(hearing(), 'unknown')
    run(0)
    assert.equal(hearing(), 'unknown')
    run(1)
    assert.equal(hearing(), 'yes')
    assert.deepEqual(heardBy(), { neighbors: 2, heard: 1, unchecked: 0 })
  })

  it('is not heard once two checks of every neighbor have missed it', () => {
    const { run, hearing } = rounds([neighbor('a'), neighbor('b')], () => receiving())
    for (const minute of [0, 1, 2]) {
      run(minute)
      assert.equal(hearing(), 'unknown', String(minute))
    }
    run(3)
    assert.equal(hearing(), 'no')
  })

  it('is not heard if the neighbors receive the prefix from another network', () => {
    const { run, hearing } = rounds([neighbor('a')], () => new Map([[four, 64666]]))
    run(0)
    run(1)
    assert.equal(hearing(), 'no')
  })

  it('of our own ASN is heard with an empty path too', () => {
    const { run, hearing } = rounds([neighbor('internal', { asn })], () => new Map([[four, null]]))
    run(0, { observed: [{ ...route(four), asPath: [] }] })
    assert.equal(hearing(), 'yes')
  })

  it('is not judged by a table that is too large, by the checks of a lost session, or by those before it was announced', () => {
    let answer: Advertised | undefined = receiving()
    const { run, hearing, heardBy } = rounds([neighbor('a')], () => answer)
    run(0)
    run(1)
    assert.equal(hearing(), 'no')
    assert.equal(hearing(four, at(2).getTime()), 'unknown')
    assert.deepEqual(heardBy(four, at(2).getTime()), { neighbors: 1, heard: 0, unchecked: 1 })
    run(2, { changed: new Set([four]) })
    assert.equal(hearing(four, at(2).getTime()), 'unknown')
    run(3, { now: [] })
    run(4)
    assert.equal(hearing(), 'unknown', 'one check of the new session')
    answer = undefined
    run(5)
    run(6)
    assert.equal(hearing(), 'unknown')
    assert.deepEqual(heardBy(), { neighbors: 1, heard: 0, unchecked: 1 })
  })

  it('is judged by the neighbors of its family only', () => {
    const { run, hearing } = rounds(
      [neighbor('a', { families: [4] }), neighbor('b', { families: [6] })],
      (address) => receiving(...(address === 'b' ? [six] : [])),
    )
    const observed = [route(four), route(six)]
    for (let minute = 0; minute < 4; minute++) run(minute, { observed })
    assert.deepEqual([hearing(four), hearing(six)], ['no', 'yes'])
  })

  it('is heard exactly if a neighbor receives it, for any neighbors, once each was asked twice', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), (receives) => {
        const neighbors = receives.map((_, index) => neighbor(`n${index}`))
        const { run, hearing, heardBy } = rounds(neighbors, (address) =>
          receiving(...(receives[Number(address.slice(1))] ? [four] : [])),
        )
        for (let minute = 0; minute < 2 * receives.length; minute++) run(minute)
        assert.equal(hearing(), receives.includes(true) ? 'yes' : 'no')
        const heard = receives.filter(Boolean).length
        assert.deepEqual(heardBy(), { neighbors: receives.length, heard, unchecked: 0 })
      }),
    )
  })
})
