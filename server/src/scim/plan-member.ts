// What a user of SCIM is to be in the team: member with the roles of their groups, or none. Pure.
import { orderedRoles, type Role } from '@pharos/contract/role'

export type ProvisionFacts = {
  readonly active: boolean
  /** Roles of the groups that the provider maps. */
  readonly mapped: readonly Role[]
  /** The membership of the account in the team. */
  readonly membership: {
    readonly roles: readonly Role[]
    readonly source: 'manual' | 'provider' | 'scim'
    /** SCIM of this provider made it, or has adopted it. */
    readonly isOwn: boolean
  } | null
  /** The account is of staff, or for the demo: no identity provider of a customer decides on it. Or it belongs to another user of the provider. */
  readonly isReserved: boolean
  /** The domain of the address is verified for the team now, and bound to the provider. */
  readonly isDomainBound: boolean
  /** Who ended an earlier membership; null if there was none. */
  readonly endedBy: 'team' | 'operator' | 'scim' | null
}

export type MemberPlan =
  | { readonly kind: 'keep' | 'remove' }
  /** `adopt`: signing in with a provider has made the member, whose roles SCIM decides from now on. */
  | { readonly kind: 'join' | 'adopt' | 'update'; readonly roles: readonly Role[] }

const keep: MemberPlan = { kind: 'keep' }

/** Removal always wins. Members that an admin has added or whose roles an admin has set are no business of SCIM, except that it removes its own. */
export function planMember(facts: ProvisionFacts, defaultRoles: readonly Role[]): MemberPlan {
  const { active, mapped, membership, isReserved, isDomainBound, endedBy } = facts
  const roles = active ? orderedRoles(mapped.length > 0 ? mapped : defaultRoles) : []
  if (roles.length === 0) return membership?.isOwn === true ? { kind: 'remove' } : keep
  if (membership?.isOwn === true)
    return membership.source === 'manual' || orderedRoles(membership.roles).join() === roles.join()
      ? keep
      : { kind: 'update', roles }
  if (isReserved || !isDomainBound) return keep
  if (membership) return membership.source === 'manual' ? keep : { kind: 'adopt', roles }
  return endedBy === null || endedBy === 'scim' ? { kind: 'join', roles } : keep
}
