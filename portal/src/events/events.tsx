// The attacks on the team's networks, each once, whatever the number of detectors: ongoing ones first, then a list with every filter of the API.
import { Box, Button, Group, Text, Tooltip } from '@mantine/core'
import { classificationLabel } from '@pharos/contract/events/classification'
import { listIncidentsRoute, type Incident } from '@pharos/contract/events/incident'
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
import { useIsPhone } from '../ui/use-is-phone.ts'
import { rangeChanges, useListSearch, type ListView } from '../ui/use-list-search.ts'
import { useNow } from '../ui/use-now.ts'
import { useRangeZoom } from '../ui/use-range-zoom.ts'
import { AttacksByDay } from './attacks-by-day.tsx'
import { detectorName } from './detector-name.ts'
import { durationOf } from './event-duration.ts'
import { useEventFilters } from './event-filters.ts'
import { EventSummary } from './event-summary.tsx'
import classes from './events.module.css'
import { flagLabel } from './flag-labels.ts'
import { networkText } from './network-text.ts'
import { words } from './words.ts'

const { list: texts } = words

const columns: readonly Column<Incident>[] = [
  {
    id: 'network',
    header: texts.columns.network,
    width: 145,
    card: 'primary',
    cell: ({ id, network }) => <RowLink to={`/events/${id}`}>{networkText(network)}</RowLink>,
  },
  {
    id: 'status',
    header: texts.columns.status,
    width: 205,
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
    header: texts.columns.type,
    orderBy: 'classification_key',
    width: 190,
    card: 'secondary',
    cell: ({ classification_key: key }) => classificationLabel(key),
  },
  {
    id: 'bps',
    header: texts.columns.bps,
    orderBy: 'affected_bps',
    largestFirst: true,
    align: 'right',
    width: 85,
    card: 'secondary',
    cell: ({ affected_bps }) => (affected_bps > 0 ? formatRate(affected_bps, 'bps') : <Dimmed>–</Dimmed>),
  },
  {
    id: 'pps',
    header: texts.columns.pps,
    orderBy: 'affected_pps',
    largestFirst: true,
    align: 'right',
    width: 100,
    cell: ({ affected_pps }) => (affected_pps > 0 ? formatRate(affected_pps, 'pps') : <Dimmed>–</Dimmed>),
  },
  timeColumn('start', texts.columns.start, ({ start }) => start, { orderBy: 'start', card: 'secondary' }),
  timeColumn('end', texts.columns.end, ({ end }) => end, {
    orderBy: 'end',
    none: texts.columns.ongoing,
    hidden: true,
  }),
  {
    id: 'lasted',
    header: texts.columns.duration,
    align: 'right',
    width: 104,
    cell: (event) => durationOf(event),
  },
  {
    id: 'hit',
    header: texts.columns.affected,
    width: 150,
    hidden: true,
    cell: ({ relationships }) => <Affected relationships={relationships} />,
  },
  {
    id: 'source',
    header: texts.columns.source,
    width: 120,
    grows: true,
    cell: ({ sources }) => <ReportedBy sources={sources} />,
  },
  {
    id: 'confidence',
    header: texts.columns.confidence,
    hidden: true,
    cell: ({ confidence }) => texts.confidences[confidence],
  },
  {
    id: 'events',
    header: texts.columns.events,
    align: 'right',
    hidden: true,
    cell: ({ event_count: count }) => count,
  },
  {
    id: 'flags',
    header: texts.columns.flags,
    hidden: true,
    cell: ({ flags }) => flags.map(flagLabel).join(', '),
  },
  monoColumn('id', texts.columns.id, ({ id }) => id, { orderBy: 'id', hidden: true }),
]

function ReportedBy({ sources }: Pick<Incident, 'sources'>) {
  const names = sources.map(detectorName)
  if (names.length === 1) return names[0]
  return (
    <Tooltip label={names.join(', ')}>
      <Text span size="sm">
        {texts.reportedBy(names.length)}
      </Text>
    </Tooltip>
  )
}

function Affected({ relationships }: Pick<Incident, 'relationships'>) {
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
    <Page title={texts.title} note={texts.note}>
      <Ongoing />
      <Box mih="20rem">
        <List<Incident>
          name="events"
          things={['attack', 'attacks']}
          route={listIncidentsRoute}
          view={view}
          columns={columns}
          panel={panel}
          chart={<Strip view={view} />}
          refetchMs={10_000}
          empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
          emptyFiltered={<Empty title={texts.emptyFiltered}>{texts.emptyFilteredText}</Empty>}
        />
      </Box>
    </Page>
  )
}

/** The attacks of the list over time: a bar, or a range that is dragged, becomes the list's time range. */
function Strip({ view }: { view: ListView }) {
  const { start, end, ...filters } = view.query
  const isPhone = useIsPhone()
  const { isZoomed, zoomTo, onZoom } = useRangeZoom(view.range, (range) => view.set(rangeChanges(range)))
  return (
    <div className={classes['strip']}>
      <div className={classes['stripHead']}>{start || end ? words.byDay.inRange : words.byDay.lastDays}</div>
      <AttacksByDay
        label={words.byDay.labelOfList}
        span={{ ...(start ? { start: String(start) } : {}), ...(end ? { end: String(end) } : {}) }}
        filters={filters}
        height={isPhone ? 90 : 120}
        isZoomed={isZoomed}
        onPeriod={zoomTo}
        onZoom={onZoom}
      />
    </div>
  )
}

const panel: PanelDeclaration<Incident> = {
  title: (attack) => (attack ? networkText(attack.network) : texts.panel.title),
  pageOf: (id) => `/events/${id}`,
  render: (id, row) => <EventSummary id={id} row={row} />,
}

const shownAtFirst = 3

/** Ongoing attacks, whatever their age and the list's filters. */
function Ongoing() {
  const answer = useAnswer(listIncidentsRoute, { query: ongoingQuery }, { refetchInterval: 5_000 })
  const ongoing = answer.data?.results ?? []
  const [isWhole, setWhole] = useState(false)
  const now = useNow(ongoing.length > 0, 10_000)
  if (ongoing.length === 0) return null
  const shown = isWhole ? ongoing : ongoing.slice(0, shownAtFirst)
  return (
    <div className={classes['now']}>
      <Section title={texts.ongoingCount(answer.data?.count ?? 0)}>
        {shown.map((event) => (
          <div key={event.id} className={classes['row']}>
            <TextLink to="/events/$id" params={{ id: event.id }} ff="monospace" size="sm">
              {networkText(event.network)}
            </TextLink>
            <Text size="sm">{classificationLabel(event.classification_key)}</Text>
            <Text size="sm" fw={600}>
              {formatRate(event.affected_bps, 'bps')}
            </Text>
            <Text size="sm" component="div">
              {durationOf(event, now)}{' '}
              {event.status.includes('MITIGATION_ACTIVE') && <EventStatusBadge status="MITIGATION_ACTIVE" />}
            </Text>
          </div>
        ))}
        {shown.length < ongoing.length && (
          <Group>
            <Button variant="subtle" size="compact-sm" ml={-8} mt={4} onClick={() => setWhole(true)}>
              {texts.showMore(ongoing.length - shown.length)}
            </Button>
          </Group>
        )}
      </Section>
    </div>
  )
}

const ongoingQuery = { ongoing: true, ordering: '-affected_bps', limit: 100 } as const
