// Draws a plot with uPlot, in the colours of the theme and the zone of the page. Only plot.tsx loads it, with the first plot.
import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { axisTimes } from './plot-axis.ts'
import { drawMarks, drawThresholds, type Inks } from './plot-marks.ts'
import type { PlotProps, PlotSeries } from './plot-props.ts'
import classes from './plot.module.css'
import { formatRate } from './rate.ts'
import { useZone, zoneName } from './time.tsx'

type CanvasProps = PlotProps & {
  readonly height: number
  /** Reports the index of the values at the pointer. */
  readonly onIndex: (index: number | undefined) => void
}

export default function PlotCanvas(props: CanvasProps) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const latest = useRef(props)
  latest.current = props
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const { series, times, marks, thresholds, range, isScatter, height } = props
  const shape = JSON.stringify([
    series.map(({ label, unit, color }) => [label, unit, color]),
    isScatter,
    height,
  ])

  useEffect(() => {
    const parent = host.current!
    const made = new UPlot(
      optionsOf(() => latest.current, inksOf(scheme), timeZone, parent.clientWidth),
      dataOf(latest.current),
      parent,
    )
    plot.current = made
    const observer = new ResizeObserver(() =>
      made.setSize({ width: parent.clientWidth, height: latest.current.height }),
    )
    observer.observe(parent)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [shape, scheme, timeZone])

  // A change of values alone keeps the pointer's position.
  const values = JSON.stringify([times, series.map((one) => one.values), marks, thresholds, range])
  const drawn = useRef(values)
  useEffect(() => {
    if (drawn.current === values) return
    drawn.current = values
    plot.current?.setData(dataOf(latest.current))
  }, [values])

  return <div ref={host} className={`${classes['canvas']} ${props.onPick ? classes['picks'] : ''}`} />
}

const dataOf = ({ times, series }: PlotProps): UPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
]

function inksOf(scheme: 'light' | 'dark'): Inks {
  const styles = getComputedStyle(document.documentElement)
  const color = (name: string) => styles.getPropertyValue(`--mantine-color-${name}`).trim()
  const shade = scheme === 'dark' ? 4 : 7
  return {
    series: { blue: color(`blue-${shade}`), orange: color(`orange-${shade}`), red: color(`red-${shade}`) },
    words: color(scheme === 'dark' ? 'dark-1' : 'gray-7'),
    grid: color(scheme === 'dark' ? 'dark-5' : 'gray-2'),
    mark: color(scheme === 'dark' ? 'gray-4' : 'gray-8'),
    font: `11px ${styles.getPropertyValue('--mantine-font-family') || 'sans-serif'}`,
  }
}

function optionsOf(now: () => CanvasProps, inks: Inks, timeZone: string, width: number): UPlot.Options {
  const { series, isScatter = false, height, onPick } = now()
  const units = [...new Set(series.map(({ unit }) => unit))]
  const axis = { stroke: inks.words, font: inks.font, ticks: { show: false } }
  return {
    width,
    height,
    // Milliseconds, as everywhere else.
    ms: 1,
    tzDate: (time) => UPlot.tzDate(new Date(time), timeZone),
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: {
      drag: { x: false, y: false },
      y: false,
      ...(isScatter ? { dataIdx: nearestPoint } : {}),
    },
    scales: {
      x: { time: true, range: (_plot, min, max) => [...(now().range ?? [min, max])] as [number, number] },
      ...Object.fromEntries(units.map((unit) => [unit, scaleOf(now, unit, isScatter, units.indexOf(unit))])),
    },
    axes: [
      {
        ...axis,
        space: 64,
        size: isScatter ? 28 : 44,
        grid: { show: false },
        values: (_plot, splits, _axis, _space, step) => axisTimes(splits, step, timeZone),
      },
      ...units.map((unit, at): UPlot.Axis => ({
        ...axis,
        scale: unit,
        side: at === 0 ? 3 : 1,
        size: 66,
        grid: {
          show: at === 0,
          stroke: inks.grid,
          width: 1,
          ...(isScatter ? { filter: powersOfTen } : {}),
        },
        values: (_plot, splits) => splits.map((value) => (value === null ? '' : formatRate(value, unit))),
      })),
    ],
    series: [{}, ...series.map((one) => lineOf(one, inks, isScatter))],
    hooks: {
      draw: [
        (plot) => drawThresholds(plot, now().thresholds ?? [], inks),
        (plot) => drawMarks(plot, now().marks ?? [], inks),
      ],
      setCursor: [(plot) => now().onIndex(plot.cursor.idxs?.[1] ?? undefined)],
      ...(onPick ? { ready: [(plot) => plot.over.addEventListener('click', () => pick(plot, now()))] } : {}),
    },
  }
}

const powersOfTen = (_plot: UPlot, splits: number[]): (number | null)[] =>
  splits.map((value) => (Number.isInteger(Math.log10(value)) ? value : null))

function pick({ cursor }: UPlot, { onPick }: CanvasProps): void {
  const index = cursor.idxs?.[1]
  if (index !== null && index !== undefined) onPick?.(index)
}

/** The second unit has more room above, so that two lines of the same shape do not cover each other. */
function scaleOf(now: () => PlotProps, unit: string, isScatter: boolean, at: number): UPlot.Scale {
  if (isScatter) return { distr: 3 }
  return {
    range: (_plot, _min, max) => {
      const limits = (now().thresholds ?? []).filter((one) => one.unit === unit).map(({ value }) => value)
      return [0, Math.max(max ?? 0, ...limits, 1) * (at === 0 ? 1.1 : 1.5)]
    },
  }
}

function lineOf({ label, unit, color, isDashed }: PlotSeries, inks: Inks, isScatter: boolean): UPlot.Series {
  const stroke = inks.series[color]
  if (isScatter) {
    return {
      label,
      scale: unit,
      paths: () => null,
      points: { show: true, size: isDashed ? 11 : 7, stroke, fill: `${stroke}66` },
    }
  }
  return {
    label,
    scale: unit,
    stroke,
    width: 2,
    spanGaps: true,
    points: { show: true, size: 4, stroke, fill: stroke },
    ...(isDashed ? { dash: [6, 4] } : { fill: `${stroke}1f` }),
  }
}

/** Returns the index of the point nearest to the pointer in both directions, of all series. */
function nearestPoint(plot: UPlot, _series: number, byTime: number): number {
  const { left = -1, top = -1 } = plot.cursor
  if (left < 0) return byTime
  const [times, ...lists] = plot.data
  let best = byTime
  let least = Infinity
  for (const [at, time] of times.entries()) {
    const x = plot.valToPos(time, 'x') - left
    for (const [index, values] of lists.entries()) {
      const value = values[at]
      if (value === null || value === undefined) continue
      const y = plot.valToPos(value, plot.series[index + 1]!.scale!) - top
      const distance = x * x + y * y
      if (distance < least) [best, least] = [at, distance]
    }
  }
  return best
}
