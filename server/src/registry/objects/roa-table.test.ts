import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parsePrefix, prefixBits } from '../../net/prefix.ts'
import { createRoaTable, roaStates } from './roa-table.ts'
import { vrpBits, vrpPrefix } from './vrp.ts'
import type { RoaState, RoaTable } from './roa-table.ts'
import type { Vrp, VrpBits } from './vrp.ts'
import { modelAround, modelCovers, plainText, prefixModel, prefixOf, widths } from '../../net/testing.ts'
import type { PrefixModel } from '../../net/testing.ts'
import { cpuMs } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

function tableOf(...texts: string[]): RoaTable {
  return createRoaTable(texts.map(vrp).map(vrpBits))
}

/** `192.0.2.0/24-26 AS64500`, or without a max length. */
function vrp(text: string): Vrp {
  const [, prefix, length, maxLength, asn] = /^(\S+\/(\d+))(?:-(\d+))? AS(\d+)$/.exec(text)!
  return { prefix: parsePrefix(prefix!), maxLength: Number(maxLength ?? length), asn: Number(asn) }
}

function stateOf(table: RoaTable, prefix: string, asn: number): RoaState {
  return table.judge(parsePrefix(prefix), asn).state
}

describe('a ROA table', () => {
  it('is valid if a covering VRP of the same ASN allows the length', () => {
    const table = tableOf('192.0.2.0/24-26 AS64500', '2001:db8::/32-48 AS64501')
    assert.equal(stateOf(table, '192.0.2.0/24', 64500), 'valid')
    assert.equal(stateOf(table, '192.0.2.64/26', 64500), 'valid')
    assert.equal(stateOf(table, '2001:db8:ffff::/48', 64501), 'valid')
  })

  it('distinguishes a prefix that is too long from the wrong ASN, and both from a missing ROA', () => {
    const table = tableOf('192.0.2.0/24-26 AS64500', '192.0.0.0/16 AS64501')
    assert.equal(stateOf(table, '192.0.2.0/27', 64500), 'mismatch_length')
    assert.equal(stateOf(table, '192.0.2.0/24', 64501), 'mismatch_length')
    assert.equal(stateOf(table, '192.0.2.0/24', 64502), 'mismatch_asn')
    assert.equal(stateOf(table, '192.0.0.0/15', 64501), 'not_found')
    assert.equal(stateOf(table, '198.51.100.0/24', 64500), 'not_found')
    assert.equal(stateOf(table, 'c000:200::/24', 64500), 'not_found')
  })

  it('prefers one matching VRP to any number of others', () => {
    const table = tableOf(
      '192.0.2.0/24 AS0',
      '192.0.2.0/24 AS64501',
      '192.0.0.0/16-24 AS64500',
      '192.0.2.0/24 AS1',
    )
    assert.equal(stateOf(table, '192.0.2.0/24', 64500), 'valid')
  })

  it('is never valid by a VRP of AS 0, not even for a route of AS 0', () => {
    const table = tableOf('192.0.2.0/24-32 AS0')
    assert.equal(stateOf(table, '192.0.2.0/24', 64500), 'mismatch_asn')
    assert.equal(stateOf(table, '192.0.2.0/24', 0), 'mismatch_asn')
  })

  it('returns every covering VRP, most specific first', () => {
    const texts = [
      '192.0.0.0/12-24 AS1',
      '192.0.2.0/24 AS0',
      '192.0.2.0/25 AS3',
      '192.0.0.0/16-16 AS4294967295',
    ]
    const { covering } = tableOf(...texts).judge(parsePrefix('192.0.2.0/24'), 7)
    assert.deepEqual(covering, [vrp(texts[1]!), vrp(texts[3]!), vrp(texts[0]!)])
  })

  it('supports VRPs of a default route and of full length', () => {
    const table = tableOf('0.0.0.0/0-8 AS1', '::/0 AS2', '255.255.255.255/32 AS3', '2001:db8::1/128 AS4')
    assert.equal(stateOf(table, '10.0.0.0/8', 1), 'valid')
    assert.equal(stateOf(table, '::/0', 2), 'valid')
    assert.equal(stateOf(table, '255.255.255.255/32', 3), 'valid')
    assert.equal(stateOf(table, '2001:db8::1/128', 4), 'valid')
    assert.equal(stateOf(table, '2001:db8::2/128', 4), 'mismatch_asn')
  })

  it('is a set: an existing VRP is not added again, and an absent one not removed', () => {
    const table = tableOf('192.0.2.0/24 AS1')
    const [one, other] = [vrpBits(vrp('192.0.2.0/24 AS1')), vrpBits(vrp('192.0.2.0/24-25 AS1'))]
    assert.deepEqual(
      [table.add(one), table.remove(other), table.add(other), table.size],
      [false, false, true, 2],
    )
    assert.deepEqual(
      [table.remove(one), table.remove(one), table.has(one), table.has(other)],
      [true, false, false, true],
    )
    table.apply({ withdrawn: [other], announced: [one, other] })
    assert.deepEqual([table.size, table.has(other)], [2, true])
  })

  it('returns the same as a linear scan of all VRPs, after any changes', () => {
    const seen: Record<string, number> = {}
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 80 }),
        fc.array(anyRoute, { maxLength: 20 }),
        (changes, routes) => {
          const { table, vrps } = carryOut(changes)
          assert.equal(table.size, vrps.size)
          const asked = [
            ...routes,
            ...[...vrps.values()].slice(0, 20).flatMap((vrp) => [vrp, ...oneBitTooLong(vrp)]),
          ]
          for (const { prefix, asn } of asked) {
            const expected = judgeNaively([...vrps.values()], prefix, asn)
            const verdict = table.judge(prefixOf(prefix), asn)
            seen[verdict.state] = (seen[verdict.state] ?? 0) + 1
            assert.equal(verdict.state, expected.state)
            assert.deepEqual(sorted(verdict.covering), sorted(expected.covering))
            assert.deepEqual(
              lengths(verdict.covering),
              lengths(verdict.covering).sort((a, b) => b - a),
            )
            assert.equal(judgeInBulk(table, prefix, asn), expected.state)
          }
        },
      ),
      { numRuns: scaled(500) },
    )
    for (const state of roaStates)
      assert.ok((seen[state] ?? 0) > scaled(50), `too few: ${JSON.stringify(seen)}`)
  })

  it('is scanned in slices of any size, each VRP once', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), fc.integer({ min: 1, max: 50 }), (changes, slice) => {
        const { table, vrps } = carryOut(changes)
        const found: string[] = []
        let place = 0
        do {
          place = table.scan(place, slice, (one) => found.push(keyOf({ ...one, prefix: vrpPrefix(one) })))
        } while (place !== 0)
        assert.deepEqual(found.sort(), [...vrps.keys()].sort())
      }),
      { numRuns: scaled(200) },
    )
  })

  it('is correct with ten thousand VRPs, and after half of them are withdrawn', () => {
    const vrps = fc.sample(anyVrp, { numRuns: 10_000, seed: 6811 })
    const table = createRoaTable(vrps.map(bitsOf))
    const left = vrps.filter((_, i) => i % 2 === 0)
    const asked = fc.sample(anyRoute, { numRuns: 150, seed: 1 }).concat(vrps.slice(0, 50))
    const compare = (expected: readonly VrpModel[]): void => {
      const distinct = [
        ...new Map(expected.map((vrp) => [keyOf({ ...vrp, prefix: prefixOf(vrp.prefix) }), vrp])).values(),
      ]
      assert.equal(table.size, distinct.length)
      for (const { prefix, asn } of asked) {
        const naive = judgeNaively(distinct, prefix, asn)
        const verdict = table.judge(prefixOf(prefix), asn)
        assert.deepEqual([verdict.state, sorted(verdict.covering)], [naive.state, sorted(naive.covering)])
      }
    }
    compare(vrps)
    const kept = new Set(left.map((vrp) => keyOf({ ...vrp, prefix: prefixOf(vrp.prefix) })))
    const gone = vrps.filter((vrp) => !kept.has(keyOf({ ...vrp, prefix: prefixOf(vrp.prefix) })))
    table.apply({ withdrawn: gone.map(bitsOf) })
    compare(left)
  })

  it('adds and removes fifty thousand VRPs of one prefix as fast as any others', () => {
    const prefix = parsePrefix('192.0.2.0/24')
    const vrps = Array.from({ length: 50_000 }, (_, i) => vrpBits({ prefix, maxLength: 24, asn: i + 1 }))
    const began = cpuMs()
    const table = createRoaTable(vrps, 7)
    assert.deepEqual([table.size, table.judge(prefix, 50_000).state], [50_000, 'valid'])
    assert.equal(table.judge(prefix, 70_000).covering.length, 1_000)
    table.apply({ withdrawn: vrps })
    assert.deepEqual([table.size, table.judge(prefix, 1).state], [0, 'not_found'])
    // Traversing all others for each would take 15 s.
    assert.ok(cpuMs() - began < 10_000)
  })

  it('uses no more memory after many changes than after few', () => {
    const table = createRoaTable()
    const vrps = Array.from({ length: 5_000 }, (_, i) => ({
      ...prefixBits(parsePrefix(`10.${i >> 8}.${i & 255}.0/24`)),
      maxLength: 24,
      asn: i + 1,
    }))
    table.apply({ announced: vrps })
    const before = process.memoryUsage().arrayBuffers
    for (let round = 0; round < 50; round++) table.apply({ withdrawn: vrps, announced: vrps })
    assert.equal(table.size, 5_000)
    assert.ok(process.memoryUsage().arrayBuffers <= before)
  })
})

