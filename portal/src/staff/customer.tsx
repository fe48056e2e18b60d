// One customer: figures that lead to what they count, and their announcements, which staff may suspend and resume.
import { Skeleton, Title } from '@mantine/core'
import { getCustomerRoute, type Customer } from '@pharos/contract/operator/team'
import {
  announcementStatuses,
  listAnnouncementsOfTeamRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useMayAsStaff } from '../api/use-grant.ts'
import { actionsColumn, monoColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { Figure } from '../ui/figure.tsx'
import { List } from '../ui/list.tsx'
import { Grid, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { AnnouncementStatusBadge, announcementStatusShown } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { aboutText, OpenAsTeam, Waiting } from './customer-view.tsx'
import { Suspension } from './suspension.tsx'
import { words } from './words.ts'

const { announcements: t, customers: c } = words

const columns: readonly Column<Announcement>[] = [
  monoColumn('cidr', t.prefix, ({ cidr }) => cidr, { orderBy: 'cidr', width: 190, card: 'primary' }),
  {
    id: 'status',
    header: t.status,
    width: 180,
    card: 'state',
    cell: ({ status }) => <AnnouncementStatusBadge status={status} />,
  },
  monoColumn('origin', t.origin, ({ origin_asn }) => `AS${origin_asn}`, { width: 110, card: 'secondary' }),
  { id: 'regions', header: t.regions, width: 160, cell: ({ regions }) => regions.join(', ') },
  {
    id: 'reason',
    header: t.reason,
    width: 220,
    grows: true,
    cell: ({ details }) => details?.suspended_reason ?? '',
  },
  actionsColumn(t.actions, (one) => <Suspension announcement={one} />, 110),
]

const declaration: ListDeclaration = {
  sort: 'cidr',
  search: { kind: 'text', name: 'cidr', label: t.search, placeholder: t.searchPlaceholder, hasMany: true },
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: t.status,
      options: announcementStatuses.map((value) => ({ value, ...announcementStatusShown(value) })),
    },
  ],
}

const withDetails = { include: 'details' }

export function CustomerPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const teamId = Number(id)
  const { data, error, refetch } = useAnswer(getCustomerRoute, { params: { team_id: teamId } })
  const view = useListSearch('/staff/customers/$id', declaration)
  const seesAnnouncements = useMayAsStaff(listAnnouncementsOfTeamRoute.permission)
  const params = useMemo(() => ({ team_id: teamId }), [teamId])
  return (
    <Page
      title={data?.name ?? words.customers.columns.name}
      {...(data ? { note: aboutText(data), actions: <OpenAsTeam customer={data} /> } : {})}
    >
      {error && !data && <Problem error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {data && (
        <>
          <Figures customer={data} />
          {seesAnnouncements && (
            <Title order={2} size="h3">
              {t.title}
            </Title>
          )}
          {seesAnnouncements && (
            <List<Announcement>
              name="customer-announcements"
              things={[t.thing, t.things]}
              route={listAnnouncementsOfTeamRoute}
              params={params}
              query={withDetails}
              view={view}
              columns={columns}
              refetchMs={10_000}
              empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
            />
          )}
        </>
      )}
    </Page>
  )
}

const Figures = ({ customer }: { customer: Customer }) => (
  <Grid min={150}>
    <Figure label={c.columns.requests} value={<Waiting teamId={customer.id} />} />
    <Figure
      label={c.columns.announced}
      value={customer.announced.toLocaleString('en')}
      unit={c.of(customer.announcements)}
    />
    <Figure
      label={c.columns.attacks}
      value={customer.ongoing_attacks.toLocaleString('en')}
      {...(customer.ongoing_attacks > 0 ? { color: 'bad' as const } : {})}
    />
    <Figure
      label={c.columns.members}
      value={customer.members.toLocaleString('en')}
      note={customer.require_2fa ? c.factorRequired : c.factorOptional}
    />
  </Grid>
)
