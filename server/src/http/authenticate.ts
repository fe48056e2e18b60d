// From a request's credential to an actor, and from the route's permission to yes or no. Where credentials are kept is
// not known here: the composition root hands in who can check them.
import type { Permission } from '@pharos/contract/route'
import { Failure } from '../runtime/error.ts'
import type { Actor } from '../runtime/operation.ts'

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
    throw new Failure(
      'unauthenticated',
      'Send `Authorization: Bearer <access token>` or `Authorization: Token <API token>`.',
    )
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
    throw new Failure(
      'unauthenticated',
      'This operation needs a credential: `Authorization: Token <API token>`, or `Bearer` in the web application.',
    )
  }
  if (credential.scheme === 'bearer') return credentials.bearer(credential.value, fresh)
  if (permission.credential === 'any') return credentials.token(credential.value, address, fresh)
  throw new Failure(
    'unauthenticated',
    'This operation belongs to the web application: an API token is not accepted.',
  )
}

/** Throws when the actor may not call a route with this permission. Pure. */
export function authorize(actor: Actor, permission: Permission): void {
  if (permission.credential !== 'web' && permission.credential !== 'any') return
  const { role, module, scope, personal } = permission
  if (actor.kind === 'user' && actor.lacksSecondFactor && !personal) {
    throw new Failure(
      'second_factor_required',
      'The team requires a second factor: set one up (`POST /v3/session/totp`), or switch to another team.',
    )
  }
  if (role === 'staff' && !actor.isStaff)
    throw new Failure('forbidden', 'Only the staff of the provider may do this.')
  if (role === 'admin' && !actor.isAdmin && !actor.isStaff)
    throw new Failure('forbidden', 'Only an admin of the team may do this.')
  if (module && !actor.modules.includes(module)) {
    throw new Failure(
      'module_disabled',
      `The module ${module} is not enabled for the team; ask your provider.`,
    )
  }
  if (scope && actor.kind === 'token' && !actor.scopes.includes(scope)) {
    throw new Failure('scope_missing', `The API token needs the scope ${scope}.`)
  }
}
