// Replies with new session tokens: the refresh token moves into the cookie if the client requests it.
import type { IncomingHttpHeaders } from 'node:http'
import { moveRefreshToCookie, type RefreshCookies } from '../http/refresh-cookie.ts'
import type { Operation } from '../operation/operation.ts'
import { userAgentOf, type ClientSource } from './request-source.ts'

export type CookieDeps = { readonly cookies: RefreshCookies }
type Headers = { readonly headers: IncomingHttpHeaders }

/** Wraps a use case that returns session tokens: passes the User-Agent, and keeps the refresh token in the reply. */
export const withTokens =
  <Deps, Args extends readonly unknown[], Result extends object>(
    useCase: (deps: Deps, caller: Operation & ClientSource, ...args: Args) => Promise<Result>,
  ) =>
  async (deps: Deps & CookieDeps, operation: Operation, ...rest: [...Args, Headers]) => {
    const args = rest.slice(0, -1) as unknown as Args
    const { headers } = rest.at(-1) as Headers
    const caller = { ...operation, userAgent: userAgentOf(headers) }
    return moveRefreshToCookie(deps.cookies, headers, { body: await useCase(deps, caller, ...args) })
  }
