// Types and helpers that the filter fields of the event list share.
import type { ListSearch } from '../ui/use-page-search.ts'

export type EventFilters = ListSearch<'/events'>['filters']

export type EventFilterProps = Pick<ListSearch<'/events'>, 'filters' | 'setFilters'> & {
  /** Returns the API's error for a parameter. */
  readonly errorOf: (name: string) => string | undefined
}

/** Returns how many filters are set; start and end are one time range. */
export function countFilters(filters: EventFilters): number {
  return new Set(Object.keys(filters).map((name) => (name === 'end' ? 'start' : name))).size
}
