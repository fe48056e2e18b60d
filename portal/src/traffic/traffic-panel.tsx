// A view of the traffic explorer as a panel of the overview. Its time range moves with now, as in the explorer.
import { Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Chart } from '../charts/chart.tsx'
import { TextLink } from '../ui/link.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Section } from '../ui/section.tsx'
import { readRange } from '../ui/time-range.ts'
import { timeRangeText } from '../ui/time-range-text.ts'
import { useZone, zoneName } from '../ui/time.tsx'
import { useNow } from '../ui/use-now.ts'
import { failureOf } from './flow-problem.tsx'
import { graphRequest } from './flow-request.ts'
import { FlowDiagram, Picture } from './picture.tsx'
import { readView } from './traffic-view.ts'
import { useFlowKeys } from './use-flows.ts'
import { useExplorer, useTraffic } from './use-traffic.ts'
import { words } from './words.ts'

/** As many groups as series colors: a card has no table below it. */
const groupsMax = 7

type TrafficPanelProps = {
  readonly title: string
  /** The search part of the address of the explorer. */
  readonly search: string
  readonly height: number
}

export function TrafficPanel({ title: name, search, height }: TrafficPanelProps) {
  const { address, range, span, timeZone, view, ignored } = usePinned(search)
  const { answer, rows, hasTraffic, isUpToNow } = useTraffic(view, span)
  const { opens } = useExplorer(view, range)
  const keys = useFlowKeys()
  const { data } = answer
  return (
    <Section
      fill
      title={
        <TextLink to="/traffic" search={address} inherit c="inherit">
          {name}
        </TextLink>
      }
      actions={
        <Text size="xs" c="dimmed">
          {timeRangeText(range, timeZone)}
        </Text>
      }
    >
      {ignored.length > 0 && (
        <Text size="xs" c="warn" role="note">
          {words.page.ignored(ignored)}
        </Text>
      )}
      {!data || !hasTraffic ? (
        <Chart
          label={name}
          kind="area"
          times={[]}
          series={[]}
          height={height}
          isLoading={answer.isPending}
          emptyText={words.card.none}
          {...(answer.error && !data
            ? { error: failureText(answer.error), onRetry: () => void answer.refetch() }
            : {})}
        />
      ) : view.chart === 'sankey' ? (
        <FlowDiagram
          view={view}
          request={graphRequest(view, span)}
          isUpToNow={isUpToNow}
          title={name}
          labelOf={keys.labelOf}
          height={height}
        />
      ) : (
        <Picture view={view} title={name} answer={data} rows={rows} height={height} opens={opens} hasLegend />
      )}
    </Section>
  )
}

/** Reads the stored address of the view: `range` and `span` are those of now. */
function usePinned(search: string) {
  const router = useRouter()
  const address = useMemo(() => router.options.parseSearch(search), [router, search])
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const { range, span, ignored: ofRange } = readRange(address, useNow(), timeZone)
  const { view, ignored } = useMemo(() => {
    const read = readView(address)
    return {
      ignored: read.ignored,
      view: {
        ...read.view,
        top: Math.min(read.view.top, groupsMax),
        // Small charts in a card are too small.
        chart: read.view.chart === 'grid' ? ('lines' as const) : read.view.chart,
      },
    }
  }, [address])
  return { address, range, span, timeZone, view, ignored: [...ignored, ...ofRange] }
}

const failureText = (error: unknown): string => {
  const failure = failureOf(error)
  if (failure === 'other') return problemText(error).title
  return failure === 'store' ? words.state.storeTitle : words.state.expensiveTitle
}
