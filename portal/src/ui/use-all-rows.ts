// All rows of a list that a page shows as a whole, such as the ports of a service.
import type { CallInput } from '@pharos/contract/client'
import type { ResponseOf, Route } from '@pharos/contract/route'
import { useQuery } from '@tanstack/react-query'
import { refetchIntervalOf, teamIdNow } from '../api/queries.ts'
import type { Row } from './all-rows.ts'
import type { ListRequest } from './list-requests.ts'
import { pagesOf } from './list-tools.tsx'

type RowOf<R extends Route> = ResponseOf<R> extends { readonly results: readonly (infer One)[] } ? One : never

/** Rows that change while the pages are read are as in the page that had them first. */
export function useAllRows<R extends Route>(
  route: R,
  input: CallInput<R>,
  refetchMs?: number,
  enabled = true,
) {
  return useQuery({
    enabled,
    queryKey: [teamIdNow(), route.name, 'all rows', input],
    meta: { group: route.group },
    queryFn: async ({ signal }): Promise<readonly RowOf<R>[]> => {
      const rows: RowOf<R>[] = []
      for await (const { results } of pagesOf<Row>(route, input as ListRequest, signal))
        rows.push(...(results as RowOf<R>[]))
      return rows
    },
    refetchInterval: () => refetchIntervalOf(route, refetchMs),
  })
}
