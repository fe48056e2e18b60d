// The grants of the signed-in user, in the team and as staff of the provider: pages offer only actions that the server permits. All
// follow from the tables of the contract. The roles are read once for each team, except those of admins who are no staff.
import { ProblemError } from '@pharos/contract/client'
import { getSessionTokenRoute } from '@pharos/contract/session/session'
import { hasGrant, isForReading, neededRole, type Grant, type Role } from '@pharos/contract/role'
import type { Permission } from '@pharos/contract/route'
import {
  hasStaffGrant,
  isStaffGrant,
  neededStaffRole,
  neededStaffRoleInTeam,
  staffHasGrant,
  type StaffAccess,
  type StaffGrant,
  type StaffRole,
} from '@pharos/contract/staff-role'
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { answerOf, invalidate, queryClient } from './queries.ts'
import { useUser } from './use-session.ts'

/** Reports whether the user's roles have the grant. */
export type May = (grant: Grant | StaffGrant) => boolean

type Held = {
  readonly roles: readonly Role[]
  readonly staff_roles: readonly StaffRole[]
  /** The open access of staff to a team of which they are no member. */
  readonly staff_access: StaffAccess | null
}

/** Interval in which changed roles take effect if no page is opened. */
const refreshMs = 60_000
const adminOnly: Held = { roles: ['admin'], staff_roles: [], staff_access: null }

/** The access of staff has ended, here or in another tab: the pages of the team are replaced. */
queryClient.getQueryCache().subscribe((event) => {
  const error = event.type === 'updated' && event.action.type === 'error' ? event.action.error : undefined
  if (error instanceof ProblemError && error.problem.code === 'reason_required')
    void invalidate(getSessionTokenRoute)
})

function useHeld(refetchInterval: number | false = false) {
  const user = useUser()
  const isKnownAdmin = user !== undefined && user.current_team.is_admin && !user.is_staff
  const { data, error, refetch } = useQuery({
    ...answerOf(getSessionTokenRoute, {}),
    enabled: user !== undefined && !isKnownAdmin,
    staleTime: refreshMs,
    refetchInterval,
  })
  const held: Held | undefined = isKnownAdmin ? adminOnly : data?.token
  return { held, error, refetch }
}

/** Whether the roles are known; the frame shows pages only afterwards. */
export function useRolesState(): {
  readonly isKnown: boolean
  /** False for staff who are no member and have no open access: the team is closed to them. */
  readonly isInTeam: boolean
  readonly error: unknown
  readonly retry: () => void
} {
  const { held, error, refetch } = useHeld(refreshMs)
  const isInTeam = held === undefined || held.roles.length > 0 || held.staff_access !== null
  return { isKnown: held !== undefined, isInTeam, error, retry: () => void refetch() }
}

/** Returns the open access of staff to the current team; undefined for members. */
export const useStaffAccess = (): StaffAccess | undefined => useHeld().held?.staff_access ?? undefined

function has(
  { roles, staff_roles: staffRoles, staff_access: access }: Held,
  grant: Grant | StaffGrant,
): boolean {
  if (isStaffGrant(grant)) return hasStaffGrant(staffRoles, grant)
  if (access === null) return hasGrant(roles, grant)
  return (access.change || isForReading(grant)) && staffHasGrant(staffRoles, grant)
}

/** Returns whether the user has each grant; all false before the roles are known. */
export function useMay(): May {
  const { held } = useHeld()
  return useCallback((grant: Grant | StaffGrant) => held !== undefined && has(held, grant), [held])
}

export const useGrant = (grant: Grant | StaffGrant): boolean => useMay()(grant)

/** Reports whether the staff roles of the user permit an operation of staff; true for all others. */
export function useMayAsStaff(permission: Permission | undefined): boolean {
  const may = useMay()
  const grant = permission && 'staffGrant' in permission ? permission.staffGrant : undefined
  return grant === undefined || may(grant)
}

/** The grants for reading the objects of a module. */
const grantsOfModules: Readonly<Record<string, Grant>> = {
  inventory: 'inventory.see',
  ipam: 'ipam.see',
  lighthouse: 'lighthouse.see',
  shield: 'shield.see',
  dns: 'dns.see',
}

/** Returns a function that reports whether the team has the module and the user may read its objects. */
export function useSeenModules(): (module: string) => boolean {
  const enabled = useUser()?.enabled_modules
  const may = useMay()
  return useCallback(
    (module: string) => {
      const grant = grantsOfModules[module]
      return enabled?.includes(module) === true && (grant === undefined || may(grant))
    },
    [enabled, may],
  )
}

export const useHasModule = (module: string): boolean => useSeenModules()(module)

/** The tooltip of a disabled action: who can use it. */
export function onlyWith(grant: Grant | StaffGrant): string {
  if (isStaffGrant(grant)) return `Needs ${neededStaffRole(grant)}.`
  const token = queryClient.getQueryData(answerOf(getSessionTokenRoute, {}).queryKey)?.token
  if (token?.staff_access == null) return `Needs ${neededRole(grant)}. Ask an admin of your team.`
  return staffHasGrant(token.staff_roles, grant)
    ? 'You opened the team for reading only.'
    : `Needs ${neededStaffRoleInTeam(grant)}.`
}
