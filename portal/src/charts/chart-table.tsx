// The values of a chart as a table, with the links of its points.
import { useMemo } from 'react'
import { RowLink } from '../ui/row-link.tsx'
import type { ChartProps } from './chart-props.ts'
import { readingsAt, tableRows } from './chart-text.ts'
import classes from './charts.module.css'
import { words } from './words.ts'

type TableProps = {
  readonly chart: ChartProps
  readonly timeText: (time: number) => string
  /** Adds a column of totals. */
  readonly isStack: boolean
}

export function ChartTable({ chart, timeText, isStack }: TableProps) {
  const rows = useMemo(() => tableRows(chart, timeText), [chart, timeText])
  const hasTotal = isStack && chart.series.length > 1
  return (
    <div className={classes['tableArea']} tabIndex={0} role="group" aria-label={chart.label}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{words.time}</th>
            {chart.series.map(({ label }) => (
              <th key={label} scope="col" data-number>
                {label}
              </th>
            ))}
            {hasTotal && (
              <th scope="col" data-number>
                {words.total}
              </th>
            )}
            {chart.pointText && <th scope="col">{words.point}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ index, time, cells, note, href }) => (
            <tr key={index}>
              <td>{href === undefined ? time : <RowLink to={href}>{time}</RowLink>}</td>
              {cells.map((cell, at) => (
                <td key={chart.series[at]!.label} data-number>
                  {cell}
                </td>
              ))}
              {hasTotal && <td data-number>{readingsAt(chart, index).at(-1)?.text}</td>}
              {note !== undefined && <td>{note}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
