// Limits the time until a request is answered, with one timer for all requests. The framework's own timeout creates a
// timer and an AbortController per request, and ends once the body has been read.
import type { FastifyReply } from 'fastify'
import { fail } from '../runtime/error.ts'

type Waiting = {
  reply: FastifyReply | undefined
  readonly due: number
  older: Waiting
  newer: Waiting
}

/**
 * The requests are in a linked list, not in a Set: V8 replaces the table of a Set again and again as entries come and
 * go, each old table refers to its successor, and tables in the old generation prevented all later requests from being
 * collected with the young generation. Pauses of 10 to 70 ms were the result.
 */
export class Deadlines {
  readonly #timeoutMs: number
  /** In order of arrival, as a ring: all have the same timeout, so the oldest, after this end, is due first. */
  readonly #end: Waiting = createEnd()
  readonly #timer: NodeJS.Timeout

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#timer = setInterval(() => this.#abortLate(), Math.min(1_000, timeoutMs / 10))
    this.#timer.unref()
  }

  /** Starts the timeout; call the returned function when the response is closed, for whatever reason. */
  begin(reply: FastifyReply): () => void {
    const end = this.#end
    const one = { reply, due: performance.now() + this.#timeoutMs, older: end.older, newer: end }
    end.older.newer = one
    end.older = one
    return () => remove(one)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #abortLate(): void {
    const now = performance.now()
    for (let one = this.#end.newer; one !== this.#end && one.due <= now; one = this.#end.newer) {
      const { reply } = one
      remove(one)
      abortRequest(reply!)
    }
  }
}

function createEnd(): Waiting {
  const end = { reply: undefined, due: Infinity } as Waiting
  end.older = end
  end.newer = end
  return end
}

/** The entry has no references afterwards. No effect the second time. */
function remove(one: Waiting): void {
  one.older.newer = one.newer
  one.newer.older = one.older
  one.older = one
  one.newer = one
  one.reply = undefined
}

function abortRequest(reply: FastifyReply): void {
  if (reply.sent) return
  // A response that has started cannot be replaced.
  if (reply.raw.headersSent) reply.raw.destroy()
  else void reply.send(fail('unavailable', 'deadline'))
}
