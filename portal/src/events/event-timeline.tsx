// The timeline of an event: its rates over time as a chart, and its steps as a list.
import { Text, Timeline } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { RelatedEventDetail } from '@pharos/contract/analysis'
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
import { words } from './words.ts'
import { chartRatesOf, stepsOf, thresholdsOf, type Rates, type Step, type StepKind } from './timeline.ts'

type Props = { readonly event: RelatedEventDetail; readonly now: number }

/** One measurement is enough: it is drawn as a step. */
export const hasChart = (event: RelatedEventDetail): boolean => chartRatesOf(event).times.length > 0

export function Traffic({ event, now }: Props) {
  return (
    <Section title="Traffic" fill>
      <TrafficPlot event={event} now={now} rates={chartRatesOf(event)} steps={stepsOf(event)} />
    </Section>
  )
}

export function EventTimeline({ event }: { event: RelatedEventDetail }) {
  return (
    <Section title="Timeline" fill>
      <Steps steps={stepsOf(event)} />
      {chartRatesOf(event).times.length < 2 && (
        <Text size="xs" c="dimmed" mt="md">
          {hasChart(event) ? words.oneMeasurement : words.noMeasurement}
        </Text>
      )}
    </Section>
  )
}

const series = [
  { label: 'Bits per second', unit: 'bps', color: 1 },
  { label: 'Packets per second', unit: 'pps', color: 2, isDashed: true },
] as const

const markLabels: Partial<Record<StepKind, string>> = { started: 'started', ended: 'ended' }

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
    .filter(({ kind }) => kind === 'mitigation' || markLabels[kind])
    .map(({ at, kind, text }) => ({
      at: new Date(at).getTime(),
      label: markLabels[kind] ?? text.toLowerCase(),
    }))
  return (
    <Chart
      kind="area"
      joinsGaps
      label={`Traffic to ${event.affected_network || 'the target'}`}
      times={rates.times}
      series={shown}
      marks={marks}
      thresholds={thresholdsOf(event)}
      range={[from - room, to + room]}
      heldUntil={to}
      height={isWide ? 400 : 260}
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
