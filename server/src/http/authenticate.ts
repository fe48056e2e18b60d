// From a request's credential to an actor, and from the route's permission to yes or no. Where credentials are kept is
// not known here: the composition root hands in who can check them.
import type { Permission } from '@pharos/contract/route'
import { fail } from '../runtime/error.ts'
import type { Actor } from '../operation/operation.ts'

export type Credential = { readonly scheme: 'bearer' | 'token'; readonly value: string }

/**
 * Checks credentials. Both throw `unauthenticated` when the credential is not valid, whatever the reason. `fresh`: nothing
 * that is remembered of it counts.
 */
export type Credentials = {
  bearer(accessToken: string, fresh?: boolean): Promise<Actor>
  token(apiToken: string, address: string, fresh?: boolean): Promise<Actor>
}

/** The credential of an Authorization header; undefined without one, 401 when it is of no scheme of ours. */
export function parseAuthorization(header: string | undefined): Credential | undefined {
  if (header === undefined) return undefined
  const match = /^(bearer|token) +([\x21-\x7e]{1,4096})$/i.exec(header)
  if (!match) {
    throw fail('unauthenticated', 'credentialMissing')
  }
  return { scheme: match[1]!.toLowerCase() as Credential['scheme'], value: match[2]! }
}

/** The actor that the permission asks for; null where it asks for none and none was given. */
export async function authenticate(
  credentials: Credentials,
  permission: Permission,
  header: string | undefined,
  address: string,
  fresh = false,
): Promise<Actor | null> {
  // An operation whose credential is in the body, or in a source's own scheme, does not look at the header.
  if (permission.credential === 'none' || permission.credential === 'source') return null
  const credential = parseAuthorization(header)
  if (!credential) {
    if (permission.credential === 'optional') return null
    throw fail('unauthenticated', 'credentialMissing')
  }
  if (credential.scheme === 'bearer') return credentials.bearer(credential.value, fresh)
  if (permission.credential === 'any') return credentials.token(credential.value, address, fresh)
  throw fail('unauthenticated', 'webOnly')
}

/** Throws when the actor may not call a route with this permission. Pure. */
export function authorize(actor: Actor, permission: Permission): void {
  if (permission.credential !== 'web' && permission.credential !== 'any') return
  const { role, module, scope, personal } = permission
  if (actor.kind === 'user' && actor.lacksSecondFactor && !personal) {
    throw fail('second_factor_required', 'team')
  }
  if (role === 'staff' && !actor.isStaff) throw fail('forbidden', 'staffOnly')
  if (role === 'admin' && !actor.isAdmin && !actor.isStaff) throw fail('forbidden', 'adminOnly')
  if (module && !actor.modules.includes(module)) {
    throw fail('module_disabled', 'module', { module })
  }
  if (scope && actor.kind === 'token' && !actor.scopes.includes(scope)) {
    throw fail('scope_missing', 'needed', { scope })
  }
}
