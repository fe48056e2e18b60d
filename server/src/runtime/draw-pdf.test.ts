import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPdfDrawer } from './draw-pdf.ts'
import { Failure } from './error.ts'
import type { ThreadOptions } from './thread.ts'

const drawer = (source: string, limits?: Partial<ThreadOptions>) =>
  createPdfDrawer<string>(
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'\n${source}`)}`,
    ),
    limits,
  )

/** 503 with `Retry-After`. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'unavailable' && error.retryAfterSeconds === 5

describe('a PDF', () => {
  it('is the bytes that the thread answers with', async () => {
    const { draw } = drawer('parentPort.postMessage(new TextEncoder().encode(workerData))')
    assert.equal((await draw('%PDF')).toString(), '%PDF')
  })

  it('is unavailable for now if the thread gets no time or memory, or dies', async () => {
    const busy: Record<string, Partial<ThreadOptions>> = {
      'for (;;);': { timeoutMs: 100 },
      'setInterval(() => {}, 1000)': { timeoutMs: 100 },
      'const all = []; for (;;) all.push({ all: [1, 2, 3] })': { timeoutMs: 600_000, heapMib: 32 },
      'process.exit(1)': {},
    }
    for (const [source, limits] of Object.entries(busy))
      await assert.rejects(drawer(source, limits).draw(''), isUnavailable, source)
  })

  it('is unavailable for now while too many wait for a thread', async () => {
    const { draw } = drawer('parentPort.postMessage(new Uint8Array(4))')
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => draw('')))
    const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    assert.equal(failed.length, 2)
    assert.ok(failed.every(isUnavailable))
  })

  it('fails with a defect of the drawing as any other defect', async () => {
    await assert.rejects(drawer("throw new Error('a mistake')").draw(''), /a mistake/)
  })
})
