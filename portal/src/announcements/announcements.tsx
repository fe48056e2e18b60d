// The team's announcements: what is announced where, and what is in the way.
import { Anchor, Button, Group, MultiSelect, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import {
  announcementStatuses,
  listAnnouncements,
  listRegions,
  type Announcement,
} from '@pharos/contract/byoip'
import { IconPlus } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../shell/use-session.ts'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { AnnouncementStatusBadge, announcementStatusWord } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { Checks } from './checks.tsx'

const columns: readonly Column<Announcement>[] = [
  {
    id: 'cidr',
    header: 'Prefix',
    orderBy: 'cidr',
    cell: ({ id, cidr }) => (
      <Anchor
        component={Link}
        to="/announcements/$id"
        params={{ id: String(id) } as never}
        ff="monospace"
        size="sm"
      >
        {cidr}
      </Anchor>
    ),
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

export function Announcements() {
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: 'cidr' })
  const user = useUser()
  const query = useMemo(() => ({ ...filters, include: 'details' }), [filters])
  const isFiltered = Object.keys(filters).length > 0
  const canCreate = user?.current_team.is_admin || user?.is_staff
  return (
    <Page
      title="Announcements"
      actions={
        canCreate && (
          <Button component={Link} to="/announcements/new" leftSection={<IconPlus size={14} />}>
            Bring a prefix
          </Button>
        )
      }
    >
      <List<Announcement>
        name="announcements"
        route={listAnnouncements}
        filters={query}
        columns={columns}
        ordering={ordering}
        onOrdering={setOrdering}
        refetchMs={15_000}
        toolbar={<Filters filters={filters} setFilters={setFilters} />}
        empty={
          isFiltered ? (
            <Empty title="No announcement is like that">
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

type FiltersProps = Pick<ReturnType<typeof useListSearch>, 'filters' | 'setFilters'>

function Filters({ filters, setFilters }: FiltersProps) {
  const regions = useAnswer(listRegions, { query: { limit: 1000 } })
  const typed = useDebouncedCallback((cidr: string) => setFilters({ cidr: cidr.trim() }), 300)
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        data-search
        size="xs"
        w={180}
        aria-label="Prefix or address"
        placeholder="Prefix or address"
        defaultValue={String(filters['cidr'] ?? '')}
        onChange={(event) => typed(event.currentTarget.value)}
      />
      <MultiSelect
        size="xs"
        w={200}
        aria-label="Status"
        placeholder={filters['status'] ? '' : 'Any status'}
        clearable
        data={announcementStatuses.map((status) => ({
          value: status,
          label: announcementStatusWord(status),
        }))}
        value={[filters['status'] ?? []].flat() as string[]}
        onChange={(status) => setFilters({ status })}
      />
      <Select
        size="xs"
        w={140}
        aria-label="Region"
        placeholder="Any region"
        clearable
        data={regions.data?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
        value={(filters['region'] as string | undefined) ?? null}
        onChange={(region) => setFilters({ region: region ?? undefined })}
      />
      <Select
        size="xs"
        w={110}
        aria-label="Address family"
        placeholder="v4 and v6"
        clearable
        data={[
          { value: '4', label: 'IPv4' },
          { value: '6', label: 'IPv6' },
        ]}
        value={filters['family'] === undefined ? null : String(filters['family'])}
        onChange={(family) => setFilters({ family: family ?? undefined })}
      />
    </Group>
  )
}
