import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inBatches } from './in-batches.ts'

/** Batches that are answered by hand: item n gets 10 n. */
function create(itemsMax = 10) {
  const batches: { items: readonly number[]; answer(): void; fail(): void }[] = []
  const add = inBatches<number, number>(itemsMax, (items) => {
    const { promise, resolve, reject } = Promise.withResolvers<number[]>()
    batches.push({
      items,
      answer: () => resolve(items.map((item) => item * 10)),
      fail: () => reject(new Error('down')),
    })
    return promise
  })
  return { add, batches, started: () => batches.map(({ items }) => items) }
}

describe('items in batches', () => {
  it('runs the first item at once, and those that arrive meanwhile together', async () => {
    const { add, batches, started } = create()
    const results = [1, 2, 3].map(add)
    assert.deepEqual(started(), [[1]])
    batches[0]!.answer()
    assert.equal(await results[0], 10)
    assert.deepEqual(started(), [[1], [2, 3]])
    batches[1]!.answer()
    assert.deepEqual(await Promise.all(results), [10, 20, 30])
    const last = add(4)
    assert.deepEqual(started().at(-1), [4])
    batches[2]!.answer()
    assert.equal(await last, 40)
  })

  it('runs no more than the largest number together, in the order of arrival', async () => {
    const { add, batches, started } = create(2)
    const results = [1, 2, 3, 4].map(add)
    batches[0]!.answer()
    await results[0]
    assert.deepEqual(started(), [[1], [2, 3]])
    batches[1]!.answer()
    await results[2]
    assert.deepEqual(started(), [[1], [2, 3], [4]])
    batches[2]!.answer()
    assert.deepEqual(await Promise.all(results), [10, 20, 30, 40])
  })

  it('continues after a batch that failed', async () => {
    const { add, batches } = create()
    const results = [1, 2, 3].map(add)
    const failed = Promise.all([assert.rejects(results[0]!, /down/), assert.rejects(results[1]!, /down/)])
    batches[0]!.fail()
    await assert.rejects(results[0]!, /down/)
    batches[1]!.fail()
    await failed
    await assert.rejects(results[2]!, /down/)
    const last = add(4)
    batches[2]!.answer()
    assert.equal(await last, 40)
  })
})
