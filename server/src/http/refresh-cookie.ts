// The refresh token of the web application, as a cookie that no script can read (RFC 6265). The operations and their
// bodies are the documented ones; a client that sends `Pharos-Refresh: cookie` gets the word `cookie` in place of the
// token, and sends it back in place of the token. A page of another site cannot send that header: it would need a CORS
// preflight, which is not answered. This file only transports the token.
import type { IncomingHttpHeaders } from 'node:http'
import { fail } from '../runtime/error.ts'
import { findCookie } from './cookie.ts'

const modeHeader = 'pharos-refresh'
/** Replaces the token in a body. */
const inCookie = 'cookie'

export type RefreshCookies = {
  /** Whether users connect by https: the cookie is then limited to this host and to https. */
  readonly secure: boolean
  readonly lifetimeSeconds: number
}

type WithRefresh = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string | string[]>> }

/**
 * Returns the refresh token of a request's body, or of its cookie if the body requests that. Throws `forbidden` for
 * other sites.
 */
export function readRefresh(cookies: RefreshCookies, headers: IncomingHttpHeaders, given: string): string {
  if (given !== inCookie || !isCookieMode(headers)) return given
  return findCookie(headers.cookie ?? '', nameOf(cookies)) ?? ''
}

/** Returns the response unchanged or, in cookie mode, with the token moved into a cookie. */
export function moveRefreshToCookie<R extends WithRefresh>(
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

/** Returns the headers that delete the cookie; an empty object outside of cookie mode. */
export function clearRefreshCookies(
  cookies: RefreshCookies,
  headers: IncomingHttpHeaders,
): Record<string, string[]> {
  return isCookieMode(headers) ? { 'set-cookie': setCookies(cookies, '', 0) } : {}
}

function isCookieMode(headers: IncomingHttpHeaders): boolean {
  if (headers[modeHeader] !== inCookie) return false
  // Browsers send Fetch Metadata by themselves; other programs do not.
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin') return true
  throw fail('forbidden', 'crossSite')
}

const nameOf = ({ secure }: RefreshCookies) => (secure ? '__Host-pharos-refresh' : 'pharos-refresh')

/**
 * Besides the token, a cookie readable by scripts that marks its presence, so that no refresh is requested
 * without it.
 */
function setCookies(cookies: RefreshCookies, token: string, maxAge: number): string[] {
  const common = `Path=/; Max-Age=${maxAge}; SameSite=Strict${cookies.secure ? '; Secure' : ''}`
  return [`${nameOf(cookies)}=${token}; HttpOnly; ${common}`, `pharos-signed-in=${token && 'yes'}; ${common}`]
}
