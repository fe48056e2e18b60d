import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { levels, thresholdOf } from './levels.ts'
import { hotPaths } from './paths.ts'

const level = { goal: 1, reached: 1.4, margin: 0.1, reason: '' }

describe('the threshold of a path', () => {
  it('is its goal less the noise, once that is reached', () => assert.equal(thresholdOf(level), 0.9))

  it('is what is reached less the noise, before', () =>
    assert.equal(thresholdOf({ ...level, reached: 0.5 }), 0.45))

  it('is what is reached less the noise, without a goal', () =>
    assert.equal(thresholdOf({ ...level, goal: null, reached: 2 }), 1.8))

  it('is known for every path, with a reason', () => {
    assert.deepEqual(Object.keys(levels).sort(), hotPaths.map(({ id }) => id).sort())
    for (const { reached, margin, reason } of Object.values(levels))
      assert.ok(reached > 0 && margin >= 0.1 && margin < 0.5 && reason !== '')
  })
})
