import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAfterwards } from './afterwards.ts'

const unexpected = (error: unknown) => assert.fail(String(error))

describe('work after the answer', () => {
  it('has not started when the caller continues, and runs one after the other', async () => {
    const afterwards = createAfterwards(10, unexpected)
    const done: string[] = []
    const work = (name: string) => async () => {
      done.push(`${name} begins`)
      await Promise.resolve()
      done.push(`${name} ends`)
    }
    afterwards.later(work('one'))
    afterwards.later(work('two'))
    assert.deepEqual(done, [])
    await afterwards.settled()
    assert.deepEqual(done, ['one begins', 'one ends', 'two begins', 'two ends'])
  })

  it('is reported when it fails, and does not prevent other work', async () => {
    const errors: unknown[] = []
    const afterwards = createAfterwards(10, (error) => errors.push(error))
    let done = false
    afterwards.later(() => Promise.reject(new Error('no')))
    afterwards.later(async () => void (done = true))
    await afterwards.settled()
    assert.equal(errors.length, 1)
    assert.ok(done)
  })

  it('is refused when the queue is full, until there is room again', async () => {
    const afterwards = createAfterwards(2, unexpected)
    const nothing = () => Promise.resolve()
    afterwards.later(nothing)
    afterwards.later(nothing)
    assert.throws(() => afterwards.later(nothing), { code: 'unavailable' })
    await afterwards.settled()
    afterwards.later(nothing)
  })
})
