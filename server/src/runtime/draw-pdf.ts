// Renders PDFs in threads, because loading fonts and rendering take a quarter of a second and would block the process for as long.
import { fail } from './error.ts'
import { createSemaphore } from './semaphore.ts'
import { runInThread, ThreadLimitError, type ThreadOptions } from './thread.ts'

export type PdfDrawer<T> = {
  /** Returns the PDF. Throws `unavailable` if too many are being rendered, or the machine is too busy for this one. */
  draw(content: T): Promise<Buffer>
}

const defaults: ThreadOptions = { timeoutMs: 5_000, heapMib: 128, buffersMib: 128 }
const retryAfterSeconds = 5

/** `script`: answers with the bytes of the PDF of its `workerData`. */
export function createPdfDrawer<T>(script: URL, limits: Partial<ThreadOptions> = {}): PdfDrawer<T> {
  const threads = createSemaphore({ permits: 2, waiting: 8, retryAfterSeconds })
  const options = { ...defaults, ...limits }
  return {
    draw: (content) =>
      threads.run(async () => {
        try {
          return Buffer.from(await runInThread<Uint8Array>(script, content, options))
        } catch (error) {
          // The content is ours and small: only a busy machine, or one without memory, exceeds the limits.
          if (error instanceof ThreadLimitError)
            throw fail('unavailable', 'pdf', { retryAfterSeconds, cause: error })
          throw error
        }
      }),
  }
}
