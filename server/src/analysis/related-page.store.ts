// Which statement finds a page of the related list. Each of them gives the page and its exact count from one snapshot;
// they differ in what they have to look at.
//
// Measured with 10 M events of 50 teams, 3 M of them the team's, a page of 100, statements prepared, JIT off, medians on
// two cores that other work kept busy (PostgreSQL 15; the statement alone, without HTTP):
//
//   first page by start, by rate, by class             0.9, 0.4, 0.6 ms
//   first page by end, the latest first                0.8 ms
//   offset 1 M by start, from the end, by rate, by end 2.2, 2.9, 1.6, 1.4 ms
//   flag of 90 % of the events: first page, offset 1 M 1.2, 4.8 ms
//   flag of 0.05 %: by start, by rate                  1.4, 1.7 ms
//   last 36 hours (18,380 events), a week (59,430)     4.7, 5.4 ms
//   a week by rate; half a year by rate                2.3, 1.9 ms
//   half a year at offset 1 M                          6.4 ms
//   an address (17 events), a /24 (4,026)              0.7, 4.0 ms
//   offset 1 M by id: there are no counts for it       140 ms
//   description contains, network contains             700 to 2,000 ms: all 3 M are looked at
import type { RawBuilder } from 'kysely'
import type { RelatedQuery } from './related-query.ts'
import { byCounts, byGathering } from './related-filter.store.ts'
import { byEnd, byOther, byStart, firstPage } from './related-segment.store.ts'
import { facetsCte, hasText, type RelatedRows, type Scope, type Sql } from './related-sql.store.ts'

/** Thresholds between the ways to find a page. Any values give the same page. */
export type Tuning = {
  /** Up to this offset the index is walked; beyond, the position is looked up in the counts. */
  readonly walkMax: number
  /**
   * Up to this number, matching events are gathered and sorted; beyond, the ordering's index is walked and filtered.
   */
  readonly gatherMax: number
}
const tuned: Tuning = { walkMax: 1_000, gatherMax: 20_000 }

export function pageStatement(
  teamId: number,
  query: RelatedQuery,
  tuning: Tuning = tuned,
): RawBuilder<RelatedRows> {
  const { key } = query.ordering[0]!
  const { start, end, offset } = query
  const isGathered =
    query.network !== null ||
    query.bps !== null ||
    query.pps !== null ||
    query.ongoing === true ||
    (query.search !== null && query.description !== null)
  const isText = query.search !== null || query.description !== null
  const byFacet = isByFacet(query) || (isText && !isGathered)
  const scope: Scope = { teamId, start, end, byFacet }
  const ctes = facetCtes(scope, query, isGathered)
  if (isGathered) return byGathering(scope, query, ctes, tuning)
  if (isText || query.ongoing === false) return byCounts(scope, query, ctes, tuning)
  const isFiltered = byFacet || start !== null || end !== null
  if (!isFiltered && offset === 0 && key !== 'end') return firstPage(scope, query)
  if (key === 'start') return byStart(scope, query, ctes, tuning.walkMax)
  if (isFiltered) return byCounts(scope, query, ctes, tuning)
  return key === 'end' ? byEnd(scope, query, tuning.walkMax) : byOther(scope, query, tuning.walkMax)
}

/** Whether the query has a filter that is decided for each facet. */
export const isByFacet = ({ flags, status, classes, sources }: RelatedQuery): boolean =>
  flags !== null || status !== null || classes !== null || sources !== null

/** `facets`: those of the filter, and of the text if the counts are used; `found_facets`: those that a search finds. */
function facetCtes({ teamId, byFacet }: Scope, query: RelatedQuery, isGathered: boolean): Sql[] {
  const found = hasText({ ...query, description: null })
  return [
    ...(byFacet ? [facetsCte('facets', teamId, query, isGathered ? null : hasText(query))] : []),
    ...(isGathered && found ? [facetsCte('found_facets', teamId, query, found)] : []),
  ]
}
