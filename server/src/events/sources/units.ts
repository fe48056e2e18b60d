// The units in which detectors state rates, amounts and times, converted to bits and packets per second, bytes, packets
// and timestamps.
import { parseTime } from '../../text/time.ts'
import type { Notes } from './source.ts'
import { checkTime } from './reading.ts'
import { NormaliseError } from './source.ts'

const prefixes = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 } as const

/** Every unit with each decimal prefix: `bps`, `kbps`, `mbps`, ... */
function scaled(unit: string, factor: number): [string, number][] {
  return Object.entries(prefixes).map(([prefix, scale]) => [prefix + unit, scale * factor])
}

export const bitRates: ReadonlyMap<string, number> = new Map([
  ...scaled('bps', 1),
  ...scaled('bytes_per_second', 8),
])
export const packetRates: ReadonlyMap<string, number> = new Map(scaled('pps', 1))
export const byteAmounts: ReadonlyMap<string, number> = new Map([
  ...scaled('bytes', 1),
  ...scaled('bits', 0.125),
])
export const packetAmounts: ReadonlyMap<string, number> = new Map(scaled('packets', 1))

export type TimeUnit = 'iso' | 'unix' | 'unix_ms'
export const timeUnits: readonly string[] = ['iso', 'unix', 'unix_ms']

const aheadMaxMs = 24 * 3_600_000

/**
 * A timestamp; undefined if absent, null, empty or unreadable, which is noted. ISO 8601 without an offset is read as UTC.
 * The clocks of detectors differ: a time up to a day ahead is kept, a later one becomes the time of receipt.
 */
export function readTime(value: unknown, unit: TimeUnit, place: string, notes: Notes): Date | undefined {
  const time = readStatedTime(value, unit, place, notes)
  const { receivedAt } = notes
  if (time === undefined || time.getTime() <= receivedAt.getTime() + aheadMaxMs) return time
  notes.add('warning', place, 'time_future', { stated: time.toISOString() })
  return receivedAt
}

/** Like readTime, but accepts a time far ahead, for expiry times. */
export function readStatedTime(
  value: unknown,
  unit: TimeUnit,
  place: string,
  notes: Notes,
): Date | undefined {
  return notes.optional(() => parseUnit(value, unit, place))
}

function parseUnit(value: unknown, unit: TimeUnit, place: string): Date | undefined {
  if (value === undefined || value === null || value === '') return undefined
  // The zero time of Go programs.
  if (unit === 'iso' && typeof value === 'string' && value.startsWith('0001-01-01T00:00:00')) return undefined
  if (unit === 'iso') {
    const time = typeof value === 'string' ? parseTime(value.trim()) : undefined
    if (time !== undefined) return checkTime(time, place)
  } else if (typeof value === 'number' && Number.isFinite(value)) {
    return checkTime(new Date(Math.round(unit === 'unix' ? value * 1000 : value)), place)
  }
  throw new NormaliseError(place, 'time', { unit })
}