type VrpModel = { readonly prefix: PrefixModel; readonly maxLength: number; readonly asn: number }

/** A route of the VRP that is one bit longer than it allows, if possible. */
function oneBitTooLong({ prefix, maxLength, asn }: VrpModel): { prefix: PrefixModel; asn: number }[] {
  if (maxLength === widths[prefix.family]) return []
  return [{ prefix: modelAround(prefix.family, prefix.first, maxLength + 1), asn }]
}

const anyAsn = fc.constantFrom(0, 1, 2, 64_500, 2 ** 31 + 1, 2 ** 32 - 1)
const anyRoute = fc.record({ prefix: prefixModel(), asn: anyAsn })
const anyVrp: fc.Arbitrary<VrpModel> = fc
  .tuple(prefixModel(), fc.nat(8), anyAsn)
  .map(([prefix, more, asn]) => ({
    prefix,
    maxLength: Math.min(prefix.length + more, widths[prefix.family]),
    asn,
  }))
/** Withdrawals refer to earlier announcements, counted from the end. */
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ announce: anyVrp }) },
  { weight: 2, arbitrary: fc.record({ withdraw: fc.nat(20) }) },
)
type Change = { readonly announce: VrpModel } | { readonly withdraw: number }

function carryOut(changes: readonly Change[]): { table: RoaTable; vrps: Map<string, VrpModel> } {
  const table = createRoaTable([], 12_345)
  const vrps = new Map<string, VrpModel>()
  for (const one of changes) {
    if ('announce' in one) {
      const key = keyOf({ ...one.announce, prefix: prefixOf(one.announce.prefix) })
      assert.equal(table.add(bitsOf(one.announce)), !vrps.has(key))
      vrps.set(key, one.announce)
      continue
    }
    const [key, vrp] = [...vrps].at(-1 - one.withdraw) ?? []
    if (key === undefined || vrp === undefined) continue
    assert.ok(table.has(bitsOf(vrp)))
    assert.ok(table.remove(bitsOf(vrp)))
    vrps.delete(key)
  }
  return { table, vrps }
}

