// How answers are kept: every key begins with the team, so that switching the team never shows another team's rows.
import { ProblemError, type CallInput } from '@pharos/contract/client'
import type { ResponseOf, Route } from '@pharos/contract/route'
import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { call } from './call.ts'
import { session } from './session.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the server has refused it refuses again; what did not arrive is worth another try.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ProblemError && error.problem.status < 500),
      retryDelay: (failures) => 500 * 2 ** failures,
    },
  },
})

export function teamIdNow(): number {
  const state = session.get()
  return state.kind === 'in' ? state.user.current_team.id : 0
}

/** The answer of an operation, under a key of the team, the operation and what it is asked. */
export function answerOf<R extends Route>(route: R, input: CallInput<R>) {
  return queryOptions({
    queryKey: [teamIdNow(), route.name, input],
    meta: { group: route.group },
    queryFn: async ({ signal }): Promise<ResponseOf<R>> =>
      (await call(route, { ...input, signal })).body as ResponseOf<R>,
  })
}

export const useAnswer = <R extends Route>(
  route: R,
  input: CallInput<R>,
  { refetchInterval }: { refetchInterval?: number } = {},
) => useQuery({ ...answerOf(route, input), refetchInterval: () => paceOf(route, refetchInterval) })

/** Groups of operations whose answers the stream says when to ask for again. */
export type AnswerGroup = 'Analysis' | 'BYOIP'
const told: ReadonlySet<string> = new Set<AnswerGroup>(['Analysis', 'BYOIP'])
/** How often one looks all the same: a message tells of what is news, and not of every field. */
const toldMs = 60_000

let isLive = false
const liveListeners = new Set<() => void>()

/** Whether what happens is told at once; see stream.ts. */
export function setLive(live: boolean): void {
  if (live === isLive) return
  isLive = live
  for (const listener of liveListeners) listener()
}

function subscribeToLive(listener: () => void): () => void {
  liveListeners.add(listener)
  return () => void liveListeners.delete(listener)
}
export const useLive = (): boolean => useSyncExternalStore(subscribeToLive, () => isLive)

/** How long to wait before the answer is asked for again, milliseconds; false for never. */
export function paceOf({ group }: Route, ms: number | undefined): number | false {
  if (ms === undefined) return false
  return isLive && told.has(group) ? Math.max(ms, toldMs) : ms
}

/** Everything that was answered by these operations is asked for again where it is shown. */
export function forget(...routes: readonly Route[]): Promise<unknown> {
  const names = new Set(routes.map(({ name }) => name))
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => names.has(String(queryKey[1])) })
}
