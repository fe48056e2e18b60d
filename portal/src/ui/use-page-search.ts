// The search parameters of the current page: the address describes the view, so that it can be shared and restored.
import {
  useRouter,
  useSearch,
  type RegisteredRouter,
  type RouteById,
  type RouteIds,
} from '@tanstack/react-router'
import { useMemo } from 'react'

type Tree = RegisteredRouter['routeTree']
/** Path of a page in the frame. */
export type FramePath =
  RouteIds<Tree> extends infer Id ? (Id extends `/frame${infer Path}` ? Path : never) : never
type TypesOf<Path extends FramePath> = RouteById<Tree, `/frame${Path}`>['types']
type Read<Path extends FramePath> = TypesOf<Path>['fullSearchSchema']
type Written<Path extends FramePath> = TypesOf<Path>['fullSearchSchemaInput']

export type PageSearch<Path extends FramePath> = {
  /** As in the address; `unknown` until the page has parsed them. */
  readonly search: Read<Path>
  /** Changes some of them in place; undefined, empty text and empty lists are removed. */
  readonly setSearch: (changes: Written<Path>) => void
}

/** `_path` names the page whose parameters they are. */
export function usePageSearch<Path extends FramePath>(_path: Path): PageSearch<Path> {
  const router = useRouter()
  const current: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const search = useMemo(() => present(current), [current])
  const setSearch = (changes: Written<Path>) => {
    const next = router.options.stringifySearch(present({ ...search, ...changes }))
    void router.navigate({ href: router.state.location.pathname + next, replace: true })
  }
  return { search: search as Read<Path>, setSearch }
}

export type Filters = Readonly<Record<string, unknown>>

/** The part of a page's search parameters that a list needs. */
export type ListView = {
  readonly filters: Filters
  readonly ordering: string | undefined
  readonly setOrdering: (ordering: string) => void
  readonly clearFilters: () => void
}

export type ListSearch<Path extends FramePath> = ListView & {
  readonly filters: Omit<Read<Path>, 'ordering'>
  readonly setFilters: (changes: Written<Path>) => void
}

/** Splits the parameters of a list page into its filters and its order. */
export function useListSearch<Path extends FramePath>(
  path: Path,
  defaultOrdering?: string,
): ListSearch<Path> {
  const { search, setSearch } = usePageSearch(path)
  const { ordering = defaultOrdering, ...filters } = search as Filters
  // The same filters keep their identity, and with it the widths of the list's columns.
  const stable = useMemo(() => filters, [search])
  const set = setSearch as (changes: Filters) => void
  return {
    filters: stable as ListSearch<Path>['filters'],
    ordering: typeof ordering === 'string' ? ordering : undefined,
    setFilters: setSearch,
    setOrdering: (next) => set({ ordering: next }),
    clearFilters: () => set(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined]))),
  }
}

const isEmpty = (value: unknown) =>
  value === undefined || value === '' || value === null || (Array.isArray(value) && value.length === 0)

const present = (search: Filters): Filters =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => !isEmpty(value)))

/** Returns a parameter that may hold one value or several as texts. */
export const textsOf = (value: unknown): string[] => [value ?? []].flat().map(String)

/** Returns a parameter as one text; empty if there is none. */
export const textOf = (value: unknown): string => textsOf(value).join(' ')
