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
    // Two changes in one event: the second builds on the address that the first has set.
    const latest = router.latestLocation.search as Readonly<Record<string, unknown>>
    const next = router.options.stringifySearch(present({ ...latest, ...changes }))
    void router.navigate({ href: router.latestLocation.pathname + next, replace: true })
  }
  return { search: search as Read<Path>, setSearch }
}

const isEmpty = (value: unknown) =>
  value === undefined || value === '' || value === null || (Array.isArray(value) && value.length === 0)

const present = (search: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => !isEmpty(value)))

/** Returns the values of a parameter, which are joined with commas in the address. */
export const textsOf = (value: unknown): string[] =>
  [value ?? []]
    .flat()
    .flatMap((one) => String(one).split(','))
    .filter((one) => one !== '')

/** Returns a parameter as one text; empty if it is absent. */
export const textOf = (value: unknown): string => [value ?? []].flat().map(String).join(' ')
