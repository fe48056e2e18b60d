// The cookie of sign-ins with identity providers: only the browser that started them has the value, which all its sign-ins share while it lasts. It is SameSite=Strict, since the page of the portal to
// which the provider redirects sends the request that completes the sign-in.
import type { IncomingHttpHeaders } from 'node:http'
import { findCookie } from './cookie.ts'

const seconds = 600

const nameOf = (secure: boolean): string => (secure ? '__Host-pharos-flow' : 'pharos-flow')

export const flowCookieHeader = (secure: boolean, value: string): string =>
  `${nameOf(secure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

const form = /^[\w-]{43}$/

export function readFlowCookie(secure: boolean, { cookie = '' }: IncomingHttpHeaders): string | null {
  const value = findCookie(cookie, nameOf(secure))
  return value !== undefined && form.test(value) ? value : null
}
