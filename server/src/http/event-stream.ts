// Open-ended responses: server-sent events (WHATWG HTML, section 9.2). Limits their number, and ends each after its
// maximum duration, when its client disconnects and when the server stops. The use-case provides the events.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../runtime/error.ts'
import type { Actor } from '../operation/operation.ts'

/** `data` is one line. */
export type ServerEvent = { readonly id: string; readonly event: string; readonly data: string }

/** Null: a keep-alive. */
export type ServerEvents = AsyncIterable<ServerEvent | null>

/** The connection of a follower, as the use-case gets it. */
export type Following = {
  /** Null for a new stream. */
  readonly lastEventId: string | null
  /** Returns the follower after checking the credential again; rejects if it is no longer valid. */
  readonly actor: () => Promise<Actor>
  /** Aborted when the client disconnects, the server stops, or the maximum duration is reached. */
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

  /** Ends all streams, so that the server can stop. */
  stop(): void {
    this.#stopping.abort()
  }

  /**
   * Reserves a slot for the team until the response is closed, and returns the signal that ends the stream. Throws
   * `unavailable` or `rate_limited` if no slot is free.
   */
  enter(teamId: number, reply: FastifyReply): AbortSignal {
    // The close event of a client that disconnected during authentication has passed, so its slot would never be
    // released.
    if (reply.raw.closed) return AbortSignal.abort()
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

/** Disables buffering in proxies. A HEAD request gets the headers only; its response ends immediately. */
export function sendEvents(events: ServerEvents, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isHead = request.method === 'HEAD'
  // The server's timeout is meant for responses that end. A lost client is detected all the same.
  if (!isHead) reply.raw.setTimeout(idleTimeoutMs, () => void reply.raw.destroy())
  return (
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      // A stream closes its connection: a kept connection would delay a server that stops.
      .header('connection', 'close')
      .send(Readable.from(isHead ? [] : textOf(events, request)))
  )
}

/** Delay after which a client reconnects, unless it chooses its own. */
const retryMs = 2_000
/** Several times the interval of keep-alives. */
const idleTimeoutMs = 60_000

/** An error in mid-stream ends the response; the client reconnects with its last position. */
async function* textOf(events: ServerEvents, request: FastifyRequest): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`
  try {
    for await (const event of events) yield event === null ? ':\n\n' : frameOf(event)
  } catch (error) {
    request.log.warn({ err: error }, 'stream ended by an error')
  }
}

const frameOf = ({ id, event, data }: ServerEvent): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
