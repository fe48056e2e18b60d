// The team that the user cannot open without a second factor: the server rejects requests with a separate code, and
// the team is stored until it opens.
import { ProblemError } from '@pharos/contract/client'
import { getTeamRoute } from '@pharos/contract/team/team'
import { useSyncExternalStore } from 'react'
import { call } from '../api/call.ts'
import { queryClient, teamIdNow } from '../api/queries.ts'

let gatedTeamId: number | undefined
const listeners = new Set<() => void>()

const isRefusal = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.code === 'second_factor_required'

function change(teamId: number | undefined): void {
  if (gatedTeamId === teamId) return
  gatedTeamId = teamId
  for (const listener of listeners) listener()
}

queryClient.getQueryCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'error' && isRefusal(event.action.error))
    change(teamIdNow())
})

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns the id of the team that needs a second factor, which may be another than the current one. */
export const useGatedTeamId = (): number | undefined => useSyncExternalStore(subscribe, () => gatedTeamId)

/** Requests the team again; once it opens, every query is repeated. */
export async function retryGatedTeam(): Promise<void> {
  try {
    await call(getTeamRoute, { params: { team_id: 'current' } })
  } catch (error) {
    if (isRefusal(error)) return
    throw error
  }
  change(undefined)
  await queryClient.resetQueries()
}
