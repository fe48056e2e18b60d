// The team's announcements: what is announced where, and what is in the way.
import { Anchor, Button, Text } from '@mantine/core'
import { listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import { IconPlus } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import type { Search } from '../router.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { Checks } from './checks.tsx'
import { Filters } from './filters.tsx'
import { DaysLeft, RestoreButton, useMayChange } from './restore.tsx'

const first: readonly Column<Announcement>[] = [
  {
    id: 'cidr',
    header: 'Prefix',
    orderBy: 'cidr',
    cell: ({ id, cidr }) => <RowLink to={`/announcements/${id}`}>{cidr}</RowLink>,
  },
  {
    id: 'description',
    header: 'Description',
    cell: ({ details }) =>
      details?.description || (
        <Text span c="dimmed">
          –
        </Text>
      ),
  },
  { id: 'origin_asn', header: 'Origin', orderBy: 'origin_asn', cell: ({ origin_asn }) => `AS${origin_asn}` },
]

const columns: readonly Column<Announcement>[] = [
  ...first,
  {
    id: 'status',
    header: 'Status',
    orderBy: 'status',
    cell: ({ status }) => <AnnouncementStatusBadge status={status} />,
  },
  { id: 'enabled', header: 'Switched', cell: ({ enabled }) => (enabled ? 'on' : 'off') },
  {
    id: 'regions',
    header: 'Regions',
    cell: ({ regions }) =>
      regions.join(', ') || (
        <Text span c="dimmed">
          all open ones
        </Text>
      ),
  },
  { id: 'checks', header: 'Checks', cell: (announcement) => <Checks announcement={announcement} /> },
  {
    id: 'last_check',
    header: 'Compared with routers',
    orderBy: 'last_check',
    cell: ({ last_check }) => <Time at={last_check} none="never" />,
  },
  {
    id: 'created',
    header: 'Created',
    orderBy: 'created',
    hidden: true,
    cell: ({ created }) => <Time at={created} />,
  },
  { id: 'id', header: 'Id', orderBy: 'id', hidden: true, align: 'right', cell: ({ id }) => id },
]

/** Of those that were deleted: what stands first is how long they can be had back. */
const deletedColumns: readonly Column<Announcement>[] = [
  first[0]!,
  {
    id: 'left',
    header: 'Left to restore it',
    cell: ({ details }) => details?.deleted && <DaysLeft deleted={details.deleted} />,
  },
  {
    id: 'restore',
    header: 'Bring back',
    cell: (announcement) => <RestoreButton announcement={announcement} size="compact-xs" />,
  },
  { id: 'deleted', header: 'Deleted', cell: ({ details }) => <Time at={details?.deleted ?? null} /> },
  ...first.slice(1),
  { id: 'regions', header: 'Regions', cell: ({ regions }) => regions.join(', ') },
]

export function Announcements() {
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: 'cidr' })
  const mayCreate = useMayChange()
  const isDeleted = filters['deleted'] === true
  const query = useMemo(() => ({ ...filters, include: 'details' }), [filters])
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="Announcements"
      actions={
        mayCreate && (
          <Button component={Link} to="/announcements/new" leftSection={<IconPlus size={14} />}>
            Bring a prefix
          </Button>
        )
      }
    >
      <List<Announcement>
        name={isDeleted ? 'announcements-deleted' : 'announcements'}
        route={listAnnouncementsRoute}
        filters={query}
        columns={isDeleted ? deletedColumns : columns}
        ordering={ordering}
        onOrdering={setOrdering}
        refetchMs={15_000}
        toolbar={<Filters filters={filters} setFilters={setFilters} />}
        empty={
          isFiltered ? (
            <Empty title={emptyTitle(filters)}>
              <Anchor
                component="button"
                size="sm"
                onClick={() =>
                  setFilters(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))
                }
              >
                Take the filters away
              </Anchor>
            </Empty>
          ) : (
            <Empty title="No announcements yet">
              Bring a prefix of your own: each check says what is missing, with the text to create.
            </Empty>
          )
        }
      />
    </Page>
  )
}

function emptyTitle({ deleted, ...others }: Search): string {
  if (deleted !== true) return 'No announcement is like that'
  return Object.keys(others).length === 0
    ? 'Nothing was deleted in the last seven days'
    : 'No deleted announcement is like that'
}
