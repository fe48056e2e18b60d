// The attacks on all customers, each once however many detectors report it.
import { Group } from '@mantine/core'
import { classificationLabel } from '@pharos/contract/classification'
import { listStaffIncidentsRoute, type StaffIncident } from '@pharos/contract/incident'
import { detectorName } from '../events/detector-name.ts'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { EventStatusBadge } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './words.ts'

const { attacks: texts } = words

const rate = (value: number, unit: 'bps' | 'pps') => (
  <OrDash>{value > 0 ? formatRate(value, unit) : null}</OrDash>
)

const columns: readonly Column<StaffIncident>[] = [
  {
    id: 'network',
    header: texts.network,
    width: 160,
    card: 'primary',
    cell: ({ network }) => <Mono>{networkText(network)}</Mono>,
  },
  { id: 'team', header: texts.team, width: 150, card: 'secondary', cell: ({ team }) => team.name },
  {
    id: 'status',
    header: texts.status,
    width: 205,
    card: 'state',
    cell: ({ status }) => (
      <Group gap={4} wrap="nowrap">
        {status.map((one) => (
          <EventStatusBadge key={one} status={one} />
        ))}
      </Group>
    ),
  },
  {
    id: 'class',
    header: texts.type,
    orderBy: 'classification_key',
    width: 185,
    cell: ({ classification_key: key }) => classificationLabel(key),
  },
  {
    id: 'bps',
    header: texts.bps,
    orderBy: 'affected_bps',
    largestFirst: true,
    align: 'right',
    width: 95,
    cell: ({ affected_bps: bps }) => rate(bps, 'bps'),
  },
  {
    id: 'pps',
    header: texts.pps,
    orderBy: 'affected_pps',
    largestFirst: true,
    align: 'right',
    width: 125,
    cell: ({ affected_pps: pps }) => rate(pps, 'pps'),
  },
  timeColumn('start', texts.start, ({ start }) => start, { orderBy: 'start' }),
  {
    id: 'lasted',
    header: texts.duration,
    align: 'right',
    width: 108,
    cell: (incident) => durationOf(incident),
  },
  {
    id: 'source',
    header: texts.detectors,
    width: 165,
    grows: true,
    cell: ({ sources }) => sources.map(detectorName).join(', '),
  },
]

const declaration: ListDeclaration = {
  sort: '-start',
  filters: [yesNo('ongoing', texts.ongoing, texts.ongoingYes, texts.ongoingNo)],
  time: { start: 'start', end: 'end' },
}

const idOf = ({ id, team }: StaffIncident): string => `${team.id} ${id}`

export function StaffAttacks() {
  const view = useListSearch('/staff/attacks', declaration)
  return (
    <Page title={texts.title} note={texts.note}>
      <List<StaffIncident>
        name="staff-attacks"
        things={texts.things}
        route={listStaffIncidentsRoute}
        view={view}
        columns={columns}
        idOf={idOf}
        refetchMs={15_000}
        empty={<Empty title={texts.none}>{texts.noneHelp}</Empty>}
      />
    </Page>
  )
}
