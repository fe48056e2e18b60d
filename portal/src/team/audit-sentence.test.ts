import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deedOf } from './audit-sentence.ts'

const names: Readonly<Record<string, string>> = { fra: 'Frankfurt', ams: 'Amsterdam' }
const nameOf = (region: string) => names[region] ?? region
const update = { action: 'announcement.update', target: 'announcement:3' }
const cidr = '198.51.100.0/24'

describe('a sentence of the audit log', () => {
  it('says where a prefix was enabled', () => {
    const before = { cidr, enabled: false, regions: ['fra'] }
    assert.equal(
      deedOf({ ...update, before, after: { ...before, enabled: true } }, nameOf),
      'enabled announcement 198.51.100.0/24 in Frankfurt',
    )
  })

  it('says which regions were added and removed', () => {
    const before = { cidr, enabled: true, regions: ['fra'] }
    assert.equal(
      deedOf({ ...update, before, after: { ...before, regions: ['fra', 'ams'] } }, nameOf),
      'added Amsterdam to 198.51.100.0/24',
    )
    assert.equal(
      deedOf({ ...update, before, after: { ...before, regions: [] } }, nameOf),
      'removed Frankfurt from 198.51.100.0/24',
    )
  })

  it('names no thing for what a person does to their own account', () => {
    const entry = { action: 'session.create', target: 'session:1', before: null, after: null }
    assert.equal(deedOf(entry, nameOf), 'signed in')
  })

  it('shows the number of what has no name', () => {
    const entry = { action: 'letter.reject', target: 'letter:2', before: null, after: { status: 'rejected' } }
    assert.equal(deedOf(entry, nameOf), 'rejected letter 2')
  })

  it('names what was created', () => {
    const entry = {
      action: 'api_token.create',
      target: 'api_token:k',
      before: null,
      after: { name: 'terraform' },
    }
    assert.equal(deedOf(entry, nameOf), 'created API token terraform')
  })
})
