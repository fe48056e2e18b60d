// The list of panels: what a person without modules gets, rows without gaps, and moves.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtInPanels, filled, moved, newPanel } from './overview-panels.ts'

describe('the panels of the overview', () => {
  it('begin with whether services work, and leave out what the team does not have', () => {
    const kinds = (modules: readonly string[]) =>
      builtInPanels((module) => modules.includes(module)).map(({ kind }) => kind)
    assert.equal(kinds(['lighthouse', 'ipam', 'inventory', 'dns'])[0], 'services')
    assert.deepEqual(kinds(['dns']), ['services', 'todo'])
  })

  it('fill their rows if one of two halves is missing', () => {
    assert.deepEqual(
      filled([newPanel('todo'), newPanel('services', { width: 'full' }), newPanel('a'), newPanel('b')]).map(
        ({ width }) => width,
      ),
      ['full', 'full', 'half', 'half'],
    )
    assert.deepEqual(
      filled([newPanel('a', { width: 'third' }), newPanel('b', { width: 'third' })]).map(
        ({ width }) => width,
      ),
      ['third', 'third'],
    )
  })

  it('move within the list only', () => {
    assert.deepEqual(moved(['a', 'b', 'c'], 0, 2), ['b', 'c', 'a'])
    assert.deepEqual(moved(['a', 'b', 'c'], 2, -4), ['c', 'a', 'b'])
    assert.deepEqual(moved(['a', 'b', 'c'], 1, 9), ['a', 'c', 'b'])
    assert.deepEqual(moved(['a'], 3, 0), ['a'])
  })
})
