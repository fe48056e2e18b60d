// The texts of the editor of a filter.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readValue, valueText } from './filter-values.ts'

const ports = new Map([
  ['53', 'DNS (53)'],
  ['80', 'HTTP (80)'],
  ['8443', '8443'],
])
const protocols = new Map([
  ['tcp', 'TCP'],
  ['icmpv6', 'ICMPv6'],
  ['137', 'Protocol 137'],
])

describe('the value of a filter', () => {
  it('is what was typed, although it begins with a value that is suggested', () => {
    for (const text of ['8', '80', '808', '8080', '5353', '8443'])
      assert.deepEqual(readValue(text, ports), { value: text, isChosen: false })
    assert.deepEqual(readValue('tcp', protocols), { value: 'tcp', isChosen: false })
  })

  it('is that of a suggestion by its text or its label', () => {
    assert.deepEqual(readValue('HTTP (80)', ports), { value: '80', isChosen: true })
    assert.deepEqual(readValue('TCP', protocols), { value: 'tcp', isChosen: true })
    assert.deepEqual(readValue('Tcp ', protocols), { value: 'tcp', isChosen: false })
  })

  it('is shown by its label, and only once', () => {
    assert.equal(valueText('80', ports), 'HTTP (80)')
    assert.equal(valueText('tcp', protocols), 'TCP')
    assert.equal(valueText('137', protocols), 'Protocol 137 (137)')
    assert.equal(valueText('8080', ports), '8080')
  })
})
