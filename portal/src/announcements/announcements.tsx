// The team's announcements, or those that were deleted and can be restored.
import { IconPlus } from '@tabler/icons-react'
import { listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import { useIsAdmin } from '../api/use-session.ts'
import { Dimmed, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { announcementActions } from './announcement-actions.ts'
import { useAnnouncementFilters } from './announcement-filters.ts'
import { CheckBadges } from './check-badges.tsx'
import { DaysLeft, RestoreButton } from './restore.tsx'

const prefix: Column<Announcement> = {
  id: 'cidr',
  header: 'Prefix',
  orderBy: 'cidr',
  width: 210,
  card: 'primary',
  cell: ({ id, cidr }) => <RowLink to={`/announcements/${id}`}>{cidr}</RowLink>,
}
const description: Column<Announcement> = {
  id: 'description',
  header: 'Description',
  width: 200,
  grows: true,
  card: 'secondary',
  cell: ({ details }) => <OrDash>{details?.description}</OrDash>,
}
const origin: Column<Announcement> = {
  id: 'origin_asn',
  header: 'Origin AS',
  orderBy: 'origin_asn',
  width: 110,
  cell: ({ origin_asn }) => `AS${origin_asn}`,
}

const columns: readonly Column<Announcement>[] = [
  prefix,
  description,
  origin,
  {
    id: 'status',
    header: 'Status',
    orderBy: 'status',
    width: 170,
    card: 'state',
    cell: ({ status }) => <AnnouncementStatusBadge status={status} />,
  },
  { id: 'enabled', header: 'Enabled', width: 90, cell: ({ enabled }) => (enabled ? 'Yes' : 'No') },
  {
    id: 'regions',
    header: 'Regions',
    width: 170,
    cell: ({ regions }) => regions.join(', ') || <Dimmed>None</Dimmed>,
  },
  {
    id: 'checks',
    header: 'Checks',
    width: 245,
    cell: (announcement) => <CheckBadges announcement={announcement} />,
  },
  timeColumn('last_check', 'Last sync', ({ last_check }) => last_check, {
    orderBy: 'last_check',
    none: 'Never',
  }),
  timeColumn('created', 'Created', ({ created }) => created, { orderBy: 'created', hidden: true }),
  { id: 'id', header: 'ID', orderBy: 'id', hidden: true, align: 'right', cell: ({ id }) => id },
]

/** The days left come first: they are what is urgent about a deleted announcement. */
const deletedColumns: readonly Column<Announcement>[] = [
  prefix,
  {
    id: 'left',
    header: 'Restore within',
    card: 'state',
    cell: ({ details }) => details?.deleted && <DaysLeft deleted={details.deleted} />,
  },
  {
    id: 'restore',
    header: 'Restore',
    cell: (announcement) => <RestoreButton announcement={announcement} size="compact-xs" />,
  },
  timeColumn('deleted', 'Deleted', ({ details }) => details?.deleted ?? null),
  description,
  origin,
  { id: 'regions', header: 'Regions', cell: ({ regions }) => regions.join(', ') },
]

const query = { include: 'details' }

export function Announcements() {
  const declaration = useAnnouncementFilters()
  const view = useListSearch('/announcements', declaration)
  const isAdmin = useIsAdmin()
  const isDeleted = view.values['deleted'] === 'true'
  const hasOtherFilters = Object.keys(view.values).some((name) => name !== 'deleted')
  return (
    <Page
      title="Announcements"
      actions={
        isAdmin && (
          <ButtonLink to="/announcements/new" leftSection={<IconPlus size={14} />}>
            Add prefix
          </ButtonLink>
        )
      }
    >
      <List<Announcement>
        name={isDeleted ? 'announcements-deleted' : 'announcements'}
        things={['announcement', 'announcements']}
        route={listAnnouncementsRoute}
        view={view}
        query={query}
        columns={isDeleted ? deletedColumns : columns}
        refetchMs={15_000}
        {...(isAdmin && !isDeleted ? { bulk: announcementActions } : {})}
        empty={
          <Empty title="No announcements yet">
            Add a prefix. Each check shows what is missing and gives you the exact object to create.
          </Empty>
        }
        {...(isDeleted
          ? {
              emptyFiltered: (
                <Empty
                  title={
                    hasOtherFilters
                      ? 'No deleted announcements match these filters'
                      : 'Nothing deleted in the last 7 days'
                  }
                />
              ),
            }
          : {})}
      />
    </Page>
  )
}
