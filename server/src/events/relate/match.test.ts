import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createOwnership } from '../../inventory/holding/ownership.ts'
import type { AsnHolding, Holding } from '../../inventory/holding/holding.ts'
import { covers, parsePrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { matchNetworks } from './match.ts'
import type { Match } from './match.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(500)

// Nested on purpose: most pairs overlap.
const prefixes = [
  '0.0.0.0/0',
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.2.0/24',
  '10.1.2.3/32',
  '10.1.3.0/24',
  '11.0.0.0/8',
  '::/0',
  '2001:db8::/32',
  '2001:db8::1/128',
].map(parsePrefix)

const prefix = fc.constantFrom(...prefixes)
const holdings = fc
  .array(
    fc.record({
      teamId: fc.integer({ min: 1, max: 3 }),
      resource: fc.constantFrom('prefix' as const, 'announcement' as const),
      prefix,
      originAsn: fc.option(fc.constantFrom(64_500, 64_501)),
    }),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map((holding, i): Holding => ({
      ...holding,
      id: i + 1,
      name: '',
      location: null,
      originAsn: holding.resource === 'prefix' ? null : holding.originAsn,
    })),
  )
const asns = fc.uniqueArray(
  fc.record({ teamId: fc.integer({ min: 1, max: 3 }), asn: fc.constantFrom(64_500, 64_501) }),
  { selector: ({ teamId, asn }) => `${teamId} ${asn}`, maxLength: 4 },
)

/** The definition, as a linear search. */
function expected(
  networks: readonly Prefix[],
  held: readonly Holding[],
  registered: readonly AsnHolding[],
): string[] {
  const found = new Set<string>()
  for (const network of networks) {
    for (const { teamId, resource, id, prefix, originAsn } of held) {
      const type =
        prefix === network
          ? 'exact'
          : covers(prefix, network)
            ? 'covers'
            : covers(network, prefix)
              ? 'covered_by'
              : undefined
      if (!type) continue
      found.add(`${teamId} ${resource} ${id} ${type}`)
      const asn = registered.find((entry) => entry.teamId === teamId && entry.asn === originAsn)
      if (asn) found.add(`${teamId} asn ${asn.id} origin_asn`)
    }
  }
  return [...found].toSorted()
}

const keyOf = (match: Match) => `${match.teamId} ${match.resource} ${match.resourceId} ${match.type}`

describe('matching', () => {
  test('finds every resource that is related to a network, once each, with the right team', () => {
    fc.assert(
      fc.property(fc.array(prefix, { maxLength: 3 }), holdings, asns, (networks, held, registered) => {
        const asnHoldings = registered.map((asn, i): AsnHolding => ({ ...asn, id: i + 1, name: '' }))
        const matches = matchNetworks(networks, createOwnership(1, held, asnHoldings))
        assert.deepEqual(matches.map(keyOf).toSorted(), expected(networks, held, asnHoldings))
      }),
      { numRuns: runs },
    )
  })

  test('is by team, then exact, covers with the most specific first, covered_by, origin_asn', () => {
    const held = prefixes.slice(0, 5).map((prefix, i): Holding => ({
      teamId: 1,
      resource: 'announcement',
      id: i + 1,
      prefix,
      name: `name ${i}`,
      location: null,
      originAsn: 64_500,
    }))
    const ownership = createOwnership(1, held, [{ teamId: 1, id: 9, asn: 64_500, name: '' }])
    assert.deepEqual(
      matchNetworks([parsePrefix('10.1.0.0/16')], ownership).map(({ type, value, name, link }) => [
        type,
        value,
        name,
        link,
      ]),
      [
        ['exact', '10.1.0.0/16', 'name 2', '/v3/ipam/announcements/3'],
        ['covers', '10.0.0.0/8', 'name 1', '/v3/ipam/announcements/2'],
        ['covers', '0.0.0.0/0', 'name 0', '/v3/ipam/announcements/1'],
        ['covered_by', '10.1.2.0/24', 'name 3', '/v3/ipam/announcements/4'],
        ['covered_by', '10.1.2.3/32', 'name 4', '/v3/ipam/announcements/5'],
        ['origin_asn', '64500', 'AS64500', '/v3/inventory/asns/64500'],
      ],
    )
  })
})
