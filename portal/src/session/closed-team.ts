// Which team is closed to the user for want of a second factor: the server says so in answer to whatever is asked, and it
// is remembered until the team lets the user in.
import { ProblemError } from '@pharos/contract/client'
import { getTeamRoute } from '@pharos/contract/team'
import { useSyncExternalStore } from 'react'
import { call } from '../api/call.ts'
import { queryClient, teamIdNow } from '../api/queries.ts'

let closedTeamId: number | undefined
const listeners = new Set<() => void>()

const isRefusal = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.code === 'second_factor_required'

function change(teamId: number | undefined): void {
  if (closedTeamId === teamId) return
  closedTeamId = teamId
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

/** The id of the closed team, which may be another than the one that is worked in now. */
export const useClosedTeam = (): number | undefined => useSyncExternalStore(subscribe, () => closedTeamId)

/** Asks the team; once it lets the user in, everything is asked for anew. */
export async function tryTeamAgain(): Promise<void> {
  try {
    await call(getTeamRoute, { params: { team_id: 'current' } })
  } catch (error) {
    if (isRefusal(error)) return
    throw error
  }
  change(undefined)
  await queryClient.resetQueries()
}
