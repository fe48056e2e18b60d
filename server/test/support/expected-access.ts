// The expected access of an identity to a route with a declared permission: a table written from the contract, independent of the
// server's code. The existence of the object is checked elsewhere.
import type { ProblemCode } from '@pharos/contract/problem'
import { hasGrant, type Role } from '@pharos/contract/role'
import { isCustomerChange } from '@pharos/contract/answers'
import { isOfTeamInPath, type Permission, type Route } from '@pharos/contract/route'
import { hasStaffGrant, staffHasGrant } from '@pharos/contract/staff-role'
import type { Identity } from './callers.ts'

/** The roles of the test's people; the roles of an API token follow from its `is_admin`. */
const rolesOf = ({ isAdmin }: Holder): readonly Role[] => [isAdmin ? 'admin' : 'editor']

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
const modulesOf = { red: all, blue: all, strict: all, closed: all, bare: [] as string[] }

/**
 * Returns `pass` or the code of the refusal. A missing second factor has precedence over everything else, a missing role over
 * modules and scopes.
 */
export function expectedAccessOf(route: Route, identity: Identity): 'pass' | ProblemCode {
  const { permission } = route
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
    ? expectedAccessOfHolder(route, identity, isOfTeamInPath(route))
    : 'pass'
}

/** No proof of the session opens its team. */
export const lacksSignIn = (identity: Identity): boolean =>
  identity.kind === 'user' &&
  (identity.openedBy === 'foreign provider' || identity.team === 'closed' || identity.isBound === true)

/** `isInPath`: the use case checks the grant in the team of the path; the subject contains the answer. */
function expectedAccessOfHolder(route: Route, holder: Holder, isInPath: boolean): 'pass' | ProblemCode {
  const { permission } = route
  if (holder.demoElsewhere) return 'forbidden'
  if (permission.credential !== 'web' && permission.credential !== 'any') return 'pass'
  const { role, module, scope, grant, personal, local } = permission
  if (lacksSignIn(holder) && !personal) return 'sign_in_required'
  if (holder.openedBy !== 'account' && local) return 'local_sign_in_required'
  if (holder.lacksSecondFactor && !personal) return 'second_factor_required'
  if (role === 'staff') return hasStaffGrant(holder.staffRoles, permission.staffGrant) ? 'pass' : 'forbidden'
  if (holder.isStaff && !personal && !isInPath) {
    if (holder.entry === 'none') return 'reason_required'
    if (grant !== undefined && !staffHasGrant(holder.staffRoles, grant)) return 'forbidden'
  } else if (grant !== undefined && !isInPath && !hasGrant(rolesOf(holder), grant)) return 'forbidden'
  if (module !== undefined && !modulesOf[holder.team].includes(module)) return 'module_disabled'
  if (scope !== undefined && holder.kind === 'token' && !holder.scopes.includes(scope)) return 'scope_missing'
  if (holder.isLimited && permission.limitedBy === undefined) return 'resource_limited'
  if (holder.isStaff && holder.entry === 'reading' && isCustomerChange(route) && !isInPath) return 'forbidden'
  return 'pass'
}

const namesResource = /\{(zone|port_id|service_id|announcement_id|prefix_id|letter_id|template_id)\}/
/** Their body or query names the resource. */
const namingInRequest = ['createAnnouncements', 'importZone', 'listPtrRecords', 'updatePtrRecords']

/**
 * The answer to a limited token that may call the operation, for an object outside of its limit; undefined if the
 * operation names no object.
 */
export function outsideOfLimit({ name, path }: Route): ProblemCode | undefined {
  if (namesResource.test(path)) return 'not_found'
  return namingInRequest.includes(name) ? 'resource_limited' : undefined
}
