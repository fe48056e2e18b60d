// Reads one connection of the stream with `fetch`, which can send a credential, unlike the browser's EventSource. Callers
// reconnect with the last id; see the description of `followStream`.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Problem } from '../problem.ts'
import type { QueryOf } from '../route.ts'
import { followStreamRoute, type StreamMessageType, type streamSigns } from './stream.ts'
import { authorization, ProblemError, urlOf, type ClientOptions } from '../client.ts'

export type StreamEvent = {
  readonly id: string
  readonly type: StreamMessageType | (typeof streamSigns)[number]
  /** `{type, timestamp, data}` of a message, see webhook-message.ts; empty for `ready` and `reset`. */
  readonly message: {
    readonly type?: StreamMessageType
    readonly timestamp?: string
    readonly data?: unknown
  }
}

export type StreamInput = {
  readonly query?: Partial<QueryOf<typeof followStreamRoute>>
  /** Id of the last processed event; without it, the stream starts with new messages. */
  readonly lastEventId?: string | undefined
  readonly signal: AbortSignal
}

/** Ends when the server ends it. Throws ProblemError if it is refused, and the error of `fetch` if the connection fails. */
export async function* openStream(
  { baseUrl, credential, fetch: send = fetch }: ClientOptions,
  { query = {}, lastEventId, signal }: StreamInput,
): AsyncGenerator<StreamEvent> {
  const response = await send(baseUrl + urlOf(followStreamRoute, {}, query), {
    headers: {
      accept: 'text/event-stream',
      ...authorization(credential?.()),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  })
  if (!response.ok) throw new ProblemError((await response.json()) as Problem)
  const reader = response
    .body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const { id = '', event = 'message', data } = value
      yield { id, type: event as StreamEvent['type'], message: JSON.parse(data) as StreamEvent['message'] }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
