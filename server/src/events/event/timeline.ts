// The timeline of an event: signals and rates of its deliveries. Of many deliveries a sample is kept, chosen so that
// merging gives the same result in any order, any grouping and for any number of repeats. Pure.
import { eventSignals, timelineMax } from '@pharos/contract/events/event'
import type { EventSignal, TimelineSample } from '@pharos/contract/events/event'
import { byText } from './merge-rules.ts'

/** Number of ordinary samples; the first of each signal and the two peaks are always kept. */
const ordinaryMax = timelineMax - eventSignals.length - 2

/**
 * Returns the union by time, or a sample of it: the first sample of each signal, the highest rates, and the first
 * others by `rankOf` and a hash of their text. A first element of a union is also first in its part, so truncating
 * early or late gives the same.
 */
export function mergeTimelines(
  a: readonly TimelineSample[],
  b: readonly TimelineSample[],
  limit = ordinaryMax,
): TimelineSample[] {
  const all = [
    ...new Map([...a, ...b].map(candidateOf).map((candidate) => [candidate.text, candidate])).values(),
  ]
  all.sort((x, y) => byText(x.text, y.text))
  if (all.length <= limit) return all.map(({ sample }) => sample)
  const kept = new Set([
    ...firstOfSignals(all),
    highest(all, 'bps'),
    highest(all, 'pps'),
    ...drawn(all, limit),
  ])
  return all.filter((candidate) => kept.has(candidate)).map(({ sample }) => sample)
}

type Candidate = {
  readonly sample: TimelineSample
  readonly text: string
  /** Computed when samples must be dropped, which is rare. */
  order: number | undefined
}

/** A batch merges the same samples again and again. */
const candidates = new WeakMap<TimelineSample, Candidate>()

function candidateOf(sample: TimelineSample): Candidate {
  const known = candidates.get(sample)
  if (known) return known
  const text = textOf(sample)
  const made = { sample, text, order: undefined }
  candidates.set(sample, made)
  return made
}

/**
 * Equal for equal samples. It starts with the time, ISO 8601 UTC, so that text order is time order; at the same time,
 * samples are in the order of the list of signals, where starts come first.
 */
function textOf({ at, signals, bps, pps }: TimelineSample): string {
  const signalIndexes = signals.map((signal) => eventSignals.indexOf(signal)).join('')
  return `${at} ${signalIndexes} ${bps ?? ''} ${pps ?? ''}`
}

function firstOfSignals(byTime: readonly Candidate[]): Candidate[] {
  const firsts = new Map<EventSignal, Candidate>()
  for (const candidate of byTime) {
    for (const signal of candidate.sample.signals) if (!firsts.has(signal)) firsts.set(signal, candidate)
  }
  return [...firsts.values()]
}

/** The earliest of equal samples. */
function highest(byTime: readonly Candidate[], rate: 'bps' | 'pps'): Candidate | undefined {
  return byTime.reduce<Candidate | undefined>((best, candidate) => {
    const value = candidate.sample[rate]
    return value !== undefined && value > (best?.sample[rate] ?? -1) ? candidate : best
  }, undefined)
}

function drawn(all: readonly Candidate[], limit: number): Candidate[] {
  return all.toSorted((x, y) => orderOf(x) - orderOf(y) || byText(x.text, y.text)).slice(0, limit)
}

/** Ordinary samples with the lowest values stay. */
function orderOf(candidate: Candidate): number {
  candidate.order ??= rankOf(candidate.sample) * 2 ** 32 + hashOf(candidate.text)
  return candidate.order
}

/** Ends and completed mitigations rank above starts, and starts above ongoing. */
function rankOf({ signals }: TimelineSample): number {
  if (signals.some((signal) => signal !== 'pending' && signal !== 'ongoing')) return 0
  return signals.includes('pending') ? 1 : 2
}

/** FNV-1a with a final mix, 32 bits: only an even distribution is required. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
