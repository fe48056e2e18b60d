// How an event went on: its rates over time as a plot, and what happened when as a list.
import { Card, Text, Timeline } from '@mantine/core'
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
import { Plot, type PlotSeries } from '../ui/plot.tsx'
import { formatRate } from '../ui/rate.ts'
import { Time } from '../ui/time.tsx'
import { ratesOf, stepsOf, thresholdsOf, type Rates, type Step, type StepKind } from './course.ts'

type Props = { readonly event: RelatedEventDetail; readonly now: number }

/** One figure makes no course. */
export const hasCourse = (event: RelatedEventDetail): boolean => ratesOf(event).times.length > 1

export function Traffic({ event, now }: Props) {
  return (
    <Card component="section" aria-label="Traffic" h="100%">
      <Text fw={600} size="sm" mb="xs">
        Traffic
      </Text>
      <TrafficPlot event={event} now={now} rates={ratesOf(event)} steps={stepsOf(event)} />
    </Card>
  )
}

export function EventTimeline({ event }: { event: RelatedEventDetail }) {
  return (
    <Card component="section" aria-label="Timeline" h="100%">
      <Text fw={600} size="sm" mb="xs">
        Timeline
      </Text>
      <Steps steps={stepsOf(event)} />
      {!hasCourse(event) && <FewRates event={event} />}
    </Card>
  )
}

const series = [
  { label: 'Bits per second', unit: 'bps', color: 'blue' },
  { label: 'Packets per second', unit: 'pps', color: 'orange', isDashed: true },
] as const

const markWords: Partial<Record<StepKind, string>> = { began: 'began', ended: 'ended' }

/** A little room beside the first and the last thing that happened. */
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
    .filter(({ kind }) => kind === 'mitigation' || markWords[kind])
    .map(({ at, kind, text }) => ({
      at: new Date(at).getTime(),
      label: markWords[kind] ?? text.toLowerCase(),
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
        ? `The detector measured no more than once (${known.join(', ')}), so there is no course to plot.`
        : 'The detector said no rates.'}
    </Text>
  )
}

const icons: Record<StepKind, { readonly icon: typeof IconEye; readonly color: string }> = {
  began: { icon: IconPlayerPlay, color: 'red' },
  seen: { icon: IconEye, color: 'gray' },
  peak: { icon: IconArrowUp, color: 'orange' },
  mitigation: { icon: IconShieldCheck, color: 'teal' },
  word: { icon: IconMessage, color: 'blue' },
  ended: { icon: IconCheck, color: 'gray' },
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
