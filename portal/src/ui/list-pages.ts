// The rows of a list, a page of them at a time: those that are looked at are asked for, and kept as answers are kept.
import type { CallInput } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { useQueries } from '@tanstack/react-query'
import { answerOf } from '../api/queries.ts'
import type { PageOf } from './all-rows.ts'

export type Asked = { readonly params?: object; readonly query: object }

const pageRows = 100

export const inputOf = (asked: Asked, offset: number, limit = pageRows) =>
  ({ ...asked, query: { ...asked.query, limit, offset } }) as CallInput<Route>

/** The row at an index, undefined while it is not there; `first` and `last` are the indexes that are looked at. */
export function useRows<Row>(
  route: Route,
  asked: Asked,
  page: PageOf<Row> | undefined,
  { first, last }: { readonly first: number; readonly last: number },
): (index: number) => Row | undefined {
  const from = Math.max(1, Math.floor(first / pageRows))
  const pages = Array.from(
    { length: Math.max(0, Math.floor(last / pageRows) - from + 1) },
    (_, at) => from + at,
  )
  const further = useQueries({ queries: pages.map((at) => answerOf(route, inputOf(asked, at * pageRows))) })
  return (index) => {
    const at = Math.floor(index / pageRows)
    const found = at === 0 ? page : (further[at - from]?.data as PageOf<Row> | undefined)
    return found?.results[index % pageRows]
  }
}
