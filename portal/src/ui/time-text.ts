// Times and durations as text. Pure: the caller names the zone.

export { formatDuration } from '@pharos/contract/duration'

const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
    formats.set(timeZone, format)
  }
  return format
}

/** Returns `1 Mar 2026, 13:00:05` in the zone of that IANA name. */
export const timeIn = (time: string, timeZone: string): string => formatIn(timeZone).format(new Date(time))

/** Reports whether the browser knows a zone of that name. */
export function isZone(name: string): boolean {
  try {
    formatIn(name)
    return true
  } catch {
    return false
  }
}

const nameFormats = new Map<string, Intl.DateTimeFormat>()

/** Returns `UTC`, `CET` or `GMT+8`: the zone's name at that time. */
export function shortName(timeZone: string, time: string): string {
  let format = nameFormats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' })
    nameFormats.set(timeZone, format)
  }
  const parts = format.formatToParts(new Date(time))
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

const moment = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** Splits a text at its times (ISO 8601, UTC): text, time, text, and so on. */
export const splitAtTimes = (text: string): string[] => text.split(moment)

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** Returns `3 minutes ago`. */
export function ago(time: string, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / size), unit)
}

/** Returns how long ago something happened: `now` by a clock that is behind. */
export const since = (time: string, now = Date.now()): string =>
  ago(time, Math.max(now, new Date(time).getTime()))

const dayMs = 86_400_000

/** Returns the days left until then, rounded up; 0 if it has passed. */
export function daysUntil(time: string, now = Date.now()): number {
  return Math.max(0, Math.ceil((new Date(time).getTime() - now) / dayMs))
}
