// One event: when, how big, what it hit, what the detector saw, and its own words.
import { Anchor, Card, Code, Grid, Group, JsonInput, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  getRelatedEvent,
  listRelatedEvents,
  type ParsedData,
  type RelatedEventDetail,
} from '@pharos/contract/analysis'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { EventStatusBadge } from '../ui/status.tsx'
import { formatDuration, Time } from '../ui/time.tsx'

export function EventPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const answer = useAnswer(getRelatedEvent, { params: { event_id: id } }, { refetchInterval: 10_000 })
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  return <Shown event={answer.data} />
}

function Shown({ event }: { event: RelatedEventDetail }) {
  const { affected_network: network, status, classification_key, description, parsed_data: parsed } = event
  const lastedMs =
    (event.end === null ? Date.now() : new Date(event.end).getTime()) - new Date(event.start).getTime()
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
      <Grid>
        <Figure label="Peak">{formatRate(event.affected_bps, 'bps')}</Figure>
        <Figure label="Packets">{formatRate(event.affected_pps, 'pps')}</Figure>
        <Figure label="Began">
          <Time at={event.start} />
        </Figure>
        <Figure label={event.end === null ? 'Goes on for' : 'Ended'}>
          {event.end === null ? formatDuration(lastedMs) : <Time at={event.end} />}
        </Figure>
      </Grid>
      <Grid>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Seen event={event} lastedMs={lastedMs} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <WhatItHit event={event} />
        </Grid.Col>
      </Grid>
      <Details parsed={parsed} />
      {parsed.source && (
        <Card component="section" aria-label="Raw data">
          <Text fw={600} size="sm" mb="xs">
            What the detector sent
          </Text>
          <JsonInput
            aria-label="Raw data"
            value={JSON.stringify(parsed.source, undefined, 2)}
            readOnly
            autosize
            maxRows={24}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
          />
        </Card>
      )}
    </Page>
  )
}

const Figure = ({ label, children }: { label: string; children: ReactNode }) => (
  <Grid.Col span={{ base: 6, md: 3 }}>
    <Card>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="lg" fw={600} component="div">
        {children}
      </Text>
    </Card>
  </Grid.Col>
)

function Seen({ event, lastedMs }: { event: RelatedEventDetail; lastedMs: number }) {
  const rows: readonly (readonly [string, ReactNode])[] = [
    ['Lasted', formatDuration(lastedMs)],
    ['Flags', event.flags.join(', ')],
    ['Detector', event.source_key],
    ['Its id', <Code key="id">{event.source_event_id}</Code>],
    ['Its resource', event.source_resource_id],
    ['Seen at', [event.source_location, event.source_country].filter(Boolean).join(', ')],
    ['Target at', [event.target_location, event.target_country].filter(Boolean).join(', ')],
    ['Time zone there', event.source_timezone],
  ]
  return (
    <Card component="section" aria-label="The event">
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          {rows
            .filter(([, value]) => value !== '')
            .map(([label, value]) => (
              <Table.Tr key={label}>
                <Table.Th w={140}>{label}</Table.Th>
                <Table.Td>{value}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}

/** The detail names no relationships: the list of the same network does. */
function WhatItHit({ event }: { event: RelatedEventDetail }) {
  const answer = useAnswer(listRelatedEvents, {
    query: {
      affected_network: event.affected_network,
      start: event.start,
      end: event.end ?? event.start,
      limit: 1000,
    },
  })
  const relationships = answer.data?.results.find(({ id }) => id === event.id)?.relationships ?? []
  return (
    <Card component="section" aria-label="What it hit">
      <Text fw={600} size="sm" mb="xs">
        What it hit
      </Text>
      <Stack gap={4}>
        {answer.isPending && <Skeleton height={40} />}
        {relationships.map(
          ({
            id,
            match_resource,
            match_resouce_name: name,
            match_type,
            match_value,
            match_resource_link: link,
          }) => (
            <Group key={id} gap="xs" wrap="nowrap">
              <Text size="sm" c="dimmed" w={110}>
                {match_resource}
              </Text>
              {match_resource === 'announcement' ? (
                <Anchor component={Link} to={`/announcements/${link.split('/').at(-1)}` as never} size="sm">
                  {name}
                </Anchor>
              ) : (
                <Text size="sm">{name}</Text>
              )}
              <Text size="sm" ff="monospace">
                {match_value}
              </Text>
              <Text size="xs" c="dimmed">
                {match_type.replaceAll('_', ' ')}
              </Text>
            </Group>
          ),
        )}
      </Stack>
    </Card>
  )
}

function Details({ parsed }: { parsed: ParsedData }) {
  const {
    vectors,
    protocols,
    top_sources,
    source_ports,
    destination_ports,
    total_bytes,
    total_packets,
    mitigation,
  } = parsed
  const amounts = [
    total_bytes === undefined ? undefined : formatRate(total_bytes, 'B'),
    total_packets === undefined ? undefined : formatRate(total_packets, 'packets'),
  ].filter(Boolean)
  const words: readonly (readonly [string, string | undefined])[] = [
    ['Vectors', vectors?.join(', ')],
    ['Protocols', protocols?.join(', ')],
    ['In all', amounts.join(', ')],
    ['Mitigation', mitigation?.actions?.join(', ')],
    ['From ports', source_ports?.map(({ port }) => port).join(', ')],
    ['To ports', destination_ports?.map(({ port }) => port).join(', ')],
    ['Top sources', top_sources?.map(({ address }) => address).join(', ')],
  ]
  const told = words.filter(([, value]) => value)
  if (told.length === 0) return null
  return (
    <Card component="section" aria-label="What was seen">
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          {told.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w={140}>{label}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}
