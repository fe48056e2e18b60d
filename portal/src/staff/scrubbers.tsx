// The scrubbers of the provider: whether each can be reached, and the lists and rules on it.
import { Stack } from '@mantine/core'
import { listScrubbersRoute, type StaffScrubber } from '@pharos/contract/operator/network'
import { Dimmed, Mono, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './console-words.ts'
import { PartPill, stateFilter } from './part-state.tsx'

const { scrubbers: t } = words

const ScrubberState = ({ scrubber: { state } }: { scrubber: StaffScrubber }) => (
  <PartPill state={state} texts={{ ok: t.reachable, failing: t.unreachable, unknown: t.unled }} />
)

/** Lists that it has as wanted, with what is not. */
const listsText = ({ lists, lists_failing: failing, lists_waiting: waiting }: StaffScrubber): string =>
  [
    lists.toLocaleString('en'),
    ...(failing > 0 ? [t.failing(failing)] : []),
    ...(waiting > 0 ? [t.waiting(waiting)] : []),
  ].join(', ')

const columns: readonly Column<StaffScrubber>[] = [
  {
    id: 'name',
    header: t.name,
    orderBy: 'name',
    width: 180,
    grows: true,
    card: 'primary',
    cell: ({ name }) => <Mono>{name}</Mono>,
  },
  {
    id: 'state',
    header: t.state,
    width: 160,
    card: 'state',
    cell: (scrubber) => <ScrubberState scrubber={scrubber} />,
  },
  { id: 'kind', header: t.kind, width: 120, cell: ({ kind }) => kind },
  {
    id: 'lists',
    header: t.lists,
    orderBy: 'lists',
    largestFirst: true,
    align: 'right',
    width: 170,
    card: 'secondary',
    cell: listsText,
  },
  {
    id: 'rules',
    header: t.rules,
    orderBy: 'rules',
    largestFirst: true,
    align: 'right',
    width: 130,
    cell: ({ rules, rules_max: most }) => t.rulesOf(rules, most),
  },
  {
    id: 'prefixes',
    header: t.prefixes,
    width: 180,
    cell: ({ prefixes }) =>
      prefixes.length === 0 ? <Dimmed>{t.all}</Dimmed> : <Mono>{prefixes.join(', ')}</Mono>,
  },
  timeColumn('read', t.read, ({ read }) => read, { none: t.never }),
]

const panel: PanelDeclaration<StaffScrubber> = {
  title: (scrubber) => scrubber?.name ?? t.title,
  render: (_id, scrubber) =>
    scrubber ? <Details scrubber={scrubber} /> : <Dimmed>{words.notInView}</Dimmed>,
}

const Details = ({ scrubber }: { scrubber: StaffScrubber }) => {
  const { kind, rules, rules_max: most, read, prefixes, state } = scrubber
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.state, <ScrubberState key="state" scrubber={scrubber} />],
          ['', state === 'ok' ? undefined : t.stateHelp[state]],
          [t.kind, kind],
          [t.lists, listsText(scrubber)],
          [t.rules, t.rulesOf(rules, most)],
          [t.read, <Time key="read" at={read} none={t.never} />],
          [t.prefixes, prefixes.length === 0 ? t.all : <Mono key="prefixes">{prefixes.join(', ')}</Mono>],
        ]}
      />
    </Stack>
  )
}

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [stateFilter(t.state)],
}

export function Scrubbers() {
  const view = useListSearch('/staff/scrubbers', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<StaffScrubber>
        name="scrubbers"
        things={t.things}
        route={listScrubbersRoute}
        view={view}
        columns={columns}
        panel={panel}
        refetchMs={15_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
