// The HTTP side of sessions: tokens, the current credential, and signing out.
import { listStaffAccessesRoute } from '@pharos/contract/operator/staff-access'
import {
  closeStaffAccessRoute,
  createSessionTokenRoute,
  getSessionTokenRoute,
  logoutRoute,
  refreshSessionRoute,
} from '@pharos/contract/session/session'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import { Failure } from '../runtime/error.ts'
import { etagOf } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import {
  handle,
  handleGuest,
  handleStaff,
  matches,
  type Guest,
  type Mounted,
  type Request,
} from '../http/mount.ts'
import { clearRefreshCookies, moveRefreshToCookie, readRefresh } from '../http/refresh-cookie.ts'
import { type CookieDeps } from './token-reply.routes.ts'
import { refreshTokens, type RefreshDeps } from './refresh.ts'
import { createRotate } from './rotate.ts'
import { changeTeam, signIn, signInWithPasskey, type SignInDeps } from './sign-in.ts'
import { signOut } from './sign-out.ts'
import { closeStaffAccess, listStaffAccesses } from './staff-access.ts'
import { userAgentOf } from './request-source.ts'
import { describeCredential } from './current-credential.ts'

/** Returns the id with which the stream begins at this moment. */
type PositionDeps = { readonly streamPosition: () => Promise<string> }
export type SessionRouteDeps = SignInDeps &
  CookieDeps &
  PositionDeps & { readonly onSignIn: (method: 'password' | 'passkey', outcome: string) => void }

export const sessionRoutes = (deps: SessionRouteDeps): Mounted[] => [
  handleGuest(refreshSessionRoute, refresh, { ...deps, rotate: createRotate(deps.db, deps.lifetime) }),
  handleGuest(createSessionTokenRoute, createSessionToken, deps),
  handle(getSessionTokenRoute, getSessionToken, deps),
  handle(closeStaffAccessRoute, closeStaffAccess, deps),
  handleStaff(listStaffAccessesRoute, listStaffAccesses, deps),
  handleGuest(logoutRoute, logout, deps),
]

/**
 * All later reads of the caller include every message up to this position. A session without a position begins with new
 * messages.
 */
async function positionHeader({ streamPosition }: PositionDeps): Promise<Record<string, string>> {
  const position = await streamPosition().catch(() => undefined)
  return position === undefined ? {} : { 'stream-position': position }
}

/** RFC 7240: a client that has the user already, and sends its ETag, can request a reply without it. */
async function refresh(
  deps: RefreshDeps & CookieDeps & PositionDeps,
  guest: Guest,
  body: BodyOf<typeof refreshSessionRoute>,
  query: QueryOf<typeof refreshSessionRoute>,
  { headers }: Request<typeof refreshSessionRoute>,
) {
  const { cookies } = deps
  const client = { ...guest, userAgent: userAgentOf(headers) }
  const tokens = await refreshTokens(deps, client, readRefresh(cookies, headers, body.refresh))
  const known = body.etag ?? query.etag
  const minimal = /(^|[,\s])return\s*=\s*"?minimal"?/i.test(String(headers.prefer ?? ''))
  if (!minimal || known === undefined || !matches(quoted(known), quoted(tokens.user_etag)))
    return moveRefreshToCookie(cookies, headers, { body: tokens, headers: await positionHeader(deps) })
  const applied = { 'preference-applied': 'return=minimal', ...(await positionHeader(deps)) }
  return moveRefreshToCookie(cookies, headers, { body: { ...tokens, user: null }, headers: applied })
}

const quoted = (etag: string): string => (etag.startsWith('"') ? etag : `"${etag}"`)

async function createSessionToken(
  deps: SessionRouteDeps,
  guest: Guest,
  body: BodyOf<typeof createSessionTokenRoute>,
  { headers }: Request<typeof createSessionTokenRoute>,
) {
  const client = { ...guest, userAgent: userAgentOf(headers) }
  const tokens =
    'team_id' in body
      ? await changeTeam(deps, guest, guest.actor, body)
      : 'password' in body
        ? await counted(deps, 'password', () => signIn(deps, client, body))
        : await counted(deps, 'passkey', () => signInWithPasskey(deps, client, body.passkey))
  return moveRefreshToCookie(deps.cookies, headers, { body: tokens, headers: await positionHeader(deps) })
}

/** A password that was right and needs a second factor is neither a success nor a failure. */
async function counted<T>(
  { onSignIn }: SessionRouteDeps,
  method: 'password' | 'passkey',
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    onSignIn(method, 'success')
    return result
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'otp_required')) onSignIn(method, 'refused')
    throw error
  }
}

async function getSessionToken(
  { db }: SessionRouteDeps,
  { actor }: Operation,
  query: QueryOf<typeof getSessionTokenRoute>,
) {
  const body = await describeCredential(db, actor)
  const unchanged = query.etag !== undefined && query.etag === body.user_etag
  // The tag of an API token excludes its last use, which changes with every request.
  const etag = body.user_etag === null ? etagOf({ ...body.token, last_used: null }) : `"${body.user_etag}"`
  return unchanged ? { body: undefined, status: 304, etag } : { body, etag }
}

async function logout(
  deps: SessionRouteDeps,
  guest: Guest,
  body: BodyOf<typeof logoutRoute>,
  { headers }: Request<typeof logoutRoute>,
) {
  const refresh =
    body.refresh === undefined ? {} : { refresh: readRefresh(deps.cookies, headers, body.refresh) }
  await signOut(deps, guest, guest.actor, { ...body, ...refresh })
  return { headers: clearRefreshCookies(deps.cookies, headers) }
}
