// Traffic of an attack that the team's shield rules dropped and that passed, as a stack: together all traffic to the target.
import { Text } from '@mantine/core'
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import {
  getEventTrafficRoute,
  type EventTraffic,
  type EventTrafficPart,
} from '@pharos/contract/events/event-traffic'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '../api/queries.ts'
import type { ChartMark, ChartValues } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { Section } from '../ui/section.tsx'
import { networkText } from './network-text.ts'
import { words } from './words.ts'

const { traffic: texts } = words
const refetchMs = 15_000

type Props = {
  readonly event: Pick<RelatedEventDetail, 'id' | 'start' | 'end' | 'affected_network' | 'marks'>
}

/** Renders only if traffic was dropped, or dropping is not counted: otherwise the other charts contain all traffic. */
export function DroppedTraffic({ event }: Props) {
  const { id, start, end, affected_network: network } = event
  const { data } = useQuery({
    ...answerOf(getEventTrafficRoute, { params: { event_id: id } }),
    // The stream does not announce flows.
    refetchInterval: end === null ? refetchMs : false,
  })
  if (!data) return null
  const dropped = valuesOf(data, 'dropped')
  const isUncounted = data.notes.includes('uncounted')
  if (!dropped.some((value) => value !== null && value > 0)) {
    if (!isUncounted || !hasRules(event)) return null
    return (
      <Section title={texts.mitigated}>
        <Text size="sm">
          {dropped.every((value) => value === null) ? texts.uncountedAll : texts.uncounted}
        </Text>
      </Section>
    )
  }
  const marks: readonly ChartMark[] = [
    { at: Date.parse(start), label: texts.started, state: 'bad' },
    ...(end === null ? [] : [{ at: Date.parse(end), label: texts.ended }]),
  ]
  return (
    <Section title={texts.mitigated}>
      <Text size="xs" c="dimmed" mb="xs">
        {texts.mitigatedNote} {isUncounted && texts.uncounted}
      </Text>
      <Chart
        kind="stacked-area"
        label={texts.mitigatedChart(networkText(network))}
        times={data.timestamps.map((at) => Date.parse(at))}
        series={[
          { label: texts.passed, unit: 'bps', color: 1, values: valuesOf(data, 'passed') },
          { label: texts.dropped, unit: 'bps', color: 'idle', values: dropped },
        ]}
        marks={marks}
        range={[Date.parse(data.start), Date.parse(data.end)]}
        height={280}
      />
    </Section>
  )
}

/** Whether rules of the team are or were against the attack. */
const hasRules = ({ marks = [] }: Props['event']): boolean =>
  marks.some(({ mark }) => mark === 'MITIGATION_ACTIVE' || mark === 'MITIGATION_ENDED')

const valuesOf = ({ series }: EventTraffic, part: EventTrafficPart): ChartValues =>
  series.find(({ key }) => key['part'] === part)?.values ?? []
