// From a request's credential to an actor, and from the route's permission to a decision. The composition root provides
// the functions that check credentials.
import type { Permission } from '@pharos/contract/route'
import {
  requireEntered,
  requireGrant,
  requireLocal,
  requireOpened,
  requireStaffGrant,
} from '../operation/grant.ts'
import { requireOpen } from '../operation/limits.ts'
import { fail, Failure } from '../runtime/error.ts'
import type { Actor, AnyActor, StaffTokenActor } from '../operation/operation.ts'

export type RequestCredential = { readonly scheme: 'bearer' | 'token'; readonly value: string }

/**
 * Checks credentials. Both functions throw `unauthenticated` for any invalid credential; the result is no promise if
 * the cache has it. `fresh`: bypasses the cache.
 */
export type Credentials = {
  bearer(accessToken: string, fresh?: boolean): Actor | Promise<Actor>
  token(apiToken: string, address: string, fresh?: boolean): Promise<Actor | StaffTokenActor>
}

/** Parses the Authorization header; undefined without one, 401 for an unsupported scheme. */
export function parseAuthorization(header: string | undefined): RequestCredential | undefined {
  if (header === undefined) return undefined
  const match = /^(bearer|token) +([\x21-\x7e]{1,4096})$/i.exec(header)
  if (!match) {
    throw fail('unauthenticated', 'credentialMissing')
  }
  return { scheme: match[1]!.toLowerCase() as RequestCredential['scheme'], value: match[2]! }
}

/** Returns the actor that the permission requires; null if it requires no credential and the request has none. */
export function authenticate(
  credentials: Credentials,
  permission: Permission,
  header: string | undefined,
  address: string,
  fresh = false,
): Actor | null | Promise<AnyActor> {
  // If the credential is in the body, or in a source's own scheme, the header is ignored.
  if (permission.credential === 'none' || permission.credential === 'source') return null
  const credential = parseAuthorization(header)
  if (!credential) {
    if (permission.credential === 'optional') return null
    throw fail('unauthenticated', 'credentialMissing')
  }
  refuseWrongScheme(credential)
  if (credential.scheme === 'bearer') return credentials.bearer(credential.value, fresh)
  if (permission.credential === 'any') return credentials.token(credential.value, address, fresh)
  throw fail('unauthenticated', 'webOnly')
}

/**
 * Most clients call every token a bearer token, so the mistake has a separate code. The credential itself is not
 * checked.
 */
function refuseWrongScheme({ scheme, value }: RequestCredential): void {
  const isApiToken = value.startsWith('phs_')
  if (scheme === 'bearer' && isApiToken) throw fail('wrong_scheme', 'apiTokenAsBearer')
  if (scheme === 'token' && !isApiToken && isJwt(value)) throw fail('wrong_scheme', 'accessTokenAsToken')
}

/** RFC 7519: three parts, the first of which begins with the encoded `{"`. */
const isJwt = (value: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value)

/**
 * Throws if the actor may not call a route with this permission in the team of the credential. `withGrant`: false for a route whose path
 * names the team; its use case checks the grant there. Pure.
 */
export function authorize(actor: AnyActor, permission: Permission, withGrant = true): void {
  if (permission.credential !== 'web' && permission.credential !== 'any') return
  const { role, module, scope, grant, personal, local, limitedBy } = permission
  if (actor.kind === 'staff_token') {
    if (role !== 'staff') throw fail('forbidden', 'staffToken')
    if (!actor.scopes.includes(permission.scope))
      throw fail('scope_missing', 'needed', { scope: permission.scope })
    return
  }
  if (actor.kind === 'user' && !personal) requireOpened(actor.blockedBy)
  if (actor.kind === 'user' && local) requireLocal(actor)
  if (role === 'staff') return requireStaffGrant(actor, permission.staffGrant)
  if (!personal && withGrant) requireEntered(actor)
  if (grant !== undefined && withGrant) requireGrant(actor, grant, scope)
  if (module && !actor.modules.includes(module)) {
    throw fail('module_disabled', 'module', { module })
  }
  if (scope && actor.kind === 'token' && !actor.scopes.includes(scope)) {
    throw fail('scope_missing', 'needed', { scope })
  }
  requireOpen(actor.limits, limitedBy)
}

/**
 * Returns whether the actor could call a route with this permission. Without `withGrant` roles do not count, as in a monthly report: its own
 * grant covers all of it.
 */
export function mayCall(actor: Actor, permission: Permission, withGrant = true): boolean {
  if (permission.credential === 'web' && actor.kind !== 'user') return false
  try {
    authorize(actor, permission, withGrant)
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}
