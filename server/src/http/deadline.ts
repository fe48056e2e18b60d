// How long a request may take until it is answered. One timer looks after all of them: the framework's own makes a timer
// and an AbortController for each, and forgets a request as soon as its body was read.
import type { FastifyReply } from 'fastify'
import { fail } from '../runtime/error.ts'

type Waiting = { readonly reply: FastifyReply; readonly due: number }

export class Deadlines {
  readonly #timeoutMs: number
  /** All may take as long, so the oldest is due first. */
  readonly #waiting = new Set<Waiting>()
  readonly #timer: NodeJS.Timeout

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#timer = setInterval(() => this.#giveUpLate(), Math.min(1_000, timeoutMs / 10))
    this.#timer.unref()
  }

  /** From now on; what is returned is to be called when the answer is over, in whatever way. */
  begin(reply: FastifyReply): () => void {
    const one = { reply, due: performance.now() + this.#timeoutMs }
    this.#waiting.add(one)
    return () => this.#waiting.delete(one)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #giveUpLate(): void {
    const now = performance.now()
    for (const one of this.#waiting) {
      if (one.due > now) return
      this.#waiting.delete(one)
      giveUp(one.reply)
    }
  }
}

function giveUp(reply: FastifyReply): void {
  if (reply.sent) return
  // Half an answer cannot become another one.
  if (reply.raw.headersSent) reply.raw.destroy()
  else void reply.send(fail('unavailable', 'deadline'))
}
