// Detects whether the server is reachable from the queries on the page, without requests of its own. A failed query counts
// until it, or any other, succeeds.
import { ProblemError } from '@pharos/contract/client'
import { onlineManager, type QueryCacheNotifyEvent } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { queryClient } from './queries.ts'

const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Returns whether the server did not answer, or a gateway reported it as unavailable. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof ProblemError) return gatewayStatuses.has(error.problem.status)
  // A browser throws a TypeError if no answer came; reading the page of a gateway as JSON throws a SyntaxError.
  return error instanceof TypeError || error instanceof SyntaxError
}

/** The parts of the service that the server itself reports as missing. */
const missingPartsOf = (error: unknown): string =>
  error instanceof ProblemError ? (error.problem.degraded ?? []).join(', ') : ''

/** Failed queries in use: by their hash, the missing parts; empty text for the whole server. */
const failing = new Map<string, string>()

export type Connection =
  | { readonly kind: 'up' }
  | { readonly kind: 'offline' }
  | { readonly kind: 'server_down' }
  | { readonly kind: 'part_down'; readonly parts: string }

let connection: Connection = { kind: 'up' }

function judge(): Connection {
  if (!onlineManager.isOnline()) return { kind: 'offline' }
  const parts = [...failing.values()]
  if (parts.length === 0) return { kind: 'up' }
  const named = [...new Set(parts.filter((part) => part !== ''))]
  return named.length === 0 ? { kind: 'server_down' } : { kind: 'part_down', parts: named.join(', ') }
}

function note(event: QueryCacheNotifyEvent): void {
  const { query, type } = event
  if (type === 'removed' || (type === 'observerRemoved' && query.getObserversCount() === 0))
    failing.delete(query.queryHash)
  if (type !== 'updated') return
  const { action } = event
  if (
    (action.type === 'failed' || action.type === 'error') &&
    isConnectionError(action.error) &&
    query.isActive()
  )
    failing.set(query.queryHash, missingPartsOf(action.error))
  if (action.type === 'success') {
    failing.delete(query.queryHash)
    // One answer proves that the server is up.
    for (const [hash, parts] of failing) if (parts === '') failing.delete(hash)
  }
}

function subscribe(listener: () => void): () => void {
  const update = () => {
    const next = judge()
    if (JSON.stringify(next) === JSON.stringify(connection)) return
    connection = next
    listener()
  }
  const ends = [
    queryClient.getQueryCache().subscribe((event) => {
      note(event)
      update()
    }),
    onlineManager.subscribe(update),
  ]
  return () => ends.forEach((end) => end())
}

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection)

/** Reports whether the server answers that it is ready. */
export async function isServerReady(): Promise<boolean> {
  try {
    return (await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}

/** Repeats the failed queries of the current page. */
export const refetchFailed = (): Promise<void> =>
  queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => isConnectionError(state.error) })
