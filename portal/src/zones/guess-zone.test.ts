import assert from 'node:assert/strict'
import { it } from 'node:test'
import { guessZone } from './guess-zone.ts'

it('takes the name of the zone from the file, or from its name', () => {
  const soa = 'SOA ns1.example.net. hostmaster.example.net. 1 2 3 4 5'
  assert.equal(guessZone(`; saved\n$ORIGIN harbor.example. ; ours\n@ ${soa}\n`), 'harbor.example')
  assert.equal(guessZone(`$TTL 300\nharbor.example. 300 IN ${soa}\n`), 'harbor.example')
  assert.equal(guessZone('@ A 192.0.2.1\n', 'harbor.example.zone'), 'harbor.example')
  assert.equal(guessZone('@ A 192.0.2.1\n', 'db.harbor.example'), 'harbor.example')
  assert.equal(guessZone('@ A 192.0.2.1\n', 'zone.txt'), undefined)
  assert.equal(guessZone('@ A 192.0.2.1\n'), undefined)
})
