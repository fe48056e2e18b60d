// The search part of addresses, in both directions.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseSearch, stringifySearch } from './search-text.ts'

describe('the search part of an address', () => {
  it('has lists joined with commas and no quotes', () => {
    const search = { status: ['announced', 'ready'], range: '30d', sort: '-start', deleted: true }
    assert.equal(stringifySearch(search), '?status=announced,ready&range=30d&sort=-start&deleted=true')
  })

  it('keeps prefixes and times readable, and escapes what separates parameters', () => {
    assert.equal(
      stringifySearch({ cidr: '2001:db8::/32', from: '2026-03-01T12:00Z', search: 'a&b=c +1' }),
      '?cidr=2001:db8::/32&from=2026-03-01T12:00Z&search=a%26b%3Dc+%2B1',
    )
    assert.equal(stringifySearch({ none: undefined }), '')
  })

  it('is read back as it was written', () => {
    for (const search of ['a&b=c +1', '100 %', 'ä/ü?', '#7'])
      assert.deepEqual(parseSearch(stringifySearch({ search })), { search })
  })

  it('of an earlier release or with a repeated parameter is read too', () => {
    assert.deepEqual(parseSearch('?flag=%5B%22RED%22%2C%22IPV6%22%5D&cidr=%22192.0.2.0%2F24%22&asn=64496'), {
      flag: 'RED,IPV6',
      cidr: '192.0.2.0/24',
      asn: '64496',
    })
    assert.deepEqual(parseSearch('status=ready&status=error'), { status: 'ready,error' })
    assert.deepEqual(parseSearch('search=%5Bnot+JSON'), { search: '[not JSON' })
  })
})
