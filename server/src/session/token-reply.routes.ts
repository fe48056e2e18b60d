// Replies with new session tokens: the refresh token moves into the cookie if the client asks for that.
import type { IncomingHttpHeaders } from 'node:http'
import { moveRefreshToCookie, type RefreshCookies } from '../http/refresh-cookie.ts'
import type { Operation } from '../operation/operation.ts'
import { userAgentOf, type Visitor } from './visitor.ts'

export type CookieDeps = { readonly cookies: RefreshCookies }
type Headers = { readonly headers: IncomingHttpHeaders }

/** Wraps a use-case that returns session tokens: it gets the User-Agent, and its reply keeps the refresh token. */
export const withTokens =
  <Deps, Body, Result extends object>(
    useCase: (deps: Deps, caller: Operation & Visitor, body: Body) => Promise<Result>,
  ) =>
  async (deps: Deps & CookieDeps, operation: Operation, body: Body, { headers }: Headers) => {
    const caller = { ...operation, userAgent: userAgentOf(headers) }
    return moveRefreshToCookie(deps.cookies, headers, { body: await useCase(deps, caller, body) })
  }
