// An attack in brief, for the side panel of the list: its figures, and the timeline of its first event.
import { Box, Group, Skeleton, Text } from '@mantine/core'
import { getRelatedEventRoute, type RelatedEventDetail } from '@pharos/contract/events/event'
import { classificationLabel } from '@pharos/contract/events/classification'
import type { Incident } from '@pharos/contract/events/incident'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Spark } from '../charts/spark.tsx'
import { Facts } from '../ui/facts.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { EventStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { detectorName } from './detector-name.ts'
import { durationOf } from './event-duration.ts'
import { meaningOf } from './meaning.ts'
import { mitigationOf } from './mitigation.ts'
import { networkText } from './network-text.ts'
import { chartRatesOf } from './timeline.ts'
import { words } from './words.ts'

const { panel: texts } = words.list

/** `row` is the attack; without it, on a page that was opened with the panel, the figures are of its first event. */
export function EventSummary({ id, row }: { id: string; row: Incident | undefined }) {
  const answer = useAnswer(getRelatedEventRoute, { params: { event_id: id } }, { refetchInterval: 10_000 })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={240} />
  const event = answer.data
  const attack = row ?? event
  const affected = row && [...new Set(row.relationships.map(({ match_resouce_name: name }) => name))]
  const facts: [string, ReactNode][] = [
    [
      '',
      <Group key="status" gap={4}>
        {attack.status.map((one) => (
          <EventStatusBadge key={one} status={one} />
        ))}
      </Group>,
    ],
    [texts.type, classificationLabel(attack.classification_key)],
    [texts.peak, ratesText(attack)],
    [texts.mitigation, words.actions.states[mitigationOf(event).state]],
    [texts.started, <Time key="start" at={attack.start} />],
    [texts.ended, <Time key="end" at={attack.end} none={texts.ongoing} />],
    [texts.duration, durationOf(attack)],
    [texts.affected, affected && (affected.join(', ') || texts.none)],
    [texts.source, (row?.sources ?? [event.source_key]).map(detectorName).join(', ')],
    [texts.description, event.description],
  ]
  return (
    <>
      <Facts facts={facts} />
      <Course event={event} />
      <Text size="sm" c="dimmed" mt="md">
        {meaningOf(event.classification_key)}
      </Text>
    </>
  )
}

/** A rate of 0 was not reported. */
const ratesText = ({
  affected_bps: bps,
  affected_pps: pps,
}: Pick<Incident, 'affected_bps' | 'affected_pps'>): string | null =>
  [bps > 0 ? formatRate(bps, 'bps') : '', pps > 0 ? formatRate(pps, 'pps') : '']
    .filter(Boolean)
    .join(' · ') || null

/** A single measurement is not drawn. */
function Course({ event }: { event: RelatedEventDetail }) {
  const { bps } = chartRatesOf(event)
  if (bps.filter((value) => value !== null).length < 2) return null
  return (
    <Box mt="md">
      <Spark
        label={words.traffic.chart(networkText(event.affected_network))}
        values={bps}
        unit="bps"
        width={320}
        height={56}
      />
    </Box>
  )
}
