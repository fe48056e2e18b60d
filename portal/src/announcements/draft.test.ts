import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bodyOf, correctPrefixes, draftOf, prefixMistakes, searchOf } from './draft.ts'

describe('the form for new announcements', () => {
  it('sends what was filled in, and nothing else', () => {
    assert.deepEqual(bodyOf({ ...draftOf({}), cidr: ' 203.0.113.0/24 ', origin_asn: 'AS64496' }), {
      cidr: '203.0.113.0/24',
      origin_asn: 64_496,
    })
  })

  it('sends several prefixes as a list, and corrects those with host bits', () => {
    const draft = {
      ...draftOf({}),
      cidr: '203.0.113.0/24, 198.51.100.7/24\n192.0.2.9/24\n',
      origin_asn: 64_496,
    }
    const sent = (bodyOf(draft) as { announcements: { cidr: string }[] }).announcements
    assert.deepEqual(
      sent.map(({ cidr }) => cidr),
      ['203.0.113.0/24', '198.51.100.7/24', '192.0.2.9/24'],
    )
    const errors = [1, 2].map((index) => ({
      loc: ['body', 'announcements', index, 'cidr'],
      msg: 'has host bits',
      type: 'host_bits',
      ctx: { canonical: ['', '198.51.100.0/24', '192.0.2.0/24'][index] },
    }))
    const mistakes = prefixMistakes(draft, [
      ...errors,
      { loc: ['body', 'regions'], msg: 'no', type: 'unknown' },
    ])
    assert.deepEqual(
      mistakes.map(({ prefix, canonical }) => [prefix, canonical]),
      [
        ['198.51.100.7/24', '198.51.100.0/24'],
        ['192.0.2.9/24', '192.0.2.0/24'],
      ],
    )
    assert.equal(correctPrefixes(draft, mistakes), '203.0.113.0/24\n198.51.100.0/24\n192.0.2.0/24')
    assert.equal(correctPrefixes(draft, mistakes.slice(1)), '203.0.113.0/24\n198.51.100.7/24\n192.0.2.0/24')
  })

  it('keeps its values through the address', () => {
    const draft = {
      cidr: '2001:db8::/32',
      origin_asn: '64496',
      description: 'Lab',
      regions: ['ams'],
      as_set: 'AS-EXAMPLE',
      delegate_loa: true,
      loa_signatory: 'Ada',
    }
    assert.deepEqual(draftOf(searchOf(draft)), draft)
  })

  it('ignores values of other types in an address', () => {
    const search = { cidr: { a: 1 }, asn: [1], delegate_loa: 'yes', description: null }
    assert.deepEqual(searchOf(draftOf(search)), {})
  })
})
