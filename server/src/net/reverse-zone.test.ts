import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { covers, parsePrefix, prefixParts, type Prefix } from './prefix.ts'
import { reverseZones } from './reverse-zone.ts'
import { prefixModel, prefixOf } from './testing.ts'

const zonesOf = (text: string) => reverseZones(parsePrefix(text))

describe('reverseZones', () => {
  it('returns the one zone of a prefix that ends at a label', () => {
    assert.deepEqual(zonesOf('203.0.113.0/24'), ['113.0.203.in-addr.arpa'])
    assert.deepEqual(zonesOf('10.0.0.0/8'), ['10.in-addr.arpa'])
    assert.deepEqual(zonesOf('2001:db8::/32'), ['8.b.d.0.1.0.0.2.ip6.arpa'])
    assert.deepEqual(zonesOf('2001:db8:a1b::/48'), ['b.1.a.0.8.b.d.0.1.0.0.2.ip6.arpa'])
    assert.deepEqual(zonesOf('0.0.0.0/0'), ['in-addr.arpa'])
    assert.deepEqual(zonesOf('::/0'), ['ip6.arpa'])
  })

  it('returns every delegated zone of a prefix between two labels', () => {
    assert.deepEqual(zonesOf('198.51.100.0/22'), [
      '100.51.198.in-addr.arpa',
      '101.51.198.in-addr.arpa',
      '102.51.198.in-addr.arpa',
      '103.51.198.in-addr.arpa',
    ])
    assert.deepEqual(zonesOf('2001:db8::/31'), ['8.b.d.0.1.0.0.2.ip6.arpa', '9.b.d.0.1.0.0.2.ip6.arpa'])
    assert.equal(zonesOf('10.0.0.0/9').length, 128)
  })

  it('returns none for less than a /24, whose zone is not its own', () => {
    assert.deepEqual(zonesOf('203.0.113.0/25'), [])
    assert.deepEqual(zonesOf('203.0.113.7/32'), [])
  })

  it('returns zones that together are exactly the prefix', () => {
    fc.assert(
      fc.property(prefixModel(4, 6), (model) => {
        const prefix = prefixOf(model)
        const { family, length } = prefixParts(prefix)
        fc.pre(family === 6 || length <= 24)
        // Its zones belong to IPv4-mapped addresses, which have no prefix in this form.
        fc.pre(family === 4 || length < 93 || model.first >> 35n !== 0x1fffn)
        const inside = reverseZones(prefix).map((zone) => prefixOfZone(zone))
        assert.ok(inside.every((one) => covers(prefix, one)))
        assert.equal(new Set(inside).size, inside.length)
        const share = inside.reduce((sum, one) => sum + 2 ** (length - prefixParts(one).length), 0)
        assert.equal(share, 1)
      }),
    )
  })
})

/** The inverse function, on text only. */
function prefixOfZone(zone: string): Prefix {
  const labels = zone.split('.').slice(0, -2).toReversed()
  if (zone.endsWith('in-addr.arpa'))
    return parsePrefix(`${[...labels, '0', '0', '0', '0'].slice(0, 4).join('.')}/${labels.length * 8}`)
  const digits = labels.join('').padEnd(32, '0')
  return parsePrefix(`${digits.match(/.{4}/g)!.join(':')}/${labels.length * 4}`)
}
