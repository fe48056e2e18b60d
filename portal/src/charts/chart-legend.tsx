// The legend of a chart: its series, or the values of the shades of a heatmap.
import type { ChartProps, ChartSeries } from './chart-props.ts'
import { highestOf } from './chart-text.ts'
import classes from './charts.module.css'
import { colorVariable } from './inks.ts'
import { shadeGradient, shadeScale } from './shades.ts'
import { isBars, isStacked } from './stack.ts'
import { formatValue } from './units.ts'
import { words } from './words.ts'

type SwatchProps = { readonly chart: Pick<ChartProps, 'kind'> } & Pick<
  ChartSeries,
  'color' | 'isDashed' | 'isLine'
>

/** The shape of the series: a line, a dashed line, a dot, a square. */
export function Swatch({ chart: { kind }, color, isDashed = false, isLine = false }: SwatchProps) {
  const shape =
    kind === 'scatter'
      ? 'dot'
      : isDashed
        ? 'dashed'
        : isLine || kind === 'lines'
          ? 'line'
          : isBars(kind) || isStacked(kind)
            ? 'square'
            : 'area'
  return <span className={classes['swatch']} data-shape={shape} style={{ color: colorVariable(color) }} />
}

type LegendProps = {
  readonly chart: ChartProps
  readonly hidden: readonly string[]
  readonly onToggle: (label: string) => void
}

/** With several series, a click hides one. Thresholds have their values here; a heatmap names its shades. */
export function Legend({ chart, hidden, onToggle }: LegendProps) {
  if (chart.kind === 'heatmap') return <Shades chart={chart} />
  const isSum = isStacked(chart.kind)
  return (
    <ul className={classes['legend']} data-legend>
      {chart.series.map(({ label, color, isDashed = false, isLine = false, values, unit }) => {
        const highest = highestOf(values)
        const text = (
          <>
            <Swatch chart={chart} color={color} isDashed={isDashed} isLine={isLine} />
            {label}
            {(!isSum || isLine) && highest !== null && (
              <span className={classes['max']}>{words.max(formatValue(highest, unit))}</span>
            )}
          </>
        )
        const isLast = hidden.length === chart.series.length - 1 && !hidden.includes(label)
        return (
          <li key={label}>
            {chart.series.length > 1 && !isLast ? (
              <button
                type="button"
                className={classes['entry']}
                data-printed
                aria-pressed={!hidden.includes(label)}
                onClick={() => onToggle(label)}
              >
                {text}
              </button>
            ) : (
              <span className={classes['entry']}>{text}</span>
            )}
          </li>
        )
      })}
      {chart.thresholds?.map(({ label, value, unit, color = 'warn' }) => (
        <li key={`${label} ${value}`} className={classes['entry']} data-threshold>
          <Swatch chart={{ kind: 'lines' }} color={color} isDashed />
          {label}
          <span className={classes['max']}>{formatValue(value, unit)}</span>
        </li>
      ))}
    </ul>
  )
}

/** A cell without traffic, and the scale of all others. */
function Shades({ chart: { series } }: { readonly chart: ChartProps }) {
  const unit = series[0]?.unit ?? 'count'
  const ticks = shadeScale(series.map(({ values }) => values))?.ticks ?? []
  return (
    <div className={classes['shades']}>
      <span className={classes['shadeZero']}>0</span>
      {ticks.length > 0 && (
        <span className={classes['shadeScale']} style={{ backgroundImage: shadeGradient() }}>
          {ticks.map((tick) => (
            <span key={tick}>{formatValue(tick, unit)}</span>
          ))}
        </span>
      )}
    </div>
  )
}
