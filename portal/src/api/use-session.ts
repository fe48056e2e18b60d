// The session as a component sees it.
import type { User } from '@pharos/contract/session'
import { useSyncExternalStore } from 'react'
import { session, type SessionState } from './session.ts'

export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.get)

/** Returns the signed-in user; undefined only while the frame is being left. */
export function useUser(): User | undefined {
  const state = useSession()
  return state.kind === 'in' ? state.user : undefined
}

/** Reports whether the user may change what the team has: an admin of it, or staff of the provider. */
export function useIsAdmin(): boolean {
  const user = useUser()
  return user !== undefined && (user.current_team.is_admin || user.is_staff)
}

/** Reports whether the team has the module. */
export const useHasModule = (module: string): boolean => useUser()?.enabled_modules.includes(module) === true
