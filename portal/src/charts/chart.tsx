// Values over time, the one way in which the portal draws them. The drawing library is loaded with the first chart; the same
// values are a description and a table, and each point can be reached with the keyboard.
import { useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { placeholderProps } from '../ui/placeholder.ts'
import { formatTime, useZone } from '../ui/time.tsx'
import type { CanvasHandle } from './chart-canvas.tsx'
import type { ChartMark, ChartPoint, ChartProps, TimeRange } from './chart-props.ts'
import { Legend, Swatch } from './chart-legend.tsx'
import { MarkList } from './mark-list.tsx'
import { descriptionOf, nextIndex, readingsAt, sentenceAt, tableRows } from './chart-text.ts'
import classes from './charts.module.css'
import { hiddenOf, toggled } from './hidden.ts'
import { isStacked } from './stack.ts'
import { words } from './words.ts'
import { RowLink } from '../ui/row-link.tsx'

const Canvas = lazy(() => import('./chart-canvas.tsx'))

/** Draws values over time; `charts/README.md` has an example of each kind. */
export function Chart(props: ChartProps) {
  const { label, height = 240, isLoading = false, isPlaceholder = false, error } = props
  const hasValues =
    props.times.length > 0 && props.series.some(({ values }) => values.some((value) => value !== null))
  return (
    <figure
      className={classes['figure']}
      aria-label={label}
      aria-busy={isLoading}
      {...placeholderProps(isPlaceholder)}
    >
      {error !== undefined ? (
        <Message height={height} title={words.failed} text={error} isError onRetry={props.onRetry} />
      ) : isLoading ? (
        <Loading height={height} />
      ) : hasValues ? (
        <Drawn {...props} height={height} />
      ) : (
        <Message height={height} title={props.emptyText ?? words.empty} />
      )}
    </figure>
  )
}

function Drawn(props: ChartProps & { readonly height: number }) {
  const { label, times, series, height, kind, hrefOf, opens, onSelect, onZoom } = props
  const router = useRouter()
  const [zone] = useZone()
  const handle = useRef<CanvasHandle>(null)
  const [point, setPoint] = useState<ChartPoint>()
  const [isSpoken, setSpoken] = useState(false)
  const [isTable, setTable] = useState(false)
  const [unlabelled, setUnlabelled] = useState<readonly ChartMark[]>([])
  const [chosen, setChosen] = useState(props.hiddenAtFirst ?? [])
  const hidden = hiddenOf(
    series.map((one) => one.label),
    chosen,
  )
  const [ownZoom, setOwnZoom] = useState<TimeRange>()
  const timeText = useMemo(
    () => props.timeText ?? ((time: number) => formatTime(new Date(time).toISOString(), zone)),
    [props.timeText, zone],
  )
  const range = ownZoom ?? props.range
  const shown: ChartProps = {
    ...props,
    series: series.filter((one) => !hidden.includes(one.label)),
    ...(range ? { range } : {}),
  }
  // The point of a heatmap is in one series.
  const isHeatmap = kind === 'heatmap'
  const row = Math.min(point?.row ?? 0, shown.series.length - 1)
  const read: ChartProps = isHeatmap ? { ...shown, series: shown.series.slice(row, row + 1) } : shown
  const isZoomed = props.isZoomed ?? ownZoom !== undefined
  const zoom = (next: TimeRange | undefined) => (onZoom ? onZoom(next) : setOwnZoom(next))
  const pick = (index: number, isNewTab = false) => {
    onSelect?.(index)
    const href = hrefOf?.(index) ?? opens?.href
    if (href === undefined) return
    if (isNewTab) window.open(href, '_blank', 'noopener')
    else void router.navigate({ href })
  }

  const press = (event: KeyboardEvent) => {
    // Keys of the button inside are its own.
    if (event.target !== event.currentTarget) return
    const current = point?.index
    const moveTo = (index: number, toRow = row) => {
      setSpoken(true)
      handle.current?.moveTo(index, toRow)
    }
    const move = (step: 1 | -1) => moveTo(nextIndex(read, current ?? (step > 0 ? -1 : times.length), step))
    const moveRow = (step: 1 | -1) =>
      moveTo(
        current ?? nextIndex(read, times.length, -1),
        Math.min(Math.max(row + step, 0), shown.series.length - 1),
      )
    const actions: Partial<Record<string, () => void>> = {
      ArrowRight: () => move(1),
      ArrowLeft: () => move(-1),
      ...(isHeatmap ? { ArrowDown: () => moveRow(1), ArrowUp: () => moveRow(-1) } : {}),
      Home: () => moveTo(nextIndex(read, -1, 1)),
      End: () => moveTo(nextIndex(read, times.length, -1)),
      Enter: () => current !== undefined && pick(current, event.ctrlKey || event.metaKey),
      Escape: () => handle.current?.leave(),
      '+': () => zoomBy(0.5),
      '-': () => zoomBy(2),
      '0': () => zoom(undefined),
    }
    const zoomBy = (factor: number) => {
      const [from, to] = handle.current!.visibleRange()
      const middle = current === undefined ? (from + to) / 2 : times[current]!
      const half = ((to - from) * factor) / 2
      zoom([Math.round(middle - half), Math.round(middle + half)])
    }
    const action = actions[event.key]
    if (!action || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }

  const isOpened =
    point !== undefined &&
    (onSelect !== undefined || opens !== undefined || hrefOf?.(point.index) !== undefined)
  return (
    <>
      <div
        className={classes['stage']}
        // Arrow keys reach an application only.
        role="application"
        aria-roledescription={words.chartRole}
        aria-label={`${label}. ${isHeatmap ? words.cellKeys : words.keys}`}
        tabIndex={0}
        onKeyDown={press}
        onBlur={() => {
          setSpoken(false)
          handle.current?.leave()
        }}
        onPointerMove={() => setSpoken(false)}
        data-opens={isOpened || undefined}
      >
        <div role="img" aria-label={descriptionOf(props, timeText)}>
          <Suspense fallback={<Loading height={height} />}>
            <Canvas
              {...shown}
              height={height}
              handle={handle}
              onPoint={setPoint}
              onDrag={zoom}
              onPick={(index, event) => pick(index, event.ctrlKey || event.metaKey)}
              // A drawing reports the same marks again and again.
              onUnlabelled={(marks) => setUnlabelled((now) => (isSame(now, marks) ? now : marks))}
            />
          </Suspense>
        </div>
        {point?.column && <div className={classes[isHeatmap ? 'cell' : 'column']} style={point.column} />}
        {point && times[point.index] !== undefined && (
          <Tooltip chart={read} point={point} timeText={timeText} isOpened={isOpened} />
        )}
        <div className={classes['hidden']} aria-live="polite">
          {isSpoken && point && times[point.index] !== undefined
            ? sentenceAt(read, point.index, timeText)
            : ''}
        </div>
        {isZoomed && (
          <button
            type="button"
            className={`${classes['button']} ${classes['reset']}`}
            onClick={() => zoom(undefined)}
          >
            {words.resetZoom}
          </button>
        )}
      </div>
      <div className={classes['foot']}>
        {props.hasLegend !== false && (
          <Legend chart={props} hidden={hidden} onToggle={(name) => setChosen(toggled(hidden, name))} />
        )}
        <button
          type="button"
          className={classes['button']}
          aria-expanded={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? words.hideTable : words.showTable}
        </button>
      </div>
      <MarkList
        marks={[...unlabelled, ...(props.marks ?? []).filter(({ isMinor }) => isMinor)]}
        timeText={timeText}
      />
      {isTable && <ChartTable chart={props} timeText={timeText} isStack={isStacked(kind)} />}
    </>
  )
}

const isSame = (a: readonly ChartMark[], b: readonly ChartMark[]): boolean =>
  a.length === b.length && a.every(({ at, label }, place) => at === b[place]!.at && label === b[place]!.label)

type TooltipProps = {
  readonly chart: ChartProps
  readonly point: ChartPoint
  readonly timeText: (time: number) => string
  readonly isOpened: boolean
}

/** Beside the point, on the side that has more room. Read aloud by the live region, so it is hidden here. */
function Tooltip({ chart, point, timeText, isOpened }: TooltipProps) {
  const { index, x, y } = point
  const host = useRef<HTMLDivElement>(null)
  const width = host.current?.parentElement?.clientWidth ?? 600
  return (
    <div
      ref={host}
      aria-hidden
      className={classes['tooltip']}
      data-side={x > width / 2 ? 'left' : 'right'}
      style={{ left: x, top: y }}
    >
      <div className={classes['tooltipTime']}>{timeText(chart.times[index]!)}</div>
      {chart.pointText && <div className={classes['tooltipText']}>{chart.pointText(index)}</div>}
      <dl className={classes['readings']}>
        {readingsAt(chart, index).map(({ label, text, color, isDashed }) => (
          <div key={label} data-total={color === undefined || undefined}>
            <dt>
              {color !== undefined && chart.kind !== 'heatmap' && (
                <Swatch chart={chart} color={color} isDashed={isDashed} />
              )}
              {label}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {isOpened && <div className={classes['tooltipHint']}>{chart.opens?.hint ?? words.openHint}</div>}
    </div>
  )
}

const loadingBars = [38, 52, 44, 61, 70, 58, 66, 82, 74, 60, 48, 55, 68, 76, 64, 50]

/** Has the size of the chart, so that the page does not move when it arrives. */
const Loading = ({ height }: { readonly height: number }) => (
  <div className={classes['loading']} style={{ height }} role="status" aria-label={words.loading} aria-busy>
    {loadingBars.map((percent, at) => (
      <span key={at} style={{ height: `${percent}%` }} />
    ))}
  </div>
)

type MessageProps = {
  readonly height: number
  readonly title: ChartProps['emptyText']
  readonly text?: string
  readonly isError?: boolean
  readonly onRetry?: (() => void) | undefined
}

const Message = ({ height, title, text, isError = false, onRetry }: MessageProps) => (
  <div
    className={classes['message']}
    style={{ minHeight: height }}
    role={isError ? 'alert' : undefined}
    data-error={isError || undefined}
  >
    <strong>{title}</strong>
    {text !== undefined && <span>{text}</span>}
    {onRetry && (
      <button type="button" className={classes['button']} onClick={onRetry}>
        {words.retry}
      </button>
    )}
  </div>
)

type TableProps = {
  readonly chart: ChartProps
  readonly timeText: (time: number) => string
  /** Adds a column of totals. */
  readonly isStack: boolean
}

/** The values of a chart as a table, with the links of its points. */
function ChartTable({ chart, timeText, isStack }: TableProps) {
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
