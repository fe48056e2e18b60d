// The processes of the installation: release, roles, and loops that are late.
import { Stack, Table, Text } from '@mantine/core'
import { listProcessesRoute, type Process } from '@pharos/contract/operator/status'
import { Dimmed, Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { formatDuration } from '../ui/time-text.ts'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './console-words.ts'
import classes from './staff.module.css'

const { processes: t } = words

const nameOf = ({ host, pid }: Process): string => `${host}:${pid}`
const rolesOf = ({ roles }: Process): string => roles.map((role) => t.role[role]).join(', ')

function ProcessState({ process: { running, late_loops: late } }: { process: Process }) {
  if (!running) return <StatePill color="idle">{t.silent}</StatePill>
  return <StatePill color={late > 0 ? 'bad' : 'ok'}>{late > 0 ? t.late(late) : t.running}</StatePill>
}

const columns: readonly Column<Process>[] = [
  {
    id: 'process',
    header: t.process,
    orderBy: 'host',
    width: 200,
    card: 'primary',
    cell: (process) => <Mono>{nameOf(process)}</Mono>,
  },
  {
    id: 'state',
    header: t.state,
    width: 130,
    card: 'state',
    cell: (process) => <ProcessState process={process} />,
  },
  { id: 'roles', header: t.roles, width: 200, grows: true, card: 'secondary', cell: rolesOf },
  {
    id: 'version',
    header: t.version,
    orderBy: 'version',
    width: 110,
    card: 'secondary',
    cell: ({ version }) => <Mono>{version}</Mono>,
  },
  {
    id: 'loops',
    header: t.loops,
    align: 'right',
    width: 100,
    cell: ({ loops, late_loops }) => t.loopsOf(loops.length - late_loops, loops.length),
  },
  {
    id: 'clock',
    header: t.clock,
    align: 'right',
    width: 100,
    cell: ({ clock_ms: ms }) => <OrDash>{ms === null ? null : t.clockOf(ms)}</OrDash>,
  },
  timeColumn('started', t.started, ({ started }) => started, { orderBy: 'started' }),
  timeColumn('seen', t.seen, ({ seen }) => seen, { orderBy: 'seen', hidden: true }),
]

const panel: PanelDeclaration<Process> = {
  title: (process) => (process ? nameOf(process) : t.process),
  render: (_id, process) => (process ? <Details process={process} /> : <Dimmed>{words.notInView}</Dimmed>),
}

function Details({ process }: { process: Process }) {
  const { version, started, seen, clock_ms: ms, flow_store: store } = process
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.state, <ProcessState key="state" process={process} />],
          [t.roles, rolesOf(process)],
          [t.version, <Mono key="version">{version}</Mono>],
          [t.started, <Time key="started" at={started} />],
          [t.seen, <Time key="seen" at={seen} />],
          [t.clock, ms === null ? null : `${t.clockOf(ms)} ${t.clockHelp}`],
          [t.flowStore, store && t.flowStates[store.state]],
        ]}
      />
      {store?.error != null && (
        <Text size="sm" className={classes['bad']!}>
          {store.error}
        </Text>
      )}
      <Loops process={process} />
    </Stack>
  )
}

/** Late ones first. */
const Loops = ({ process: { loops } }: { process: Process }) => (
  <Table fz="sm" aria-label={t.loops} className={classes['table']!}>
    <Table.Thead>
      <Table.Tr>
        {[t.loop, t.every, t.lastSuccess].map((head) => (
          <Table.Th key={head}>{head}</Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {loops
        .toSorted((a, b) => Number(b.late) - Number(a.late))
        .map(({ name, interval_seconds, last_success, late }) => (
          <Table.Tr key={name}>
            <Table.Td>{name}</Table.Td>
            <Table.Td>{formatDuration(interval_seconds * 1000)}</Table.Td>
            <Table.Td className={late ? classes['bad']! : ''}>
              <Time at={last_success} none={t.never} />
            </Table.Td>
          </Table.Tr>
        ))}
    </Table.Tbody>
  </Table>
)

const declaration: ListDeclaration = {
  sort: 'host',
  filters: [
    {
      kind: 'choice',
      name: 'role',
      label: t.roles,
      options: Object.entries(t.role).map(([value, label]) => ({ value, label })),
    },
    yesNo('running', t.state, t.stateYes, t.stateNo),
  ],
}

export function Processes() {
  const view = useListSearch('/staff/processes', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<Process>
        name="processes"
        things={t.things}
        route={listProcessesRoute}
        view={view}
        columns={columns}
        panel={panel}
        refetchMs={15_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
