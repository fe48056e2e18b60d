// Security events that concern the team: ongoing ones first, then a list with every filter of the API.
import { Box, Button, Group, Text, Tooltip } from '@mantine/core'
import { listRelatedEventsRoute, type RelatedEvent } from '@pharos/contract/analysis'
import { classificationLabel } from '@pharos/contract/classification'
import { useState } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Dimmed, monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { RowLink } from '../ui/row-link.tsx'
import { Section } from '../ui/section.tsx'
import { EventStatusBadge } from '../ui/status.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { durationOf } from './event-duration.ts'
import { useEventFilters } from './event-filters.ts'
import { EventSummary } from './event-summary.tsx'
import classes from './events.module.css'
import { flagLabel } from './flag-labels.ts'
import { ongoingQuery } from './ongoing-query.ts'
import { words } from './words.ts'

const columns: readonly Column<RelatedEvent>[] = [
  {
    id: 'network',
    header: 'Network',
    width: 200,
    card: 'primary',
    cell: ({ id, affected_network }) => (
      <RowLink to={`/events/${id}`}>{affected_network || 'Unknown network'}</RowLink>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: 210,
    card: 'state',
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
    width: 180,
    card: 'secondary',
    cell: ({ classification_key: key }) => classificationLabel(key),
  },
  {
    id: 'bps',
    header: 'Peak rate',
    orderBy: 'affected_bps',
    largestFirst: true,
    align: 'right',
    width: 110,
    card: 'secondary',
    cell: ({ affected_bps }) => formatRate(affected_bps, 'bps'),
  },
  {
    id: 'pps',
    header: 'Peak packet rate',
    orderBy: 'affected_pps',
    largestFirst: true,
    align: 'right',
    width: 150,
    cell: ({ affected_pps }) => formatRate(affected_pps, 'pps'),
  },
  timeColumn('start', 'Started', ({ start }) => start, { orderBy: 'start', card: 'secondary' }),
  timeColumn('end', 'Ended', ({ end }) => end, { orderBy: 'end', none: 'Ongoing' }),
  { id: 'lasted', header: 'Duration', align: 'right', width: 110, cell: (event) => durationOf(event) },
  { id: 'hit', header: 'Affected', cell: ({ relationships }) => <Affected relationships={relationships} /> },
  {
    id: 'description',
    header: 'Description',
    width: 200,
    grows: true,
    cell: ({ description }) => description,
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
  const declaration = useEventFilters()
  const view = useListSearch('/events', declaration)
  return (
    <Page title="Security events" note="Attacks and anomalies affecting your prefixes and ASNs.">
      <Ongoing />
      <Box mih="20rem">
        <List<RelatedEvent>
          name="events"
          things={['event', 'events']}
          route={listRelatedEventsRoute}
          view={view}
          columns={columns}
          panel={panel}
          refetchMs={10_000}
          empty={<Empty title="No events yet">No attacks on your networks so far.</Empty>}
          emptyFiltered={
            <Empty title="No events match these filters">Try a longer time range or clear the filters.</Empty>
          }
        />
      </Box>
    </Page>
  )
}

const panel: PanelDeclaration<RelatedEvent> = {
  title: (event) => event?.affected_network || words.list.panel.title,
  pageOf: (id) => `/events/${id}`,
  render: (id, row) => <EventSummary id={id} row={row} />,
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
