// The HTTP side of identity providers, and of signing in with them: the cookie of the browser is read and set here.
import {
  completeSingleSignOnRoute,
  deleteIdentityRoute,
  findSignInMethodsRoute,
  linkIdentityRoute,
  listIdentitiesRoute,
  recoverSessionRoute,
  startSignOutRoute,
  startSingleSignOnRoute,
} from '@pharos/contract/session/sso'
import {
  createProviderRoute,
  deleteProviderRoute,
  getProviderRoute,
  listProvidersRoute,
  listSignInAttemptsRoute,
  testProviderRoute,
  updateProviderRoute,
} from '@pharos/contract/team/provider'
import {
  createTeamRecoveryCodesRoute,
  getTeamSignInRoute,
  updateTeamSignInRoute,
} from '@pharos/contract/team/sign-in'
import type { BodyOf } from '@pharos/contract/route'
import type { Operation } from '../operation/operation.ts'
import { handle, handleGuest, type Guest, type Mounted, type Request } from '../http/mount.ts'
import { moveRefreshToCookie } from '../http/refresh-cookie.ts'
import { userAgentOf } from '../session/request-source.ts'
import type { CookieDeps } from '../session/token-reply.routes.ts'
import { flowCookieHeader, readFlowCookie } from '../http/flow-cookie.ts'
import { deleteIdentity, listIdentities, type IdentityDeps } from './identity.ts'
import {
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  listSignInAttempts,
  updateProvider,
  type ProviderDeps,
} from './provider.ts'
import { recoverSession, type RecoveryDeps } from './recovery.ts'
import { createTeamRecoveryCodes, getTeamSignIn, updateTeamSignIn } from './sign-in-policy.ts'
import { completeSingleSignOn, findSignInMethods, linkIdentity, startSingleSignOn } from './single-sign-on.ts'
import { startSignOut } from './sign-out.ts'
import type { SingleSignOnDeps } from './sign-in-flow.ts'
import { testProvider, type TestDeps } from './test-provider.ts'

type RouteDeps = SingleSignOnDeps & ProviderDeps & TestDeps & IdentityDeps & RecoveryDeps & CookieDeps

export const identityRoutes = (deps: RouteDeps): Mounted[] => [
  handleGuest(findSignInMethodsRoute, findSignInMethods, deps),
  handleGuest(startSingleSignOnRoute, start, deps),
  handleGuest(completeSingleSignOnRoute, complete, deps),
  handleGuest(linkIdentityRoute, linkIdentity, deps),
  handle(listIdentitiesRoute, listIdentities, deps),
  handle(deleteIdentityRoute, deleteIdentity, deps),
  handle(listProvidersRoute, listProviders, deps),
  handle(getProviderRoute, getProvider, deps),
  handle(createProviderRoute, createProvider, deps),
  handle(updateProviderRoute, updateProvider, deps),
  handle(deleteProviderRoute, deleteProvider, deps),
  handle(testProviderRoute, test, deps),
  handle(listSignInAttemptsRoute, listSignInAttempts, deps),
  handle(getTeamSignInRoute, getTeamSignIn, deps),
  handle(updateTeamSignInRoute, updateTeamSignIn, deps),
  handle(createTeamRecoveryCodesRoute, createTeamRecoveryCodes, deps),
  handle(recoverSessionRoute, recoverSession, deps),
  handle(startSignOutRoute, startSignOut, deps),
]

async function start(
  deps: RouteDeps,
  guest: Guest,
  body: BodyOf<typeof startSingleSignOnRoute>,
  { headers }: Request<typeof startSingleSignOnRoute>,
) {
  const { secure } = deps.cookies
  const browser = { ...guest, cookie: readFlowCookie(secure, headers) }
  const { redirect, cookie } = await startSingleSignOn(deps, browser, body)
  return { body: { redirect }, headers: { 'set-cookie': flowCookieHeader(secure, cookie) } }
}

async function complete(
  deps: RouteDeps,
  guest: Guest,
  body: BodyOf<typeof completeSingleSignOnRoute>,
  { headers }: Request<typeof completeSingleSignOnRoute>,
) {
  const { secure } = deps.cookies
  const client = { ...guest, userAgent: userAgentOf(headers), cookie: readFlowCookie(secure, headers) }
  const signedIn = await completeSingleSignOn(deps, client, body)
  return moveRefreshToCookie(deps.cookies, headers, { body: signedIn, headers: {} })
}

async function test(
  deps: RouteDeps,
  operation: Operation,
  team: string,
  id: number,
  given: BodyOf<typeof testProviderRoute>,
  { headers }: Request<typeof testProviderRoute>,
) {
  const { secure } = deps.cookies
  const sent = readFlowCookie(secure, headers)
  const { cookie, ...body } = await testProvider(deps, operation, team, id, given, sent)
  return { body, headers: cookie === null ? {} : { 'set-cookie': flowCookieHeader(secure, cookie) } }
}
