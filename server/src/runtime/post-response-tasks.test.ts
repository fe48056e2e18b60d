import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPostResponseTasks } from './post-response-tasks.ts'

const unexpected = (error: unknown) => assert.fail(String(error))

describe('work after the answer', () => {
  it('has not started when the caller continues, and runs one after the other', async () => {
    const tasks = createPostResponseTasks(10, unexpected)
    const done: string[] = []
    const work = (name: string) => async () => {
      done.push(`${name} begins`)
      await Promise.resolve()
      done.push(`${name} ends`)
    }
    tasks.later(work('one'))
    tasks.later(work('two'))
    assert.deepEqual(done, [])
    await tasks.settled()
    assert.deepEqual(done, ['one begins', 'one ends', 'two begins', 'two ends'])
  })

  it('is reported when it fails, and does not prevent other work', async () => {
    const errors: unknown[] = []
    const tasks = createPostResponseTasks(10, (error) => errors.push(error))
    let done = false
    tasks.later(() => Promise.reject(new Error('no')))
    tasks.later(async () => void (done = true))
    await tasks.settled()
    assert.equal(errors.length, 1)
    assert.ok(done)
  })

  it('is refused when the queue is full, until there is room again', async () => {
    const tasks = createPostResponseTasks(2, unexpected)
    const nothing = () => Promise.resolve()
    tasks.later(nothing)
    tasks.later(nothing)
    assert.throws(() => tasks.later(nothing), { code: 'unavailable' })
    await tasks.settled()
    tasks.later(nothing)
  })
})
