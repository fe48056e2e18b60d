// The refresh token of the web application, as a cookie that no script can read (RFC 6265). The operations and their
// bodies are the documented ones; whoever sends `Pharos-Refresh: cookie` sees the word `cookie` where the token would
// stand, and says it there. A page of another site cannot send that header: it would have to ask first (CORS), and gets
// no answer. What the token is worth is not known here.
import type { IncomingHttpHeaders } from 'node:http'
import { fail } from '../runtime/error.ts'

const modeHeader = 'pharos-refresh'
/** Stands in a body in the place of the token. */
const inCookie = 'cookie'

export type RefreshCookies = {
  /** Whether users reach the server by https: then the cookie belongs to this host and to https alone. */
  readonly secure: boolean
  readonly lifetimeSeconds: number
}

type WithRefresh = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string | string[]>> }

/** The refresh token of a request's body, or of its cookie where the body says so. Throws `forbidden` for other sites. */
export function readRefresh(cookies: RefreshCookies, headers: IncomingHttpHeaders, given: string): string {
  if (given !== inCookie || !isCookieMode(headers)) return given
  return findCookie(headers.cookie ?? '', nameOf(cookies)) ?? ''
}

/** The answer as it was made or, in cookie mode, with the token moved into a cookie. */
export function keepRefresh<R extends WithRefresh>(
  cookies: RefreshCookies,
  headers: IncomingHttpHeaders,
  reply: R,
): R {
  if (!isCookieMode(headers)) return reply
  const body = reply.body as { refresh: string }
  return {
    ...reply,
    body: { ...body, refresh: inCookie },
    headers: { ...reply.headers, 'set-cookie': setCookies(cookies, body.refresh, cookies.lifetimeSeconds) },
  }
}

/** The headers that take the cookie away; none outside of cookie mode. */
export function forgetRefresh(
  cookies: RefreshCookies,
  headers: IncomingHttpHeaders,
): Record<string, string[]> {
  return isCookieMode(headers) ? { 'set-cookie': setCookies(cookies, '', 0) } : {}
}

function isCookieMode(headers: IncomingHttpHeaders): boolean {
  if (headers[modeHeader] !== inCookie) return false
  // Browsers say it by themselves (Fetch Metadata); programs that are none say nothing.
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin') return true
  throw fail('forbidden', 'crossSite')
}

const nameOf = ({ secure }: RefreshCookies) => (secure ? '__Host-pharos-refresh' : 'pharos-refresh')

/** Beside the token a word that scripts may read: whether there is one, so that nobody asks with none. */
function setCookies(cookies: RefreshCookies, token: string, maxAge: number): string[] {
  const common = `Path=/; Max-Age=${maxAge}; SameSite=Strict${cookies.secure ? '; Secure' : ''}`
  return [`${nameOf(cookies)}=${token}; HttpOnly; ${common}`, `pharos-signed-in=${token && 'yes'}; ${common}`]
}

function findCookie(header: string, name: string): string | undefined {
  const pair = header.split(';').find((one) => one.trim().startsWith(`${name}=`))
  return pair?.trim().slice(name.length + 1)
}
