// The units in which detectors state rates, amounts and times, converted to bits and packets per second, bytes, packets
// and timestamps.
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

const iso = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(?:[Zz]|[+-]\d\d:?\d\d)?$/

/** A timestamp; undefined if absent, null or empty. ISO 8601 without an offset is read as UTC. */
export function readTime(value: unknown, unit: TimeUnit, place: string): Date | undefined {
  if (value === undefined || value === null || value === '') return undefined
  // The zero time of Go programs.
  if (unit === 'iso' && typeof value === 'string' && value.startsWith('0001-01-01T00:00:00')) return undefined
  if (unit === 'iso') return checkTime(parseIso(value, place), place)
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new NormaliseError(
      place,
      `a number is expected: ${unit === 'unix' ? 'seconds' : 'milliseconds'} since 1970`,
    )
  }
  return checkTime(new Date(Math.round(unit === 'unix' ? value * 1000 : value)), place)
}

function parseIso(value: unknown, place: string): Date {
  const text = typeof value === 'string' ? value.trim() : ''
  if (iso.test(text)) {
    const hasZone = /(?:[Zz]|[+-]\d\d:?\d\d)$/.test(text.slice(10))
    const full = text.length === 10 ? `${text}T00:00` : `${text.slice(0, 10)}T${text.slice(11)}`
    const time = new Date(hasZone ? full.replace(/([+-]\d\d)(\d\d)$/, '$1:$2').toUpperCase() : `${full}Z`)
    if (!Number.isNaN(time.getTime())) return time
  }
  throw new NormaliseError(place, 'an ISO 8601 time is expected, such as 2026-01-31T12:00:00Z')
}
