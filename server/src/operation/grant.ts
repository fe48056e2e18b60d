// The grants of a caller, by the table of contract/src/role.ts, and the refusal of callers who lack one.
import { hasGrant, neededRole, tokenRole, type Grant, type Role } from '@pharos/contract/role'
import { fail, type Failure } from '../runtime/error.ts'
import type { AnyActor } from './operation.ts'

/** A caller in a team. Staff have every grant in every team. */
export type GrantHolder = {
  readonly kind: 'user' | 'token'
  readonly roles: readonly Role[]
  readonly isStaff: boolean
}

export const mayDo = ({ roles, isStaff }: GrantHolder, grant: Grant): boolean =>
  isStaff || hasGrant(roles, grant)

/** Throws `forbidden` unless a role of the caller has the grant; `scope` is the scope of the operation. */
export function requireGrant(holder: GrantHolder, grant: Grant, scope?: string): void {
  if (!mayDo(holder, grant)) throw lacksGrant(holder.kind, grant, scope)
}

/** Returns the 403. For an API token it names the scope of the operation as well, so that one new token is enough. */
export const lacksGrant = (kind: AnyActor['kind'], grant: Grant, scope?: string): Failure =>
  kind === 'token'
    ? fail('forbidden', 'tokenAdminOnly', { scope })
    : fail('forbidden', 'role', { role: neededRole(grant) })

export const isAdmin = ({ roles }: Pick<GrantHolder, 'roles'>): boolean => roles.includes('admin')

/** API tokens have one role within their scopes. */
export const rolesOfToken = (isAdminToken: boolean): readonly Role[] => [tokenRole(isAdminToken)]
