import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { actionText, entryText, linesOf, targetText } from './audit-words.ts'

describe('the audit log in words', () => {
  it('names actions, also those that it does not know', () => {
    assert.equal(actionText('api_token.create'), 'Created API token')
    assert.equal(actionText('session.revoke_all'), 'Signed out everywhere')
    assert.equal(actionText('cross_connect.order'), 'Cross connect order')
  })

  it('names what was changed by its own name, not by its id', () => {
    assert.equal(
      targetText({ target: 'announcement:20', before: null, after: { cidr: '198.51.100.0/24' } }),
      '198.51.100.0/24',
    )
    assert.equal(targetText({ target: 'asn:64496', before: null, after: null }), 'AS64496')
    assert.equal(targetText({ target: 'api_token:k7m2', before: null, after: null }), 'API token k7m2')
  })

  it('tells enabling from other changes of an announcement', () => {
    const entry = { action: 'announcement.update', target: 'announcement:20', before: { enabled: false } }
    assert.equal(entryText({ ...entry, after: { enabled: true } }), 'Enabled announcement')
    assert.equal(entryText({ ...entry, after: { description: 'x' } }), 'Changed announcement')
  })

  it('lists fields by the names that people know', () => {
    assert.equal(
      linesOf({ is_admin: true, allowed_subnets: [], abuse_email: '' }),
      'Admin: yes\nAllowed networks: none\nAbuse contact: none\n',
    )
  })
})
