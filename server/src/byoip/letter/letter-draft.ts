// Renders the letter of authorization that a team signs. In a separate thread, because loading fonts and rendering take a
// quarter of a second and would block the process for as long.
import { createSemaphore } from '../../runtime/semaphore.ts'
import { runInThread } from '../../runtime/thread.ts'
import type { LetterText } from './letter-draft-page.ts'

export type Drafter = {
  /** Returns the PDF. Throws `unavailable` if too many are being rendered. */
  draw(text: LetterText): Promise<Buffer>
}

const limits = { timeoutMs: 5_000, heapMib: 128, buffersMib: 128 }

export function createDrafter(): Drafter {
  const threads = createSemaphore({ permits: 2, waiting: 8, retryAfterSeconds: 5 })
  const script = new URL('letter-draft-thread.ts', import.meta.url)
  return {
    draw: async (text) => Buffer.from(await threads.run(() => runInThread<Uint8Array>(script, text, limits))),
  }
}
