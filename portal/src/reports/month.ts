// Months of a time zone. Pure.
import { wallClock } from '../ui/wall-clock.ts'

/** Returns the month that is a number of months away from now: -1 is the last one. */
export function monthAt(offset: number, now: number, timeZone: string): string {
  const [year = 0, month = 0] = wallClock(new Date(now).toISOString(), timeZone).split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + offset, 1)).toISOString().slice(0, 7)
}

/** Whether a text is a month such as `2026-03`. */
export const isMonth = (text: string): boolean => /^20\d\d-(0[1-9]|1[0-2])$/.test(text)
