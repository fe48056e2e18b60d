// A time range in the address: `range=24h` up to now, a month, or `from` and `to`, each a time or relative to now
// (`now-2d`). Pure; the control is time-range-field.tsx.
import { momentAt, momentOf, wallClock } from './wall-clock.ts'

export type TimeRange = {
  readonly range?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Times of the API, ISO 8601 UTC; a limit that is left out is open. */
export type Span = { readonly start?: string; readonly end?: string }

export const quickRanges = ['1h', '24h', '7d', '30d', '90d', '365d', 'this-month', 'last-month'] as const

const minuteMs = 60_000
const unitMs: Readonly<Record<string, number>> = { m: minuteMs, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Returns the length of `24h` in milliseconds; undefined for any other text. */
function lengthOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * unitMs[unit!]!
}

/** Returns the span of a range at a moment, milliseconds since 1970; undefined if the range is not valid or outside of 1970 to 9998. */
export function spanOf({ range, from, to }: TimeRange, now: number, timeZone: string): Span | undefined {
  // In whole minutes, so that the same view keeps its address and its answers for a while.
  const minute = Math.floor(now / minuteMs) * minuteMs
  if (range !== undefined) {
    if (range === 'this-month') return { start: monthStart(minute, timeZone, 0) }
    if (range === 'last-month')
      return { start: monthStart(minute, timeZone, -1), end: monthStart(minute, timeZone, 0) }
    const length = lengthOf(range)
    const start = length === undefined ? undefined : momentAt(minute - length)
    return start === undefined ? undefined : { start }
  }
  const [start, end] = [from, to].map((text) =>
    text === undefined || text === 'now' ? undefined : momentOfText(text, minute),
  )
  if ((from !== undefined && start === undefined) || (to !== undefined && to !== 'now' && end === undefined))
    return undefined
  if (start !== undefined && end !== undefined && end <= start) return undefined
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }
}

function momentOfText(text: string, now: number): string | undefined {
  if (text.startsWith('now-')) {
    const length = lengthOf(text.slice(4))
    return length === undefined ? undefined : momentAt(now - length)
  }
  return /^\d{4}-\d\d-\d\d/.test(text) ? momentAt(Date.parse(text)) : undefined
}

function monthStart(now: number, timeZone: string, months: number): string {
  const [year = 0, month = 0] = wallClock(new Date(now).toISOString(), timeZone).split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
  return momentOf(`${first}T00:00`, timeZone)!
}

/**
 * Returns the range of the same length before (-1) or after (1) it; undefined if that would begin before 1970 or in the future, or if
 * the range has no start.
 */
export function shiftedBy(
  step: 1 | -1,
  range: TimeRange,
  now: number,
  timeZone: string,
): TimeRange | undefined {
  const span = spanOf(range, now, timeZone)
  if (span?.start === undefined) return undefined
  const start = Date.parse(span.start)
  const end = span.end === undefined ? Math.floor(now / minuteMs) * minuteMs : Date.parse(span.end)
  const from = start + step * (end - start)
  if (momentAt(from) === undefined || from >= Math.floor(now / minuteMs) * minuteMs) return undefined
  return { from: addressTime(from), to: addressTime(end + step * (end - start)) }
}

/** Returns the range between two times, of at least a minute: addresses hold no seconds. */
export const rangeBetween = (fromMs: number, toMs: number): TimeRange => ({
  from: addressTime(fromMs),
  to: addressTime(Math.max(toMs, fromMs + minuteMs)),
})

/** Reports whether two ranges are the same in the address. */
export const isSameRange = (a: TimeRange, b: TimeRange): boolean =>
  a.range === b.range && a.from === b.from && a.to === b.to

/** Number of custom ranges that are offered again. */
const recentMax = 5

/** Returns the ranges with one in the first place, each once; the oldest goes. */
export const withRecent = (ranges: readonly TimeRange[], used: TimeRange): readonly TimeRange[] =>
  [used, ...ranges.filter((one) => !isSameRange(one, used))].slice(0, recentMax)

/** Returns the time as addresses hold it, to the minute: `2026-03-01T12:00Z`. */
export const addressTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`

/** The time range of an address without one. */
const defaultRange: TimeRange = { range: '24h' }

export type ReadRange = {
  readonly range: TimeRange
  readonly span: Span
  readonly ignored: readonly string[]
}

/** Returns the time range of an address or the default one, its span at a moment, and the names of the parameters that have no effect. */
export function readRange(
  address: Readonly<Record<string, unknown>>,
  now: number,
  timeZone: string,
  byDefault: TimeRange = defaultRange,
): ReadRange {
  const text = (name: string) => (address[name] === undefined ? undefined : String(address[name]))
  const [quick, from, to] = [text('range'), text('from'), text('to')]
  const limits: TimeRange = { from, ...(to === undefined ? {} : { to }) }
  const wanted: TimeRange = quick !== undefined ? { range: quick } : from !== undefined ? limits : byDefault
  const span = spanOf(wanted, now, timeZone)
  const isValid = span?.start !== undefined
  const range = isValid ? wanted : byDefault
  return {
    range,
    span: isValid ? span : spanOf(byDefault, now, timeZone)!,
    ignored: (['range', 'from', 'to'] as const).filter(
      (name) => address[name] !== undefined && text(name) !== range[name],
    ),
  }
}
