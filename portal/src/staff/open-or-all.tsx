// A list of open items, or of all with `state=all` in the address.
import { SegmentedControl } from '@mantine/core'
import { useListSearch, type ListDeclaration, type ListView } from '../ui/use-list-search.ts'
import { usePageSearch } from '../ui/use-page-search.ts'

type Declared = {
  /** The parameter of the address. */
  readonly name: 'state' | 'status'
  readonly label: string
  readonly open: string
  readonly all: string
}

/** `list` declares the parameter as its only filter, so that the list knows it. Must be a constant. */
export const openOrAll = ({ name, label, open, all }: Declared) => ({
  label,
  open,
  all,
  name,
  list: {
    filters: [{ kind: 'choice', name, label, isSingle: true, options: [{ value: 'all', label: all }] }],
  } as ListDeclaration,
})

const noQuery = {}

export function useOpenOrAll(
  path: '/staff/letters',
  { name, label, open, all, list }: ReturnType<typeof openOrAll>,
): { readonly isAll: boolean; readonly view: ListView; readonly control: React.ReactNode } {
  const { search, setSearch } = usePageSearch(path)
  const view = useListSearch(path, list)
  const isAll = (search as Readonly<Record<string, unknown>>)[name] === 'all'
  return {
    isAll,
    // The choice above the list is not a filter: an empty list has the text for no rows.
    view: { ...view, filters: [], query: noQuery, isFiltered: false },
    control: (
      <SegmentedControl
        size="xs"
        data={[
          { value: 'open', label: open },
          { value: 'all', label: all },
        ]}
        value={isAll ? 'all' : 'open'}
        aria-label={label}
        onChange={(next) => setSearch({ [name]: next === 'all' ? next : undefined } as object)}
      />
    ),
  }
}
