// Answers that go on: server-sent events (WHATWG HTML, section 9.2). How many there may be, that each ends in time, when
// its client is gone and when the server stops; what they say comes from the use-case.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../runtime/error.ts'
import type { Actor } from '../operation/operation.ts'

/** `data` is one line. */
export type ServerEvent = { readonly id: string; readonly event: string; readonly data: string }

/** Null: there is nothing to say, and the connection is there. */
export type ServerEvents = AsyncIterable<ServerEvent | null>

/** What a use-case needs to know of who follows. */
export type Following = {
  /** Null where the client begins. */
  readonly lastEventId: string | null
  /** Who follows, looked at anew: rejects when the credential is no longer good for it. */
  readonly actor: () => Promise<Actor>
  /** Aborted when the client is gone, the server stops, or it has gone on for long enough. */
  readonly signal: AbortSignal
}

export type StreamSettings = {
  readonly atOnce: number
  readonly perTeam: number
  readonly lifetimeMs: number
}

export class EventStreams {
  readonly #settings: StreamSettings
  readonly #stopping = new AbortController()
  readonly #byTeam = new Map<number, number>()
  #count = 0

  constructor(settings: StreamSettings) {
    this.#settings = settings
  }

  /** Ends all of them, so that the server can. */
  stop(): void {
    this.#stopping.abort()
  }

  /**
   * Takes a place for the team until the answer is closed. Gives the signal that ends the stream. Throws `unavailable`
   * or `rate_limited` where there is no place.
   */
  enter(teamId: number, reply: FastifyReply): AbortSignal {
    const ofTeam = this.#byTeam.get(teamId) ?? 0
    if (this.#count >= this.#settings.atOnce) throw fail('unavailable', 'streams', { retryAfterSeconds: 10 })
    if (ofTeam >= this.#settings.perTeam)
      throw fail('rate_limited', 'streams', { limit: ofTeam }, { retryAfterSeconds: 10 })
    this.#count += 1
    this.#byTeam.set(teamId, ofTeam + 1)
    const gone = new AbortController()
    reply.raw.once('close', () => {
      gone.abort()
      this.#leave(teamId)
    })
    const over = setTimeout(() => gone.abort(), this.#settings.lifetimeMs)
    gone.signal.addEventListener('abort', () => clearTimeout(over), { once: true })
    return AbortSignal.any([gone.signal, this.#stopping.signal])
  }

  #leave(teamId: number): void {
    this.#count -= 1
    const left = this.#byTeam.get(teamId)! - 1
    if (left > 0) this.#byTeam.set(teamId, left)
    else this.#byTeam.delete(teamId)
  }
}

/** Says to whatever stands between that nothing is to be kept back. */
export function sendEvents(events: ServerEvents, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // That of the server is for answers that end. A client that is gone without a word is noticed all the same.
  reply.raw.setTimeout(deadMs, () => void reply.raw.destroy())
  return (
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      // A stream ends with its connection: one that is kept would hold up a server that stops.
      .header('connection', 'close')
      .send(Readable.from(textOf(events, request)))
  )
}

/** How soon a client that lost the connection comes again, unless it decides by itself. */
const retryMs = 2_000
/** Several times as long as the silence between two signs of life. */
const deadMs = 60_000

/** What fails on the way ends the answer, and the client comes again where it was. */
async function* textOf(events: ServerEvents, request: FastifyRequest): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`
  try {
    for await (const event of events) yield event === null ? ':\n\n' : frameOf(event)
  } catch (error) {
    request.log.warn({ err: error }, 'a stream was cut short')
  }
}

const frameOf = ({ id, event, data }: ServerEvent): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
