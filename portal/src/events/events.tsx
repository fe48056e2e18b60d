// Security events that concern the team: those that go on first, every filter of the API in the address.
import { Anchor, Box, Button, Card, Group, Text, Tooltip } from '@mantine/core'
import { listRelatedEventsRoute, type RelatedEvent } from '@pharos/contract/analysis'
import { ProblemError } from '@pharos/contract/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, useAnswer } from '../api/queries.ts'
import type { Search } from '../router.tsx'
import { Empty } from '../ui/empty.tsx'
import { inputOf } from '../ui/list-pages.ts'
import { List, type Column } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { RowLink } from '../ui/row-link.tsx'
import { EventStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import classes from './events.module.css'
import { countFilters, EventFilters } from './filters.tsx'
import { flagWord } from './flags.ts'
import { durationOf } from './lasted.ts'
import { ongoingNow } from './ongoing.ts'
import { useListSearch } from '../ui/use-list-search.ts'

const newestFirst = '-start'

const columns: readonly Column<RelatedEvent>[] = [
  {
    id: 'network',
    header: 'Network',
    cell: ({ id, affected_network }) => (
      <RowLink to={`/events/${id}`}>{affected_network || 'unknown'}</RowLink>
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
  { id: 'lasted', header: 'Lasted', align: 'right', cell: (event) => durationOf(event) },
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
  { id: 'flags', header: 'Flags', hidden: true, cell: ({ flags }) => flags.map(flagWord).join(', ') },
  {
    id: 'id',
    header: 'Id',
    orderBy: 'id',
    hidden: true,
    cell: ({ id }) => (
      <Text span size="xs" ff="monospace">
        {id}
      </Text>
    ),
  },
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
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: newestFirst })
  const order = ordering?.replaceAll('event__', '')
  const refusal = useRefusal(filters, order)
  return (
    <Page
      title="Security events"
      note="Attacks and anomalies that touch your announcements, prefixes and ASNs."
    >
      <GoingOn />
      <EventFilters
        filters={filters}
        setFilters={setFilters}
        errorOf={(name) => refusal?.errors?.find(({ loc }) => loc[1] === name)?.msg}
      />
      {refusal ? (
        <Refused refusal={refusal} />
      ) : (
        <Box mih="20rem">
          <List<RelatedEvent>
            name="events"
            route={listRelatedEventsRoute}
            filters={filters}
            columns={columns}
            ordering={order}
            onOrdering={setOrdering}
            refetchMs={10_000}
            empty={
              countFilters(filters) > 0 ? (
                <Empty title="No event is like that">Widen the window, or take the filters away.</Empty>
              ) : (
                <Empty title="No events">
                  Nothing was seen on what your team holds. That is how it should be.
                </Empty>
              )
            }
          />
        </Box>
      )}
    </Page>
  )
}

/** What the API has against the filters. The question is the list's own first one, so it is asked once. */
function useRefusal(filters: Search, ordering: string | undefined): ProblemError['problem'] | undefined {
  const query = { ...filters, ...(ordering ? { ordering } : {}) }
  const { error, data } = useQuery(answerOf(listRelatedEventsRoute, inputOf({ query }, 0)))
  return !data && error instanceof ProblemError && error.problem.status === 422 ? error.problem : undefined
}

const fields = new Set(['affected_network', 'description', 'flag', 'start', 'end'])

function Refused({ refusal: { errors = [] } }: { refusal: ProblemError['problem'] }) {
  const elsewhere = errors.filter(({ loc }) => !fields.has(String(loc[1])))
  return (
    <Empty title="These filters cannot be applied">
      {elsewhere.length === 0
        ? 'The field says why. The list comes back as soon as it is put right.'
        : elsewhere.map(({ loc, msg }) => <div key={`${loc[1]} ${msg}`}>{`${loc[1]} ${msg}`}</div>)}
    </Empty>
  )
}

const shownAtFirst = 3

/** However old they are and whatever the list is filtered by: these come first. */
function GoingOn() {
  const answer = useAnswer(listRelatedEventsRoute, { query: ongoingNow() }, { refetchInterval: 5_000 })
  const ongoing = answer.data?.results.filter(({ end }) => end === null) ?? []
  const [isWhole, setWhole] = useState(false)
  if (ongoing.length === 0) return null
  const shown = isWhole ? ongoing : ongoing.slice(0, shownAtFirst)
  return (
    <Card component="section" aria-label="Going on now" className={classes['now']!}>
      <Text fw={600} size="sm" mb={4}>
        {ongoing.length === 1 ? 'One goes on now' : `${ongoing.length} go on now`}
      </Text>
      {shown.map((event) => (
        <Group key={event.id} gap="md" className={classes['row']!}>
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
          <Text size="sm">for {durationOf(event)}</Text>
        </Group>
      ))}
      {shown.length < ongoing.length && (
        <Button variant="subtle" size="compact-sm" ml={-8} mt={4} onClick={() => setWhole(true)}>
          {ongoing.length - shown.length} more, smaller
        </Button>
      )}
    </Card>
  )
}
