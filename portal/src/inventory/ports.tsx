// The ports that belong to services of the team.
import { interfaceStates } from '@pharos/contract/inventory/device'
import { listPortsRoute, type Port } from '@pharos/contract/inventory/port'
import { Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { interfaceColors, PortPill } from './inventory-state.tsx'
import { PortLoad } from './port-load.tsx'
import { words } from './words.ts'

const { ports: texts } = words

const columns: readonly Column<Port>[] = [
  {
    id: 'name',
    header: texts.port,
    orderBy: 'name',
    width: 150,
    card: 'primary',
    cell: ({ id, name }) => <RowLink to={`/ports/${id}`}>{name}</RowLink>,
  },
  {
    id: 'device',
    header: texts.device,
    orderBy: 'device_name',
    width: 130,
    card: 'secondary',
    cell: ({ device_id: id, device_name: name }) => <RowLink to={`/devices/${id}`}>{name}</RowLink>,
  },
  {
    id: 'state',
    header: texts.state,
    orderBy: 'oper_status',
    width: 120,
    card: 'state',
    cell: (port) => <PortPill {...port} />,
  },
  {
    id: 'circuit',
    header: texts.circuit,
    orderBy: 'circuit_id',
    width: 130,
    cell: ({ circuit_id: circuit }) => <Mono>{circuit}</Mono>,
  },
  {
    id: 'speed',
    header: texts.speed,
    orderBy: 'speed_bps',
    largestFirst: true,
    width: 110,
    align: 'right',
    cell: ({ speed_bps: bps }) => <OrDash>{bps && formatRate(bps, 'bps')}</OrDash>,
  },
  {
    id: 'load',
    header: texts.load,
    width: 150,
    card: 'secondary',
    cell: (port) => <PortLoad port={port} />,
  },
  {
    id: 'location',
    header: texts.location,
    width: 110,
    cell: ({ location }) => <OrDash>{location?.name}</OrDash>,
  },
  {
    id: 'description',
    header: texts.description,
    width: 180,
    grows: true,
    cell: ({ description }) => <OrDash>{description}</OrDash>,
  },
  {
    id: 'media',
    header: texts.media,
    width: 150,
    hidden: true,
    cell: ({ media }) => <OrDash>{media}</OrDash>,
  },
  timeColumn('last_change', texts.lastChange, ({ last_change: at }) => at, {
    orderBy: 'last_change',
    none: texts.unknownChange,
    hidden: true,
  }),
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

const states = interfaceStates.map((value) => ({
  value,
  label: words.state[value],
  color: interfaceColors[value],
}))

const declaration: ListDeclaration = {
  sort: 'device_name,name',
  search: { kind: 'text', name: 'search', label: texts.search, placeholder: texts.search },
  filters: [
    { kind: 'choice', name: 'oper_status', label: texts.state, options: states },
    { kind: 'choice', name: 'admin_status', label: texts.admin, options: states },
    { kind: 'text', name: 'location', label: texts.location, hasMany: true },
  ],
}

export function Ports() {
  const view = useListSearch('/ports', declaration)
  return (
    <Page title={texts.title} note={texts.note}>
      <List<Port>
        name="ports"
        things={texts.things}
        route={listPortsRoute}
        view={view}
        columns={columns}
        refetchMs={30_000}
        empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
      />
    </Page>
  )
}
