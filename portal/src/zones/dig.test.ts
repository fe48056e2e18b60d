import assert from 'node:assert/strict'
import { it } from 'node:test'
import { digOf } from './dig.ts'

it('asks a name server without recursion, and the own resolver with it', () => {
  assert.equal(
    digOf({ name: 'www.example.com.', type: 'A', server: 'ns1.example.net.' }),
    'dig @ns1.example.net +norecurse www.example.com. A',
  )
  assert.equal(digOf({ name: 'example.com', type: 'DS', options: ['+short'] }), 'dig example.com DS +short')
})

it('quotes names that a shell would change', () => {
  assert.equal(digOf({ name: '*.example.com.', type: 'A' }), "dig '*.example.com.' A")
  assert.equal(digOf({ name: String.raw`a\.b.example.`, type: 'TXT' }), String.raw`dig 'a\.b.example.' TXT`)
  assert.equal(digOf({ name: "a'b.example.", type: 'TXT' }), String.raw`dig 'a'\''b.example.' TXT`)
})
