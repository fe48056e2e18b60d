// A `fetch` for URLs that customers choose, with the checks of connect.ts: no redirect, at most 1 MiB, within 10 s. For libraries that take one.
import { sendRequest, readBody } from './send-request.ts'
import { NotAllowed, type ConnectOptions } from './connect.ts'

const timeoutMs = 10_000
const bytesMax = 1024 * 1024

export type FetchRequest = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

export type OutgoingFetch = (url: string, request: FetchRequest) => Promise<Response>

/** Throws NotAllowed for a target that is not public, and for a compressed or longer answer. */
export function createFetch(options: ConnectOptions): OutgoingFetch {
  return async (url, { method, headers, body, signal }) => {
    const late = AbortSignal.timeout(timeoutMs)
    const request = { method, url, headers, ...(body == null ? {} : { body: String(body) }) }
    const ended = signal ? AbortSignal.any([signal, late]) : late
    return sendRequest(request, options, ended, async (response) => {
      if (response.headers['content-encoding'] !== undefined)
        throw new NotAllowed('the response is compressed')
      const bytes = await readBody(response, bytesMax)
      const status = response.statusCode!
      const known = Object.entries(response.headers).filter(
        (header): header is [string, string] => typeof header[1] === 'string',
      )
      return new Response([204, 304].includes(status) ? null : new Uint8Array(bytes), {
        status,
        headers: known,
      })
    })
  }
}
