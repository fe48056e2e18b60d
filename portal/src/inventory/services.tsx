// The services that the team has bought.
import {
  listServicesRoute,
  serviceStates,
  serviceTypes,
  type Service,
} from '@pharos/contract/inventory/service'
import { OrDash } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { serviceColors, ServicePill } from './inventory-state.tsx'
import { words } from './words.ts'

const { services: texts } = words

const rate = (bps: number | null) => <OrDash>{bps && formatRate(bps, 'bps')}</OrDash>

const columns: readonly Column<Service>[] = [
  {
    id: 'name',
    header: texts.name,
    orderBy: 'name',
    width: 220,
    grows: true,
    card: 'primary',
    cell: ({ id, name }) => <RowLink to={`/services/${id}`}>{name}</RowLink>,
  },
  {
    id: 'type',
    header: texts.type,
    orderBy: 'type',
    width: 150,
    card: 'secondary',
    cell: ({ type }) => words.serviceType[type],
  },
  {
    id: 'state',
    header: texts.state,
    orderBy: 'state',
    width: 160,
    card: 'state',
    cell: ({ state }) => <ServicePill state={state} />,
  },
  {
    id: 'location',
    header: texts.location,
    width: 140,
    cell: ({ location }) => <OrDash>{location?.name}</OrDash>,
  },
  {
    id: 'commit',
    header: texts.commit,
    width: 110,
    align: 'right',
    cell: ({ commit_bps }) => rate(commit_bps),
  },
  {
    id: 'ports',
    header: texts.ports,
    width: 80,
    align: 'right',
    cell: ({ port_ids: ports }) => ports.length,
  },
  {
    id: 'start',
    header: texts.start,
    orderBy: 'start_date',
    width: 120,
    cell: ({ start_date }) => <OrDash>{start_date}</OrDash>,
  },
  {
    id: 'end',
    header: texts.end,
    orderBy: 'end_date',
    width: 120,
    hidden: true,
    cell: ({ end_date }) => <OrDash>{end_date}</OrDash>,
  },
  {
    id: 'id',
    header: texts.id,
    orderBy: 'id',
    hidden: true,
    align: 'right',
    width: 80,
    cell: ({ id }) => id,
  },
]

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: texts.search, placeholder: texts.search },
  filters: [
    {
      kind: 'choice',
      name: 'type',
      label: texts.type,
      options: serviceTypes.map((value) => ({ value, label: words.serviceType[value] })),
    },
    {
      kind: 'choice',
      name: 'state',
      label: texts.state,
      options: serviceStates.map((value) => ({
        value,
        label: words.serviceState[value],
        color: serviceColors[value],
      })),
    },
  ],
}

export function Services() {
  const view = useListSearch('/services', declaration)
  return (
    <Page title={texts.title} note={texts.note}>
      <List<Service>
        name="services"
        things={texts.things}
        route={listServicesRoute}
        view={view}
        columns={columns}
        refetchMs={60_000}
        empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
      />
    </Page>
  )
}
