// The distance of a level from the low limit that its module states. Modules measure to +-3 dB only (SFF-8472), so this is the weakest of the
// rules.
import type { OpticLimits } from '../collect/device-source.ts'
import { type DaySeries, levelNow } from './levels.ts'

/** A lane closer than this to its warning level is reported. */
const marginMinDb = 1

export type LowLimit = 'alarm_low' | 'warn_low'
export type Margin = { readonly marginDb: number; readonly limit: LowLimit }

/** Returns the distance from the low alarm level, or else from the low warning level; undefined if the module states neither. */
export function marginOf(dbm: number, limits: OpticLimits): Margin | undefined {
  if (limits.alarmLow !== null) return { marginDb: round(dbm - limits.alarmLow), limit: 'alarm_low' }
  return limits.warnLow === null ? undefined : { marginDb: round(dbm - limits.warnLow), limit: 'warn_low' }
}

/** Returns the level at which a lane counts as too weak: that of the warning, or else that of the alarm. */
export function lowLevelOf(limits: OpticLimits | undefined): { dbm: number; limit: LowLimit } | undefined {
  if (!limits) return undefined
  if (limits.warnLow !== null) return { dbm: limits.warnLow, limit: 'warn_low' }
  return limits.alarmLow === null ? undefined : { dbm: limits.alarmLow, limit: 'alarm_low' }
}

/** Returns the margin if the median of the last 3 days is less than 1 dB above the low level. */
export function findLowMargin(
  series: DaySeries,
  limits: OpticLimits | undefined,
  today: number,
): Margin | undefined {
  const low = lowLevelOf(limits)
  const now = levelNow(series, today)
  if (!low || now === undefined) return undefined
  const marginDb = round(now - low.dbm)
  return marginDb < marginMinDb ? { marginDb, limit: low.limit } : undefined
}

const round = (db: number): number => Math.round(db * 100) / 100
