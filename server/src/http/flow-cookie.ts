// The cookie of a sign-in with an identity provider: only the browser that started it has the value. It is SameSite=Strict, since the page of the portal to
// which the provider redirects sends the request that completes the sign-in.
import type { IncomingHttpHeaders } from 'node:http'
import { findCookie } from './cookie.ts'

const seconds = 600

const nameOf = (secure: boolean): string => (secure ? '__Host-pharos-flow' : 'pharos-flow')

export const flowCookieHeader = (secure: boolean, value: string): string =>
  `${nameOf(secure)}=${value}; Path=/; Max-Age=${value === '' ? 0 : seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

export const readFlowCookie = (secure: boolean, { cookie = '' }: IncomingHttpHeaders): string | null =>
  findCookie(cookie, nameOf(secure)) ?? null
