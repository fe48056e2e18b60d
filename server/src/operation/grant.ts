// The grants of a caller, by the tables of contract/src/role.ts and staff-role.ts, and the refusal of callers who lack one.
import { hasGrant, neededRole, tokenRole, type Grant, type Role } from '@pharos/contract/role'
import {
  hasStaffGrant,
  neededStaffRole,
  neededStaffRoleInTeam,
  staffHasGrant,
  type StaffGrant,
} from '@pharos/contract/staff-role'
import { staffProviderKey } from '@pharos/contract/session/sso'
import { errorAt, fail, type Failure } from '../runtime/error.ts'
import type { Actor, StaffActor, TeamBlock, TokenActor, UserActor } from './operation.ts'

/** A caller in a team. Staff have the grants of a member, or those of their staff roles while they have an open access. */
export type GrantHolder =
  | Pick<UserActor, 'kind' | 'roles' | 'staffRoles' | 'access'>
  | Pick<TokenActor, 'kind' | 'roles'>

const hasEntered = (holder: GrantHolder) => holder.kind === 'user' && holder.access !== null

export const mayDo = (holder: GrantHolder, grant: Grant): boolean =>
  hasGrant(holder.roles, grant) ||
  (holder.kind === 'user' && hasEntered(holder) && staffHasGrant(holder.staffRoles, grant))

/** Throws `forbidden` unless a role of the caller has the grant; `scope` is the scope of the operation. */
export function requireGrant(holder: GrantHolder, grant: Grant, scope?: string): void {
  if (!mayDo(holder, grant)) throw lacksGrant(holder, grant, scope)
}

/** Returns the 403. For an API token it names the scope of the operation as well, so that one new token is enough. */
export function lacksGrant(holder: GrantHolder, grant: Grant, scope?: string): Failure {
  if (holder.kind === 'token') return fail('forbidden', 'tokenAdminOnly', { scope })
  return hasEntered(holder)
    ? fail('forbidden', 'staffRole', { role: neededStaffRoleInTeam(grant) })
    : fail('forbidden', 'role', { role: neededRole(grant) })
}

/** Throws `second_factor_required` or `sign_in_required` if the session does not open the team. */
export function requireOpened(block: TeamBlock | null): void {
  if (block === null) return
  if (block.reason === 'second_factor') throw fail('second_factor_required', 'team')
  throw signInRequired(block.provider === staffProviderKey ? 'staff' : 'team', block.provider)
}

function signInRequired(condition: 'team' | 'staff', provider: string | null): Failure {
  const errors =
    provider === null ? [] : [errorAt(['header', 'Authorization'], 'providerNeeded', { provider })]
  return fail('sign_in_required', condition, { errors })
}

/** Throws `local_sign_in_required` for a session that only identity providers of teams have opened. */
export function requireLocal({ isLocal }: Pick<UserActor, 'isLocal'>): void {
  if (!isLocal) throw fail('local_sign_in_required', 'account')
}

/** Throws `reason_required` for staff who are no member and have no open access to the team. */
export function requireEntered(holder: GrantHolder): void {
  if (holder.kind === 'user' && holder.roles.length === 0 && holder.access === null)
    throw fail('reason_required', 'team')
}

/** Throws `forbidden` for staff who have entered the team for reading. */
export function requireChangeAllowed(holder: GrantHolder): void {
  if (holder.kind === 'user' && holder.access?.change === false) throw fail('forbidden', 'accessForReading')
}

/** Throws `forbidden` unless a staff role of the user has the grant. Programs of the provider have scopes instead. */
export function requireStaffGrant(actor: Actor | StaffActor, grant: StaffGrant): void {
  if (actor.kind === 'staff_token') return
  if (actor.kind === 'user' && actor.lacksStaffSignIn) throw signInRequired('staff', staffProviderKey)
  if (!actor.isStaff) throw fail('forbidden', 'staffOnly')
  if (!hasStaffGrant(actor.staffRoles, grant))
    throw fail('forbidden', 'staffRole', { role: neededStaffRole(grant) })
}

/** Whether the caller reads the events, flows and search results of every team: staff with the role for it. */
export const seesAllTeams = ({ staffRoles }: Pick<Actor, 'staffRoles'>): boolean =>
  hasStaffGrant(staffRoles, 'operator.see')

export const isAdmin = ({ roles }: Pick<GrantHolder, 'roles'>): boolean => roles.includes('admin')

/** API tokens have one role within their scopes. */
export const rolesOfToken = (isAdminToken: boolean): readonly Role[] => [tokenRole(isAdminToken)]
