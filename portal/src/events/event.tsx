// One event: figures, chart, timeline, affected resources, and the detector's data.
import { Card, Code, Grid, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import { getRelatedEventRoute, type ParsedData, type RelatedEventDetail } from '@pharos/contract/analysis'
import { classificationLabel } from '@pharos/contract/classification'
import { ProblemError } from '@pharos/contract/client'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { EventStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { EventTimeline, hasChart, Traffic } from './event-timeline.tsx'
import { AffectedResources } from './affected-resources.tsx'
import { RawData } from './raw-data.tsx'
import { flagLabel } from './flag-labels.ts'
import { durationOf } from './event-duration.ts'

export function EventPage() {
  const { id } = useParams({ from: '/frame/events/$id' })
  const answer = useQuery({
    ...answerOf(getRelatedEventRoute, { params: { event_id: id } }),
    // The stream announces changes of state only: the rates of an ongoing event are polled.
    refetchInterval: ({ state }) =>
      state.data?.end === null ? 10_000 : refetchIntervalOf(getRelatedEventRoute, 10_000),
  })
  if (answer.data) return <Shown event={answer.data} />
  if (isNotFound(answer.error)) return <EventNotFound />
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

/** The API does not reveal whether another team has the event. */
const EventNotFound = () => (
  <Page title="Not found">
    <Empty title="Event not found">
      It may belong to another of your teams: switch teams and open the link again, or go to{' '}
      <TextLink to="/events" underline="always">
        all events
      </TextLink>
      .
    </Empty>
  </Page>
)

/** Returns the current time, updated while the event runs. */
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
          {classificationLabel(classification_key)}
          <CopyIcon text={location.href} label="Copy link" />
        </Group>
      }
    >
      {description && <Text>{description}</Text>}
      <Figures event={event} />
      {hasChart(event) ? <WithChart event={event} /> : <WithoutChart event={event} />}
      <TrafficDetails parsed={parsed} />
      <RawData event={event} />
    </Page>
  )
}

function WithChart({ event }: { event: RelatedEventDetail }) {
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
          <AffectedResources event={event} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Facts event={event} />
        </Grid.Col>
      </Grid>
    </>
  )
}

const WithoutChart = ({ event }: { event: RelatedEventDetail }) => (
  <Grid>
    <Grid.Col span={{ base: 12, md: 5, lg: 4 }}>
      <EventTimeline event={event} />
    </Grid.Col>
    <Grid.Col span={{ base: 12, md: 7, lg: 8 }}>
      <Stack>
        <AffectedResources event={event} />
        <Facts event={event} />
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
      <Figure label="Peak rate">{bps > 0 ? formatRate(bps, 'bps') : 'Unknown'}</Figure>
      <Figure label="Peak packet rate">{pps > 0 ? formatRate(pps, 'pps') : 'Unknown'}</Figure>
      <Figure label="Started">
        <Time at={start} />
      </Figure>
      <Figure label="Duration">
        {durationOf({ start, end }, now)}
        <Text size="xs" c="dimmed" fw={400} component="div">
          {end === null ? (
            'Ongoing'
          ) : (
            <>
              Ended <Time at={end} />
            </>
          )}
        </Text>
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

function Facts({ event }: { event: RelatedEventDetail }) {
  const place = (...words: string[]) => words.filter(Boolean).join(', ')
  return (
    <Section title="Details" fill>
      <Rows
        rows={[
          ['Flags', event.flags.map(flagLabel).join(', ')],
          ['Detector', event.source_key],
          ['Detector’s ID', event.source_event_id && <Code key="id">{event.source_event_id}</Code>],
          ['Detector’s resource', event.source_resource_id],
          ['Detected in', place(event.source_location, event.source_country)],
          ['Target location', place(event.target_location, event.target_country)],
          ['Time zone', event.source_timezone],
        ]}
      />
    </Section>
  )
}

type Share = { readonly packets?: number | undefined; readonly bytes?: number | undefined }

/** Returns `53 (8.7 MB)`: with the amount, if it is known. */
const shareText = (name: string | number, { bytes, packets }: Share): string => {
  if (bytes !== undefined) return `${name} (${formatRate(bytes, 'B')})`
  return packets === undefined ? String(name) : `${name} (${formatRate(packets, 'packets')})`
}

function TrafficDetails({ parsed }: { parsed: ParsedData }) {
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
    ['Total', amounts.filter(Boolean).join(', ')],
    ['Networks', parsed.networks?.join(', ')],
    ['Mitigation', parsed.mitigation?.actions?.join(', ')],
    ['Source ports', ports(parsed.source_ports)],
    ['Destination ports', ports(parsed.destination_ports)],
    ['Top sources', parsed.top_sources?.map(({ address, ...share }) => shareText(address, share)).join(', ')],
    ['Thresholds', Object.entries(thresholds).map(thresholdText).join(', ')],
  ]
  if (!rows.some(([, value]) => value)) return null
  return (
    <Section title="Traffic details">
      <Rows rows={rows} />
    </Section>
  )
}

function thresholdText([name, value]: [string, unknown]): string {
  if ((name === 'bps' || name === 'pps') && typeof value === 'number') return formatRate(value, name)
  return `${name.replaceAll('_', ' ')}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`
}
