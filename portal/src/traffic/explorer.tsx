// The traffic explorer: from top to bottom the query, its chart and its table. The address contains the whole view, with times relative to now.
import { Button, CloseButton, Group, Skeleton, Stack } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import {
  exportFlowTimeseriesRoute,
  getFlowTimeseriesRoute,
  type FlowTimeseries,
} from '@pharos/contract/flow/flow'
import { IconDownload, IconLayoutGridAdd, IconTerminal } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import type { ChartProps } from '../charts/chart-props.ts'
import { hiddenOf, toggled } from '../charts/hidden.ts'
import { formatCount } from '../charts/units.ts'
import { Empty } from '../ui/empty.tsx'
import { download } from '../ui/export-file.ts'
import { SavedViews } from '../ui/list-views.tsx'
import { notifyFailure, notifyProblem, notifySuccess } from '../ui/notify.ts'
import { newPanel, titleMax } from '../ui/overview-panels.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import type { Span, TimeRange } from '../ui/time-range.ts'
import { formatDuration } from '../ui/time.tsx'
import { useAddPanel } from '../ui/use-overview-layout.ts'
import { usePageRange } from '../ui/use-page-range.ts'
import { usePageSearch } from '../ui/use-page-search.ts'
import { FlowProblem, type Remedy } from './flow-problem.tsx'
import { curlOf, graphRequest, type flowRequest } from './flow-request.ts'
import { MarkedPicture } from './marked-picture.tsx'
import { FlowDiagram } from './picture.tsx'
import { QueryBar } from './query-bar.tsx'
import { TrafficTable } from './traffic-table.tsx'
import { unitOf, type TrafficRow } from './traffic-rows.ts'
import { readView, viewAddress, withFilter, type TrafficView } from './traffic-view.ts'
import { useFlowKeys, useFlows, type FlowKeys } from './use-flows.ts'
import { useTraffic } from './use-traffic.ts'
import filterClasses from '../ui/filter.module.css'
import { placeholderProps } from '../ui/placeholder.ts'
import { useNow } from '../ui/use-now.ts'
import classes from './traffic.module.css'
import { words } from './words.ts'

const chartHeight = 340

export function Explorer() {
  const { search, setSearch } = usePageSearch('/traffic')
  const address = search as Readonly<Record<string, unknown>>
  const { view, ignored: ignoredOfView } = useMemo(() => readView(address), [address])
  const { range, span, setRange, zoom, ignored: ignoredOfRange } = usePageRange()
  const ignored = [...ignoredOfView, ...ignoredOfRange]
  const traffic = useTraffic(view, span)
  const keys = useFlowKeys()
  const setView = (changes: Partial<TrafficView>) => setSearch(viewAddress({ ...view, ...changes }))
  const shared = {
    view,
    range,
    span,
    traffic,
    keys,
    onView: setView,
    onRange: setRange,
    zoom,
  }
  return (
    <Page
      wide
      title={words.page.title}
      note={words.page.note}
      actions={<Tools request={traffic.request} view={view} title={titleOf(view, keys)} />}
    >
      {ignored.length > 0 && (
        <div role="status" className={filterClasses['ignored']}>
          <span>{words.page.ignored(ignored)}</span>
          <CloseButton
            size="sm"
            aria-label={words.page.dismiss}
            onClick={() => setSearch(Object.fromEntries(ignored.map((name) => [name, undefined])))}
          />
        </div>
      )}
      <QueryBar view={view} range={range} keys={keys} onView={setView} onRange={setRange} />
      <Result {...shared} />
    </Page>
  )
}

type ResultProps = {
  readonly view: TrafficView
  readonly range: TimeRange
  readonly span: Span
  readonly traffic: ReturnType<typeof useTraffic>
  readonly keys: FlowKeys
  readonly onView: (changes: Partial<TrafficView>) => void
  readonly onRange: (range: TimeRange) => void
  readonly zoom: Pick<ChartProps, 'isZoomed' | 'onZoom'>
}

