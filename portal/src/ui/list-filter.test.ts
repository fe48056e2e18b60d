// The filters of a list: their texts, and the parameters for the API.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { optionsOf, queryOf, unknownIn, valueText, yesNo, type Filter } from './list-filter.ts'

const status: Filter = {
  kind: 'choice',
  name: 'status',
  label: 'Status',
  options: optionsOf(['announced', 'ready', 'checks_failed', 'error', 'withdrawn']),
}

describe('a filter of a list', () => {
  it('reads as its labels, and counts those that do not fit', () => {
    assert.equal(valueText(status, { status: 'announced,checks_failed' }), 'Announced, Checks failed')
    assert.equal(
      valueText(status, { status: 'announced,ready,error,withdrawn' }),
      'Announced, Ready, Error +1',
    )
  })

  it('sends a list for several values and a text for one', () => {
    assert.deepEqual(queryOf(status, { status: 'announced,ready' }), { status: ['announced', 'ready'] })
    assert.deepEqual(queryOf(yesNo('enabled', 'Enabled', 'Yes', 'No'), { enabled: 'true' }), {
      enabled: 'true',
    })
    assert.deepEqual(queryOf(status, {}), {})
    const network: Filter = { kind: 'text', name: 'cidr', label: 'Prefix', hasMany: true }
    assert.deepEqual(queryOf(network, { cidr: '192.0.2.0/24 2001:db8::/32' }), {
      cidr: ['192.0.2.0/24', '2001:db8::/32'],
    })
  })

  it('names the values that it does not know, unless it is open', () => {
    assert.deepEqual(unknownIn(status, { status: 'ready,nonsense' }), ['nonsense'])
    assert.deepEqual(unknownIn({ ...status, isOpen: true }, { status: 'nonsense' }), [])
  })
})
