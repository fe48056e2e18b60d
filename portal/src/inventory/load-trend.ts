// How busy a port is, and how fast its traffic grows: from the 95th percentiles of two periods of 30 days. Pure.
import type { Port } from '@pharos/contract/inventory/port'

/** Part of its speed from which a port is busy: a peak or a failing neighbor then fills it. */
export const busyFrom = 0.8

export type Rates = Pick<Port, 'in_bps' | 'out_bps' | 'speed_bps'>

/** From 0 to 1; undefined if a rate or the speed is not known. */
export function loadOf({ in_bps: inBps, out_bps: outBps, speed_bps: speed }: Rates): number | undefined {
  if (inBps === null || outBps === null || !speed) return undefined
  return Math.min(1, Math.max(inBps, outBps) / speed)
}

export const percentOf = (load: number): string =>
  `${load > 0 && load < 0.01 ? '< 1' : Math.round(100 * load)} %`

export const trendDays = 30

type Percentiles = {
  readonly now: number | null
  readonly before: number | null
  readonly speed: number | null
}

export type LoadTrend = {
  /** Part of the speed; undefined without one. */
  readonly share?: number
  readonly isBusy: boolean
  /** Change from the period before; undefined if that is not known. */
  readonly growth?: number
  /** Months until the port is busy, if its traffic goes on growing as it did. */
  readonly busyInMonths?: number
}

/** Longer forecasts from two months have no meaning. */
const monthsMax = 36

/** `now` and `before` are the 95th percentiles of the greater direction. */
export function loadTrend({ now, before, speed }: Percentiles): LoadTrend {
  const share = now !== null && speed ? now / speed : undefined
  const isBusy = (share ?? 0) >= busyFrom
  const growth = now !== null && before ? now / before - 1 : undefined
  const months =
    share !== undefined && share > 0 && !isBusy && (growth ?? 0) > 0
      ? Math.ceil(Math.log(busyFrom / share) / Math.log(1 + growth!))
      : Infinity
  return {
    isBusy,
    ...(share === undefined ? {} : { share }),
    ...(growth === undefined ? {} : { growth }),
    ...(months <= monthsMax ? { busyInMonths: months } : {}),
  }
}
