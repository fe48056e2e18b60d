// One GET request with a limited response, on a connection that cannot reach internal networks (outgoing/connect.ts). It follows
// redirects, which registries use to refer to each other (RFC 7480 section 5.2), by the same rules.
import type { IncomingMessage } from 'node:http'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { NotAllowed } from '../outgoing/connect.ts'
import { sendRequest, readBody } from '../outgoing/send-request.ts'
import type { HostResolver } from '../outgoing/resolve-host.ts'

export type GetOptions = {
  readonly resolver: HostResolver
  /** Non-public networks that this URL may resolve to, also without TLS. */
  allowedFor(url: URL): readonly Prefix[]
}

const redirectsMax = 3
const bytesMax = 1024 * 1024

/** Returns the text of the answer, undefined for a 404. Throws a DriverError, or the signal's reason. */
export async function getText(
  start: URL,
  options: GetOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  let url = start
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const answer = await getOnce(url, options, signal)
    if (typeof answer === 'string' || answer === undefined) return answer
    url = answer
  }
  throw new DriverError('protocol', `${start.origin}: more than ${redirectsMax} redirects`)
}

async function getOnce(
  url: URL,
  options: GetOptions,
  signal: AbortSignal,
): Promise<string | URL | undefined> {
  try {
    return await sendRequest(
      { method: 'GET', url: url.href, headers: requestHeaders },
      { resolver: options.resolver, allowed: options.allowedFor(url) },
      signal,
      (response) => readAnswer(url, response),
    )
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DriverError) throw error
    const kind = error instanceof NotAllowed ? 'protocol' : 'unreachable'
    const { message, code } = error as NodeJS.ErrnoException
    throw new DriverError(kind, `${url.origin}: ${code ?? message}`, { cause: error })
  }
}

const requestHeaders = {
  accept: 'application/rdap+json, application/json;q=0.9',
  'accept-encoding': 'identity',
  'user-agent': 'pharos',
}

async function readAnswer(url: URL, response: IncomingMessage): Promise<string | URL | undefined> {
  const { statusCode = 0, headers } = response
  if (statusCode === 404) return undefined
  if ([301, 302, 303, 307, 308].includes(statusCode)) return redirectOf(url, headers.location)
  // 429 and 5xx: the registry does not answer now.
  if (statusCode === 429 || statusCode >= 500)
    throw new DriverError('unreachable', `${url.origin}: HTTP status ${statusCode}`)
  if (statusCode !== 200) throw new DriverError('protocol', `${url.origin}: HTTP status ${statusCode}`)
  if (headers['content-encoding'] !== undefined)
    throw new DriverError('protocol', `${url.origin}: the answer is compressed`)
  return (await readBody(response, bytesMax)).toString()
}

function redirectOf(url: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, url))
    throw new DriverError('protocol', `${url.origin}: a redirect without a location`)
  return new URL(location, url)
}
