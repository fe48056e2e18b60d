// Whether the server can be asked, as the answers on the page tell: what is shown stays, and somebody is to know that it
// is not new. Nothing is asked here; what failed is known until it, or anything else, succeeds.
import { ProblemError } from '@pharos/contract/client'
import { onlineManager, type QueryCacheNotifyEvent } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { queryClient } from '../api/queries.ts'

const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Not the server's answer to the question: none came, or that it cannot be asked now. */
export function isAway(error: unknown): boolean {
  if (error instanceof ProblemError) return gatewayStatuses.has(error.problem.status)
  // What a browser throws where no answer came, and what reading the page of a gateway throws.
  return error instanceof TypeError || error instanceof SyntaxError
}

/** The parts of the service that the answer calls missing, where it is the server itself that says so. */
const partsOf = (error: unknown): string =>
  error instanceof ProblemError ? (error.problem.degraded ?? []).join(', ') : ''

/** Queries that somebody looks at and that failed so: by their hash, the missing parts, empty for the whole server. */
const failing = new Map<string, string>()

export type Away =
  | { readonly kind: 'no' }
  | { readonly kind: 'offline' }
  | { readonly kind: 'server' }
  | { readonly kind: 'part'; readonly parts: string }

let away: Away = { kind: 'no' }

function judge(): Away {
  if (!onlineManager.isOnline()) return { kind: 'offline' }
  const parts = [...failing.values()]
  if (parts.length === 0) return { kind: 'no' }
  const named = [...new Set(parts.filter((part) => part !== ''))]
  return named.length === 0 ? { kind: 'server' } : { kind: 'part', parts: named.join(', ') }
}

function note(event: QueryCacheNotifyEvent): void {
  const { query, type } = event
  if (type === 'removed' || (type === 'observerRemoved' && query.getObserversCount() === 0))
    failing.delete(query.queryHash)
  if (type !== 'updated') return
  const { action } = event
  if ((action.type === 'failed' || action.type === 'error') && isAway(action.error) && query.isActive())
    failing.set(query.queryHash, partsOf(action.error))
  if (action.type === 'success') {
    failing.delete(query.queryHash)
    // Whoever answers one question is there.
    for (const [hash, parts] of failing) if (parts === '') failing.delete(hash)
  }
}

function subscribe(listener: () => void): () => void {
  const update = () => {
    const next = judge()
    if (JSON.stringify(next) === JSON.stringify(away)) return
    away = next
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

export const useAway = (): Away => useSyncExternalStore(subscribe, () => away)

/** Whether the server says of itself that it is ready. */
export async function isReady(): Promise<boolean> {
  try {
    return (await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}

/** What failed is asked for again, where it is shown. */
export const askAgain = (): Promise<void> =>
  queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => isAway(state.error) })
