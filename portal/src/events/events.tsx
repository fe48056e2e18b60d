// Security events that concern the team: those that go on first, every filter of the API in the address.
import {
  Anchor,
  Button,
  Card,
  Group,
  MultiSelect,
  SegmentedControl,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { eventFlags, listRelatedEvents, type RelatedEvent } from '@pharos/contract/analysis'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { EventStatusBadge } from '../ui/status.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import classes from './events.module.css'
import { ongoingNow } from './ongoing.ts'
import { useListSearch, type ListSearch } from '../ui/use-list-search.ts'

const newestFirst = '-start'

const lasted = ({ start, end }: RelatedEvent) =>
  formatDuration((end === null ? Date.now() : new Date(end).getTime()) - new Date(start).getTime())

const columns: readonly Column<RelatedEvent>[] = [
  {
    id: 'network',
    header: 'Network',
    cell: ({ id, affected_network }) => (
      <Anchor component={Link} to="/events/$id" params={{ id } as never} ff="monospace" size="sm">
        {affected_network || 'unknown'}
      </Anchor>
    ),
  },
  {
    id: 'status',
    header: 'Status',
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
    header: 'Kind',
    orderBy: 'classification_key',
    cell: ({ classification_key }) => classification_key,
  },
  {
    id: 'bps',
    header: 'Peak',
    orderBy: 'affected_bps',
    align: 'right',
    cell: ({ affected_bps }) => formatRate(affected_bps, 'bps'),
  },
  {
    id: 'pps',
    header: 'Packets',
    orderBy: 'affected_pps',
    align: 'right',
    cell: ({ affected_pps }) => formatRate(affected_pps, 'pps'),
  },
  { id: 'start', header: 'Began', orderBy: 'start', cell: ({ start }) => <Time at={start} /> },
  { id: 'end', header: 'Ended', orderBy: 'end', cell: ({ end }) => <Time at={end} none="goes on" /> },
  { id: 'lasted', header: 'Lasted', align: 'right', cell: lasted },
  { id: 'hit', header: 'Hit', cell: ({ relationships }) => <Hit relationships={relationships} /> },
  {
    id: 'description',
    header: 'Description',
    cell: ({ description }) => (
      <Text size="sm" truncate maw={320}>
        {description}
      </Text>
    ),
  },
  { id: 'source', header: 'Source', hidden: true, cell: ({ source_key }) => source_key },
  { id: 'location', header: 'Seen at', hidden: true, cell: ({ source_location }) => source_location },
  { id: 'flags', header: 'Flags', hidden: true, cell: ({ flags }) => flags.join(', ') },
]

function Hit({ relationships }: Pick<RelatedEvent, 'relationships'>) {
  const names = [...new Set(relationships.map(({ match_resouce_name: name }) => name))]
  if (names.length === 0) return null
  return (
    <Tooltip label={names.join(', ')}>
      <Text span size="sm">
        {names[0]}
        {names.length > 1 && (
          <Text span c="dimmed">
            {' '}
            +{names.length - 1}
          </Text>
        )}
      </Text>
    </Tooltip>
  )
}

export function Events() {
  const search = useListSearch({ ordering: newestFirst })
  const { filters, ordering, setFilters, setOrdering } = search
  const isFiltered = Object.keys(filters).length > 0
  const query = useMemo(() => filters, [filters])
  return (
    <Page
      title="Security events"
      note="Attacks and anomalies that touch your announcements, prefixes and ASNs."
    >
      <GoingOn />
      <List<RelatedEvent>
        name="events"
        route={listRelatedEvents}
        filters={query}
        columns={columns}
        ordering={ordering}
        onOrdering={setOrdering}
        refetchMs={10_000}
        toolbar={<Filters {...search} />}
        empty={
          isFiltered ? (
            <Empty title="No event is like that">
              <Button
                variant="subtle"
                onClick={() =>
                  setFilters(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))
                }
              >
                Take the filters away
              </Button>
            </Empty>
          ) : (
            <Empty title="No events">
              Nothing was seen on what your team holds. That is how it should be.
            </Empty>
          )
        }
      />
    </Page>
  )
}

/** However old they are and whatever the list is filtered by: these come first. */
function GoingOn() {
  const answer = useAnswer(listRelatedEvents, { query: ongoingNow() }, { refetchInterval: 5_000 })
  const ongoing = answer.data?.results.filter(({ end }) => end === null) ?? []
  if (ongoing.length === 0) return null
  return (
    <Card component="section" aria-label="Going on now" className={classes['now']!}>
      <Text fw={600} size="sm" mb={4}>
        {ongoing.length === 1 ? 'One goes on now' : `${ongoing.length} go on now`}
      </Text>
      {ongoing.map((event) => (
        <Group key={event.id} gap="md" mih={28}>
          <Anchor
            component={Link}
            to="/events/$id"
            params={{ id: event.id } as never}
            ff="monospace"
            size="sm"
          >
            {event.affected_network || 'unknown'}
          </Anchor>
          <Text size="sm">{event.classification_key}</Text>
          <Text size="sm" fw={600}>
            {formatRate(event.affected_bps, 'bps')}
          </Text>
          <Text size="sm">for {lasted(event)}</Text>
        </Group>
      ))}
    </Card>
  )
}

const spans = [
  { value: '', label: 'All' },
  { value: '1', label: '24 h' },
  { value: '7', label: '7 d' },
  { value: '30', label: '30 d' },
]

/** Whole minutes, so that the same view has the same address for a while. */
const daysAgo = (days: number) =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 - days * 86_400_000).toISOString()

const spanOf = (start: unknown): string => {
  if (typeof start !== 'string') return ''
  const days = (Date.now() - new Date(start).getTime()) / 86_400_000
  return spans.find(({ value }) => value !== '' && Math.abs(Number(value) - days) < 0.1)?.value ?? '-'
}

function Filters({ filters, setFilters }: ListSearch) {
  const network = useDebouncedCallback((text: string) => setFilters({ affected_network: text.trim() }), 300)
  const words = useDebouncedCallback((text: string) => setFilters({ description: text.trim() }), 300)
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        data-search
        size="xs"
        w={180}
        aria-label="Address or prefix"
        placeholder="Address or prefix"
        defaultValue={String(filters['affected_network'] ?? '')}
        onChange={(event) => network(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        w={160}
        aria-label="Words of the description"
        placeholder="Words"
        defaultValue={String(filters['description'] ?? '')}
        onChange={(event) => words(event.currentTarget.value)}
      />
      <MultiSelect
        size="xs"
        w={200}
        aria-label="Flags"
        placeholder={filters['flag'] ? '' : 'Any flag'}
        clearable
        data={[...eventFlags]}
        value={[filters['flag'] ?? []].flat() as string[]}
        onChange={(flag) => setFilters({ flag })}
      />
      <SegmentedControl
        size="xs"
        aria-label="Time"
        data={spans}
        value={spanOf(filters['start'])}
        onChange={(days) => setFilters({ start: days === '' ? undefined : daysAgo(Number(days)) })}
      />
    </Group>
  )
}
