// A client that repeats a request with the same Idempotency-Key, to any server that responds, until the request is acknowledged. It
// keeps only acknowledged responses. It sometimes disconnects before the response, so that changes are applied that no client has
// seen acknowledged, and that other clients overwrite before the request is repeated.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from './random.ts'

export type Acknowledged = {
  readonly status: number
  readonly etag: string | null
  readonly body: unknown
  /** Number of attempts. */
  readonly attempts: number
}

export type Request = {
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly key: string
  readonly authorization: string
  readonly body: unknown
}

/** Neither acknowledged nor refused: to be sent again. */
const again = new Set([503, 409])

/**
 * Sends the request until it is acknowledged. Throws when stopped and when the request is refused. A 409 with
 * `idempotency_in_flight` is repeated.
 */
export async function untilAcknowledged(
  urls: readonly string[],
  request: Request,
  random: Random,
  signal: AbortSignal,
): Promise<Acknowledged> {
  for (let attempts = 1; ; attempts++) {
    signal.throwIfAborted()
    const patienceMs = random.chance(0.3) ? 1 + random.below(20) : 60_000
    const answer = await sendOnce(random.pick(urls), request, patienceMs)
    if (answer && answer.status < 300) return { ...answer, attempts }
    if (answer && (!again.has(answer.status) || isRefusal(answer.body)))
      throw new Error(`${request.method} ${request.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    await sleep(5 + random.below(random.chance(0.3) ? 150 : 30))
  }
}

const isRefusal = (body: unknown): boolean =>
  !['unavailable', 'idempotency_in_flight'].includes((body as { code: string }).code)

/** Returns undefined if no complete response was received. */
async function sendOnce(
  url: string,
  { method, path, key, authorization, body }: Request,
  patienceMs: number,
): Promise<Omit<Acknowledged, 'attempts'> | undefined> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    })
    return { status: response.status, etag: response.headers.get('etag'), body: await response.json() }
  } catch {
    return undefined
  }
}
