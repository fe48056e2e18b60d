// The session operations on HTTP.
import {
  createSessionTokenRoute,
  getSessionTokenRoute,
  logoutRoute,
  refreshSessionRoute,
} from '@pharos/contract/session'
import { handle, handleGuest, matches, type Guest, type Mounted, type Request } from '../http/mount.ts'
import { forgetRefresh, keepRefresh, readRefresh, type RefreshCookies } from '../http/refresh-cookie.ts'
import { refreshTokens } from './refresh.ts'
import { changeTeam, signIn, type SignInDeps } from './sign-in.ts'
import { signOut } from './sign-out.ts'
import { userAgentOf } from './visitor.ts'
import { whoAmI } from './who-am-i.ts'

export type SessionRouteDeps = SignInDeps & { readonly cookies: RefreshCookies }

export function sessionRoutes(deps: SessionRouteDeps): Mounted[] {
  const { cookies } = deps
  return [
    handleGuest(refreshSessionRoute, async (guest, request) =>
      keepRefresh(cookies, request.headers, await refresh(deps, guest, request)),
    ),
    handleGuest(createSessionTokenRoute, async (guest, { body, headers }) => {
      const tokens =
        'team_id' in body
          ? await changeTeam(deps, guest, guest.actor, body.team_id)
          : await signIn(deps, { ...guest, userAgent: userAgentOf(headers) }, body)
      return keepRefresh(cookies, headers, { body: tokens })
    }),
    handle(getSessionTokenRoute, async (operation, { query }) => {
      const body = await whoAmI(deps.db, operation.actor)
      const unchanged = query.etag !== undefined && query.etag === body.user_etag
      const etag = body.user_etag === null ? {} : { etag: `"${body.user_etag}"` }
      return unchanged ? { status: 304, ...etag } : { body, ...etag }
    }),
    handleGuest(logoutRoute, async (guest, { body, headers }) => {
      const refresh =
        body.refresh === undefined ? {} : { refresh: readRefresh(cookies, headers, body.refresh) }
      await signOut(deps, guest, guest.actor, { ...body, ...refresh })
      return { headers: forgetRefresh(cookies, headers) }
    }),
  ]
}

/** RFC 7240: a client that has the user already, and says which, may ask not to get it again. */
async function refresh(
  deps: SessionRouteDeps,
  guest: Guest,
  { body, query, headers }: Request<typeof refreshSessionRoute>,
) {
  const visitor = { ...guest, userAgent: userAgentOf(headers) }
  const tokens = await refreshTokens(deps, visitor, readRefresh(deps.cookies, headers, body.refresh))
  const known = body.etag ?? query.etag
  const minimal = /(^|[,\s])return\s*=\s*"?minimal"?/i.test(String(headers.prefer ?? ''))
  if (!minimal || known === undefined || !matches(quoted(known), quoted(tokens.user_etag)))
    return { body: tokens }
  return { body: { ...tokens, user: null }, headers: { 'preference-applied': 'return=minimal' } }
}

const quoted = (etag: string): string => (etag.startsWith('"') ? etag : `"${etag}"`)
