// The accounts of all teams and of the provider: teams, second factors and sessions.
import { Group, Stack } from '@mantine/core'
import { roleLabels } from '@pharos/contract/role'
import { listUsersRoute, type StaffAccount } from '@pharos/contract/operator/user'
import { Dimmed, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './console-words.ts'
import { CustomerLink } from './change-view.tsx'
import { listed } from './words.ts'

const { users: t } = words

/** What is special about the account. */
const Kinds = ({
  account: { is_staff: isStaff, is_demo: isDemo, email_confirmed },
}: {
  account: StaffAccount
}) => (
  <Group gap={4} wrap="nowrap">
    {isStaff && <StatePill color="info">{t.staff}</StatePill>}
    {isDemo && <StatePill color="warn">{t.demo}</StatePill>}
    {email_confirmed === null && <StatePill color="warn">{t.unconfirmed}</StatePill>}
  </Group>
)

const Factor = ({ account: { second_factor: since } }: { account: StaffAccount }) => (
  <StatePill color={since === null ? 'idle' : 'ok'}>{since === null ? t.off : t.on}</StatePill>
)

const columns: readonly Column<StaffAccount>[] = [
  {
    id: 'email',
    header: t.email,
    orderBy: 'email',
    width: 230,
    grows: true,
    card: 'primary',
    cell: ({ email }) => email,
  },
  { id: 'name', header: t.name, width: 150, card: 'secondary', cell: ({ display_name }) => display_name },
  {
    id: 'teams',
    header: t.teams,
    width: 200,
    card: 'secondary',
    cell: ({ teams }) => (
      <OrDash>
        {listed(
          teams.map(({ name }) => name),
          2,
        )}
      </OrDash>
    ),
  },
  { id: 'kind', header: t.kind, width: 140, card: 'state', cell: (account) => <Kinds account={account} /> },
  { id: 'factor', header: t.factor, width: 120, cell: (account) => <Factor account={account} /> },
  {
    id: 'sessions',
    header: t.sessions,
    align: 'right',
    width: 90,
    cell: ({ sessions }) => sessions.toLocaleString('en'),
  },
  timeColumn('active', t.active, ({ last_active }) => last_active, { orderBy: 'last_active', none: t.never }),
  timeColumn('created', t.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
]

const panel: PanelDeclaration<StaffAccount> = {
  title: (account) => account?.email ?? t.title,
  render: (_id, account) => (account ? <Details account={account} /> : <Dimmed>{words.notInView}</Dimmed>),
}

const Details = ({ account }: { account: StaffAccount }) => {
  const { id, email, display_name, managed_by, created, email_confirmed: confirmed, teams } = account
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.name, display_name],
          [t.email, email],
          [t.kind, account.is_staff || account.is_demo ? <Kinds key="kind" account={account} /> : undefined],
          [t.confirmed, <Time key="confirmed" at={confirmed} none={t.unconfirmed} />],
          [t.factor, <Factor key="factor" account={account} />],
          [t.sessions, account.sessions.toLocaleString('en')],
          [t.active, <Time key="active" at={account.last_active} none={t.never} />],
          [t.created, <Time key="created" at={created} />],
          [t.managedBy, t.managers[managed_by]],
          [
            t.audit,
            <TextLink key="audit" to="/staff/audit" search={{ actor: `user:${id}` }} size="sm">
              {t.changes}
            </TextLink>,
          ],
        ]}
      />
      <Section title={t.teams}>
        {teams.length === 0 && <Dimmed>{t.noTeams}</Dimmed>}
        <Facts
          facts={teams.map((team) => [
            team.name,
            <Group key={team.id} gap="xs">
              <CustomerLink team={team} />
              {team.roles.map((role) => roleLabels[role]).join(', ')}
            </Group>,
          ])}
        />
      </Section>
    </Stack>
  )
}

const declaration: ListDeclaration = {
  sort: 'email',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [
    yesNo('is_staff', t.staffFilter, t.staffYes, t.staffNo),
    yesNo('has_second_factor', t.factor, t.factorYes, t.factorNo),
  ],
}

export function Users() {
  const view = useListSearch('/staff/users', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<StaffAccount>
        name="users"
        things={t.things}
        route={listUsersRoute}
        view={view}
        columns={columns}
        panel={panel}
        empty={<Empty title={t.none} />}
      />
    </Page>
  )
}
