// Renders PDFs in threads, because loading fonts and rendering take a quarter of a second and would block the process for as long.
import { createSemaphore } from './semaphore.ts'
import { runInThread } from './thread.ts'

export type PdfDrawer<T> = {
  /** Returns the PDF. Throws `unavailable` if too many are being rendered. */
  draw(content: T): Promise<Buffer>
}

const limits = { timeoutMs: 5_000, heapMib: 128, buffersMib: 128 }

/** `script`: answers with the bytes of the PDF of its `workerData`. */
export function createPdfDrawer<T>(script: URL): PdfDrawer<T> {
  const threads = createSemaphore({ permits: 2, waiting: 8, retryAfterSeconds: 5 })
  return {
    draw: async (content) =>
      Buffer.from(await threads.run(() => runInThread<Uint8Array>(script, content, limits))),
  }
}
