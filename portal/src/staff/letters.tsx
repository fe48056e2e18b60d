// Letters of authorization of all customers: those to review, or all.
import { listLettersToReviewRoute, type ReviewedLetter } from '@pharos/contract/byoip/letter'
import { timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { LetterPill } from './letter-view.tsx'
import { listed, words } from './words.ts'
import { SegmentedControl } from '@mantine/core'
import { useListSearch, type ListDeclaration, type ListView } from '../ui/use-list-search.ts'
import { usePageSearch } from '../ui/use-page-search.ts'

const { letters: t } = words

const columns: readonly Column<ReviewedLetter>[] = [
  {
    id: 'prefixes',
    header: t.columns.prefixes,
    width: 200,
    grows: true,
    card: 'primary',
    cell: ({ id, announcements }) => (
      <RowLink to={`/staff/letters/${id}`}>
        {listed(announcements.map(({ cidr }) => cidr)) || t.noPrefix}
      </RowLink>
    ),
  },
  {
    id: 'customer',
    header: t.columns.customer,
    width: 150,
    card: 'secondary',
    cell: ({ team }) => team.name,
  },
  { id: 'file', header: t.columns.file, width: 180, cell: ({ filename }) => filename },
  {
    id: 'status',
    header: t.columns.status,
    width: 120,
    card: 'state',
    cell: ({ status }) => <LetterPill status={status} />,
  },
  timeColumn('uploaded', t.columns.uploaded, ({ uploaded }) => uploaded, { orderBy: 'uploaded' }),
  { id: 'by', header: t.columns.by, width: 150, cell: ({ uploaded_by_name }) => uploaded_by_name ?? '' },
  timeColumn('until', t.columns.until, ({ valid_until }) => valid_until, { none: t.noExpiry }),
  timeColumn('reviewed', t.columns.reviewed, ({ reviewed }) => reviewed, { hidden: true, none: '' }),
]

const toReview = { status: ['pending_review'] }
const choice = openOrAll({ name: 'status', label: t.filter, open: t.toReview, all: t.all })

export function Letters() {
  const { isAll, view, control } = useOpenOrAll('/staff/letters', choice)
  return (
    <Page title={t.title} note={t.note} actions={control}>
      <List<ReviewedLetter>
        key={isAll ? 'all' : 'open'}
        name="staff-letters"
        things={['letter', 'letters']}
        route={listLettersToReviewRoute}
        view={{ ...view, sort: view.sort ?? (isAll ? '-id' : 'id') }}
        {...(isAll ? {} : { query: toReview })}
        columns={columns}
        refetchMs={10_000}
        empty={<Empty title={isAll ? t.noneYet : t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}

type Declared = {
  /** The parameter of the address. */
  readonly name: 'state' | 'status'
  readonly label: string
  readonly open: string
  readonly all: string
}

/** `list` declares the parameter as its only filter, so that the list knows it. Must be a constant. */
function openOrAll({ name, label, open, all }: Declared) {
  const list: ListDeclaration = {
    filters: [{ kind: 'choice', name, label, isSingle: true, options: [{ value: 'all', label: all }] }],
  }
  return { label, open, all, name, list }
}

const noQuery = {}

function useOpenOrAll(
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
