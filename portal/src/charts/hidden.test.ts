// Hidden series of a chart.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hiddenOf, toggled } from './hidden.ts'

describe('hidden series', () => {
  it('are those of the series that are there', () => {
    assert.deepEqual(hiddenOf(['a', 'b', 'c'], ['b', 'gone']), ['b'])
    assert.deepEqual(hiddenOf(['a', 'b'], toggled(['b'], 'b')), [])
  })

  it('are never all of them', () => {
    assert.deepEqual(hiddenOf(['a', 'b'], toggled(['a'], 'b')), [])
    // A new answer has only the series that was hidden.
    assert.deepEqual(hiddenOf(['a'], ['a']), [])
  })
})
