import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bodyOf, correctPrefixes, draftOf, prefixMistakes, searchOf } from './new-draft.ts'

describe('a new announcement as it is typed', () => {
  it('sends what was filled in, and nothing else', () => {
    assert.deepEqual(bodyOf({ ...draftOf({}), cidr: ' 203.0.113.0/24 ', asn: 'AS64496' }), {
      cidr: '203.0.113.0/24',
      origin_asn: 64_496,
    })
  })

  it('sends several as a list, and mends those that were meant otherwise', () => {
    const draft = { ...draftOf({}), cidr: '203.0.113.0/24, 198.51.100.7/24\n192.0.2.9/24\n', asn: 64_496 }
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

  it('comes back from the address as it went in', () => {
    const draft = {
      cidr: '2001:db8::/32',
      asn: '64496',
      description: 'Lab',
      regions: ['ams'],
      asSet: 'AS-EXAMPLE',
      delegate: true,
      signatory: 'Ada',
    }
    assert.deepEqual(draftOf(searchOf(draft)), draft)
  })

  it('takes no harm from an address that somebody made up', () => {
    const search = { cidr: { a: 1 }, asn: [1], regions: 'ams', delegate: 'yes', description: null }
    assert.deepEqual(searchOf(draftOf(search)), {})
  })
})
