import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { bogonOf } from '../../net/bogon.ts'
import { parsePrefix, prefixParts } from '../../net/prefix.ts'
import { readNewAnnouncements, type NewRules } from './new-announcement.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const rules: NewRules = { allowDocumentation: false, regions: ['ams', 'fra'] }

const nearlyPrefix = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.tuple(fc.ipV4(), fc.integer({ min: -1, max: 40 })).map(([address, length]) => `${address}/${length}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: -1, max: 140 })).map(([address, length]) => `${address}/${length}`),
  fc.constantFrom('0.0.0.0/0', '::/0', '::ffff:1.2.3.0/120', '1.2.3.0/024', '1.2.3/24', '8.8.8.0/24'),
)

describe('a new announcement', () => {
  it('must have a prefix that other networks accept, and every error has its location', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ cidr: nearlyPrefix, origin_asn: fc.integer({ min: 1, max: 4_294_967_295 }) }), {
          minLength: 1,
          maxLength: 5,
        }),
        (items) => {
          const { wanted, errors } = readNewAnnouncements(items, false, rules)
          for (const { prefix } of wanted) {
            const { family, length } = prefixParts(prefix)
            assert.ok(length >= (family === 4 ? 8 : 16) && length <= (family === 4 ? 24 : 48), prefix)
            assert.equal(bogonOf(prefix), undefined)
            assert.equal(parsePrefix(prefix), prefix)
          }
          for (const { loc, msg, type } of errors) {
            assert.deepEqual(loc.slice(0, 2), ['body', 'announcements'])
            assert.ok(typeof loc[2] === 'number' && loc[2] < items.length)
            assert.ok(msg.length > 0 && type.length > 0)
          }
          const rejected = new Set(errors.map(({ loc }) => loc[2]))
          const kept = new Set(wanted.map(({ loc }) => loc[2]))
          for (const at of items.keys()) assert.ok(rejected.has(at) || kept.has(at), `item ${at} is neither`)
        },
      ),
      { numRuns: scaled(100_000) },
    )
  })

  it('may use documentation and benchmarking space only in a lab', () => {
    const of = (cidr: string, allowDocumentation: boolean) =>
      readNewAnnouncements([{ cidr, origin_asn: 64496 }], true, { ...rules, allowDocumentation }).errors
        .length
    for (const cidr of ['203.0.113.0/24', '198.18.4.0/24', '2001:db8::/32']) {
      assert.ok(of(cidr, false) > 0, cidr)
      assert.equal(of(cidr, true), 0, cidr)
    }
    assert.ok(of('10.0.0.0/8', true) > 0)
  })
})
