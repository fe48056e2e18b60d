import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { prefixBits, parsePrefix } from '../net/prefix.ts'
import { maskBits, sameBits, type Bits } from '../net/bits.ts'
import { formatBits } from '../net/bits-text.ts'
import { createFlowOwners, noHoldings, toHoldingColumns, type FlowOwners } from './flow-owners.ts'

type Held = {
  readonly prefix: string
  readonly teamId: number
  readonly id: number
  readonly announced?: true
}

const ownersOf = (held: readonly Held[]): FlowOwners =>
  createFlowOwners(
    toHoldingColumns(
      1,
      held.map(({ prefix, teamId, id, announced }) => ({
        prefix: parsePrefix(prefix),
        teamId,
        id,
        resource: announced ? ('announcement' as const) : ('prefix' as const),
      })),
    ),
  )

function find(owners: FlowOwners, address: string): [number, number][] {
  const { family, w0, w1, w2, w3 } = prefixBits(parsePrefix(`${address}/${address.includes(':') ? 128 : 32}`))
  const list =
    family === 4 ? owners.find(0, 0, 0xffff, w0 >>> 0) : owners.find(w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0)
  const found: [number, number][] = []
  for (let at = owners.starts[list]!; at < owners.starts[list + 1]!; at++)
    found.push([owners.teamIds[at]!, owners.prefixIds[at]!])
  return found
}

describe('the owners of addresses', () => {
  const owners = ownersOf([
    { prefix: '203.0.113.0/24', teamId: 1, id: 10 },
    { prefix: '203.0.113.64/26', teamId: 1, id: 11 },
    { prefix: '203.0.113.64/27', teamId: 2, id: 12 },
    { prefix: '203.0.112.0/20', teamId: 3, id: 13 },
    { prefix: '198.51.100.7/32', teamId: 4, id: 14 },
    { prefix: '192.0.2.0/24', teamId: 5, id: 15, announced: true },
    { prefix: '2001:db8::/32', teamId: 6, id: 16 },
    { prefix: '2001:db8:a::/48', teamId: 7, id: 17 },
  ])

  it('are all teams whose prefix covers it, the most specific first, each once', () => {
    assert.deepEqual(find(owners, '203.0.113.70'), [
      [2, 12],
      [1, 11],
      [3, 13],
    ])
    assert.deepEqual(find(owners, '203.0.113.100'), [
      [1, 11],
      [3, 13],
    ])
    assert.deepEqual(find(owners, '203.0.113.1'), [
      [1, 10],
      [3, 13],
    ])
    assert.deepEqual(find(owners, '2001:db8:a::1'), [
      [7, 17],
      [6, 16],
    ])
  })

  it('are none outside of all prefixes', () => {
    assert.deepEqual(find(owners, '198.51.100.8'), [])
    assert.deepEqual(find(owners, '2001:db9::1'), [])
    assert.deepEqual(find(createFlowOwners(noHoldings), '2001:db9::1'), [])
  })

  it('include teams that only announce the prefix, without a prefix of theirs', () => {
    assert.deepEqual(find(owners, '192.0.2.9'), [[5, 0]])
    const both = ownersOf([
      { prefix: '192.0.2.0/25', teamId: 5, id: 15, announced: true },
      { prefix: '192.0.2.0/24', teamId: 5, id: 9 },
    ])
    assert.deepEqual(find(both, '192.0.2.9'), [[5, 9]])
  })

  it('agree with a search through all holdings', () => {
    const ipv4 = fc
      .tuple(fc.integer({ min: 0, max: 2 ** 10 - 1 }), fc.integer({ min: 20, max: 32 }))
      .map(([low, length]): Bits =>
        maskBits({ family: 4, w0: (203 << 24) | (low << 3), w1: 0, w2: 0, w3: 0, length }),
      )
    const ipv6 = fc
      .tuple(
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 24, max: 128 }),
      )
      .map(([middle, low, length]): Bits =>
        maskBits({ family: 6, w0: 0x20010db8, w1: middle << 24, w2: 0, w3: low, length }),
      )
    const holding = fc.record({ bits: fc.oneof(ipv4, ipv6), teamId: fc.integer({ min: 1, max: 4 }) })
    fc.assert(
      fc.property(
        fc.array(holding, { maxLength: 30 }),
        fc.array(fc.oneof(ipv4, ipv6)),
        (holdings, addresses) => {
          const held = holdings.map(({ bits, teamId }, at) => ({
            prefix: `${formatBits(bits)}/${bits.length}`,
            teamId,
            id: at + 1,
          }))
          const built = ownersOf(held)
          for (const address of addresses) {
            const host = { ...address, length: address.family === 4 ? 32 : 128 }
            const covering = holdings
              .map(({ bits, teamId }, at) => ({ bits, teamId, id: at + 1 }))
              .filter(({ bits }) => sameBits(bits, host, bits.length))
              .toSorted((a, b) => b.bits.length - a.bits.length)
            const expected: [number, number][] = []
            for (const { teamId, id } of covering)
              if (!expected.some(([team]) => team === teamId)) expected.push([teamId, id])
            assert.deepEqual(find(built, formatBits(host)), expected)
          }
        },
      ),
    )
  })
})
