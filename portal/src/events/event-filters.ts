// Types and helpers that the filter fields of the event list share.
import type { ListSearch } from '../ui/use-page-search.ts'

export type EventFilters = ListSearch<'/events'>['filters']

export type EventFilterProps = Pick<ListSearch<'/events'>, 'filters' | 'setFilters'> & {
  /** Returns the API's error for a parameter. */
  readonly errorOf: (name: string) => string | undefined
}

/** The filters of a field with two parameters: a time range, and a rate in bits or packets. */
const together: Readonly<Record<string, string>> = { end: 'start', min_pps: 'min_bps' }

/** Returns how many filters are set. */
export function countFilters(filters: EventFilters): number {
  return new Set(Object.keys(filters).map((name) => together[name] ?? name)).size
}
