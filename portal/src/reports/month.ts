// Months of a time zone. Pure.
import { momentOf, wallClock } from '../ui/wall-clock.ts'

/** `month`: 2026-03. */
export type MonthSpan = { readonly month: string; readonly start: string; readonly end: string }

/** Returns the month that is a number of months away from now: -1 is the last one. */
export function monthAt(offset: number, now: number, timeZone: string): string {
  const [year = 0, month = 0] = wallClock(new Date(now).toISOString(), timeZone).split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + offset, 1)).toISOString().slice(0, 7)
}

/** Returns the times of a month; undefined if the text names none. */
export function spanOfMonth(month: string, timeZone: string): MonthSpan | undefined {
  if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(month)) return undefined
  const [year = 0, number = 0] = month.split('-').map(Number)
  const next = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7)
  const start = momentOf(`${month}-01T00:00`, timeZone)
  const end = momentOf(`${next}-01T00:00`, timeZone)
  return start === undefined || end === undefined ? undefined : { month, start, end }
}

/** Returns `March 2026`. */
export const monthText = (month: string): string =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
