// One measured value between its limits: a bullet chart without a time axis.
import classes from './level-bar.module.css'
import { formatValue, type Unit } from './units.ts'

/** Null: there is no such limit. */
export type Limits = {
  readonly alarm_low: number | null
  readonly warn_low: number | null
  readonly warn_high: number | null
  readonly alarm_high: number | null
}

type LevelBarProps = {
  readonly label: string
  readonly value: number
  readonly unit: Unit
  readonly limits: Limits
  /** The state in words, for screen readers. */
  readonly stateText: string
}

/** Room beyond the outer limits, as a share of their distance. */
const room = 0.12

export function LevelBar({ label, value, unit, limits, stateText }: LevelBarProps) {
  const known = Object.values(limits).filter((limit) => limit !== null)
  if (known.length < 2) return null
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const [from, to] = [low - (high - low) * room, high + (high - low) * room]
  const at = (one: number): number => (100 * (Math.min(to, Math.max(from, one)) - from)) / (to - from)
  const [alarmLow, alarmHigh] = [limits.alarm_low ?? from, limits.alarm_high ?? to]
  const zones = [
    ['bad', from, alarmLow],
    ['warn', alarmLow, limits.warn_low ?? alarmLow],
    ['ok', limits.warn_low ?? alarmLow, limits.warn_high ?? alarmHigh],
    ['warn', limits.warn_high ?? alarmHigh, alarmHigh],
    ['bad', alarmHigh, to],
  ] as const
  return (
    <div
      className={classes['bar']}
      role="img"
      aria-label={`${label}: ${formatValue(value, unit)}, ${stateText}`}
    >
      {zones.map(([state, start, end], index) => (
        <span
          key={index}
          className={classes['zone']}
          data-state={state}
          style={{ insetInlineStart: `${at(start)}%`, width: `${at(end) - at(start)}%` }}
        />
      ))}
      <span className={classes['mark']} style={{ insetInlineStart: `${at(value)}%` }} />
    </div>
  )
}
