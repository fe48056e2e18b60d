// From an event's recorded timeline: the steps to list, and the rates to plot. Pure.
import { timelineMax, type EventSignal, type RelatedEventDetail } from '@pharos/contract/events/event'
import { formatRate } from '../ui/rate.ts'
import { words } from './words.ts'

const { timeline: texts } = words

export type StepKind =
  | 'started'
  | 'detected'
  | 'ongoing'
  | 'peak'
  | 'mitigation'
  | 'rules'
  | 'feedback'
  | 'ended'
export type Step = {
  readonly at: string
  readonly kind: StepKind
  readonly text: string
  readonly note?: string
}

type Event = Pick<RelatedEventDetail, 'start' | 'end' | 'parsed_data'>

const signalSteps: Partial<Record<EventSignal, { readonly kind: StepKind; readonly text: string }>> = {
  pending: { kind: 'detected', text: texts.detected },
  ongoing: { kind: 'ongoing', text: texts.ongoing },
  mitigation_active: { kind: 'mitigation', text: texts.mitigationStarted },
  mitigation_ended: { kind: 'mitigation', text: texts.mitigationEnded },
  acknowledged: { kind: 'feedback', text: texts.acknowledged },
  false_positive: { kind: 'feedback', text: texts.falsePositive },
}

/**
 * Returns the steps by time: the start, the signals, the peaks, the end. A repeated signal is one step, with the number
 * of repetitions.
 */
export function stepsOf({ start, end, parsed_data: { timeline = [], peaks } }: Event): Step[] {
  const started: Step = { at: start, kind: 'started', text: texts.started }
  const signalsSeen: { at: string; signal: EventSignal; repeats: number }[] = []
  let before: readonly EventSignal[] = []
  const open = new Map<EventSignal, (typeof signalsSeen)[number]>()
  for (const { at, signals } of timeline) {
    for (const signal of signals) {
      if (!before.includes(signal)) {
        const run = { at, signal, repeats: 0 }
        signalsSeen.push(run)
        open.set(signal, run)
      } else open.get(signal)!.repeats++
    }
    before = signals
  }
  // A timeline of this length was sampled: the number of repetitions is unknown.
  const isSample = timeline.length > timelineMax - 20
  const steps = signalsSeen.flatMap(({ at, signal, repeats }): Step[] => {
    const word = signalSteps[signal]
    // A detection at the start repeats it.
    if (!word || (signal === 'pending' && at === start)) return []
    return [{ at, ...word, ...(repeats > 0 ? { note: repetitionText(repeats, isSample) } : {}) }]
  })
  const highs = [
    peaks?.bps && { at: peaks.bps.at, text: formatRate(peaks.bps.value, 'bps') },
    peaks?.pps && { at: peaks.pps.at, text: formatRate(peaks.pps.value, 'pps') },
  ].filter((high) => high !== undefined)
  const together = Map.groupBy(highs, ({ at }) => at)
  const peakSteps = [...together].map(([at, list]): Step => ({
    at,
    kind: 'peak',
    text: texts.peak(list.map(({ text }) => text).join(', ')),
  }))
  const ended: Step[] = end === null ? [] : [{ at: end, kind: 'ended', text: texts.ended }]
  return [started, ...[...steps, ...peakSteps, ...ended].toSorted(byTime)]
}

function repetitionText(repeats: number, isSample: boolean): string {
  return isSample ? texts.manyReports : texts.reports(repeats)
}

/** Orders steps; of one time, the start comes first and the end last. */
export function byTime(a: Step, b: Step): number {
  return (
    new Date(a.at).getTime() - new Date(b.at).getTime() ||
    Number(a.kind === 'ended') - Number(b.kind === 'ended') ||
    Number(b.kind === 'started') - Number(a.kind === 'started')
  )
}

export type Rates = {
  readonly times: readonly number[]
  readonly bps: readonly (number | null)[]
  readonly pps: readonly (number | null)[]
}

/** Returns the measured rates, one per time: the higher one if two samples share a time. */
export function ratesOf({ parsed_data: { timeline = [] } }: Pick<Event, 'parsed_data'>): Rates {
  const byMoment = new Map<number, { bps: number | null; pps: number | null }>()
  for (const { at, bps, pps } of timeline) {
    if (bps === undefined && pps === undefined) continue
    const time = new Date(at).getTime()
    const known = byMoment.get(time)
    byMoment.set(time, { bps: higher(known?.bps, bps), pps: higher(known?.pps, pps) })
  }
  const moments = [...byMoment].toSorted(([a], [b]) => a - b)
  return {
    times: moments.map(([time]) => time),
    bps: moments.map(([, { bps }]) => bps),
    pps: moments.map(([, { pps }]) => pps),
  }
}

/** Returns the rates of a chart: those measured, or the highest rate alone from the start, if it is all that is known. */
export function chartRatesOf(
  event: Pick<RelatedEventDetail, 'start' | 'parsed_data' | 'affected_bps' | 'affected_pps'>,
): Rates {
  const rates = ratesOf(event)
  const { affected_bps: bps, affected_pps: pps } = event
  if (rates.times.length > 0 || (bps <= 0 && pps <= 0)) return rates
  return {
    times: [new Date(event.start).getTime()],
    bps: [bps > 0 ? bps : null],
    pps: [pps > 0 ? pps : null],
  }
}

const higher = (a: number | null | undefined, b: number | undefined): number | null =>
  a === null || a === undefined ? (b ?? null) : Math.max(a, b ?? 0)

/** Returns the detector's thresholds that are rates. */
export function thresholdsOf({ parsed_data: { thresholds = {} } }: Pick<Event, 'parsed_data'>) {
  return (['bps', 'pps'] as const).flatMap((unit) => {
    const value = thresholds[unit]
    return typeof value === 'number' && value > 0 ? [{ value, unit, label: texts.threshold }] : []
  })
}
