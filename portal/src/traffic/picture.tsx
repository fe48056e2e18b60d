// The drawing of a traffic view: stacked, as lines, as parts of the sum, one small chart for each group, as a heatmap, or as a flow diagram.
import { Skeleton, Text } from '@mantine/core'
import type { FlowGraphRequest, FlowTimeseries } from '@pharos/contract/flow/flow'
import type { ChartMark, ChartProps, ChartSeries } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { colorVariable } from '../charts/inks.ts'
import { Sankey } from '../charts/sankey.tsx'
import { formatValue } from '../charts/units.ts'
import { placeholderProps } from '../ui/placeholder.ts'
import { FlowProblem } from './flow-problem.tsx'
import { bandsOf, percentOf, sumOf, unitOf, type TrafficRow } from './traffic-rows.ts'
import type { TrafficView } from './traffic-view.ts'
import classes from './traffic.module.css'
import { timesOf, useFlowGraph } from './use-flows.ts'
import { words } from './words.ts'

const { picture: texts } = words

type PictureProps = {
  readonly view: TrafficView
  readonly title: string
  readonly answer: FlowTimeseries
  readonly rows: readonly TrafficRow[]
  readonly marks?: readonly ChartMark[]
  readonly height: number
  /** If left out, each chart zooms by itself. */
  readonly zoom?: Pick<ChartProps, 'onZoom' | 'isZoomed'>
  /** The address that a click opens. */
  readonly opens?: ChartProps['opens']
  /** Whether no table names the colors. */
  readonly hasLegend?: boolean
  /** The answer is of an earlier view until this one is loaded. */
  readonly isPlaceholder?: boolean
}

export function Picture(props: PictureProps) {
  const { view, answer, marks = [], zoom, opens, hasLegend = false } = props
  if (view.chart === 'grid') return <SmallCharts {...props} />
  const series = seriesOf(props)
  const isHeatmap = view.chart === 'heatmap'
  const isCompared = series.some(({ isDashed }) => isDashed)
  const isLines = view.chart === 'lines'
  return (
    <Chart
      label={props.title}
      // Up to two lines have room for their areas.
      kind={isHeatmap ? 'heatmap' : isLines ? (series.length > 2 ? 'lines' : 'area') : 'stacked-area'}
      hasLegend={isCompared || isHeatmap || hasLegend}
      times={timesOf(answer)}
      series={series}
      marks={marks}
      range={[Date.parse(answer.start), Date.parse(answer.end)]}
      {...zoom}
      {...(opens ? { opens } : {})}
      height={isHeatmap ? heatmapHeight(series.length) : props.height}
      periodMs={answer.interval * 1000}
      isPlaceholder={props.isPlaceholder ?? false}
    />
  )
}

/** Rows are as high as a name needs, lower if there are many. */
const heatmapHeight = (rows: number) => 70 + rows * (rows > 15 ? 18 : 26)

/** Returns the groups, and of a view that compares the period before: of each group beside its line, of a stack as its height. */
function seriesOf({ view, answer, rows }: PictureProps): readonly ChartSeries[] {
  const isPercent = view.chart === 'percent'
  const parts = isPercent ? percentOf(rows.map(({ series }) => series.values)) : undefined
  const unit = isPercent ? 'percent' : unitOf[view.metric]
  const series = rows.map(({ label, color, series: { values } }, at): ChartSeries => ({
    label,
    unit,
    color,
    values: parts?.[at] ?? values,
  }))
  if (!view.isCompared || isPercent || view.chart === 'heatmap') return series
  const { length } = answer.timestamps
  const before = rows.map((row) => fitted(row.before?.values ?? [], length))
  if (view.chart === 'stacked')
    return [
      ...series,
      {
        label: texts.previous,
        unit,
        color: 'idle',
        isDashed: true,
        isLine: true,
        values: sumOf(before),
      },
    ]
  return series.flatMap((one, at) => [
    one,
    { ...one, label: texts.before(one.label), isDashed: true, values: before[at]! },
  ])
}

const fitted = (values: readonly (number | null)[], length: number) =>
  Array.from({ length }, (_, at) => values[at] ?? null)

const cellHeight = 120

function SmallCharts({ view, answer, rows, zoom }: PictureProps) {
  const unit = unitOf[view.metric]
  const { length } = answer.timestamps
  const times = timesOf(answer)
  return (
    <div className={classes['grid']}>
      {rows.map(({ id, label, color, series, before }) => (
        <div key={id}>
          <h3 className={classes['cellTitle']}>
            <span className={classes['swatch']} style={{ background: colorVariable(color) }} aria-hidden />
            <span>{label}</span>
            <span>{series.avg === null ? '–' : formatValue(series.avg, unit)}</span>
          </h3>
          <Chart
            label={label}
            kind="area"
            times={times}
            series={[
              { label, unit, color, values: series.values },
              ...(view.isCompared
                ? [
                    {
                      label: texts.previous,
                      unit,
                      color: 'idle' as const,
                      isDashed: true,
                      values: fitted(before?.values ?? [], length),
                    },
                  ]
                : []),
            ]}
            range={[Date.parse(answer.start), Date.parse(answer.end)]}
            hasLegend={false}
            height={cellHeight}
            {...zoom}
          />
        </div>
      ))}
    </div>
  )
}

type FlowDiagramProps = {
  readonly view: TrafficView
  readonly request: FlowGraphRequest
  readonly isUpToNow: boolean
  readonly title: string
  readonly labelOf: (key: string) => string
  readonly height: number
}

export function FlowDiagram({ view, request, isUpToNow, title, labelOf, height }: FlowDiagramProps) {
  const hasColumns = view.by.length >= 2
  const answer = useFlowGraph(request, isUpToNow, hasColumns)
  if (!hasColumns)
    return (
      <Text size="sm" c="dimmed" py="xl" ta="center">
        {texts.sankeyHint}
      </Text>
    )
  if (answer.error && !answer.data) return <FlowProblem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={height} />
  const flows = bandsOf(answer.data, labelOf)
  return (
    <div {...placeholderProps(answer.isPlaceholderData)}>
      <Sankey
        label={title}
        flows={flows}
        unit={unitOf[view.metric]}
        height={Math.max(height, Math.min(640, answer.data.nodes.length * 20))}
      />
    </div>
  )
}
