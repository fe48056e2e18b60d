// Which statement finds a page of the related list. Each of them gives the page and its exact count from one snapshot;
// they differ in what they have to look at.
import type { RawBuilder } from 'kysely'
import type { RelatedQuery } from './related-event.ts'
import { byNetworkOrText, byOtherFiltered } from './related-filter.store.ts'
import { byEnd, byOther, byStart, firstPage } from './related-segment.store.ts'
import type { RelatedRows, Scope } from './related-sql.store.ts'

/** Where one way of finding a page becomes cheaper than another. Any values give the same page. */
export type Tuning = {
  /** Up to here an offset is walked; beyond, it is looked up in the counts. */
  readonly walkMax: number
  /** Up to here what passes a filter is gathered and sorted; beyond, the order's index is walked and filtered. */
  readonly gatherMax: number
}
const tuned: Tuning = { walkMax: 1_000, gatherMax: 20_000 }

export function pageStatement(
  teamId: number,
  query: RelatedQuery,
  tuning: Tuning = tuned,
): RawBuilder<RelatedRows> {
  const scope: Scope = { teamId, flags: query.flags, start: query.start, end: query.end }
  const { key } = query.ordering[0]!
  const isFiltered = scope.flags !== null || scope.start !== null || scope.end !== null
  if (query.network !== null || query.description !== null) return byNetworkOrText(scope, query)
  if (!isFiltered && query.offset === 0 && key !== 'end') return firstPage(scope, query)
  if (key === 'start') return byStart(scope, query, tuning.walkMax)
  if (isFiltered) return byOtherFiltered(scope, query, tuning)
  return key === 'end' ? byEnd(scope, query, tuning.walkMax) : byOther(scope, query, tuning.walkMax)
}
