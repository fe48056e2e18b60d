// The cross connects of the team: their states, and who has to act.
import {
  crossConnectStatuses,
  listCrossConnectsRoute,
  type CrossConnect,
} from '@pharos/contract/inventory/cross-connect'
import { OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { CrossConnectPill, crossConnectColor } from './cross-connect-state.tsx'
import { words } from './words.ts'

const { crossConnects: texts } = words

const columns: readonly Column<CrossConnect>[] = [
  {
    id: 'name',
    header: texts.name,
    orderBy: 'name',
    width: 200,
    grows: true,
    card: 'primary',
    cell: ({ id, name }) => <RowLink to={`/cross-connects/${id}`}>{name}</RowLink>,
  },
  {
    id: 'circuit',
    header: texts.circuit,
    orderBy: 'circuit_id',
    width: 150,
    card: 'secondary',
    cell: ({ circuit_id }) => circuit_id,
  },
  {
    id: 'status',
    header: texts.state,
    orderBy: 'status',
    width: 170,
    card: 'state',
    cell: (one) => <CrossConnectPill {...one} />,
  },
  { id: 'waits', header: texts.waitsFor, width: 140, cell: ({ waits_for }) => texts.actors[waits_for] },
  {
    id: 'location',
    header: texts.location,
    width: 140,
    cell: ({ location }) => <OrDash>{location?.name}</OrDash>,
  },
  { id: 'far', header: texts.farSide, width: 180, cell: ({ z_side }) => <OrDash>{z_side.name}</OrDash> },
  timeColumn('requested', texts.requested, ({ requested }) => requested, { orderBy: 'requested' }),
]

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: texts.search, placeholder: texts.search },
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: texts.state,
      options: crossConnectStatuses.map((value) => ({
        value,
        label: texts.statuses[value],
        color: crossConnectColor({ status: value, waits_for: 'provider' }),
      })),
    },
  ],
}

export function CrossConnects() {
  const view = useListSearch('/cross-connects', declaration)
  return (
    <Page title={texts.title} note={texts.note}>
      <List<CrossConnect>
        name="cross-connects"
        things={texts.things}
        route={listCrossConnectsRoute}
        view={view}
        columns={columns}
        refetchMs={60_000}
        empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
      />
    </Page>
  )
}
