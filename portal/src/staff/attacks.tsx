// The attacks on all customers, each once however many detectors report it.
import { Group } from '@mantine/core'
import { classificationLabel } from '@pharos/contract/events/classification'
import { listStaffIncidentsRoute, type StaffIncident } from '@pharos/contract/events/incident'
import { detectorName } from '../events/detector-name.ts'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { EventStatusBadge } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { Time } from '../ui/time.tsx'
import { OpenAsTeam } from './customer-view.tsx'
import { words } from './words.ts'

const { attacks: texts } = words

const rate = (value: number, unit: 'bps' | 'pps') => (
  <OrDash>{value > 0 ? formatRate(value, unit) : null}</OrDash>
)

const columns: readonly Column<StaffIncident>[] = [
  {
    id: 'network',
    header: texts.network,
    width: 145,
    card: 'primary',
    cell: ({ network }) => <Mono>{networkText(network)}</Mono>,
  },
  {
    id: 'team',
    header: texts.team,
    width: 120,
    card: 'secondary',
    cell: ({ team }) => (
      <TextLink to="/staff/customers/$id" params={{ id: String(team.id) }} size="sm">
        {team.name}
      </TextLink>
    ),
  },
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
    width: 190,
    cell: ({ classification_key: key }) => classificationLabel(key),
  },
  {
    id: 'bps',
    header: texts.bps,
    orderBy: 'affected_bps',
    largestFirst: true,
    align: 'right',
    width: 90,
    cell: ({ affected_bps: bps }) => rate(bps, 'bps'),
  },
  {
    id: 'pps',
    hidden: true,
    header: texts.pps,
    orderBy: 'affected_pps',
    largestFirst: true,
    align: 'right',
    width: 100,
    cell: ({ affected_pps: pps }) => rate(pps, 'pps'),
  },
  timeColumn('start', texts.start, ({ start }) => start, { orderBy: 'start' }),
  {
    id: 'lasted',
    header: texts.duration,
    align: 'right',
    width: 104,
    cell: (incident) => durationOf(incident),
  },
  {
    id: 'source',
    header: texts.detectors,
    width: 120,
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

/** The page of an attack belongs to the customer: the panel has the data of the list and a link to it. */
const panel: PanelDeclaration<StaffIncident> = {
  title: (attack) => (attack ? networkText(attack.network) : texts.title),
  render: (_id, attack) => attack && <Summary attack={attack} />,
}

function Summary({ attack }: { attack: StaffIncident }) {
  const {
    id,
    team,
    classification_key: key,
    affected_bps: bps,
    affected_pps: pps,
    start,
    end,
    sources,
  } = attack
  return (
    <>
      <Facts
        facts={[
          [
            texts.team,
            <TextLink key="team" to="/staff/customers/$id" params={{ id: String(team.id) }} size="sm">
              {team.name}
            </TextLink>,
          ],
          [texts.type, classificationLabel(key)],
          [texts.bps, bps > 0 ? formatRate(bps, 'bps') : undefined],
          [texts.pps, pps > 0 ? formatRate(pps, 'pps') : undefined],
          [texts.start, <Time key="start" at={start} />],
          [texts.end, <Time key="end" at={end} none={texts.ongoing} />],
          [texts.detectors, sources.map(detectorName).join(', ')],
        ]}
      />
      <Group mt="md">
        <OpenAsTeam customer={team} to={{ to: '/events/$id', params: { id } }} />
      </Group>
    </>
  )
}

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
        panel={panel}
        refetchMs={15_000}
        empty={<Empty title={texts.none}>{texts.noneHelp}</Empty>}
      />
    </Page>
  )
}
