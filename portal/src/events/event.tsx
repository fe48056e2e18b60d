// One attack: its figures, its traffic, actions, its timeline, the affected objects, and the detectors that report it. The timeline is
// from one of its reports.
import { Button, Group, Skeleton, Stack, Anchor, Text } from '@mantine/core'
import { useClipboard, useMediaQuery } from '@mantine/hooks'
import { getRelatedEventRoute, type RelatedEventDetail } from '@pharos/contract/events/event'
import { classificationLabel } from '@pharos/contract/events/classification'
import { ProblemError } from '@pharos/contract/client'
import { getIncidentRoute, type IncidentDetail } from '@pharos/contract/events/incident'
import { IconLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { EventStatusBadge } from '../ui/status.tsx'
import { AffectedResources, ResourceLink } from './affected-resources.tsx'
import { AttackActions } from './attack-actions.tsx'
import { AttackFigures } from './attack-figures.tsx'
import { AttackTraffic } from './attack-traffic.tsx'
import { detectorName } from './detector-name.ts'
import { EventReviewCard } from './event-review.tsx'
import { EventTimeline } from './event-timeline.tsx'
import { flagLabel } from './flag-labels.ts'
import { meaningOf } from './meaning.ts'
import { networkText } from './network-text.ts'
import { Reports } from './reports.tsx'
import { DownloadJson, RawData } from './raw-data.tsx'
import { ShareCards } from './share-cards.tsx'
import { useNow } from '../ui/use-now.ts'
import { idOf, useRelationships } from './use-relationships.ts'
import { useSteps } from './use-steps.ts'
import classes from './events.module.css'
import { words } from './words.ts'
import { listEventAttachmentsRoute } from '@pharos/contract/events/event-attachment'
import { FailedSection } from '../ui/failed-section.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'

const { page: texts } = words

export function EventPage() {
  const { id } = useParams({ from: '/frame/events/$id' })
  const answer = useQuery({
    ...answerOf(getRelatedEventRoute, { params: { event_id: id }, query: { include: 'review,marks' } }),
    // The stream announces changes of state only: the rates of an ongoing event are polled.
    refetchInterval: ({ state }) =>
      state.data?.end === null ? 10_000 : refetchIntervalOf(getRelatedEventRoute, 10_000),
  })
  const incident = useQuery({
    ...answerOf(getIncidentRoute, { params: { incident_id: id } }),
    refetchInterval: ({ state }) =>
      state.data?.end === null ? 10_000 : refetchIntervalOf(getIncidentRoute, 10_000),
  })
  if (answer.data) return <Shown event={answer.data} incident={incident.data} />
  if (isNotFound(answer.error)) return <EventNotFound />
  if (answer.error) return <Problem error={answer.error} retry={() => answer.refetch()} />
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
  <Page title={texts.notFound}>
    <Empty title={texts.notFoundTitle}>
      {texts.notFoundText}{' '}
      <TextLink to="/events" underline="always">
        {texts.allEvents}
      </TextLink>
      .
    </Empty>
  </Page>
)

/** `incident` is undefined until it is known. */
function Shown({ event, incident }: { event: RelatedEventDetail; incident: IncidentDetail | undefined }) {
  const { affected_network: network, status, classification_key: type, end } = event
  const relationships = useRelationships(event)
  const now = useNow(end === null, 10_000)
  const eventIds = incident?.events.map(({ id }) => id) ?? [event.id]
  const steps = useSteps(event, eventIds)
  // In one column, actions come right after the first picture.
  const isWide = useMediaQuery('(min-width: 75em)', true, { getInitialValueInEffect: false })
  const actions = <AttackActions event={event} relationships={relationships} />
  const first = relationships.list?.find(({ match_resource: kind }) => kind !== 'asn')
  return (
    <Page
      title={networkText(network)}
      mono={network !== ''}
      state={status.map((one) => (
        <EventStatusBadge key={one} status={one} />
      ))}
      note={
        <>
          {first ? (
            <>
              {texts.attackOn(classificationLabel(type))}{' '}
              <ResourceLink resource={first.match_resource} id={idOf(first)}>
                {first.match_value}
              </ResourceLink>
              {first.match_resouce_name !== first.match_value && ` ${first.match_resouce_name}`}
            </>
          ) : (
            classificationLabel(type)
          )}
          <p className={classes['meaning']}>{meaningOf(type)}</p>
        </>
      }
      actions={<Actions event={event} />}
    >
      <AttackFigures event={incident ? { ...event, ...figuresOf(incident) } : event} />
      <Columns
        rail={
          <>
            {isWide && actions}
            {event.review && <EventReviewCard event={event} eventIds={eventIds} review={event.review} />}
            {event.has_attachment && <EventFiles eventId={event.id} />}
            <EventTimeline steps={steps} />
            <AffectedResources event={event} relationships={relationships} />
          </>
        }
      >
        {incident && incident.event_count > 1 && <Reports incident={incident} shownId={event.id} />}
        <AttackTraffic event={event} steps={steps} now={now} />
        {!isWide && actions}
        <ShareCards parsed={event.parsed_data} />
        <Details event={event} />
        <RawData event={event} />
      </Columns>
    </Page>
  )
}

/** The figures of the attack over all its reports, as in the list. */
const figuresOf = ({ start, end, affected_bps, affected_pps }: IncidentDetail) => ({
  start,
  end,
  affected_bps,
  affected_pps,
})

function Actions({ event }: { event: RelatedEventDetail }) {
  const clipboard = useClipboard()
  return (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<IconLink size={14} />}
        onClick={() => clipboard.copy(location.origin + location.pathname)}
      >
        {clipboard.copied ? texts.linkCopied : texts.copyLink}
      </Button>
      <DownloadJson event={event} content={event}>
        {texts.export}
      </DownloadJson>
    </Group>
  )
}

