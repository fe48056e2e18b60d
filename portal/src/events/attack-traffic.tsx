// The traffic of an attack as one chart: what the detector measured, what flow records count, what the team's shield rules dropped
// and what passed. The legend switches the layers.
import { SegmentedControl, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import { getEventTrafficRoute } from '@pharos/contract/events/event-traffic'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import type { ChartMark } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { defaultView, type TrafficView } from '../traffic/traffic-view.ts'
import { useExplorer, useTraffic } from '../traffic/use-traffic.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { words as trafficWords } from '../traffic/words.ts'
import { layersOf, type LayerMetric } from './attack-layers.ts'
import { flowsNote } from './flows-note.ts'
import { networkText } from './network-text.ts'
import { chartRatesOf, thresholdsOf, type Step, type StepKind } from './timeline.ts'
import { words } from './words.ts'

const { traffic: texts } = words
const minuteMs = 60_000
const marginMs = 15 * minuteMs
const refetchMs = 15_000

type AttackTrafficProps = {
  readonly event: RelatedEventDetail
  readonly steps: readonly Step[]
  readonly now: number
}

export function AttackTraffic({ event, steps, now }: AttackTrafficProps) {
  const { affected_network: network } = event
  const [metric, setMetric] = useState<LayerMetric>('bps')
  const isLarge = useMediaQuery('(min-width: 120em)', false, { getInitialValueInEffect: false })
  const { layers, view, span, until, hasFlows, isPending, isPlaceholder, notes } = useLayers(
    event,
    metric,
    now,
  )
  const { times, series, isStack } = layers
  const { search, opens } = useExplorer(
    { ...view, by: ['protocol'], chart: 'stacked' },
    { from: span.start, ...(span.end === undefined ? {} : { to: span.end }) },
  )
  return (
    <Section
      title={texts.title}
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={texts.metric}
            value={metric}
            data={[
              { value: 'bps', label: texts.bps },
              { value: 'pps', label: texts.pps },
            ]}
            onChange={(next) => setMetric(next as LayerMetric)}
          />
          {hasFlows && (
            <ButtonLink size="xs" variant="subtle" to="/traffic" search={search}>
              {trafficWords.card.explore}
            </ButtonLink>
          )}
        </>
      }
    >
      <Chart
        key={isStack ? 'stack' : 'lines'}
        kind={isStack ? 'stacked-area' : 'area'}
        label={texts.chart(networkText(network))}
        times={times}
        series={series}
        // The stack is as high as the flow records.
        hiddenAtFirst={isStack ? [texts.byFlows] : []}
        marks={marksOf(steps)}
        thresholds={thresholdsOf(event).filter(({ unit }) => unit === metric)}
        range={rangeOf(times, Date.parse(event.start), until)}
        height={isLarge ? 400 : 300}
        isLoading={times.length === 0 && isPending}
        isPlaceholder={isPlaceholder}
        emptyText={words.noMeasurement}
        {...(hasFlows ? { opens } : {})}
      />
      {notes.length > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {notes.join(' ')}
        </Text>
      )}
    </Section>
  )
}

/** Requests the layers, and returns them with notes on their differences. */
function useLayers(event: RelatedEventDetail, metric: LayerMetric, now: number) {
  const { end, affected_network: network, affected_bps: reported } = event
  const view = useAttackView(event, metric)
  const span = spanOfEvent(event)
  const { answer: flows } = useTraffic(view, span, network !== '')
  const traffic = useDropped(event, metric)
  const until = end === null ? now : Date.parse(end)
  const detector = chartRatesOf(event)
  const layers = layersOf(metric, { detector, flows: flows.data, traffic: traffic.data, until })
  const { hasFlows } = layers
  const notes = [
    ...(layers.isStack ? [trafficWords.parts.note] : []),
    ...uncountedNote(event, traffic.data),
    ...(hasFlows && metric === 'bps' && reported > 0 ? [flowsNote(event, flows.data)] : []),
    ...(detector.times.length === 1 && detector[metric][0] !== null ? [words.oneMeasurement] : []),
  ]
  return {
    layers,
    view,
    span,
    until,
    hasFlows,
    notes,
    isPending: network !== '' && (flows.isPending || traffic.isPending),
    isPlaceholder: flows.isPlaceholderData || traffic.isPlaceholderData,
  }
}

/** What the rules dropped, and what passed. */
const useDropped = ({ id, end, affected_network: network }: RelatedEventDetail, metric: LayerMetric) =>
  useQuery({
    ...answerOverLastOf(getEventTrafficRoute, { params: { event_id: id }, query: { metric } }),
    enabled: network !== '',
    // The stream does not announce flows.
    refetchInterval: end === null ? refetchMs : false,
  })

/** Returns the note on scrubbers that count no packets, if rules of the team are or were against the attack. */
function uncountedNote(
  { marks = [] }: RelatedEventDetail,
  traffic: ReturnType<typeof useDropped>['data'],
): readonly string[] {
  const hasRules = marks.some(({ mark }) => mark === 'MITIGATION_ACTIVE' || mark === 'MITIGATION_ENDED')
  if (!traffic?.notes.includes('uncounted') || !hasRules) return []
  const dropped = traffic.series.find(({ key }) => key['part'] === 'dropped')
  return [dropped?.values.every((value) => value === null) ? texts.uncountedAll : texts.uncounted]
}

/** The traffic towards the target, or from it if it is the source. Keeps its identity while the event is the same. */
function useAttackView(
  { affected_network: network, flags }: RelatedEventDetail,
  metric: LayerMetric,
): TrafficView {
  const direction = flags.includes('OUTGOING') ? 'out' : 'in'
  return useMemo(
    () => ({
      ...defaultView,
      metric,
      direction,
      by: [],
      filters: [{ key: 'local_address', op: 'within', values: [network] }],
      chart: 'lines',
    }),
    [network, direction, metric],
  )
}

/** From a while before the start until a while after the end, in whole minutes. */
function spanOfEvent({ start, end }: Pick<RelatedEventDetail, 'start' | 'end'>) {
  const whole = (ms: number, round: (value: number) => number) =>
    new Date(round(ms / minuteMs) * minuteMs).toISOString()
  const until = end === null ? undefined : Date.parse(end) + marginMs
  return {
    start: whole(Date.parse(start) - marginMs, Math.floor),
    ...(until === undefined || until > Date.now() ? {} : { end: whole(until, Math.ceil) }),
  }
}

/** Room before the first and after the last time, as a part of the range. */
const margin = 0.03

function rangeOf(times: readonly number[], start: number, until: number): [number, number] {
  const [from, to] = [Math.min(start, times[0] ?? start), Math.max(until, times.at(-1) ?? until)]
  const room = Math.max(to - from, minuteMs) * margin
  return [from - room, to + room]
}

const markLabels: Partial<Record<StepKind, string>> = { started: texts.started, ended: texts.ended }
const markKinds: ReadonlySet<StepKind> = new Set(['started', 'detected', 'mitigation', 'rules', 'ended'])

const marksOf = (steps: readonly Step[]): readonly ChartMark[] =>
  steps
    .filter(({ kind }) => markKinds.has(kind))
    .map(({ at, kind, text }) => ({
      at: Date.parse(at),
      label: markLabels[kind] ?? text.charAt(0).toLowerCase() + text.slice(1),
      ...(kind === 'started' ? { state: 'bad' as const } : kind === 'rules' ? { state: 'ok' as const } : {}),
    }))
