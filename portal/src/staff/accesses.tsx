// Who of the staff entered which team, why and how long.
import { listStaffAccessesRoute, type ReviewedStaffAccess } from '@pharos/contract/operator/staff-access'
import { OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { StatePill } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './words.ts'

const { accesses: t } = words

const columns: readonly Column<ReviewedStaffAccess>[] = [
  { id: 'team', header: t.team, width: 170, card: 'primary', cell: ({ team }) => team.name },
  { id: 'user', header: t.user, width: 210, cell: ({ user_email }) => <OrDash>{user_email}</OrDash> },
  {
    id: 'reason',
    header: t.reason,
    width: 280,
    grows: true,
    card: 'secondary',
    cell: ({ reason }) => reason,
  },
  { id: 'ticket', header: t.ticket, width: 110, cell: ({ ticket }) => <OrDash>{ticket}</OrDash> },
  { id: 'change', header: t.rights, width: 100, cell: ({ change }) => (change ? t.changing : t.reading) },
  timeColumn('opened', t.opened, ({ opened }) => opened, { orderBy: 'opened' }),
  {
    id: 'state',
    header: t.state,
    width: 100,
    card: 'state',
    cell: ({ ended }) =>
      ended === null ? (
        <StatePill color="warn">{t.open}</StatePill>
      ) : (
        <StatePill color="idle">{t.ended}</StatePill>
      ),
  },
  timeColumn('ended', t.endedAt, ({ ended }) => ended, { none: '', hidden: true }),
]

const declaration: ListDeclaration = {
  sort: '-opened',
  filters: [yesNo('open', t.state, t.open, t.ended)],
}

export function StaffAccesses() {
  const view = useListSearch('/staff/accesses', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<ReviewedStaffAccess>
        name="staff-accesses"
        things={[t.thing, t.things]}
        route={listStaffAccessesRoute}
        view={view}
        columns={columns}
        refetchMs={30_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