function Result(props: ResultProps) {
  const { traffic, keys, span, onView, onRange } = props
  const { answer, rows, hasTraffic } = traffic
  // Until the next answer, the screen shows the view of the last one.
  const [shownView, setShownView] = useState(props.view)
  useEffect(() => {
    if (!answer.isPlaceholderData) setShownView(props.view)
  }, [answer.isPlaceholderData, props.view])
  const view = answer.isPlaceholderData ? shownView : props.view
  const { by, rank } = view
  const data = answer.data
  const [chosen, setChosen] = useState<readonly string[]>([])
  const hidden = hiddenOf(
    rows.map(({ id }) => id),
    chosen,
  )
  const drawn = rows.filter(({ id }) => !hidden.includes(id))
  const dimensions = by.map((key) => ({
    key,
    label: keys.labelOf(key),
    isMono: /address|prefix|port$/.test(key),
  }))
  const labels = dimensions.map(({ label }) => label)
  // A failed poll keeps the last answer on the screen; a failed new query does not.
  if (answer.error && (!data || answer.isPlaceholderData))
    return <FlowProblem error={answer.error} retry={() => answer.refetch()} remedies={remediesOf(props)} />
  if (!data)
    return (
      <Stack aria-busy>
        <Skeleton height={chartHeight + 90} />
        <Skeleton height={240} />
      </Stack>
    )
  if (!hasTraffic)
    return <NoTraffic view={view} span={span} range={props.range} onView={onView} onRange={onRange} />
  return (
    <div {...placeholderProps(answer.isPlaceholderData)}>
      <Stack gap="md">
        {answer.error && <FlowProblem error={answer.error} retry={() => answer.refetch()} />}
        <Pictures {...props} view={view} answer={data} drawn={drawn} labels={labels} />
        <Section title={words.table.title} flush>
          <TrafficTable
            rows={rows}
            dimensions={dimensions}
            unit={unitOf[view.metric]}
            rank={rank}
            isCompared={view.isCompared}
            hidden={hidden}
            onToggle={(id) => setChosen(toggled(hidden, id))}
            onRank={(next) => onView({ rank: next })}
            onFilter={(key, op, value) =>
              onView({ filters: withFilter(props.view.filters, { key, op, values: [value] }) })
            }
          />
        </Section>
      </Stack>
    </div>
  )
}

type PicturesProps = ResultProps & {
  readonly answer: FlowTimeseries
  readonly drawn: readonly TrafficRow[]
  /** The names of the dimensions. */
  readonly labels: readonly string[]
}

/** The chart, and with several dimensions a flow diagram next to it. */
function Pictures(props: PicturesProps) {
  const { view, span, traffic, keys, answer, drawn, labels, zoom } = props
  const title = titleOf(view, keys)
  const isSankey = view.chart === 'sankey'
  const diagram = (
    <FlowDiagram
      view={view}
      request={graphRequest(view, span)}
      isUpToNow={traffic.isUpToNow}
      title={words.picture.sankeyTitle(labels)}
      labelOf={keys.labelOf}
      height={chartHeight}
    />
  )
  return isSankey ? (
    <Section
      title={labels.length > 1 ? words.picture.sankeyTitle(labels) : title}
      actions={<Notes answer={answer} view={view} />}
    >
      {diagram}
    </Section>
  ) : (
    <div className={classes['pictures']} data-two={labels.length > 1 || undefined}>
      <Section title={title} actions={<Notes answer={answer} view={view} />}>
        <MarkedPicture
          view={view}
          span={span}
          title={title}
          answer={answer}
          rows={drawn}
          height={chartHeight}
          zoom={zoom}
        />
      </Section>
      {labels.length > 1 && <Section title={words.picture.sankeyTitle(labels)}>{diagram}</Section>}
    </div>
  )
}

/** Returns `Inbound bits per second by source AS`. */
const titleOf = ({ direction, metric, by }: TrafficView, keys: FlowKeys): string =>
  `${words.picture.of[direction][metric]}${words.picture.by(by.map(keys.labelOf))}`

/** The resolution, the sampling and the completeness of the figures. */
function Notes({ answer, view }: { readonly answer: FlowTimeseries; readonly view: TrafficView }) {
  const { picture: texts } = words
  const { interval, resolution, sampled, sampling_rate: rate, partial } = answer
  const length = formatDuration(interval * 1000)
  const isRate = view.metric === 'bps' || view.metric === 'pps'
  const notes: ReactNode[] = [isRate ? texts.average(length) : texts.sums(length)]
  if (resolution > 60 && resolution !== interval)
    notes.push(texts.resolution(formatDuration(resolution * 1000)))
  if (sampled) notes.push(rate === null ? texts.sampledUnknown : texts.sampled(formatCount(rate)))
  // A window of the past is complete, whatever waits now.
  if (answer.delay_seconds !== null && answer.complete_until !== null && answer.complete_until < answer.end)
    notes.push(texts.asOf(answer.delay_seconds))
  if (view.chart !== 'sankey') notes.push(texts.drag)
  return (
    <span className={classes['notes']}>
      {notes.join(' · ')}
      {partial && (
        <span title={texts.partialHelp}>
          <StatePill color="warn">{texts.partial}</StatePill>
        </span>
      )}
    </span>
  )
}

