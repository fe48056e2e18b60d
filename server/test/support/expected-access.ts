// The expected access of an identity to a route with a declared permission: a table written from the contract, independent of the
// server's code. The existence of the object is checked elsewhere.
import type { ProblemCode } from '@pharos/contract/problem'
import type { Permission } from '@pharos/contract/route'
import type { Identity } from './callers.ts'

type Holder = Extract<Identity, { kind: 'user' | 'token' }>

/** The identities that each kind of credential accepts. */
const admitted: Record<Permission['credential'], readonly Identity['kind'][]> = {
  // The header is ignored: the credential is in the body.
  none: ['guest', 'stranger', 'misplaced', 'source', 'user', 'token', 'staff_token'],
  optional: ['guest', 'user'],
  web: ['user'],
  any: ['user', 'token', 'staff_token'],
  source: ['source'],
}

const all = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns']
const modulesOf = { red: all, blue: all, strict: all, bare: [] as string[] }

/**
 * Returns `pass` or the code of the refusal. A missing second factor has precedence over everything else, a missing role over
 * modules and scopes.
 */
export function expectedAccessOf(permission: Permission, identity: Identity): 'pass' | ProblemCode {
  if (!admitted[permission.credential].includes(identity.kind)) {
    const isMisplaced = identity.kind === 'misplaced' && permission.credential !== 'source'
    return isMisplaced ? 'wrong_scheme' : 'unauthenticated'
  }
  if (permission.credential === 'none' || permission.credential === 'source') return 'pass'
  if (identity.kind === 'staff_token') {
    if (permission.credential !== 'any' || permission.role !== 'staff') return 'forbidden'
    return identity.scopes.includes(permission.scope) ? 'pass' : 'scope_missing'
  }
  return identity.kind === 'user' || identity.kind === 'token'
    ? expectedAccessOfHolder(permission, identity)
    : 'pass'
}

function expectedAccessOfHolder(permission: Permission, holder: Holder): 'pass' | ProblemCode {
  if (holder.demoElsewhere) return 'forbidden'
  if (permission.credential !== 'web' && permission.credential !== 'any') return 'pass'
  const { role, module, scope, personal } = permission
  if (holder.lacksSecondFactor && !personal) return 'second_factor_required'
  if (role === 'staff' && !holder.isStaff) return 'forbidden'
  if (role === 'admin' && !holder.isStaff && !holder.isAdmin) return 'forbidden'
  if (module !== undefined && !modulesOf[holder.team].includes(module)) return 'module_disabled'
  if (scope !== undefined && holder.kind === 'token' && !holder.scopes.includes(scope)) return 'scope_missing'
  return 'pass'
}
