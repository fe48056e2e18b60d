// The query cache. Every key starts with the team, so that a change of team never shows another team's rows.
import { ProblemError, type CallInput } from '@pharos/contract/client'
import type { ResponseOf, Route } from '@pharos/contract/route'
import { QueryClient, queryOptions, useQuery, type QueryKey } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { call } from './call.ts'
import { session } from './session.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A rejected request would be rejected again; one without an answer is retried.
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

/** Returns the query of an operation, keyed by team, operation and input. */
export function answerOf<R extends Route>(route: R, input: CallInput<R>) {
  return queryOptions({
    queryKey: [teamIdNow(), route.name, input],
    meta: { group: route.group },
    queryFn: async ({ signal }): Promise<ResponseOf<R>> =>
      (await call(route, { ...input, signal })).body as ResponseOf<R>,
  })
}

/**
 * Returns the query of an operation whose last answer stays on the screen (`isPlaceholderData`) while the next one is loaded. It
 * stays only if the two differ in query or body: an answer to another team or object never appears.
 */
export function answerOverLastOf<R extends Route>(route: R, input: CallInput<R>) {
  const options = answerOf(route, input)
  const subject = subjectOf(options.queryKey)
  return {
    ...options,
    placeholderData: (
      last: ResponseOf<R> | undefined,
      query: { readonly queryKey: QueryKey } | undefined,
    ): ResponseOf<R> | undefined => (query && subjectOf(query.queryKey) === subject ? last : undefined),
  }
}

const subjectOf = ([team, name, input]: QueryKey): string =>
  JSON.stringify([team, name, (input as { readonly params?: object }).params])

export const useAnswer = <R extends Route>(
  route: R,
  input: CallInput<R>,
  { refetchInterval }: { refetchInterval?: number } = {},
) => useQuery({ ...answerOf(route, input), refetchInterval: () => refetchIntervalOf(route, refetchInterval) })

/** Groups of operations whose changes the stream announces. */
export type AnswerGroup = 'Alerts' | 'Analysis' | 'BYOIP' | 'DNS' | 'Inventory'
/** Changes of served zones are found by polling. */
const streamed: ReadonlySet<string> = new Set<AnswerGroup>(['Analysis', 'BYOIP'])
/** Polling while the stream is connected: it does not announce every field. */
const streamedMs = 60_000

/** Undefined until the first attempt to connect has ended. */
let isLive: boolean | undefined
const liveListeners = new Set<() => void>()

/** Sets whether the stream is connected, undefined while it connects for the first time; see stream.ts. */
export function setLive(live: boolean | undefined): void {
  if (live === isLive) return
  isLive = live
  for (const listener of liveListeners) listener()
}

function subscribeToLive(listener: () => void): () => void {
  liveListeners.add(listener)
  return () => void liveListeners.delete(listener)
}
export const useLive = (): boolean | undefined => useSyncExternalStore(subscribeToLive, () => isLive)

/** Returns the polling interval in milliseconds, false without polling: longer while the stream announces changes. */
export function refetchIntervalOf({ group }: Route, ms: number | undefined): number | false {
  if (ms === undefined) return false
  return isLive && streamed.has(group) ? Math.max(ms, streamedMs) : ms
}

/** Marks all answers of these operations as out of date; those on the page are requested again. */
export function invalidate(...routes: readonly Route[]): Promise<unknown> {
  const names = new Set(routes.map(({ name }) => name))
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => names.has(String(queryKey[1])) })
}
