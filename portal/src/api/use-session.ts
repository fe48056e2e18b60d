// The session as a component sees it.
import type { User } from '@pharos/contract/session/session'
import { useSyncExternalStore } from 'react'
import { session, type SessionState } from './session.ts'

export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.get)

/** Returns the signed-in user; undefined only while the frame is being left. */
export function useUser(): User | undefined {
  const state = useSession()
  return state.kind === 'in' ? state.user : undefined
}
