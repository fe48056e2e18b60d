// The customers of the provider, with their objects and pending decisions.
import { Group, Stack } from '@mantine/core'
import { getCustomerRoute, listCustomersRoute, type Customer } from '@pharos/contract/operator/team'
import { IconPlus } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { CustomerFacts, modulesText, OpenAsTeam, useRequestsByTeam } from './customer-view.tsx'
import { words } from './words.ts'

const { customers: t } = words

const columnsWith = (byTeam: ReturnType<typeof useRequestsByTeam>): readonly Column<Customer>[] => [
  {
    id: 'name',
    header: t.columns.name,
    orderBy: 'name',
    width: 240,
    grows: true,
    card: 'primary',
    cell: ({ name }) => name,
  },
  {
    id: 'requests',
    header: t.columns.requests,
    orderBy: 'open_requests',
    largestFirst: true,
    width: 150,
    card: 'state',
    cell: ({ id }) => <WaitingPill count={byTeam && (byTeam.get(id)?.length ?? 0)} />,
  },
  {
    id: 'attacks',
    header: t.columns.attacks,
    orderBy: 'ongoing_attacks',
    largestFirst: true,
    align: 'right',
    width: 150,
    cell: ({ ongoing_attacks }) => ongoing_attacks.toLocaleString('en'),
  },
  {
    id: 'announcements',
    header: t.columns.announced,
    orderBy: 'announcements',
    largestFirst: true,
    align: 'right',
    width: 140,
    card: 'secondary',
    cell: ({ announced, announcements }) => t.announcedOf(announced, announcements),
  },
  {
    id: 'members',
    header: t.columns.members,
    orderBy: 'members',
    largestFirst: true,
    align: 'right',
    width: 120,
    cell: ({ members }) => members.toLocaleString('en'),
  },
  { id: 'modules', header: t.columns.modules, width: 260, cell: ({ modules }) => modulesText(modules) },
  timeColumn('created', t.columns.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
]

function WaitingPill({ count }: { count: number | undefined }) {
  if (count === undefined) return <StatePill color="idle">{words.unknown}</StatePill>
  if (count === 0) return <StatePill color="idle">{t.nothingWaits}</StatePill>
  return <StatePill color="warn">{t.requests(count)}</StatePill>
}

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.searchPlaceholder },
}

const panel: PanelDeclaration<Customer> = {
  title: (customer) => customer?.name ?? t.columns.name,
  render: (id) => <Details id={Number(id)} />,
  pageOf: (id) => `/staff/customers/${id}`,
}

export function Customers() {
  const view = useListSearch('/staff/customers', declaration)
  const byTeam = useRequestsByTeam()
  const seesRequests = useGrant('operator.see')
  const mayCreate = useGrant('platform.manage')
  const columns = useMemo(
    () => columnsWith(byTeam).filter(({ id }) => seesRequests || id !== 'requests'),
    [byTeam, seesRequests],
  )
  return (
    <Page
      title={t.title}
      note={t.note}
      actions={
        mayCreate && (
          <ButtonLink to="/staff/customers/new" leftSection={<IconPlus size={14} />}>
            {t.create}
          </ButtonLink>
        )
      }
    >
      <List<Customer>
        name="customers"
        things={[t.thing, t.things]}
        route={listCustomersRoute}
        view={view}
        columns={columns}
        panel={panel}
        refetchMs={30_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}

function Details({ id }: { id: number }) {
  const { data, error, refetch } = useAnswer(getCustomerRoute, { params: { team_id: id } })
  if (error && !data) return <Problem error={error} retry={refetch} />
  if (!data) return null
  return (
    <Stack gap="sm">
      <CustomerFacts customer={data} />
      <Group gap="xs">
        <OpenAsTeam customer={data} />
      </Group>
    </Stack>
  )
}
