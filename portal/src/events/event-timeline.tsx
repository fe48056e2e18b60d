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
import type { PlotSeries } from '../ui/plot-props.ts'
import { Plot } from '../ui/plot.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { ratesOf, stepsOf, thresholdsOf, type Rates, type Step, type StepKind } from './timeline.ts'

type Props = { readonly event: RelatedEventDetail; readonly now: number }

/** Minimum number of measurements for a chart. */
export const hasChart = (event: RelatedEventDetail): boolean => ratesOf(event).times.length > 1

export function Traffic({ event, now }: Props) {
  return (
    <Section title="Traffic" fill>
      <TrafficPlot event={event} now={now} rates={ratesOf(event)} steps={stepsOf(event)} />
    </Section>
  )
}

export function EventTimeline({ event }: { event: RelatedEventDetail }) {
  return (
    <Section title="Timeline" fill>
      <Steps steps={stepsOf(event)} />
      {!hasChart(event) && <FewRates event={event} />}
    </Section>
  )
}

const series = [
  { label: 'Bits per second', unit: 'bps', color: 'blue' },
  { label: 'Packets per second', unit: 'pps', color: 'orange', isDashed: true },
] as const

const markLabels: Partial<Record<StepKind, string>> = { started: 'started', ended: 'ended' }

/** Room before the first and after the last step, as a part of the range. */
const margin = 0.03

function TrafficPlot({ event, now, rates, steps }: Props & { rates: Rates; steps: readonly Step[] }) {
  const isWide = useMediaQuery('(min-width: 120em)', false, { getInitialValueInEffect: false })
  const start = new Date(event.start).getTime()
  const last = event.end === null ? now : new Date(event.end).getTime()
  const from = Math.min(start, rates.times[0]!)
  const to = Math.max(last, rates.times.at(-1)!)
  const room = (to - from) * margin
  const shown = series
    .map((one): PlotSeries => ({ ...one, values: rates[one.unit] }))
    .filter(({ values }) => values.some((value) => value !== null))
  const marks = steps
    .filter(({ kind }) => kind === 'mitigation' || markLabels[kind])
    .map(({ at, kind, text }) => ({
      at: new Date(at).getTime(),
      label: markLabels[kind] ?? text.toLowerCase(),
    }))
  return (
    <Plot
      label={`Traffic to ${event.affected_network || 'the target'}`}
      times={rates.times}
      series={shown}
      marks={marks}
      thresholds={thresholdsOf(event)}
      range={[from - room, to + room]}
      height={isWide ? 400 : 260}
    />
  )
}

function FewRates({ event }: { event: RelatedEventDetail }) {
  const known = [
    event.affected_bps > 0 && formatRate(event.affected_bps, 'bps'),
    event.affected_pps > 0 && formatRate(event.affected_pps, 'pps'),
  ].filter(Boolean)
  return (
    <Text size="xs" c="dimmed" mt="md">
      {known.length > 0
        ? `Only one measurement (${known.join(', ')}), so there is no chart.`
        : 'The detector reported no rates.'}
    </Text>
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
