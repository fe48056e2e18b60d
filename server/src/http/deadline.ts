// Limits the time until a request is answered, with one timer for all requests. The framework's own timeout creates a
// timer and an AbortController per request, and ends once the body has been read.
import type { FastifyReply } from 'fastify'
import { fail } from '../runtime/error.ts'

type Waiting = { readonly reply: FastifyReply; readonly due: number }

export class Deadlines {
  readonly #timeoutMs: number
  /** In order of arrival: all have the same timeout, so the oldest is due first. */
  readonly #waiting = new Set<Waiting>()
  readonly #timer: NodeJS.Timeout

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#timer = setInterval(() => this.#abortLate(), Math.min(1_000, timeoutMs / 10))
    this.#timer.unref()
  }

  /** Starts the timeout; call the returned function when the response is closed, for whatever reason. */
  begin(reply: FastifyReply): () => void {
    const one = { reply, due: performance.now() + this.#timeoutMs }
    this.#waiting.add(one)
    return () => this.#waiting.delete(one)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #abortLate(): void {
    const now = performance.now()
    for (const one of this.#waiting) {
      if (one.due > now) return
      this.#waiting.delete(one)
      abortRequest(one.reply)
    }
  }
}

function abortRequest(reply: FastifyReply): void {
  if (reply.sent) return
  // A response that has started cannot be replaced.
  if (reply.raw.headersSent) reply.raw.destroy()
  else void reply.send(fail('unavailable', 'deadline'))
}