/** Returns changes of the view that make a query cheaper. */
function remediesOf({ view, range, keys, onView, onRange }: ResultProps): readonly Remedy[] {
  const { state: texts } = words
  const shorter = range.range === '24h' || range.range === '1h' ? '1h' : '24h'
  const last = view.by.at(-1)
  return [
    ...(range.range === '1h'
      ? []
      : [{ label: texts.shorter(texts.ranges[shorter]), apply: () => onRange({ range: shorter }) }]),
    ...(last === undefined
      ? []
      : [
          {
            label: texts.fewer(keys.labelOf(last)),
            apply: () => onView({ by: view.by.filter((key) => key !== last) }),
          },
        ]),
  ]
}

type NoTrafficProps = Pick<ResultProps, 'view' | 'span' | 'range' | 'onView' | 'onRange'>

/** Distinguishes filters that match nothing, a quiet time, and a team without any flow record. */
function NoTraffic({ view, span, range, onView, onRange }: NoTrafficProps) {
  const { state: texts } = words
  const now = Math.floor(useNow() / 3_600_000) * 3_600_000
  const anyRequest = useMemo(
    () => ({ start: new Date(now - 30 * 86_400_000).toISOString(), metric: 'bytes' as const, points: 30 }),
    [now],
  )
  const any = useFlows(anyRequest, false)
  if (any.error) return <FlowProblem error={any.error} retry={() => any.refetch()} />
  if (!any.data || any.isPlaceholderData) return <Skeleton height={chartHeight} />
  const hasAny = any.data.series.some(({ max }) => max !== null && max > 0)
  if (!hasAny)
    return (
      <Empty title={texts.noneTitle}>
        {texts.noneText}
        <Group justify="center" mt="md">
          <Button component="a" href="/docs/flows" target="_blank">
            {texts.connect}
          </Button>
        </Group>
      </Empty>
    )
  if (view.filters.length > 0 || view.direction !== 'both')
    return (
      <Empty title={texts.emptyTitle}>
        {texts.emptyText}
        <Group justify="center" mt="md">
          {view.filters.length > 0 && (
            <Button variant="default" onClick={() => onView({ filters: [] })}>
              {words.filter.clear}
            </Button>
          )}
          {view.direction !== 'both' && (
            <Button variant="default" onClick={() => onView({ direction: 'both' })}>
              {texts.bothWays}
            </Button>
          )}
        </Group>
      </Empty>
    )
  return (
    <Empty title={texts.quietTitle}>
      {texts.quietText}
      {range.range !== '30d' && span.start !== undefined && (
        <Group justify="center" mt="md">
          <Button variant="default" onClick={() => onRange({ range: '30d' })}>
            {texts.longer}
          </Button>
        </Group>
      )}
    </Empty>
  )
}

type ToolsProps = {
  readonly request: ReturnType<typeof flowRequest>
  readonly view: TrafficView
  readonly title: string
}

function Tools({ request, view, title }: ToolsProps) {
  const clipboard = useClipboard()
  const addPanel = useAddPanel()
  async function addToOverview(name: string, search: string): Promise<void> {
    try {
      const isAdded = await addPanel(newPanel('traffic', { title: name.slice(0, titleMax), search }))
      if (isAdded) notifySuccess(words.tools.onOverview)
      else notifyFailure(words.tools.overviewFull)
    } catch (error) {
      notifyProblem(error)
    }
  }
  const csv = useMutation({
    mutationFn: () => call(exportFlowTimeseriesRoute, { body: request }),
    onSuccess: ({ body }) => download(`traffic-${view.by.join('-') || 'all'}.csv`, body),
    onError: notifyProblem,
  })
  const copy = () => {
    clipboard.copy(curlOf(location.origin, getFlowTimeseriesRoute.path, request))
    notifySuccess(words.tools.curlCopied)
  }
  return (
    <>
      <SavedViews list="traffic" several={words.tools.views} suggestedName={() => title}>
        {(search, close) => (
          <Button
            size="xs"
            variant="subtle"
            justify="flex-start"
            leftSection={<IconLayoutGridAdd size={14} />}
            onClick={() => {
              close()
              void addToOverview(title, search)
            }}
          >
            {words.tools.toOverview}
          </Button>
        )}
      </SavedViews>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} />}
        loading={csv.isPending}
        onClick={() => csv.mutate()}
      >
        {words.tools.export}
      </Button>
      <Button size="xs" variant="default" leftSection={<IconTerminal size={14} />} onClick={copy}>
        {words.tools.curl}
      </Button>
    </>
  )
}