function Details({ event }: { event: RelatedEventDetail }) {
  const { parsed_data: parsed, flags } = event
  const { details } = words
  const { total_bytes: bytes, total_packets: packets, thresholds = {} } = parsed
  const total = [
    ...(bytes === undefined ? [] : [formatRate(bytes, 'B')]),
    ...(packets === undefined ? [] : [formatRate(packets, 'packets')]),
  ]
  const rates = (['bps', 'pps'] as const).flatMap((unit) => {
    const value = thresholds[unit]
    return typeof value === 'number' ? [formatRate(value, unit)] : []
  })
  return (
    <Section title={details.title}>
      <Facts
        facts={[
          [details.description, event.description],
          [details.vectors, parsed.vectors?.map(classificationLabel).join(', ')],
          [details.protocols, parsed.protocols?.map((one) => one.toUpperCase()).join(', ')],
          [details.total, total.join(', ')],
          [details.threshold, rates.join(', ')],
          [details.flags, flags.map(flagLabel).join(', ')],
          [details.detector, detectorName(event.source_key)],
          [details.detectorId, event.source_event_id && <Mono key="id">{event.source_event_id}</Mono>],
          [details.detectorResource, event.source_resource_id],
          [details.zone, event.source_timezone],
        ]}
      />
    </Section>
  )
}

/** Links work for ten minutes. */
const filesRefetchMs = 300_000

/** Captures, texts of the detector, and flows, only if there are files. A file is deleted after some time; its name stays. */
function EventFiles({ eventId }: { readonly eventId: string }) {
  const answer = useAllRows(listEventAttachmentsRoute, { params: { event_id: eventId } }, filesRefetchMs)
  if (answer.error && !answer.data) return <FailedSection title={words.files.title} answer={answer} />
  const files = answer.data ?? []
  if (files.length === 0) return null
  return (
    <Section title={words.files.title}>
      <ul className={classes['comments']}>
        {files.map(({ id, filename, kind, description, size, created, url }) => (
          <li key={id}>
            {url === null ? (
              <Mono>{filename}</Mono>
            ) : (
              <Anchor href={pathOf(url)} download={filename} size="sm" underline="always" ff="monospace">
                {filename}
              </Anchor>
            )}
            <Text size="xs" c="dimmed">
              {[
                words.files.kinds[kind],
                description,
                url === null ? words.files.deleted : formatRate(size, 'B'),
              ]
                .filter(Boolean)
                .join(' · ')}{' '}
              · <Time at={created} />
            </Text>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** The file is served by the page's own server, whatever name it is known by. */
const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url, location.origin)
  return pathname + search
}
