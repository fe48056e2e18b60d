// All samples of a month in ascending order, with a mark at the rank: the picture of a percentile.
import classes from './sorted-curve.module.css'
import { formatValue } from './units.ts'

type SortedCurveProps = {
  readonly label: string
  /** Ascending, bits per second. */
  readonly values: readonly number[]
  /** From 1. */
  readonly rank: number
}

const [width, height] = [600, 160]
const pointsMax = 300

export function SortedCurve({ label, values, rank }: SortedCurveProps) {
  const most = values.at(-1) ?? 0
  if (most === 0) return null
  const x = (index: number): number => (width * index) / Math.max(1, values.length - 1)
  const y = (value: number): number => height - (height * value) / most
  const step = Math.max(1, Math.floor(values.length / pointsMax))
  const shown = values.flatMap((value, index) =>
    index % step === 0 || index === values.length - 1
      ? [`${x(index).toFixed(1)},${y(value).toFixed(1)}`]
      : [],
  )
  const [markX, markY] = [x(rank - 1), y(values[rank - 1] ?? 0)]
  return (
    <svg
      className={classes['curve']}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${formatValue(values[rank - 1] ?? 0, 'bps')}`}
    >
      <polygon className={classes['area']} points={`0,${height} ${shown.join(' ')} ${width},${height}`} />
      <polyline className={classes['line']} points={shown.join(' ')} />
      <line className={classes['mark']} x1={markX} x2={markX} y1={0} y2={height} />
      <line className={classes['mark']} x1={0} x2={markX} y1={markY} y2={markY} />
    </svg>
  )
}
