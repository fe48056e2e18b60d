// The session as a component sees it.
import type { User } from '@pharos/contract/session'
import { useSyncExternalStore } from 'react'
import { session, type SessionState } from '../api/session.ts'

export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.get)

/** Within the frame somebody is signed in; while the frame goes away, nobody is. */
export function useUser(): User | undefined {
  const state = useSession()
  return state.kind === 'in' ? state.user : undefined
}
