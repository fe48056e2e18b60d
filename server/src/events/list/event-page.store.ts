// Which statement finds a page of the related list. Each of them gives the page and its exact count from one snapshot;
// they differ in what they have to look at.
//
// Measured with 1 M events, 0.9 M of them the team's, a page of 100, statements prepared, JIT off. The machine was busy, so
// these are milliseconds of PostgreSQL's processor time for each statement, and the time of the fastest of 60 runs:
//
//   first page; by end, the latest first               0.7, 1.5; 1.2, 1.5
//   offset 300,000 by start, from the end, by rate     1.5, 2.7; 1.5, 2.2; 2.7, 3.4
//   two flags (44,906 events); a status (899,200)      2.7, 3.3; 3.7, 3.7
//   two classes at offset 30,000                       4.0, 4.0
//   a source by rate; a class, half a year, by rate    2.5, 2.3; 6.5, 12
//   a day; half a year at offset 150,000               1.8, 1.8; 2.8, 3.4
//   a /24 (3,533 events); not ended, by rate           2.7, 2.9; 1.3, 1.7
//   at least 100 Gbps (95,848), 1 Gbps (416,719)       2.3, 2.8; 2.2, 2.7
//   description contains (112,558), search (225,448)   1.3, 1.9; 1.5, 2.4
//   search for an address; for a part of an address    0.8, 0.8; 330, 1,270: every network is compared
import type { RawBuilder } from 'kysely'
import type { EventQuery } from './event-query.ts'
import { byCounts, byGathering } from './event-filter.store.ts'
import { byEnd, byOther, byStart, firstPage } from './event-walk.store.ts'
import {
  facetsCte,
  hasText,
  isByFacet,
  type EventRows,
  type EventScope,
  type Sql,
} from './event-sql.store.ts'

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
  query: EventQuery,
  tuning: Tuning = tuned,
): RawBuilder<EventRows> {
  const { key } = query.ordering[0]!
  const { start, end, offset } = query
  const isGathered =
    query.network !== null ||
    query.incident !== null ||
    query.bps !== null ||
    query.pps !== null ||
    query.ongoing === true ||
    (query.search !== null && query.description !== null)
  const isText = query.search !== null || query.description !== null
  const byFacet = isByFacet(query) || (isText && !isGathered)
  const scope: EventScope = { teamId, start, end, byFacet }
  const ctes = facetCtes(scope, query, isGathered)
  if (isGathered) return byGathering(scope, query, ctes, tuning)
  if (isText || query.ongoing === false) return byCounts(scope, query, ctes, tuning)
  const isFiltered = byFacet || start !== null || end !== null
  if (!isFiltered && offset === 0 && key !== 'end') return firstPage(scope, query)
  if (key === 'start') return byStart(scope, query, ctes, tuning.walkMax)
  if (isFiltered) return byCounts(scope, query, ctes, tuning)
  return key === 'end' ? byEnd(scope, query, tuning.walkMax) : byOther(scope, query, tuning.walkMax)
}

/** `facets`: matched by the filter, and by the text if the counts are used; `found_facets`: matched by a search. */
function facetCtes({ teamId, byFacet }: EventScope, query: EventQuery, isGathered: boolean): Sql[] {
  const found = hasText({ ...query, description: null })
  return [
    ...(byFacet ? [facetsCte('facets', teamId, query, isGathered ? null : hasText(query))] : []),
    ...(isGathered && found ? [facetsCte('found_facets', teamId, query, found)] : []),
  ]
}
