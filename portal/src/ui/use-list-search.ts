// The view of a list, from the address: filters, time range, order, columns and the row in the side panel. Parameters and values
// that the list does not know are named, and left out of the request.
import { useMemo, useRef } from 'react'
import {
  isSet,
  namesOf,
  queryOf,
  unknownIn,
  valueText,
  type Filter,
  type TextFilter,
  type Values,
} from './list-filter.ts'
import { spanOf, type TimeRange } from './time-range.ts'
import { useZone, zoneName } from './time.tsx'
import { useNow } from './use-now.ts'
import { textsOf, usePageSearch, type FramePath } from './use-page-search.ts'

export type ListDeclaration = {
  readonly filters?: readonly Filter[]
  /** The field that `/` moves the focus to. */
  readonly search?: TextFilter
  /** The rows have a time: the API's parameters of the start and the end. */
  readonly time?: { readonly start: string; readonly end: string }
  /** The order without one in the address. */
  readonly sort?: string
}

/** A part of the address that has no effect. */
export type Ignored = {
  readonly name: string
  readonly text: string
  /** The remaining part of its value. */
  readonly kept?: string | undefined
}

export type ListView = ListDeclaration & {
  /** Texts of the address that are valid, by parameter. */
  readonly values: Values
  /** Parameters of the API. The same object while they stay the same. */
  readonly query: Readonly<Record<string, unknown>>
  readonly range: TimeRange
  readonly columns: readonly string[] | undefined
  /** Id of the row in the side panel. */
  readonly shown: string | undefined
  readonly ignored: readonly Ignored[]
  readonly isFiltered: boolean
  /** Changes parameters of the address; undefined removes one. */
  readonly set: (changes: Readonly<Record<string, unknown>>) => void
  readonly clear: () => void
}

/** Parameters of every list, with their names in earlier releases. */
const ofView = ['sort', 'columns', 'show', 'ordering', 'view']
const ofTime = ['range', 'from', 'to', 'start', 'end']

/** The filters must keep their identity while they stay the same. */
export function useListSearch<Path extends FramePath>(path: Path, declared: ListDeclaration): ListView {
  const { filters = [], search: field, time, sort } = declared
  const { search, setSearch } = usePageSearch(path)
  const address = search as Values
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const minute = useNow(time !== undefined && (address['range'] ?? address['from']) !== undefined)
  const view = useMemo(() => {
    const all = field ? [...filters, field] : filters
    const values: Record<string, string> = {}
    const ignored: Ignored[] = []
    for (const filter of all) {
      const unknown = unknownIn(filter, address)
      for (const name of namesOf(filter)) {
        const text = address[name]
        if (text === undefined) continue
        const kept =
          filter.kind === 'choice'
            ? textsOf(text)
                .filter((one) => !unknown.includes(one))
                .join(',')
            : String(text)
        if (kept !== '') values[name] = kept
        if (unknown.length > 0) ignored.push({ name, kept, text: `${filter.label}: ${unknown.join(', ')}` })
      }
    }
    const range = rangeOf(address)
    const span = spanOf(range, minute, timeZone)
    if (time && !span) ignored.push({ name: 'range', text: Object.values(range).join(' ') })
    const known = new Set([...all.flatMap(namesOf), ...ofView, ...(time ? ofTime : [])])
    for (const name of Object.keys(address)) if (!known.has(name)) ignored.push({ name, text: name })
    return {
      values,
      ignored,
      range,
      query: {
        ...Object.assign({}, ...all.map((filter) => queryOf(filter, values))),
        ...(time && span?.start ? { [time.start]: span.start } : {}),
        ...(time && span?.end ? { [time.end]: span.end } : {}),
      } as Record<string, unknown>,
      isFiltered:
        all.some((filter) => isSet(filter, values)) || (time !== undefined && Object.keys(range).length > 0),
    }
  }, [address, filters, field, time, timeZone, minute])
  const query = useStable(view.query)
  const set = setSearch as ListView['set']
  return {
    ...declared,
    ...view,
    query,
    sort: address['sort'] ?? address['ordering'] ?? sort,
    columns: address['columns'] === undefined ? undefined : textsOf(address['columns']),
    shown: address['show'] === undefined ? undefined : String(address['show']),
    set: (changes) => set({ ...changes, ...('sort' in changes ? { ordering: undefined } : {}) }),
    clear: () =>
      set(
        Object.fromEntries(
          Object.keys(address)
            .filter((name) => !ofView.includes(name))
            .map((name) => [name, undefined]),
        ),
      ),
  } as ListView
}

/** `start` and `end` are the names of earlier releases. */
function rangeOf({ range, from, to, start, end }: Values): TimeRange {
  const [since, until] = [from ?? start, to ?? end]
  return {
    ...(range === undefined ? {} : { range }),
    ...(range !== undefined || since === undefined ? {} : { from: since }),
    ...(range !== undefined || until === undefined ? {} : { to: until }),
  }
}

/** Returns the changes that set a time range. */
export const rangeChanges = ({ range, from, to }: TimeRange) => ({
  range,
  from,
  to,
  start: undefined,
  end: undefined,
})

/** Returns the same object until its content changes. */
function useStable<T>(value: T): T {
  const kept = useRef(value)
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value
  return kept.current
}

/** Returns the chosen values as one line: the suggested name of a saved view. */
export const viewText = ({ filters = [], search, values }: ListView): string =>
  [...filters, ...(search ? [search] : [])]
    .filter((filter) => isSet(filter, values))
    .map((filter) => valueText(filter, values))
    .join(', ')
