// Values of table cells as numbers and texts, and the units of light levels. A cell of another type, and a value that no module can
// have, is null: devices report absent values as -32768, 2147483647 and the like.
import type { OpticLimits, OpticMetric } from '../../../inventory/collect/device-source.ts'
import type { OpticTables } from './family.ts'

/** Limits of plausible values: dBm, mA, degrees Celsius, V. */
const ranges: Readonly<Record<OpticMetric, readonly [min: number, max: number]>> = {
  rx_power: [-60, 30],
  tx_power: [-60, 30],
  bias: [0, 2_000],
  temperature: [-60, 150],
  voltage: [0.5, 60],
}

/** No module sends more, and more destroys its receiver. */
export const lightMaxDbm = 10
/** Reported for no light. Lower levels are rounded up to it: they are noise of the detector. */
export const darkDbm = -40
/** Levels from here on are values of a device for absent values, not for no light. */
const absentDbm = -110

export function integerAt(tables: OpticTables, column: string, index: string): number | null {
  const value = tables.get(column)?.get(index)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
}

/** Returns a text without padding and control characters; null if it is empty. */
export function textAt(tables: OpticTables, column: string, index: string): string | null {
  const value = tables.get(column)?.get(index)
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return null
  const text = typeof value === 'string' ? value : new TextDecoder().decode(value)
  // oxlint-disable-next-line no-control-regex
  const clean = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  return clean === '' || /^(?:n\/?a|none|unknown|unspecified)$/i.test(clean) ? null : clean
}

/** Returns the indexes that any of the columns has, in the order of the columns. */
export function indexesIn(tables: OpticTables, columns: readonly string[]): string[] {
  return [...new Set(columns.flatMap((column) => [...(tables.get(column)?.keys() ?? [])]))]
}

/** Converts the number of a cell into the unit of its metric; null without a value. */
export type Conversion = (value: number | null) => number | null

/** Returns a conversion into the unit of the metric, by a factor such as 0.001; null for values that it cannot have. */
export function scaledTo(metric: 'bias' | 'temperature' | 'voltage', factor: number): Conversion {
  const [min, max] = ranges[metric]
  return (value) => {
    const result = value === null ? Number.NaN : round(value * factor, 4)
    return result >= min && result <= max ? result : null
  }
}

/** Returns a conversion from a fraction of a dBm, such as 0.01. */
export function decibels(factor: number): Conversion {
  return (value) => (value === null ? null : dbm(value * factor))
}

/** Returns a conversion from a unit of power in mW, such as 0.0001 for 0.1 uW. No power is no light. */
export function watts(milliwatts: number): Conversion {
  return (value) =>
    value === null || value < 0 ? null : value === 0 ? darkDbm : dbm(10 * Math.log10(value * milliwatts))
}

/** Returns a bit error rate; null for invalid values, such as 0 without a measurement. */
export const bitErrorRate = (value: number | null): number | null =>
  value !== null && value > 0 && value < 1 ? value : null

function dbm(value: number): number | null {
  if (!(value > absentDbm && value <= ranges.rx_power[1])) return null
  return Math.max(darkDbm, round(value, 2))
}

export const round = (value: number, digits: number): number =>
  Math.round(value * 10 ** digits) / 10 ** digits + 0

export const isDark = (rxDbm: number | null): boolean => rxDbm !== null && rxDbm <= darkDbm

type LimitValues = readonly [
  alarmLow: number | null,
  warnLow: number | null,
  warnHigh: number | null,
  alarmHigh: number | null,
]

/**
 * Returns the limits; undefined if no limit is plausible. A limit of 0 is set if it is in the order of the others, such
 * as a high warning of 0 dBm; otherwise it is unset. If the alarm of only one side is unset in this way, then the
 * warning beside it is dropped as well. A side in the wrong order is dropped, and all limits if the sides overlap.
 */
export function limitsFrom(...values: LimitValues): OpticLimits | undefined {
  const isWrong = values.map((value, at) => value === 0 && !isInOrder(values, at))
  const [alarmLow, warnLow, warnHigh, alarmHigh] = values.map((value, at) =>
    isWrong[at] ? null : value,
  ) as [...LimitValues]
  const isLowTrusted = isAscending(alarmLow, warnLow) && !(isWrong[0] && alarmHigh)
  const isHighTrusted = isAscending(warnHigh, alarmHigh) && !(isWrong[3] && alarmLow)
  const low = isLowTrusted ? ([alarmLow, warnLow] as const) : none
  const high = isHighTrusted ? ([warnHigh, alarmHigh] as const) : none
  const stated = [...low, ...high].filter((value) => value !== null)
  if (stated.every((value) => value === 0) || !isAscending(...stated)) return undefined
  return { alarmLow: low[0], warnLow: low[1], warnHigh: high[0], alarmHigh: high[1] }
}

const none = [null, null] as const

const isAscending = (...values: readonly (number | null)[]): boolean => {
  const stated = values.filter((value) => value !== null)
  return stated.every((value, at) => at === 0 || stated[at - 1]! <= value)
}

function isInOrder(values: LimitValues, at: number): boolean {
  const isAbove = values.slice(0, at).every((low) => low === null || low <= 0)
  return isAbove && values.slice(at + 1).every((high) => high === null || high >= 0)
}

/** Numbers of the columns with the limits of a metric, in the order of `limitsFrom`. */
export type LimitColumns = readonly [alarmLow: number, warnLow: number, warnHigh: number, alarmHigh: number]

/** Returns the limits in columns of one table. */
export function limitsAt(
  tables: OpticTables,
  entry: string,
  columns: LimitColumns,
  index: string,
  convert: Conversion,
): OpticLimits | undefined {
  const at = (column: number): number | null =>
    limitOf(convert, integerAt(tables, `${entry}.${column}`, index))
  return limitsFrom(at(columns[0]), at(columns[1]), at(columns[2]), at(columns[3]))
}

/** Converts a limit; null if the limit is zero power. */
export function limitOf(convert: Conversion, value: number | null): number | null {
  const limit = convert(value)
  return value === 0 && limit === darkDbm ? null : limit
}
