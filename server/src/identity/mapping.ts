// The roles of a person from their groups, and what they change in the team. Pure.
import { orderedRoles, type Role } from '@pharos/contract/role'
import type { SignInReason } from '@pharos/contract/sign-in-reason'
import type { GroupMapping } from '@pharos/contract/team/provider'
import type { Assertion } from './identity-provider.ts'

export type MappingRules = {
  readonly mappings: readonly GroupMapping[]
  readonly defaultRoles: readonly Role[]
}

/** Returns the union of the roles of the groups, else the default roles; a reason if that is none. */
export function rolesOfGroups(
  { mappings, defaultRoles }: MappingRules,
  groups: Assertion['groups'],
): { readonly roles: readonly Role[]; readonly reason: SignInReason | null } {
  if (groups === 'overflow' && mappings.length > 0) return { roles: [], reason: 'groups_overflow' }
  const mapped = mappings.filter(({ group }) => groups !== 'overflow' && groups.includes(group))
  const roles = orderedRoles(mapped.length > 0 ? mapped.flatMap((one) => one.roles) : defaultRoles)
  return { roles, reason: roles.length === 0 ? 'not_assigned' : null }
}

export type MemberFacts = {
  /** Null: not a member. */
  readonly roles: readonly Role[] | null
  /** An admin has set the roles, or the platform file. */
  readonly isManual: boolean
  /** SCIM has set the roles. */
  readonly isScim: boolean
  /** An open invitation of the team is for the address, in a domain of the provider. */
  readonly isInvited: boolean
  /** An admin removed the person, who comes back by invitation only. */
  readonly isFormer: boolean
  readonly isLastAdmin: boolean
  /** SCIM of the provider decides who is a member. */
  readonly isProvisioned: boolean
}

export type MembershipChange =
  /** `invited`: joins with the roles of the invitation. */
  | { readonly kind: 'invited' }
  | { readonly kind: 'keep' }
  | { readonly kind: 'join' | 'update'; readonly roles: readonly Role[] }
  | { readonly kind: 'refuse'; readonly reason: SignInReason }

/** Roles that an admin has set stay. With SCIM a sign-in makes nobody a member, except by an invitation. The last admin of the team keeps the role. */
export function planMembership(
  rules: MappingRules,
  groups: Assertion['groups'],
  { roles: held, isManual, isScim, isInvited, isFormer, isLastAdmin, isProvisioned }: MemberFacts,
): MembershipChange {
  if (held !== null && (isManual || (isScim && isProvisioned))) return { kind: 'keep' }
  if (held === null && isInvited) return { kind: 'invited' }
  if (held === null && (isFormer || isProvisioned)) return { kind: 'refuse', reason: 'not_assigned' }
  const { roles, reason } = rolesOfGroups(rules, groups)
  if (reason !== null) return { kind: 'refuse', reason }
  if (held === null) return { kind: 'join', roles }
  if (isLastAdmin && !roles.includes('admin')) return { kind: 'keep' }
  return orderedRoles(held).join() === roles.join() ? { kind: 'keep' } : { kind: 'update', roles }
}
