// Reads the words of a command line that several commands take: times, whole numbers, lists.
import { parseTime } from '../text/time.ts'
import { UsageError } from './command.ts'

const units = { h: 3_600_000, d: 86_400_000 } as const

/** A time in ISO 8601 (UTC where it names no zone), or a span such as `90d` or `12h`; undefined where it is neither. */
function readMoment(text: string, moved: (spanMs: number) => number): Date | undefined {
  const span = /^([1-9]\d{0,4})([hd])$/.exec(text)
  if (span) return new Date(moved(Number(span[1]) * units[span[2] as keyof typeof units]))
  const time = parseTime(text)?.toISOString()
  return time === undefined ? undefined : new Date(time)
}

/** `2026-12-31`, or `90d` from now. Throws a UsageError where it is neither, or is over. */
export function parseFuture(option: string, text: string, now: Date): Date {
  const time = readMoment(text, (spanMs) => now.getTime() + spanMs)
  if (!time)
    throw new UsageError(`${option}: ${text} is neither a time such as 2026-12-31 nor a span such as 90d.`)
  if (time <= now) throw new UsageError(`${option}: ${text} is over already.`)
  return time
}

/** `2026-01-31T12:00:00Z`, or `12h` before now. Throws a UsageError where it is neither, or is still to come. */
export function parsePast(option: string, text: string, now: Date): Date {
  const time = readMoment(text, (spanMs) => now.getTime() - spanMs)
  if (!time) {
    throw new UsageError(
      `${option}: ${text} is neither a time such as 2026-01-31T12:00:00Z nor a span such as 12h.`,
    )
  }
  if (time > now) throw new UsageError(`${option}: ${text} is still to come.`)
  return time
}

export function parseWhole(option: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(`${option}: ${text} is not a whole number from ${least} to ${most}.`)
}

/** `a,b` or the option repeated; without doubles and without empty words. */
export function parseList(values: readonly string[] | undefined): string[] {
  const words = (values ?? []).flatMap((value) => value.split(',')).map((word) => word.trim())
  return [...new Set(words.filter((word) => word !== ''))]
}

/** The one word that follows a subcommand. */
export function oneWord(words: readonly string[], what: string): string {
  const [word, ...others] = words
  if (word === undefined) throw new UsageError(`Name ${what}.`)
  if (others.length > 0) throw new UsageError(`${others.join(' ')} is too much: name one thing at a time.`)
  return word
}
