// Values with their units as text, and the ticks of a value axis. Pure.
import { formatRate } from '../ui/rate.ts'
import { formatDuration } from '../ui/time-text.ts'

export type Unit = 'bps' | 'pps' | 'bytes' | 'packets' | 'count' | 'percent' | 'dBm' | 'dB' | 'ms'

const counts = new Intl.NumberFormat('en')

/** Returns `12,345`. */
export const formatCount = (value: number): string => counts.format(Math.round(value))

/** Returns the value with its unit, such as `9.5 Gbps`, `12,345`, `4.2 %` or `-3.1 dBm`. */
export function formatValue(value: number, unit: Unit): string {
  switch (unit) {
    case 'bps':
    case 'pps':
    case 'packets':
      return formatRate(value, unit)
    case 'bytes':
      return formatRate(value, 'B')
    case 'count':
      return Number.isInteger(value) ? formatCount(value) : counts.format(Number(value.toFixed(1)))
    case 'percent':
      return `${formatPart(value)} %`
    case 'dBm':
    case 'dB':
      return `${value.toFixed(1)} ${unit}`
    case 'ms':
      return formatDuration(value)
  }
}

const formatPart = (value: number): string => String(Number(value.toFixed(Math.abs(value) >= 10 ? 0 : 1)))

/** Returns the share of a total as `34 %`; `<1 %` for a small one. */
export function formatShare(value: number, total: number): string {
  if (total <= 0) return '–'
  const percent = (value / total) * 100
  if (percent > 0 && percent < 1) return '<1 %'
  // Rounding must not report all of it while others have a share.
  if (percent < 100 && percent >= 99.5) return '>99 %'
  return `${Math.round(percent)} %`
}

export type ValueAxis = {
  readonly min: number
  readonly max: number
  readonly ticks: readonly number[]
}

const msSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3].concat(
  [2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * 60_000),
)

/** Returns the smallest readable step that is not below the wanted one. */
function readableStep(wanted: number, unit: Unit): number {
  if (unit === 'ms') {
    const step = msSteps.find((one) => one >= wanted)
    if (step !== undefined) return step
  }
  const power = 10 ** Math.floor(Math.log10(wanted))
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= wanted * (1 - 1e-9))!
  const step = factor * power
  // Counts are whole numbers, and steps of 2.5 are not.
  if (unit === 'count' || unit === 'packets') return Math.max(1, step < 10 ? Math.ceil(step) : step)
  return step
}

/**
 * Returns an axis whose ends are ticks, so that every value is between two grid lines. All units but dBm, which has no
 * natural zero, begin at 0; percent ends at 100 if the values come near.
 */
export function valueAxis(low: number, high: number, unit: Unit, ticksWanted: number): ValueAxis {
  const hasZero = unit !== 'dBm'
  const from = hasZero ? Math.min(0, low) : low
  let to = hasZero ? Math.max(0, high) : high
  if (unit === 'percent' && to > 75 && to <= 100) to = 100
  if (to - from <= 0) to = from + (unit === 'dBm' ? 2 : 1)
  const step = readableStep((to - from) / Math.max(1, ticksWanted), unit)
  // A value on the highest line is inside; rounding errors of the division are not a value.
  const first = Math.floor(from / step + 1e-9)
  const last = Math.max(first + 1, Math.ceil(to / step - 1e-9))
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => clean((first + at) * step))
  return { min: ticks[0]!, max: ticks.at(-1)!, ticks }
}

/** Returns an axis of whole powers of ten around the values. */
export function logAxis(low: number, high: number): ValueAxis {
  const first = Math.floor(Math.log10(Math.max(low, Number.MIN_VALUE)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)))
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => clean(10 ** (first + at)))
  return { min: ticks[0]!, max: ticks.at(-1)!, ticks }
}

/** Rounds errors of binary fractions: 0.30000000000000004 becomes 0.3. */
const clean = (value: number): number => Number(value.toPrecision(12))

const powers = ['', 'k', 'M', 'G', 'T', 'P'] as const

/** Returns the labels of ticks, all in the unit of the highest one: `0`, `2.5 Gbps`, `5 Gbps`. */
export function tickLabels(ticks: readonly number[], unit: Unit, isLog = false): string[] {
  if (isLog || unit === 'ms' || unit === 'percent' || unit === 'dBm' || unit === 'dB')
    return ticks.map((tick) => plainTick(tick, unit))
  const highest = Math.max(...ticks.map(Math.abs))
  const power = highest < 1000 ? 0 : Math.min(powers.length - 1, Math.floor(Math.log10(highest) / 3 + 1e-9))
  const suffix = { bps: 'bps', pps: 'pps', bytes: 'B', packets: '', count: '' }[unit]
  return ticks.map((tick) => {
    if (tick === 0) return '0'
    const scaled = clean(tick / 1000 ** power)
    if (suffix === '') return `${counts.format(scaled)}${powers[power] === '' ? '' : ` ${powers[power]}`}`
    return `${scaled} ${powers[power]}${suffix}`
  })
}

function plainTick(tick: number, unit: Unit): string {
  if (tick === 0 && unit !== 'dBm') return '0'
  if (unit === 'dBm' || unit === 'dB') return `${clean(tick)} ${unit}`
  if (unit === 'percent') return `${clean(tick)} %`
  return formatValue(tick, unit)
}
