import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { medianOf, takeTurns } from './turns.ts'

describe('turns', () => {
  it('alternate, the peer first', async () => {
    const order: string[] = []
    const turns = await takeTurns(
      2,
      async (round) => order.push(`ours ${round}`),
      async (round) => order.push(`peer ${round}`),
    )
    assert.deepEqual(order, ['peer 0', 'ours 0', 'peer 1', 'ours 1'])
    assert.deepEqual(turns, { ours: [2, 4], peer: [1, 3] })
  })

  it('are summarized by the median', () => {
    assert.equal(
      medianOf([{ n: 9 }, { n: 1 }, { n: 2 }], ({ n }) => n),
      2,
    )
  })
})