function bitsOf({ prefix, maxLength, asn }: VrpModel): VrpBits {
  return vrpBits({ prefix: prefixOf(prefix), maxLength, asn })
}

function keyOf({ prefix, maxLength, asn }: { prefix: string; maxLength: number; asn: number }): string {
  return `${prefix}-${maxLength} AS${asn}`
}

/** A literal implementation of RFC 6811 section 2. */
function judgeNaively(vrps: readonly VrpModel[], prefix: PrefixModel, asn: number) {
  const covering = vrps.filter((vrp) => modelCovers(vrp.prefix, prefix))
  const ofAsn = covering.filter((vrp) => vrp.asn !== 0 && vrp.asn === asn)
  const state: RoaState = ofAsn.some(({ maxLength }) => prefix.length <= maxLength)
    ? 'valid'
    : ofAsn.length > 0
      ? 'mismatch_length'
      : covering.length > 0
        ? 'mismatch_asn'
        : 'not_found'
  return { state, covering: covering.map((vrp) => ({ ...vrp, prefix: prefixOf(vrp.prefix) })) }
}

function judgeInBulk(table: RoaTable, prefix: PrefixModel, asn: number): RoaState | undefined {
  const { family, length, ...words } = prefixBits(parsePrefix(plainText(prefix)))
  const column = (value: number): Uint32Array => Uint32Array.of(value)
  const { w0, w1, w2, w3 } = words
  const columns = { w0: column(w0), w1: column(w1), w2: column(w2), w3: column(w3), lengths: column(length) }
  return roaStates[table.judgeMany(family, columns, column(asn))[0]!]
}

function sorted(vrps: readonly Vrp[]): string[] {
  return vrps.map(keyOf).sort()
}

function lengths(vrps: readonly Vrp[]): number[] {
  return vrps.map(({ prefix }) => Number(prefix.split('/')[1]))
}
