// A list's filters and order live in the address, so that a view can be sent to a colleague and the way back works.
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Search } from '../router.tsx'

export type ListSearch = {
  readonly filters: Search
  readonly ordering: string | undefined
  /** Sets or takes away single filters; what is undefined or empty goes. */
  readonly setFilters: (changes: Search) => void
  readonly setOrdering: (ordering: string) => void
}

export function useListSearch(defaults: { ordering?: string } = {}): ListSearch {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const { ordering = defaults.ordering, ...filters } = search
  const set = (changes: Search) =>
    void navigate({ to: '.', search: clean({ ...search, ...changes }) as never, replace: true })
  return {
    filters,
    ordering: ordering as string | undefined,
    setFilters: set,
    setOrdering: (next) => set({ ordering: next }),
  }
}

const isEmpty = (value: unknown) =>
  value === undefined || value === '' || value === null || (Array.isArray(value) && value.length === 0)

const clean = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => !isEmpty(value)))
