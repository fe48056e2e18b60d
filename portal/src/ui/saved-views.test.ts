// Saved and pinned views.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pinnedOf, withChange, withView } from './saved-views.ts'

const views = [
  { name: 'a', search: '?a', isDefault: true },
  { name: 'b', search: '?b', isPinned: true },
  { name: 'c', search: '?c', isPinned: true },
]

describe('saved views', () => {
  it('keep their place and their pin if they are saved again', () => {
    const saved = withView(withView(views, 'b', '?new'), 'd', '?d')
    assert.deepEqual(
      saved.map(({ name, search }) => name + search),
      ['a?a', 'b?new', 'c?c', 'd?d'],
    )
    assert.deepEqual(
      pinnedOf(saved).map(({ name }) => name),
      ['b', 'c'],
    )
  })

  it('are pinned in their own order, whichever was pinned first', () => {
    const pinned = pinnedOf(withChange(views, 'a', { isPinned: true }))
    assert.deepEqual(
      pinned.map(({ name }) => name),
      ['a', 'b', 'c'],
    )
  })

  it('have one default', () => {
    const changed = withChange(views, 'b', { isDefault: true })
    assert.deepEqual(
      changed.map(({ isDefault = false }) => isDefault),
      [false, true, false],
    )
  })
})
