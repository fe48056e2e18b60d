import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parseAddress } from './address.ts'
import { PrefixError } from './prefix-error.ts'
import type { PrefixErrorReason } from './prefix-error.ts'
import {
  comparePrefixes,
  covers,
  firstOf,
  hostPrefix,
  isDefaultRoute,
  lastOf,
  maskHostBits,
  overlaps,
  parsePrefix,
  parsePrefixOrAddress,
  prefixAround,
  prefixParts,
} from './prefix.ts'
import { groupsOf, modelCovers, plainText, prefixModel, prefixOf, widths } from './testing.ts'
import type { PrefixModel } from './testing.ts'
import { scaled } from '../runtime/testing-scale.ts'

function refused(parse: (text: string) => unknown, text: string): PrefixError {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof PrefixError) return error
    throw error
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(text)} was accepted` })
}

/** RFC 5952 by another implementation: the host serializer of the URL standard. */
function urlSpelling(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1)
}

describe('parsePrefix', () => {
  for (const [text, canonical] of [
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:0db8:0000:0000:0000:0000:0000:0000/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::1/128', '::1/128'],
    ['1:2:3:4:5:6:7::/112', '1:2:3:4:5:6:7:0/112'],
    ['2001:db8:0:1:0:0:0:1/128', '2001:db8:0:1::1/128'],
    ['2001:db8:0:0:1:0:0:1/128', '2001:db8::1:0:0:1/128'],
    ['64:ff9b::192.0.2.1/128', '64:ff9b::c000:201/128'],
    ['1:2:3:4:5:6:255.255.255.255/128', '1:2:3:4:5:6:ffff:ffff/128'],
  ] as const) {
    it(`reads ${text} as ${canonical}`, () => assert.equal(parsePrefix(text), canonical))
  }

  const refusals: readonly [text: string, reason: PrefixErrorReason, canonical?: string][] = [
    ['203.0.113.5/24', 'host_bits', '203.0.113.0/24'],
    ['203.0.113.5/0', 'host_bits', '0.0.0.0/0'],
    ['2001:db8::1/64', 'host_bits', '2001:db8::/64'],
    ['2001:db8:8000::/32', 'host_bits', '2001:db8::/32'],
    ['::ffff:203.0.113.0/120', 'mapped', '203.0.113.0/24'],
    ['::ffff:203.0.113.5/120', 'mapped', '203.0.113.0/24'],
    ['::FFFF:cb00:7105/128', 'mapped', '203.0.113.5/32'],
    ['0:0:0:0:0:ffff:0:0/96', 'mapped', '0.0.0.0/0'],
    ['::ffff:203.0.113.0/24', 'mapped'],
    ['fe80::1%eth0/64', 'zone'],
    ['203.000.113.0/24', 'leading_zero'],
    ['203.0.0113.0/24', 'leading_zero'],
    ['203.0.113.0/024', 'leading_zero'],
    ['::/00', 'leading_zero'],
    ['203.0.113.0', 'length_missing'],
    ['2001:db8::', 'length_missing'],
    ['203.0.113.0/', 'length_missing'],
    ['203.0.113.0/33', 'length_range'],
    ['::/129', 'length_range'],
    ['203.0.113.0/-1', 'length_range'],
    ['203.0.113.0/+24', 'length_range'],
    ['203.0.113.0/2 4', 'length_range'],
    ['203.0.113.0/24/24', 'length_range'],
    ['203.0.113.0/255.255.255.0', 'length_range'],
    ['203.0.113.0/1e1', 'length_range'],
    ['203.0.113.0/٢٤', 'length_range'],
    [' 203.0.113.0/24', 'syntax'],
    ['203.0.113.0 /24', 'syntax'],
    ['203.0.113.0/24\n', 'length_range'],
    ['', 'syntax'],
    ['/', 'syntax'],
    ['/24', 'syntax'],
    ['203.0.113/24', 'syntax'],
    ['203.0.113.0.0/24', 'syntax'],
    ['203.0.113.256/24', 'syntax'],
    ['203..113.0/24', 'syntax'],
    ['0xcb.0.113.0/24', 'syntax'],
    ['3405803776/24', 'syntax'],
    [':/0', 'syntax'],
    [':::/0', 'syntax'],
    ['1::2::/64', 'syntax'],
    ['1:2:3:4:5:6:7/64', 'syntax'],
    ['1:2:3:4:5:6:7:8:9/64', 'syntax'],
    ['1:2:3:4:5:6:7:8::/64', 'syntax'],
    ['::1:2:3:4:5:6:7:8/64', 'syntax'],
    ['1:2:3:4:5:6:7:/64', 'syntax'],
    [':1:2:3:4:5:6:7/64', 'syntax'],
    ['2001:db8::12345/128', 'syntax'],
    ['2001:db8::g/128', 'syntax'],
    ['1:2:3:4:5:6:7:192.0.2.1/128', 'syntax'],
    ['::1:2:3:4:5:6:7:192.0.2.1/128', 'syntax'],
    ['64:ff9b::192.0.2.01/128', 'syntax'],
    ['64:ff9b::192.0.2.1:1/128', 'syntax'],
    ['[2001:db8::]/32', 'syntax'],
    ['0'.repeat(1000), 'syntax'],
  ]
  for (const [text, reason, canonical] of refusals) {
    it(`refuses ${JSON.stringify(text.slice(0, 50))} for ${reason}`, () => {
      const error = refused(parsePrefix, text)
      assert.deepEqual([error.reason, error.canonical], [reason, canonical])
      if (canonical) assert.ok(error.message.includes(canonical), 'the message contains the canonical prefix')
    })
  }

  it('converts every IPv6 spelling to that of RFC 5952', () => {
    const spelling = fc.tuple(prefixModel(6), fc.boolean(), fc.boolean(), fc.boolean())
    fc.assert(
      fc.property(spelling, ([model, isPadded, isUpper, hasDottedTail]) => {
        const prefix = parsePrefix(spell(model, isPadded, isUpper, hasDottedTail))
        assert.equal(prefix, `${urlSpelling(plainText(model).split('/')[0]!)}/${model.length}`)
        assert.equal(parsePrefix(prefix), prefix)
      }),
      { numRuns: scaled(2_000) },
    )
  })

  it('returns the prefix without host bits in the error, like maskHostBits', () => {
    const withHostBits = fc
      .tuple(prefixModel(), fc.bigInt(0n, 2n ** 128n - 1n))
      .map(([model, noise]) => [model, model.first | (noise & (model.last ^ model.first))] as const)
      .filter(
        ([model, address]) => address !== model.first && !(model.family === 6 && address >> 32n === 0xffffn),
      )
    fc.assert(
      fc.property(withHostBits, ([model, address]) => {
        const text = plainText({ ...model, first: address })
        const error = refused(parsePrefix, text)
        assert.deepEqual([error.reason, error.canonical], ['host_bits', prefixOf(model)])
        assert.equal(maskHostBits(text), prefixOf(model))
      }),
      { numRuns: scaled(2_000) },
    )
  })
})

function spell(model: PrefixModel, isPadded: boolean, isUpper: boolean, hasDottedTail: boolean): string {
  const groups = groupsOf(model)
  const hex = groups.map((group) => group.toString(16).padStart(isPadded ? 4 : 1, '0'))
  const tail = groups.slice(6).flatMap((group) => [group >> 8, group & 255])
  const address = hasDottedTail ? [...hex.slice(0, 6), tail.join('.')].join(':') : hex.join(':')
  return `${isUpper ? address.toUpperCase() : address}/${model.length}`
}

describe('parseAddress and parsePrefixOrAddress', () => {
  it('return a canonical address and a prefix of full length', () => {
    assert.equal(parseAddress('2001:DB8::0001'), '2001:db8::1')
    assert.equal(parsePrefixOrAddress('2001:DB8::0001'), '2001:db8::1/128')
    assert.equal(parsePrefixOrAddress('203.0.113.5'), '203.0.113.5/32')
    assert.equal(parsePrefixOrAddress('203.0.113.0/24'), '203.0.113.0/24')
    assert.equal(hostPrefix(parseAddress('203.0.113.5')), '203.0.113.5/32')
  })

  it('reject an IPv4-mapped address and suggest the IPv4 one', () => {
    assert.equal(refused(parseAddress, '::ffff:203.0.113.5').canonical, '203.0.113.5')
    assert.equal(refused(parsePrefixOrAddress, '::ffff:cb00:7105').canonical, '203.0.113.5')
  })

  it('reject a length after an address, and host bits in a prefix', () => {
    assert.equal(refused(parseAddress, '203.0.113.0/24').reason, 'length_unexpected')
    assert.equal(refused(parsePrefixOrAddress, '203.0.113.5/24').reason, 'host_bits')
  })

  it('accept the same addresses as node:net, except zones and IPv4-mapped ones', () => {
    const piece = fc.constantFrom(
      ':',
      '::',
      '.',
      '0',
      '00',
      '1',
      '255',
      '256',
      'ffff',
      'A',
      'g',
      '10000',
      ' ',
      '1.2.3.4',
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 17 }).map((pieces) => pieces.join('')),
      fc.tuple(prefixModel(), fc.nat(60), piece).map(([model, at, inserted]) => {
        const address = plainText(model).split('/')[0]!
        return address.slice(0, at) + inserted + address.slice(at + 1)
      }),
    )
    let accepted = 0
    fc.assert(
      fc.property(text, (text) => {
        const isAccepted = refusal(text) === undefined
        if (isAccepted) accepted++
        const isMapped = refusal(text) === 'mapped'
        assert.equal(isAccepted || isMapped, isIP(text) !== 0)
        if (isMapped) assert.match(urlSpelling(text), /^::ffff:/)
      }),
      { numRuns: scaled(10_000) },
    )
    assert.ok(accepted > scaled(500), `only ${accepted} texts were addresses`)
  })
})

function refusal(text: string): PrefixErrorReason | undefined {
  try {
    parseAddress(text)
    return undefined
  } catch (error) {
    assert.ok(error instanceof PrefixError)
    return error.reason
  }
}

describe('functions of prefixes', () => {
  const pair = fc.tuple(prefixModel(), prefixModel())

  it('covers and overlaps like intervals of addresses', () => {
    const seen = { covers: 0, disjoint: 0 }
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const isCovering = modelCovers(a, b)
        const isOverlapping = isCovering || modelCovers(b, a)
        seen.covers += Number(isCovering)
        seen.disjoint += Number(!isOverlapping)
        assert.equal(covers(prefixOf(a), prefixOf(b)), isCovering)
        assert.equal(overlaps(prefixOf(a), prefixOf(b)), isOverlapping)
        assert.equal(overlaps(prefixOf(b), prefixOf(a)), isOverlapping)
      }),
      { numRuns: scaled(5_000) },
    )
    assert.ok(
      seen.covers > scaled(200) && seen.disjoint > scaled(200),
      `too one-sided: ${JSON.stringify(seen)}`,
    )
  })

  it('sorts IPv4 before IPv6, by address as a number, the less specific first', () => {
    const byModel = (a: PrefixModel, b: PrefixModel): number =>
      a.family - b.family || Number(a.first > b.first) - Number(a.first < b.first) || a.length - b.length
    fc.assert(
      fc.property(fc.array(prefixModel(), { maxLength: 30 }), (models) => {
        const sorted = models.map(prefixOf).sort(comparePrefixes)
        assert.deepEqual(sorted, models.toSorted(byModel).map(prefixOf))
      }),
      { numRuns: 300 },
    )
  })

  it('returns the parts, the first and the last address of a parsed prefix', () => {
    fc.assert(
      fc.property(prefixModel(), (model) => {
        const prefix = prefixOf(model)
        const { address, length, family } = prefixParts(prefix)
        assert.equal(`${address}/${length}`, prefix)
        assert.equal(parseAddress(address), address)
        assert.deepEqual([family, length], [model.family, model.length])
        assert.deepEqual([firstOf(prefix), lastOf(prefix)], [model.first, model.last])
        assert.equal(prefixAround(address, length), prefix)
      }),
      { numRuns: scaled(2_000) },
    )
  })

  it('returns the prefix around an address, and rejects a length outside the family', () => {
    assert.equal(prefixAround(parseAddress('203.0.113.77'), 24), '203.0.113.0/24')
    assert.equal(prefixAround(parseAddress('2001:db8::77'), 48), '2001:db8::/48')
    for (const length of [-1, 33, 1.5, Number.NaN]) {
      assert.throws(() => prefixAround(parseAddress('203.0.113.77'), length), RangeError)
    }
  })

  it('recognizes the two default routes only', () => {
    const defaults = ['0.0.0.0/0', '::/0', '0.0.0.0/1', '::/1', '0.0.0.0/32', '::/128'].map(parsePrefix)
    assert.deepEqual(defaults.filter(isDefaultRoute), ['0.0.0.0/0', '::/0'])
  })

  it('has widths of 32 and 128 bits', () => {
    assert.equal(lastOf(parsePrefix('0.0.0.0/0')), 2n ** BigInt(widths[4]) - 1n)
    assert.equal(lastOf(parsePrefix('::/0')), 2n ** BigInt(widths[6]) - 1n)
  })
})
