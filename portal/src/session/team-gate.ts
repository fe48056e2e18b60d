// The team that the session does not open: the user lacks a second factor, or has to sign in with the identity provider of the team. The server rejects
// requests with a code for each, and the team is stored until it opens.
import { ProblemError } from '@pharos/contract/client'
import { getTeamRoute } from '@pharos/contract/team/team'
import { useSyncExternalStore } from 'react'
import { call } from '../api/call.ts'
import { queryClient, teamIdNow } from '../api/queries.ts'
import { neededProviderOf } from '../api/single-sign-on.ts'

export type Gate = {
  readonly teamId: number
  readonly needs: 'second_factor' | 'sign_in'
  /** Key of the identity provider of the team, if it has one. */
  readonly provider: string | undefined
}

const needs: Readonly<Record<string, Gate['needs']>> = {
  second_factor_required: 'second_factor',
  sign_in_required: 'sign_in',
}

let gate: Gate | undefined
const listeners = new Set<() => void>()

function change(next: Gate | undefined): void {
  if (gate?.teamId === next?.teamId && gate?.needs === next?.needs && gate?.provider === next?.provider)
    return
  gate = next
  for (const listener of listeners) listener()
}

/** Returns whether the error is about the team, and stores what it needs. */
function take(error: unknown): boolean {
  const needed = error instanceof ProblemError ? needs[error.problem.code] : undefined
  const teamId = teamIdNow()
  if (needed === undefined || teamId === undefined) return false
  change({ teamId, needs: needed, provider: neededProviderOf(error) })
  return true
}

queryClient.getQueryCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'error') take(event.action.error)
})

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns what a team needs, which may be another than the current one. */
export const useGate = (): Gate | undefined => useSyncExternalStore(subscribe, () => gate)

/** Requests the team again; once it opens, every query is repeated. */
export async function retryGatedTeam(): Promise<void> {
  try {
    await call(getTeamRoute, { params: { team_id: 'current' } })
  } catch (error) {
    if (take(error)) return
    throw error
  }
  change(undefined)
  await queryClient.resetQueries()
}
