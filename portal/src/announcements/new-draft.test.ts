import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bodyOf, draftOf, searchOf } from './new-draft.ts'

describe('a new announcement as it is typed', () => {
  it('sends what was filled in, and nothing else', () => {
    assert.deepEqual(bodyOf({ ...draftOf({}), cidr: ' 203.0.113.0/24 ', asn: 'AS64496' }), {
      cidr: '203.0.113.0/24',
      origin_asn: 64_496,
    })
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
