// The page of record sets that the address selects: its filters, its order and its place in the zone.
import { listRecordSetsRoute } from '@pharos/contract/dns/recordset'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'

export const pageSize = 100

export type RecordOrder = 'name' | 'type' | 'ttl'

const orders: readonly string[] = ['name', 'type', 'ttl'] satisfies RecordOrder[]

/** The address can contain any order; an unknown one becomes the order by name. */
function orderingOf(sort: string) {
  const key = sort.replace(/^-/, '')
  return (orders.includes(key) ? sort : 'name') as RecordOrder | `-${RecordOrder}`
}

export function useRecordPage(zone: string) {
  const { search: address, setSearch: setAddress } = usePageSearch('/zones/$id')
  const search = textOf(address.find)
  const type = textOf(address.type)
  const sort = textOf(address.sort) || 'name'
  const offset = Math.max(0, Math.trunc(Number(textOf(address.from)) || 0))
  const setOffset = (next: number) => setAddress({ from: next === 0 ? undefined : String(next) })
  const filter = { ...(search === '' ? {} : { search }), ...(type === '' ? {} : { type: [type] }) }
  const answer = useQuery({
    ...answerOverLastOf(listRecordSetsRoute, {
      params: { zone },
      query: { ...filter, include: 'alias', ordering: orderingOf(sort), limit: pageSize, offset },
    }),
    refetchInterval: 15_000,
  })
  const { results = [], count = 0 } = answer.data ?? {}
  // The record sets of the last page were deleted: the page before it is the last one.
  const isPastEnd = results.length === 0 && count > 0
  useEffect(() => {
    if (isPastEnd && !answer.isPlaceholderData) setOffset((Math.ceil(count / pageSize) - 1) * pageSize)
  }, [isPastEnd, answer.isPlaceholderData, count])
  const isFiltered = Object.keys(filter).length > 0
  return { search, type, sort, offset, answer, results, count, isPastEnd, isFiltered, setAddress, setOffset }
}
export type RecordPage = ReturnType<typeof useRecordPage>
