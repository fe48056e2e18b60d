// Security events that concern the team: ongoing ones first, then a list with every filter of the API.
import { Box, Button, Group, Text, Tooltip } from '@mantine/core'
import { listRelatedEventsRoute, type RelatedEvent } from '@pharos/contract/analysis'
import { classificationLabel } from '@pharos/contract/classification'
import { ProblemError } from '@pharos/contract/client'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { answerOf, useAnswer } from '../api/queries.ts'
import { Dimmed, monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { inputOf } from '../ui/list-requests.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { RowLink } from '../ui/row-link.tsx'
import { Section } from '../ui/section.tsx'
import { EventStatusBadge } from '../ui/status.tsx'
import { useListSearch, type Filters } from '../ui/use-page-search.ts'
import { durationOf } from './event-duration.ts'
import { EventFilterFields } from './event-filter-fields.tsx'
import classes from './events.module.css'
import { flagLabel } from './flag-labels.ts'
import { ongoingQuery } from './ongoing-query.ts'

const columns: readonly Column<RelatedEvent>[] = [
  {
    id: 'network',
    header: 'Network',
    cell: ({ id, affected_network }) => (
      <RowLink to={`/events/${id}`}>{affected_network || 'Unknown network'}</RowLink>
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
    header: 'Type',
    orderBy: 'classification_key',
    cell: ({ classification_key: key }) => classificationLabel(key),
  },
  {
    id: 'bps',
    header: 'Peak rate',
    orderBy: 'affected_bps',
    align: 'right',
    cell: ({ affected_bps }) => formatRate(affected_bps, 'bps'),
  },
  {
    id: 'pps',
    header: 'Peak packet rate',
    orderBy: 'affected_pps',
    align: 'right',
    cell: ({ affected_pps }) => formatRate(affected_pps, 'pps'),
  },
  timeColumn('start', 'Started', ({ start }) => start, { orderBy: 'start' }),
  timeColumn('end', 'Ended', ({ end }) => end, { orderBy: 'end', none: 'Ongoing' }),
  { id: 'lasted', header: 'Duration', align: 'right', cell: (event) => durationOf(event) },
  { id: 'hit', header: 'Affected', cell: ({ relationships }) => <Affected relationships={relationships} /> },
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
  { id: 'location', header: 'Detected in', hidden: true, cell: ({ source_location }) => source_location },
  { id: 'flags', header: 'Flags', hidden: true, cell: ({ flags }) => flags.map(flagLabel).join(', ') },
  monoColumn('id', 'ID', ({ id }) => id, { orderBy: 'id', hidden: true }),
]

function Affected({ relationships }: Pick<RelatedEvent, 'relationships'>) {
  const names = [...new Set(relationships.map(({ match_resouce_name: name }) => name))]
  if (names.length === 0) return null
  return (
    <Tooltip label={names.join(', ')}>
      <Text span size="sm">
        {names[0]} {names.length > 1 && <Dimmed>+{names.length - 1}</Dimmed>}
      </Text>
    </Tooltip>
  )
}

export function Events() {
  const { ordering: given, ...search } = useListSearch('/events', '-start')
  const { filters, setFilters, clearFilters, setOrdering } = search
  // Older addresses name the keys with a prefix.
  const ordering = given?.replaceAll('event__', '')
  const view = useMemo(() => ({ filters, ordering, setOrdering, clearFilters }), [filters, ordering])
  const refusal = useRefusal(filters, ordering)
  return (
    <Page title="Security events" note="Attacks and anomalies affecting your prefixes and ASNs.">
      <Ongoing />
      <EventFilterFields
        filters={filters}
        setFilters={setFilters}
        clearFilters={clearFilters}
        errorOf={(name) => refusal?.errors?.find(({ loc }) => loc[1] === name)?.msg}
      />
      {refusal ? (
        <Refused refusal={refusal} />
      ) : (
        <Box mih="20rem">
          <List<RelatedEvent>
            name="events"
            things={['event', 'events']}
            route={listRelatedEventsRoute}
            view={view}
            hasClearButton={false}
            columns={columns}
            refetchMs={10_000}
            empty={<Empty title="No events yet">No attacks on your networks so far.</Empty>}
            emptyFiltered={
              <Empty title="No events match these filters">
                Try a longer time range or clear the filters.
              </Empty>
            }
          />
        </Box>
      )}
    </Page>
  )
}

/** Returns the API's refusal of the filters. The query is the list's own first one, so it is sent once. */
function useRefusal(filters: Filters, ordering: string | undefined): ProblemError['problem'] | undefined {
  const query = { ...filters, ...(ordering ? { ordering } : {}) }
  const { error, data } = useQuery(answerOf(listRelatedEventsRoute, inputOf({ query }, 0)))
  return !data && error instanceof ProblemError && error.problem.status === 422 ? error.problem : undefined
}

/** Parameters whose errors are shown at their fields. */
const fields = new Set([
  'affected_network',
  'search',
  'flag',
  'status',
  'classification_key',
  'source_key',
  'min_bps',
  'min_pps',
  'start',
  'end',
])

function Refused({ refusal: { errors = [] } }: { refusal: ProblemError['problem'] }) {
  const elsewhere = errors.filter(({ loc }) => !fields.has(String(loc[1])))
  return (
    <Empty title="Some filters are not valid">
      {elsewhere.length === 0
        ? 'Correct the highlighted field to see results.'
        : elsewhere.map(({ loc, msg }) => <div key={`${loc[1]} ${msg}`}>{`${loc[1]} ${msg}`}</div>)}
    </Empty>
  )
}

const shownAtFirst = 3

/** Ongoing attacks, whatever their age and the list's filters. */
function Ongoing() {
  const answer = useAnswer(listRelatedEventsRoute, { query: ongoingQuery }, { refetchInterval: 5_000 })
  const ongoing = answer.data?.results ?? []
  const [isWhole, setWhole] = useState(false)
  if (ongoing.length === 0) return null
  const shown = isWhole ? ongoing : ongoing.slice(0, shownAtFirst)
  return (
    <div className={classes['now']}>
      <Section title={ongoing.length === 1 ? '1 ongoing attack' : `${ongoing.length} ongoing attacks`}>
        {shown.map((event) => (
          <Group key={event.id} gap="md" className={classes['row']!}>
            <TextLink to="/events/$id" params={{ id: event.id }} ff="monospace" size="sm">
              {event.affected_network || 'Unknown network'}
            </TextLink>
            <Text size="sm">{classificationLabel(event.classification_key)}</Text>
            <Text size="sm" fw={600}>
              {formatRate(event.affected_bps, 'bps')}
            </Text>
            <Text size="sm">{durationOf(event)}</Text>
          </Group>
        ))}
        {shown.length < ongoing.length && (
          <Group>
            <Button variant="subtle" size="compact-sm" ml={-8} mt={4} onClick={() => setWhole(true)}>
              Show {ongoing.length - shown.length} more
            </Button>
          </Group>
        )}
      </Section>
    </div>
  )
}
