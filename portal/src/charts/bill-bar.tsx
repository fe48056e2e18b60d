// A billed rate beside its commit and its forecast, on one scale.
import classes from './bill-bar.module.css'
import { formatValue } from './units.ts'
import { words } from './words.ts'

type BillBarProps = {
  readonly label: string
  /** Rates in bits per second; null: unknown. */
  readonly billed: number | null
  readonly commit: number | null
  readonly forecast: number | null
}

/** Room at the end of the scale, so that the largest value is not its border. */
const room = 1.08

export function BillBar({ label, billed, commit, forecast }: BillBarProps) {
  const most = Math.max(billed ?? 0, commit ?? 0, forecast ?? 0) * room
  if (most === 0) return null
  const at = (bps: number): string => `${(100 * bps) / most}%`
  const texts = [
    [words.billed, billed],
    [words.forecast, forecast],
    [words.commit, commit],
  ] as const
  const sentence = texts
    .flatMap(([name, bps]) => (bps === null ? [] : `${name} ${formatValue(bps, 'bps')}`))
    .join(', ')
  return (
    <div className={classes['bar']} role="img" aria-label={`${label}: ${sentence}`}>
      {forecast !== null && <span className={classes['forecast']} style={{ width: at(forecast) }} />}
      {billed !== null && (
        <span
          className={classes['billed']}
          data-over={(commit !== null && billed > commit) || undefined}
          style={{ width: at(billed) }}
        />
      )}
      {commit !== null && <span className={classes['commit']} style={{ insetInlineStart: at(commit) }} />}
    </div>
  )
}
