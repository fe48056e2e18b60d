// What an event's timeline comes to: the steps that a person reads, and the rates that are plotted. Pure.
import { timelineMax, type EventSignal, type RelatedEventDetail } from '@pharos/contract/analysis'
import { formatRate } from '../ui/rate.ts'

export type StepKind = 'began' | 'seen' | 'peak' | 'mitigation' | 'word' | 'ended'
export type Step = {
  readonly at: string
  readonly kind: StepKind
  readonly text: string
  readonly note?: string
}

type Event = Pick<RelatedEventDetail, 'start' | 'end' | 'parsed_data'>

const words: Partial<Record<EventSignal, { readonly kind: StepKind; readonly text: string }>> = {
  pending: { kind: 'seen', text: 'Seen by the detector' },
  ongoing: { kind: 'seen', text: 'Said to go on' },
  mitigation_active: { kind: 'mitigation', text: 'Mitigation began' },
  mitigation_ended: { kind: 'mitigation', text: 'Mitigation ended' },
  acknowledged: { kind: 'word', text: 'Acknowledged' },
  false_positive: { kind: 'word', text: 'Called a false positive' },
}

/**
 * By time: the beginning, each signal where it was not said just before, the peaks, the end. Of a run of the same only
 * the first is a step, with how often it was said again.
 */
export function stepsOf({ start, end, parsed_data: { timeline = [], peaks } }: Event): Step[] {
  const began: Step = { at: start, kind: 'began', text: 'Began' }
  const said: { at: string; signal: EventSignal; again: number }[] = []
  let before: readonly EventSignal[] = []
  const open = new Map<EventSignal, (typeof said)[number]>()
  for (const { at, signals } of timeline) {
    for (const signal of signals) {
      if (!before.includes(signal)) {
        const run = { at, signal, again: 0 }
        said.push(run)
        open.set(signal, run)
      } else open.get(signal)!.again++
    }
    before = signals
  }
  // Of this many some were left out, and nobody knows how many.
  const isSample = timeline.length > timelineMax - 20
  const steps = said.flatMap(({ at, signal, again }): Step[] => {
    const word = words[signal]
    // That it was seen when it began goes without saying.
    if (!word || (signal === 'pending' && at === start)) return []
    return [{ at, ...word, ...(again > 0 ? { note: againText(again, isSample) } : {}) }]
  })
  const highs = [
    peaks?.bps && { at: peaks.bps.at, text: formatRate(peaks.bps.value, 'bps') },
    peaks?.pps && { at: peaks.pps.at, text: formatRate(peaks.pps.value, 'pps') },
  ].filter((high) => high !== undefined)
  const together = Map.groupBy(highs, ({ at }) => at)
  const peakSteps = [...together].map(([at, list]): Step => ({
    at,
    kind: 'peak',
    text: `Peak: ${list.map(({ text }) => text).join(', ')}`,
  }))
  const ended: Step[] = end === null ? [] : [{ at: end, kind: 'ended', text: 'Ended' }]
  return [began, ...[...steps, ...peakSteps, ...ended].toSorted(byTime)]
}

function againText(again: number, isSample: boolean): string {
  if (isSample) return 'again and again'
  return again === 1 ? 'once more' : `${again} times more`
}

/** The end stands last among what happened at its time. */
function byTime(a: Step, b: Step): number {
  return (
    new Date(a.at).getTime() - new Date(b.at).getTime() ||
    Number(a.kind === 'ended') - Number(b.kind === 'ended')
  )
}

export type Rates = {
  readonly times: readonly number[]
  readonly bps: readonly (number | null)[]
  readonly pps: readonly (number | null)[]
}

/** The samples that say a rate, each time once, with the higher one where two say it. */
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

const higher = (a: number | null | undefined, b: number | undefined): number | null =>
  a === null || a === undefined ? (b ?? null) : Math.max(a, b ?? 0)

/** The rates from which the detector speaks, where it says them as rates. */
export function thresholdsOf({ parsed_data: { thresholds = {} } }: Pick<Event, 'parsed_data'>) {
  return (['bps', 'pps'] as const).flatMap((unit) => {
    const value = thresholds[unit]
    return typeof value === 'number' && value > 0
      ? [{ value, unit, label: `threshold ${formatRate(value, unit)}` }]
      : []
  })
}
