import assert from 'node:assert/strict'
import { it } from 'node:test'
import { asInZoneFile } from './record-types.ts'

it('sets of the zone itself begin with SOA and NS, as in a zone file; others stay where they are', () => {
  const set = (text: string) => {
    const [name = '', type = ''] = text.split(' ')
    return { name, type }
  }
  const order = (...texts: string[]) =>
    asInZoneFile(texts.map(set)).map(({ name, type }) => `${name} ${type}`)
  assert.deepEqual(order('@ A', '@ NS', '@ SOA', '@ MX', 'www A', 'sub NS'), [
    '@ SOA',
    '@ NS',
    '@ A',
    '@ MX',
    'www A',
    'sub NS',
  ])
  assert.deepEqual(order('aaa A', '@ MX', '@ NS'), ['aaa A', '@ NS', '@ MX'])
})
