// Sends one message to one URL (drivers/outgoing). Bodies are not decompressed; of the response, the status counts and the beginning of the
// body is stored.
import type { IncomingMessage } from 'node:http'
import type { Answered, SendResult, WebhookRequest, WebhookSender } from '../../webhook/webhook-sender.ts'
import { NotAllowed, NotPublic, type ConnectOptions } from '../outgoing/connect.ts'
import { sendRequest } from '../outgoing/send-request.ts'

export type SenderOptions = ConnectOptions & {
  /** Total timeout of resolving, connecting, TLS, the request and its response. */
  readonly timeoutMs?: number
}

const timeoutMsDefault = 15_000
/** The connection is closed after this much of the response body. */
const answerMax = 64 * 1024
/** The number of characters of the response body to store. */
const storedMax = 1024

/** Throws only the signal's reason. */
export function createWebhookSender(options: SenderOptions): WebhookSender {
  const { timeoutMs = timeoutMsDefault } = options
  return {
    async send(request, signal) {
      signal.throwIfAborted()
      const began = performance.now()
      const late = AbortSignal.timeout(timeoutMs)
      const ended = (): number => Math.round(performance.now() - began)
      try {
        const answer = await post(request, options, AbortSignal.any([signal, late]))
        return { kind: 'answered', ...answer, durationMs: ended() }
      } catch (error) {
        signal.throwIfAborted()
        const reason = late.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error)
        const isNotPublic = error instanceof NotPublic
        return { kind: 'unanswered', error: reason, isNotPublic, durationMs: ended() } satisfies SendResult
      }
    },
  }
}

type Answer = Omit<Answered, 'kind' | 'durationMs'>

const post = (
  { url, headers, body }: WebhookRequest,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Answer> =>
  sendRequest({ method: 'POST', url, headers, body }, options, signal, async (response) => {
    const bytes = await readStart(response)
    return {
      status: response.statusCode!,
      retryAfterSeconds: secondsOf(response.headers['retry-after']),
      text: response.headers['content-encoding'] === undefined ? textOf(bytes) : '',
    }
  })

/** The status counts, even if the body is incomplete. */
async function readStart(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= answerMax) break
    }
  } catch {
    // Incomplete or too slow.
  }
  return Buffer.concat(chunks)
}

function textOf(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes.subarray(0, storedMax * 4))
  return [...text.replace(/[\p{C}\s]+/gu, ' ').trim()].slice(0, storedMax).join('')
}

/** Seconds, or an HTTP date (RFC 9110, 10.2.3). */
function secondsOf(header: string | undefined): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

/** For the team of the webhook: they never reveal addresses, name servers or networks of the provider. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before a response was received',
  EPIPE: 'the connection was closed before a response was received',
  ETIMEDOUT: 'no connection within 5 s',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'the name does not exist',
  ESERVFAIL: 'the name could not be resolved',
  EREFUSED: 'the name could not be resolved',
  ECANCELLED: 'the name could not be resolved',
  EBADNAME: 'the name is not a valid DNS name',
  ETIMEOUT: 'the name could not be resolved',
  HPE_HEADER_OVERFLOW: 'the response headers are too long',
  CERT_HAS_EXPIRED: 'TLS: the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: the certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS: the certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: the server does not send its intermediate certificates',
}

function reasonOf(error: unknown): string {
  if (error instanceof NotPublic) return `${error.message}; ask your provider to allow it`
  if (error instanceof NotAllowed) return error.message
  const { code = '', name } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError') return reasons['ETIMEDOUT']!
  const known = reasons[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return 'the response is not HTTP'
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return 'TLS: the server does not support a common version or cipher'
  return code === '' ? 'the request failed' : `the request failed (${code})`
}
