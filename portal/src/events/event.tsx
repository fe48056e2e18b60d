// One event: how big, how long, how it went on, what it hit, what the detector saw, and its own words.
import { Anchor, Card, Code, Grid, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import { getRelatedEventRoute, type ParsedData, type RelatedEventDetail } from '@pharos/contract/analysis'
import { ProblemError } from '@pharos/contract/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import { answerOf, paceOf } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { EventStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { EventTimeline, hasCourse, Traffic } from './event-course.tsx'
import { EventHit } from './event-hit.tsx'
import { EventSource } from './event-source.tsx'
import { flagWord } from './flags.ts'
import { durationOf } from './lasted.ts'

export function EventPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const answer = useQuery({
    ...answerOf(getRelatedEventRoute, { params: { event_id: id } }),
    // The stream tells of what is news, and a rate that has not risen is none: while it goes on it is asked for.
    refetchInterval: ({ state }) =>
      state.data?.end === null ? 10_000 : paceOf(getRelatedEventRoute, 10_000),
  })
  if (answer.data) return <Shown event={answer.data} />
  if (isNotFound(answer.error)) return <NotYours />
  if (answer.error) return <Problem error={answer.error} />
  return (
    <Stack aria-busy>
      <Skeleton height={24} width={240} />
      <Skeleton height={80} />
      <Skeleton height={280} />
    </Stack>
  )
}

const isNotFound = (error: unknown) => error instanceof ProblemError && error.problem.status === 404

/** The API does not say which of the two it is, so neither does this page. */
const NotYours = () => (
  <Page title="Not found">
    <Empty title="No event of your team is at this address">
      There is none, or it concerns another team. If you are in that team too, switch to it and follow the
      link again. What concerns yours is in the{' '}
      <Anchor component={Link} to="/events" underline="always">
        list of events
      </Anchor>
      .
    </Empty>
  </Page>
)

/** The time as it goes by, while somebody waits for an end. */
function useNow(isRunning: boolean, everyMs: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [isRunning, everyMs])
  return now
}

function Shown({ event }: { event: RelatedEventDetail }) {
  const { affected_network: network, status, classification_key, description, parsed_data: parsed } = event
  return (
    <Page
      title={network || 'Unknown network'}
      note={
        <Group gap="xs">
          {status.map((one) => (
            <EventStatusBadge key={one} status={one} />
          ))}
          {classification_key}
          <CopyIcon text={location.href} label="Copy the address of this page" />
        </Group>
      }
    >
      {description && <Text>{description}</Text>}
      <Figures event={event} />
      {hasCourse(event) ? <WithCourse event={event} /> : <WithoutCourse event={event} />}
      <WhatWasSeen parsed={parsed} />
      <EventSource event={event} />
    </Page>
  )
}

function WithCourse({ event }: { event: RelatedEventDetail }) {
  const now = useNow(event.end === null, 10_000)
  return (
    <>
      <Grid>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Traffic event={event} now={now} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <EventTimeline event={event} />
        </Grid.Col>
      </Grid>
      <Grid>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <EventHit event={event} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <AboutIt event={event} />
        </Grid.Col>
      </Grid>
    </>
  )
}

const WithoutCourse = ({ event }: { event: RelatedEventDetail }) => (
  <Grid>
    <Grid.Col span={{ base: 12, md: 5, lg: 4 }}>
      <EventTimeline event={event} />
    </Grid.Col>
    <Grid.Col span={{ base: 12, md: 7, lg: 8 }}>
      <Stack>
        <EventHit event={event} />
        <AboutIt event={event} />
      </Stack>
    </Grid.Col>
  </Grid>
)

