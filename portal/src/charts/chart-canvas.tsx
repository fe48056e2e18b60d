// Draws a chart with uPlot. Only chart.tsx loads it, with the first chart.
import 'uplot/dist/uPlot.min.css'
import { useEffect, useImperativeHandle, useRef, type Ref } from 'react'
import UPlot from 'uplot'
import { drawnWidth } from '../theme/print.ts'
import { useZone, zoneName } from '../ui/time.tsx'
import { cellAt, moveToCell } from './chart-cells.ts'
import { barWidths, dataOf, drawnMarks, optionsOf } from './chart-options.ts'
import type { ChartMark, ChartPoint, ChartProps, TimeRange } from './chart-props.ts'
import classes from './charts.module.css'
import { readInks, useInkVersion } from './inks.ts'
import { joinCursor, shareCursor } from './shared-cursor.ts'
import { isBars } from './stack.ts'

export type CanvasHandle = {
  /** `row`: of a heatmap. */
  readonly moveTo: (index: number, row: number) => void
  readonly leave: () => void
  readonly visibleRange: () => TimeRange
}

type CanvasProps = ChartProps & {
  readonly height: number
  readonly handle: Ref<CanvasHandle>
  readonly onPoint: (point: ChartPoint | undefined) => void
  readonly onDrag: (range: TimeRange) => void
  readonly onPick: (index: number, event: MouseEvent) => void
  readonly onUnlabelled: (marks: readonly ChartMark[]) => void
}

export default function ChartCanvas(props: CanvasProps) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const latest = useRef(props)
  latest.current = props
  const inkVersion = useInkVersion()
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const { series, times, marks, thresholds, range, periodMs, heldUntil, forecastFrom, kind, isLog, height } =
    props
  const shape = JSON.stringify([
    series.map(({ label, unit, color, isDashed, isLine }) => [label, unit, color, isDashed, isLine]),
    [kind, isLog, height, drawnMarks(props).length > 0],
  ])

  useEffect(() => {
    const parent = host.current!
    const follower = createFollower(() => made)
    const made: UPlot = new UPlot(
      optionsOf({
        now: () => latest.current,
        inks: readInks(),
        timeZone,
        width: drawnWidth(parent),
        onCursor: (shown) => {
          latest.current.onPoint(pointOf(shown, latest.current))
          follower.share(shown)
        },
        onUnlabelled: (marks) => latest.current.onUnlabelled(marks),
        onDrag: (from, to) => latest.current.onDrag([Math.round(from), Math.round(to)]),
      }),
      dataOf(latest.current),
      parent,
    )
    plot.current = made
    made.over.addEventListener('click', (event) => {
      const point = pointOf(made, latest.current)
      if (point) latest.current.onPick(point.index, event)
    })
    const observer = new ResizeObserver(() => {
      const width = drawnWidth(parent)
      if (width > 0 && width !== made.width) made.setSize({ width, height: latest.current.height })
    })
    observer.observe(parent)
    // The rows of a heatmap are read one by one.
    const leave = latest.current.kind === 'heatmap' ? undefined : joinCursor(follower)
    return () => {
      leave?.()
      observer.disconnect()
      made.destroy()
      latest.current.onPoint(undefined)
    }
  }, [shape, inkVersion, timeZone])

  // A change of values alone keeps the pointer's position.
  const bands = series.map(({ values, low, high }) => [values, low, high])
  const values = JSON.stringify([times, bands, marks, thresholds, range, periodMs, heldUntil, forecastFrom])
  const drawn = useRef(values)
  useEffect(() => {
    if (drawn.current === values) return
    drawn.current = values
    plot.current?.setData(dataOf(latest.current))
  }, [values])

  useImperativeHandle(props.handle, () => ({
    moveTo: (index, row) => {
      if (!plot.current) return
      if (latest.current.kind === 'heatmap') moveToCell(plot.current, latest.current, index, row)
      else moveCursor(plot.current, index)
    },
    leave: () => plot.current?.setCursor({ left: -10, top: -10 }),
    visibleRange: () => rangeOf(plot.current!),
  }))

  return <div ref={host} className={classes['canvas']} />
}

/** Shows the time of other charts, and its own in these. */
function createFollower(plotOf: () => UPlot) {
  let isFollowing = false
  const follower = {
    visibleRange: (): TimeRange => rangeOf(plotOf()),
    follow: (time: number | undefined) => {
      const plot = plotOf()
      isFollowing = true
      plot.setCursor(
        time === undefined
          ? { left: -10, top: -10 }
          : { left: plot.valToPos(time, 'x'), top: plot.over.clientHeight / 2 },
      )
      isFollowing = false
    },
    share: ({ cursor: { left = -1 }, posToVal }: UPlot) => {
      if (!isFollowing) shareCursor(follower, left < 0 ? undefined : posToVal(left, 'x'))
    },
  }
  return follower
}

const rangeOf = ({ scales }: UPlot): TimeRange => {
  const { min, max } = scales['x']!
  return [min!, max!]
}

/** Moves to the highest value at that time, as the pointer would. */
function moveCursor(plot: UPlot, index: number): void {
  const left = plot.valToPos(plot.data[0][index]!, 'x')
  const tops = plot.data.slice(1).flatMap((values, at) => {
    const value = values[index]
    return typeof value === 'number' ? [plot.valToPos(value, plot.series[at + 1]!.scale!)] : []
  })
  plot.setCursor({ left, top: Math.min(...tops, plot.over.clientHeight) })
}

function pointOf(plot: UPlot, props: ChartProps): ChartPoint | undefined {
  if (props.kind === 'heatmap') return cellAt(plot, props)
  const { left = -1, top = -1, idx, idxs } = plot.cursor
  const drawn = props.kind === 'scatter' ? idxs?.[1] : idx
  if (left < 0 || drawn === null || drawn === undefined) return undefined
  const time = plot.data[0][drawn]
  if (time === undefined) return undefined
  const { offsetLeft, offsetTop, clientHeight } = plot.over
  const x = offsetLeft + plot.valToPos(time, 'x')
  // The second end of a step is the same measurement.
  const index = Math.min(drawn, props.times.length - 1)
  const y = offsetTop + Math.max(0, top)
  if (!isBars(props.kind)) return { index, x, y }
  const width = Math.max(2, barWidths(plot, props).period)
  return { index, x, y, column: { left: x - width / 2, top: offsetTop, width, height: clientHeight } }
}
