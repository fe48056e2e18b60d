import assert from 'node:assert/strict'
import { it } from 'node:test'
import { asnProofReasons, asnProofReasonText } from '@pharos/contract/reason/asn-proof-reason'

const attrs = {
  seconds: 5,
  asn: 64496,
  source: 'RIPE',
  names: ['_pharos-asn.example'],
  name: '_pharos-asn.example',
  prefix: '203.0.113.0/24',
}

it('every reason of a proof has a sentence of its own', () => {
  const texts = asnProofReasons.map((reason) => asnProofReasonText(reason, attrs))
  for (const text of texts) {
    assert.match(text, /^[A-Z].*[.]$/)
    assert.doesNotMatch(text, /undefined|null|\[object/)
  }
  assert.equal(new Set(texts).size, texts.length)
})
