// Above an answer that stays on the page although its refresh failed: the reason, its age, and Retry. While the server is out of
// reach, the banner of the frame has the same.
import type { UseQueryResult } from '@tanstack/react-query'
import { isConnectionError } from '../api/connection.ts'
import { Problem } from './problem.tsx'

export type Refreshed = Pick<UseQueryResult, 'error' | 'dataUpdatedAt' | 'refetch'>

/** Renders only if an answer could not be loaded or updated. */
export function NotUpdated({ answers }: { readonly answers: readonly Refreshed[] }) {
  const failed = answers.filter(({ error }) => error !== null && !isConnectionError(error))
  if (failed.length === 0) return null
  return (
    <Problem
      error={failed[0]!.error}
      // 0 if it was never loaded.
      asOf={Math.min(...failed.map(({ dataUpdatedAt }) => dataUpdatedAt)) || undefined}
      retry={() => Promise.all(failed.map(({ refetch }) => refetch()))}
    />
  )
}
