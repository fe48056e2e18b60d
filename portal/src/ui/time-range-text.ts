// A time range as a person reads and types it, in a time zone. Pure.
import { addressTime, spanOf, type TimeRange } from './time-range.ts'
import { momentAt, momentOf, wallClock } from './wall-clock.ts'
import { words } from './words.ts'

const { range: texts } = words
const units: Readonly<Record<string, string>> = { m: 'minute', h: 'hour', d: 'day', w: 'week' }

/** Returns the range in words: `Last 24 hours`, `2026-01-10 12:00 to now`. */
export function timeRangeText({ range, from, to }: TimeRange, timeZone: string): string {
  if (range !== undefined) {
    const [, count, unit] = /^(\d+)([mhdw])$/.exec(range) ?? []
    const name: string | undefined = (texts.names as Readonly<Record<string, string>>)[range]
    return name ?? (count === undefined ? texts.any : texts.lastOf(Number(count), units[unit!]!))
  }
  if (from === undefined && to === undefined) return texts.any
  const limit = (text: string | undefined, none: string) =>
    text === undefined ? none : limitText(text, timeZone)
  return `${limit(from, texts.start)} to ${limit(to, texts.now)}`
}

/** Formats a limit for the field: `2026-01-10 12:00`; relative and unreadable limits are unchanged. */
export function limitText(text: string, timeZone: string): string {
  const moment = text.startsWith('now') ? undefined : momentAt(Date.parse(text))
  return moment === undefined ? text : wallClock(moment, timeZone).replace('T', ' ')
}

const dayMs = 86_400_000

/** Returns the day of a limit as it is typed; null if it is relative to now, or open. */
export const dayOf = (limit: string): string | null =>
  /^\d{4}-\d\d-\d\d/.test(limit) ? limit.slice(0, 10) : null

/** Returns the end of a range whose last day is this: the midnight after it, as it is typed. */
export const endOfDay = (day: string): string => `${dayAt(Date.parse(day) + dayMs)} 00:00`

/** Returns the last day of a range with this end: midnight belongs to the day before. */
export function lastDayOf(end: string): string | null {
  const day = dayOf(end)
  return day !== null && end.slice(10) === ' 00:00' ? dayAt(Date.parse(day) - dayMs) : day
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Parses a typed limit into the format of the address; null if it cannot be parsed, undefined for an open limit. */
export function parseLimit(typed: string, timeZone: string): string | undefined | null {
  const text = typed.trim()
  if (text === '' || text === 'now') return undefined
  if (text.startsWith('now')) return spanOf({ from: text }, Date.now(), timeZone) ? text : null
  const wall = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text.replace(' ', 'T')
  const moment = momentOf(wall, timeZone)
  return moment === undefined ? null : addressTime(Date.parse(moment))
}
