import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { actionText, entryText, linesOf, targetText } from './audit-words.ts'

/** The key as a sentence, the text of an action without words. */
const wordsOf = (action: string): string => {
  const text = action.replaceAll(/[._]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

describe('the audit log in words', () => {
  it('names actions, also those that it does not know', () => {
    assert.equal(actionText('api_token.create'), 'Created API token')
    assert.equal(actionText('session.revoke_all'), 'Signed out everywhere')
    assert.equal(actionText('something_new.happen'), 'Something new happen')
  })

  it('has words for each action that the server writes', () => {
    const server = new URL('../../../server/src/', import.meta.url)
    const files = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/test|db\/schema/.test(file),
    )
    const sources = files.map((file) => readFileSync(new URL(file, server), 'utf8')).join('\n')
    const actions = new Set(
      [...sources.matchAll(/\b(?:action|what): '([a-z_]+\.[a-z_]+)'/g)].map(([, action]) => action!),
    )
    const kinds = [...sources.matchAll(/^ {2}name: '([a-z_ ]+)',\n {2}plural: /gm)].map(([, kind]) => kind!)
    for (const kind of kinds)
      for (const verb of ['create', 'update', 'delete']) actions.add(`${kind}.${verb}`)
    assert.ok(actions.size > 100 && kinds.length > 10, `${actions.size} actions, ${kinds.length} kinds`)
    const withoutWords = [...actions].filter((action) => actionText(action) === wordsOf(action))
    assert.deepEqual(withoutWords, [])
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
