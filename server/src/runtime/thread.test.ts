import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInThread, ThreadLimitError, ThreadStarvedError, type ThreadOptions } from './thread.ts'

const module = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`)
const run = (source: string, data: unknown, options: Partial<ThreadOptions> = {}) =>
  runInThread(module(`import { parentPort, workerData } from 'node:worker_threads'\n${source}`), data, {
    timeoutMs: 600_000,
    heapMib: 64,
    buffersMib: 64,
    ...options,
  })

describe('work in a thread', () => {
  it('resolves with the message that it posts', async () => {
    assert.equal(await run('parentPort.postMessage(workerData + 1)', 1), 2)
  })

  it('ends when its time is used up, even if it only waits', async () => {
    const timeoutMs = 100
    await assert.rejects(run('for (;;);', 0, { timeoutMs }), ThreadLimitError)
    await assert.rejects(run('setInterval(() => {}, 1000)', 0, { timeoutMs }), ThreadLimitError)
  })

  it('is starved, and not too complex, if the machine gives it too little of the processor', async () => {
    // Works for a tenth of the time.
    const source = `
      const pause = new Int32Array(new SharedArrayBuffer(4))
      const usedUs = () => { const { user, system } = process.threadCpuUsage(); return user + system }
      for (;;) {
        Atomics.wait(pause, 0, 0, 18)
        for (const until = usedUs() + 2000; usedUs() < until; );
      }`
    await assert.rejects(run(source, 0, { timeoutMs: 1_000 }), ThreadStarvedError)
  })

  it('ends when its memory is used up, in its heap or in buffers', async () => {
    const heap = 'const all = []; for (;;) all.push({ all: [1, 2, 3] })'
    const buffers = 'const all = []; for (;;) all.push(new Uint8Array(2 ** 16).fill(1))'
    for (const source of [heap, buffers]) await assert.rejects(run(source, 0), ThreadLimitError, source)
  })

  it('rejects with its error, and with a limit error if it ends without an answer', async () => {
    await assert.rejects(run("throw new Error('a mistake')", 0), /a mistake/)
    await assert.rejects(run('await new Promise(() => {})', 0), ThreadLimitError)
  })
})
