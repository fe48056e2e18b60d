import assert from 'node:assert/strict'
import { it } from 'node:test'
import { checkReasons, checkReasonText } from '@pharos/contract/reason/check-reason'
import { stateMessageTags, stateMessageText } from '@pharos/contract/reason/state-message'

const attrs = {
  length: 24,
  longest: 24,
  asn: 64496,
  prefix: '203.0.113.0/24',
  forbidden: '203.0.112.0/22',
  reason: 'It is not signed.',
  proof: null,
  names: ['_pharos.example'],
  name: '_pharos.example',
  network: '192.0.2.0 - 192.0.2.255',
  networks: ['192.0.2.0 - 192.0.2.255'],
  instead: { reason: 'roa_missing', attrs: {} },
}

it('every reason of a check has its own sentence', () => {
  const texts = checkReasons.map((reason) => checkReasonText(reason, attrs))
  for (const text of texts) {
    assert.match(text, /^[A-Z0-9].*[.]$/)
    assert.doesNotMatch(text, /undefined|null|\[object/)
  }
  assert.equal(new Set(texts).size, texts.length)
})

it('the reason of the last attempt follows the reason of the last answer', () => {
  const unanswered = { reason: 'rpki_unavailable', attrs: { detail: 'no RPKI source is current' } }
  assert.equal(
    checkReasonText('roa_missing', { unanswered }),
    'No ROA covers the prefix. This is the last answer: The RPKI could not be queried. No RPKI source is current.',
  )
})

it('every tag of a state message has a sentence', () => {
  const check = { validation: 'rpki', reason: 'roa_missing', attrs: {} }
  for (const tag of stateMessageTags) {
    const own = tag.startsWith('region_') ? { region: 'ams', desired: true, reason: null } : check
    const text = stateMessageText(
      tag,
      tag === 'suspended'
        ? { by: 'staff', reason: null }
        : {
            ...own,
            days: 1,
            count: 3,
            serving: 3,
            total: 30,
            routes: [],
            aliases: [],
            servers: ['ns1.example.net'],
            assigned: ['ns1.example.net'],
            delegated: ['ns2.example.net'],
            // Reason of a check of an announcement otherwise.
            ...(tag === 'zone_dnssec_error' ? { reason: null } : {}),
          },
    )
    assert.match(text, /[A-Z].*[.]$/)
    assert.doesNotMatch(text, /undefined|null|\[object/)
  }
})
