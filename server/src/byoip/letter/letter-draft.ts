// Draws the letter of authorization that a team signs. In a thread of its own, because loading fonts and drawing take a
// quarter of a second and would stop the process for as long.
import { createSemaphore } from '../../runtime/semaphore.ts'
import { runInThread } from '../../runtime/thread.ts'
import type { LetterText } from './letter-draft-page.ts'

export type Drafter = {
  /** The PDF. Throws `unavailable` when too many are being drawn. */
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
