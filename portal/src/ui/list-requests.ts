// The requests of a list: without the parameters that the API refuses, and a page at a time as rows come into view.
import { ProblemError, type CallInput } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import type { PageOf } from './all-rows.ts'
import { namesOf } from './list-filter.ts'
import type { Ignored, ListView } from './use-list-search.ts'
import { words } from './words.ts'

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

/** Returns the request without the parameters that the API has refused, and their names as texts. */
export function useRequest(
  route: Route,
  view: ListView,
  params: object | undefined,
  query: object | undefined,
): [readonly Ignored[], ListRequest] {
  const { sort, filters = [], search } = view
  const whole = useMemo(
    () => ({
      ...(params ? { params } : {}),
      query: { ...view.query, ...query, ...(sort ? { ordering: sort } : {}) },
    }),
    [params, view.query, query, sort],
  )
  const { error, data } = useQuery({
    ...answerOf(route, inputOf(whole, 0)),
    // A query without data forgets its error while it is requested again.
    enabled: ({ state }) => errorsIn(state.error) === undefined,
  })
  const errors = data ? undefined : errorsIn(error)
  const key = JSON.stringify(errors?.map(({ loc, msg }) => [String(loc[1]), msg]) ?? [])
  return useMemo(() => {
    const refused = new Map((JSON.parse(key) as [string, string][]).filter(([name]) => name in whole.query))
    if (refused.size === 0) return [[], whole]
    const kept = Object.fromEntries(Object.entries(whole.query).filter(([name]) => !refused.has(name)))
    const ignored = [...refused].map(([name, message]) => {
      const filter = [...filters, ...(search ? [search] : [])].find((one) => namesOf(one).includes(name))
      const label = filter?.label ?? (name === 'ordering' ? words.list.sortBy : words.range.label)
      return { name: name === 'ordering' ? 'sort' : name, text: `${label}: ${message}` }
    })
    return [ignored, { ...whole, query: kept }]
  }, [key, whole])
}

/** Returns the errors of the parameters in a refused answer; undefined for other failures. */
const errorsIn = (error: unknown): ProblemError['problem']['errors'] =>
  error instanceof ProblemError && error.problem.status === 422 ? error.problem.errors : undefined
