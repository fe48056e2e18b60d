// A line as high as a row of text, for lists.
import type { ChartColor, ChartValues } from './chart-props.ts'
import classes from './charts.module.css'
import { highestOf } from './chart-text.ts'
import { colorVariable } from './inks.ts'
import { sparkPaths } from './shapes.ts'
import { formatValue, type Unit } from './units.ts'
import { words } from './words.ts'

type SparkProps = {
  readonly label: string
  readonly values: ChartValues
  readonly unit: Unit
  readonly color?: ChartColor
  readonly width?: number
  readonly height?: number
}

const room = 1

/** Draws values without axes; their last and highest are its text. */
export function Spark({ label, values, unit, color = 1, width = 96, height = 24 }: SparkProps) {
  const { line, area } = sparkPaths(values, width, height - 2 * room)
  const last = values.findLast((value) => typeof value === 'number') ?? null
  const highest = highestOf(values)
  const text =
    last === null || highest === null
      ? words.sparkEmpty(label)
      : words.spark(label, formatValue(last, unit), formatValue(highest, unit))
  return (
    <svg
      role="img"
      aria-label={text}
      className={classes['spark']}
      width={width}
      height={height}
      viewBox={`0 ${-room} ${width} ${height}`}
      style={{ color: colorVariable(color) }}
    >
      {last === null ? (
        <line x1={0} x2={width} y1={height / 2} y2={height / 2} className={classes['sparkNone']} />
      ) : (
        <>
          <path d={area} className={classes['sparkArea']} />
          <path d={line} className={classes['sparkLine']} />
        </>
      )}
    </svg>
  )
}
