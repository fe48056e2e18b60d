// Parses arguments that several commands take: times, integers, lists.
import { parseTime } from '../text/time.ts'
import { UsageError } from './command.ts'

const units = { h: 3_600_000, d: 86_400_000 } as const

/** Parses a span such as `90d` or `12h` into milliseconds; undefined for other texts. */
function findSpan(text: string): number | undefined {
  const span = /^([1-9]\d{0,4})([hd])$/.exec(text)
  return span ? Number(span[1]) * units[span[2] as keyof typeof units] : undefined
}

/** Parses a span such as `90d` or `12h` into milliseconds. Throws a UsageError for other texts. */
export function parseSpan(option: string, text: string): number {
  const spanMs = findSpan(text)
  if (spanMs === undefined) throw new UsageError(`${option}: ${text} is not a span such as 26h or 7d.`)
  return spanMs
}

/** Parses an ISO 8601 time (UTC if it has no zone) or a span such as `90d` or `12h`; returns undefined for other texts. */
function parseTimeOrSpan(text: string, shifted: (spanMs: number) => number): Date | undefined {
  const spanMs = findSpan(text)
  if (spanMs !== undefined) return new Date(shifted(spanMs))
  const time = parseTime(text)?.toISOString()
  return time === undefined ? undefined : new Date(time)
}

/** Parses `2026-12-31`, or `90d` from now. Throws a UsageError for other texts and times in the past. */
export function parseFuture(option: string, text: string, now: Date): Date {
  const time = parseTimeOrSpan(text, (spanMs) => now.getTime() + spanMs)
  if (!time)
    throw new UsageError(`${option}: ${text} is neither a time such as 2026-12-31 nor a span such as 90d.`)
  if (time <= now) throw new UsageError(`${option}: ${text} is in the past.`)
  return time
}

/** Parses `2026-01-31T12:00:00Z`, or `12h` before now. Throws a UsageError for other texts and times in the future. */
export function parsePast(option: string, text: string, now: Date): Date {
  const time = parseTimeOrSpan(text, (spanMs) => now.getTime() - spanMs)
  if (!time) {
    throw new UsageError(
      `${option}: ${text} is neither a time such as 2026-01-31T12:00:00Z nor a span such as 12h.`,
    )
  }
  if (time > now) throw new UsageError(`${option}: ${text} is in the future.`)
  return time
}

export function parseInteger(option: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value
  throw new UsageError(`${option}: ${text} is not a whole number from ${min} to ${max}.`)
}

/** Splits `a,b` or a repeated option, without duplicates and empty values. */
export function parseList(values: readonly string[] | undefined): string[] {
  const items = (values ?? []).flatMap((value) => value.split(',')).map((item) => item.trim())
  return [...new Set(items.filter((item) => item !== ''))]
}

/** Returns the only argument after a subcommand. Throws a UsageError if it is missing or there are more. */
export function parseOneArgument(args: readonly string[], noun: string): string {
  const [arg, ...others] = args
  if (arg === undefined) throw new UsageError(`Add ${noun}.`)
  if (others.length > 0) throw new UsageError(`Too many arguments: ${others.join(' ')}. Use one at a time.`)
  return arg
}
