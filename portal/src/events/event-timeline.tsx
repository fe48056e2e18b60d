// The timeline of an event: its rates over time as a chart, and its steps as a list.
import { Text, Timeline } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import {
  IconArrowUp,
  IconCheck,
  IconEye,
  IconMessage,
  IconPlayerPlay,
  IconShieldCheck,
} from '@tabler/icons-react'
import type { ChartSeries } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { networkText } from './network-text.ts'
import { chartRatesOf, stepsOf, thresholdsOf, type Rates, type Step, type StepKind } from './timeline.ts'
import { words } from './words.ts'

type Props = { readonly event: RelatedEventDetail; readonly now: number }

const { traffic: texts } = words

export function Traffic({ event, now }: Props) {
  const rates = chartRatesOf(event)
  return (
    <Section title={texts.title}>
      {rates.times.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noMeasurement}
        </Text>
      ) : (
        <TrafficPlot event={event} now={now} rates={rates} steps={stepsOf(event)} />
      )}
      {rates.times.length === 1 && (
        <Text size="xs" c="dimmed" mt="xs">
          {words.oneMeasurement}
        </Text>
      )}
    </Section>
  )
}

export const EventTimeline = ({ event }: { event: RelatedEventDetail }) => (
  <Section title={words.timeline.title}>
    <Steps steps={stepsOf(event)} />
  </Section>
)

const series = [
  { label: texts.bps, unit: 'bps', color: 1 },
  { label: texts.pps, unit: 'pps', color: 2, isDashed: true },
] as const

const markLabels: Partial<Record<StepKind, string>> = { started: texts.started, ended: texts.ended }

const minuteMs = 60_000
/** Room before the first and after the last step, as a part of the range. */
const margin = 0.03

function TrafficPlot({ event, now, rates, steps }: Props & { rates: Rates; steps: readonly Step[] }) {
  const isWide = useMediaQuery('(min-width: 120em)', false, { getInitialValueInEffect: false })
  const start = new Date(event.start).getTime()
  const last = event.end === null ? now : new Date(event.end).getTime()
  const from = Math.min(start, rates.times[0]!)
  const to = Math.max(last, rates.times.at(-1)!)
  const room = Math.max(to - from, minuteMs) * margin
  const shown = series
    .map((one): ChartSeries => ({ ...one, values: rates[one.unit] }))
    .filter(({ values }) => values.some((value) => value !== null))
  const marks = steps
    .filter(
      ({ kind, text }) =>
        kind === 'mitigation' || text === words.timeline.detected || markLabels[kind] !== undefined,
    )
    .map(({ at, kind, text }) => ({
      at: new Date(at).getTime(),
      label: markLabels[kind] ?? text.toLowerCase(),
    }))
  return (
    <Chart
      kind="area"
      joinsGaps
      label={texts.chart(networkText(event.affected_network))}
      times={rates.times}
      series={shown}
      marks={marks}
      thresholds={thresholdsOf(event)}
      range={[from - room, to + room]}
      heldUntil={to}
      height={isWide ? 400 : 300}
    />
  )
}

const icons: Record<StepKind, { readonly icon: typeof IconEye; readonly color: string }> = {
  started: { icon: IconPlayerPlay, color: 'bad' },
  detected: { icon: IconEye, color: 'idle' },
  peak: { icon: IconArrowUp, color: 'warn' },
  mitigation: { icon: IconShieldCheck, color: 'ok' },
  feedback: { icon: IconMessage, color: 'info' },
  ended: { icon: IconCheck, color: 'idle' },
}

function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <Timeline bulletSize={20} lineWidth={2} active={steps.length}>
      {steps.map(({ at, kind, text, note }) => {
        const { icon: Icon, color } = icons[kind]
        return (
          <Timeline.Item
            key={`${at} ${text}`}
            title={
              <Text span size="sm" fw={500}>
                {text}
              </Text>
            }
            bullet={<Icon size={12} aria-hidden />}
            color={color}
          >
            <Text size="xs" c="dimmed" component="div">
              <Time at={at} />
              {note && ` · ${note}`}
            </Text>
          </Timeline.Item>
        )
      })}
    </Timeline>
  )
}
