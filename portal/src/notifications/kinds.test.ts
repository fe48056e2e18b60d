import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { notificationKinds } from '@pharos/contract/messages/notification-text'
import { lookOf, pageOf } from './kinds.ts'
import { words } from './words.ts'

describe('kinds of notifications', () => {
  it('have a look and a name each', () => {
    for (const kind of notificationKinds) {
      assert.notEqual(words.kinds[kind], '')
      assert.ok(lookOf({ kind, attrs: {} }).color)
    }
  })

  it('shows an attack in red only while it lasts', () => {
    assert.equal(lookOf({ kind: 'attack', attrs: { end: null } }).color, 'bad')
    assert.equal(lookOf({ kind: 'attack', attrs: { end: '2026-03-01T12:00:00Z' } }).color, 'idle')
  })

  it('lead to a page in every case', () => {
    const attrs = { prefix: '203.0.113.0/24' }
    assert.equal(pageOf({ attrs, resource: { type: 'event', id: '7' } }), '/events/7')
    assert.equal(pageOf({ attrs, resource: { type: 'letter', id: '7' } }), '/staff/letters')
    assert.equal(pageOf({ attrs, resource: { type: 'approval', id: '7' } }), '/staff/inbox?show=approval-7')
    assert.equal(
      pageOf({ attrs, resource: { type: 'shield_list', id: '7' } }),
      '/shield/rules?prefix=203.0.113.0%2F24',
    )
    assert.equal(pageOf({ attrs, resource: null }), '/announcements')
  })
})
