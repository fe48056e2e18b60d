// The rows of a list, requested a page at a time as they come into view.
import type { CallInput } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { useQueries } from '@tanstack/react-query'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import type { PageOf } from './all-rows.ts'

/** The request of a list, apart from the page. */
export type ListRequest = { readonly params?: object; readonly query: object }

const pageRows = 100

export const inputOf = (request: ListRequest, offset: number, limit = pageRows) =>
  ({ ...request, query: { ...request.query, limit, offset } }) as CallInput<Route>

/**
 * Returns the row at an index, undefined while it is loading, and the answers to the further pages in view. `first` and `last` are
 * the indexes in view. All of them are polled at the interval.
 */
export function useRows<Row>(
  route: Route,
  request: ListRequest,
  page: PageOf<Row> | undefined,
  { first, last }: { readonly first: number; readonly last: number },
  refetchMs: number | undefined,
) {
  const from = Math.max(1, Math.floor(first / pageRows))
  const pages = Array.from(
    { length: Math.max(0, Math.floor(last / pageRows) - from + 1) },
    (_, at) => from + at,
  )
  const further = useQueries({
    queries: pages.map((at) => ({
      ...answerOf(route, inputOf(request, at * pageRows)),
      refetchInterval: () => refetchIntervalOf(route, refetchMs),
    })),
  })
  const rowAt = (index: number): Row | undefined => {
    const at = Math.floor(index / pageRows)
    const found = at === 0 ? page : (further[at - from]?.data as PageOf<Row> | undefined)
    return found?.results[index % pageRows]
  }
  return { rowAt, further }
}