function Figures({
  event: { start, end, affected_bps: bps, affected_pps: pps },
}: {
  event: RelatedEventDetail
}) {
  const now = useNow(end === null, 1_000)
  return (
    <Grid>
      <Figure label="Peak">{bps > 0 ? formatRate(bps, 'bps') : 'not said'}</Figure>
      <Figure label="Packets">{pps > 0 ? formatRate(pps, 'pps') : 'not said'}</Figure>
      <Figure label="Began">
        <Time at={start} />
      </Figure>
      <Figure label={end === null ? 'Has gone on for' : 'Lasted'}>
        {durationOf({ start, end }, now)}
        {end !== null && (
          <Text size="xs" c="dimmed" fw={400} component="div">
            until <Time at={end} />
          </Text>
        )}
      </Figure>
    </Grid>
  )
}

const Figure = ({ label, children }: { label: string; children: ReactNode }) => (
  <Grid.Col span={{ base: 6, md: 3 }}>
    <Card h="100%">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="lg" fw={600} component="div">
        {children}
      </Text>
    </Card>
  </Grid.Col>
)

type Row = readonly [label: string, value: ReactNode]

const Rows = ({ rows }: { rows: readonly Row[] }) => (
  <Table variant="vertical" layout="fixed">
    <Table.Tbody>
      {rows
        .filter(([, value]) => value !== '' && value !== undefined)
        .map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w={120}>{label}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
    </Table.Tbody>
  </Table>
)

function AboutIt({ event }: { event: RelatedEventDetail }) {
  const place = (...words: string[]) => words.filter(Boolean).join(', ')
  return (
    <Card component="section" aria-label="The event" h="100%">
      <Rows
        rows={[
          ['Flags', event.flags.map(flagWord).join(', ')],
          ['Detector', event.source_key],
          ['Its id', event.source_event_id && <Code key="id">{event.source_event_id}</Code>],
          ['Its resource', event.source_resource_id],
          ['Seen at', place(event.source_location, event.source_country)],
          ['Target at', place(event.target_location, event.target_country)],
          ['Time zone there', event.source_timezone],
        ]}
      />
    </Card>
  )
}

type Share = { readonly packets?: number | undefined; readonly bytes?: number | undefined }

/** `53 (8.7 MB)`: with how much was seen of it, where that was said. */
const shareText = (name: string | number, { bytes, packets }: Share): string => {
  if (bytes !== undefined) return `${name} (${formatRate(bytes, 'B')})`
  return packets === undefined ? String(name) : `${name} (${formatRate(packets, 'packets')})`
}

function WhatWasSeen({ parsed }: { parsed: ParsedData }) {
  const { total_bytes, total_packets, thresholds = {} } = parsed
  const amounts = [
    total_bytes === undefined ? '' : formatRate(total_bytes, 'B'),
    total_packets === undefined ? '' : formatRate(total_packets, 'packets'),
  ]
  const ports = (list: ParsedData['source_ports']) =>
    list?.map(({ port, ...share }) => shareText(port, share)).join(', ')
  const rows: readonly Row[] = [
    ['Vectors', parsed.vectors?.join(', ')],
    ['Protocols', parsed.protocols?.join(', ')],
    ['In all', amounts.filter(Boolean).join(', ')],
    ['Networks', parsed.networks?.join(', ')],
    ['Mitigation', parsed.mitigation?.actions?.join(', ')],
    ['From ports', ports(parsed.source_ports)],
    ['To ports', ports(parsed.destination_ports)],
    ['Top sources', parsed.top_sources?.map(({ address, ...share }) => shareText(address, share)).join(', ')],
    ['Thresholds', Object.entries(thresholds).map(thresholdText).join(', ')],
  ]
  if (!rows.some(([, value]) => value)) return null
  return (
    <Card component="section" aria-label="What was seen">
      <Text fw={600} size="sm" mb="xs">
        What was seen
      </Text>
      <Rows rows={rows} />
    </Card>
  )
}

function thresholdText([name, value]: [string, unknown]): string {
  if ((name === 'bps' || name === 'pps') && typeof value === 'number') return formatRate(value, name)
  return `${name.replaceAll('_', ' ')}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`
}
