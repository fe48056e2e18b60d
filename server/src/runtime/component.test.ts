import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startComponents, type Component } from './component.ts'
import { silentLog } from './log.ts'

const options = { log: silentLog, stopTimeoutMs: 1000 }

function partsOf(
  names: readonly string[],
  done: string[],
  more: Record<string, Partial<Component>> = {},
): Component[] {
  return names.map((name) => ({
    name,
    start: () => void done.push(`+${name}`),
    stop: () => void done.push(`-${name}`),
    ...more[name],
  }))
}

test('components start in order, stop in reverse order, and stop once', async () => {
  const done: string[] = []
  const running = await startComponents([...partsOf(['a', 'b'], done), { name: 'inert' }], options)
  assert.deepEqual(await Promise.all([running.stop(), running.stop()]), [true, true])
  assert.deepEqual(done, ['+a', '+b', '-b', '-a'])
})

test('when a component cannot start, those before it are stopped and the error is reported', async () => {
  const done: string[] = []
  const fails = { b: { start: () => Promise.reject(new Error('port in use')) } }
  await assert.rejects(startComponents(partsOf(['a', 'b', 'c'], done, fails), options), /port in use/)
  assert.deepEqual(done, ['+a', '-a'])
})

test('a component that fails to stop does not prevent the others from stopping', async () => {
  const done: string[] = []
  const throwsAtOnce = () => {
    throw new Error('at once')
  }
  const fails = { c: { stop: throwsAtOnce }, b: { stop: () => Promise.reject(new Error('later')) } }
  const running = await startComponents(partsOf(['a', 'b', 'c'], done, fails), options)
  assert.equal(await running.stop(), false)
  assert.deepEqual(done.at(-1), '-a')
})

test('a component that never stops is abandoned when the time is used up', async () => {
  const done: string[] = []
  const hangs = { b: { stop: () => new Promise<void>(() => {}) } }
  const running = await startComponents(partsOf(['a', 'b'], done, hangs), { ...options, stopTimeoutMs: 20 })
  assert.equal(await running.stop(), false)
  assert.deepEqual(done.at(-1), '-a')
})
