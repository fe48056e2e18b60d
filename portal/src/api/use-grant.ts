// The grants of the signed-in user in the team: pages offer only actions that the server permits. Admins and staff have every
// grant; the roles of others are read once for each team.
import { getSessionTokenRoute } from '@pharos/contract/session/session'
import { hasGrant, neededRole, type Grant } from '@pharos/contract/role'
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { answerOf } from './queries.ts'
import { useUser } from './use-session.ts'

/** Reports whether the user's roles have the grant. */
export type May = (grant: Grant) => boolean

/** Interval in which changed roles take effect if no page is opened. */
const refreshMs = 60_000

function useRoles(refetchInterval: number | false = false) {
  const user = useUser()
  const hasEvery = user !== undefined && (user.current_team.is_admin || user.is_staff)
  const { data, error, refetch } = useQuery({
    ...answerOf(getSessionTokenRoute, {}),
    enabled: user !== undefined && !hasEvery,
    staleTime: refreshMs,
    refetchInterval,
  })
  return { hasEvery, roles: data?.token.roles, error, refetch }
}

/** Whether the roles are known; the frame shows pages only afterwards. */
export function useRolesState(): {
  readonly isKnown: boolean
  readonly error: unknown
  readonly retry: () => void
} {
  const { hasEvery, roles, error, refetch } = useRoles(refreshMs)
  return { isKnown: hasEvery || roles !== undefined, error, retry: () => void refetch() }
}

/** Returns whether the user has each grant; all false before the roles are known. */
export function useMay(): May {
  const { hasEvery, roles } = useRoles()
  return useCallback(
    (grant: Grant) => hasEvery || (roles !== undefined && hasGrant(roles, grant)),
    [hasEvery, roles],
  )
}

export const useGrant = (grant: Grant): boolean => useMay()(grant)

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
export const onlyWith = (grant: Grant): string => `Needs ${neededRole(grant)}. Ask an admin of your team.`
