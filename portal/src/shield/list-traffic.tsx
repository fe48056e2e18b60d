// The traffic towards the prefix of a list, by default since its oldest rule: what the rules dropped, and what passed.
import type { ShieldRule } from '@pharos/contract/shield/shield'
import { getShieldTrafficRoute } from '@pharos/contract/shield/shield-traffic'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import { useHasModule } from '../api/use-grant.ts'
import type { ChartMark } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { droppedParts, totalPart } from '../traffic/dropped-parts.ts'
import { defaultView } from '../traffic/traffic-view.ts'
import { useExplorer } from '../traffic/use-traffic.ts'
import { words as trafficWords } from '../traffic/words.ts'
import { ButtonLink } from '../ui/link.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Section } from '../ui/section.tsx'
import { TimeRangeField } from '../ui/time-range-field.tsx'
import { addressTime, type TimeRange } from '../ui/time-range.ts'
import { usePageRange } from '../ui/use-page-range.ts'
import { words } from './words.ts'

const { traffic: texts } = words
const refetchMs = 15_000
const points = 240
/** Traffic before the first rule, to compare. */
const beforeMs = 15 * 60_000

type ListTrafficProps = { readonly prefix: string; readonly rules: readonly ShieldRule[] }

export function ListTraffic({ prefix, rules }: ListTrafficProps) {
  // A change of the rules leaves the time range.
  const [byDefault] = useState(() => lifeOf(rules))
  const { range, span, setRange, zoom } = usePageRange(byDefault)
  const answer = useQuery({
    ...answerOverLastOf(getShieldTrafficRoute, { query: { prefix, ...span, points } }),
    // The stream does not announce flows.
    refetchInterval: span.end === undefined ? refetchMs : false,
  })
  const view = useMemo(
    () => ({
      ...defaultView,
      filters: [{ key: 'local_address', op: 'within' as const, values: [prefix] }],
    }),
    [prefix],
  )
  const { search, opens } = useExplorer(view, range)
  const hasExplorer = useHasModule('lighthouse')
  const { data } = answer
  const parts = data ? droppedParts(data) : []
  const isStack = parts.length > 0
  const notes = [
    ...(isStack ? [trafficWords.parts.note] : []),
    ...(data?.notes.includes('uncounted') ? [texts.uncounted] : []),
  ]
  const layers = isStack ? parts : data ? [totalPart(data)] : []
  return (
    <Section
      title={texts.title}
      actions={
        <>
          <TimeRangeField value={range} onChange={setRange} canBeAny={false} />
          {hasExplorer && (
            <ButtonLink size="xs" variant="subtle" to="/traffic" search={search}>
              {trafficWords.card.explore}
            </ButtonLink>
          )}
        </>
      }
    >
      <Chart
        label={texts.chart(prefix)}
        kind={isStack ? 'stacked-area' : 'area'}
        times={layers[0]?.times ?? []}
        series={layers.map(({ label, color, values }) => ({ label, color, unit: 'bps', values }))}
        marks={marksOf(rules)}
        {...(data ? { range: [Date.parse(data.start), Date.parse(data.end)] as const } : {})}
        {...zoom}
        {...(hasExplorer ? { opens } : {})}
        height={220}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        {...(answer.error && !data
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
        emptyText={trafficWords.card.none}
      />
      {notes.length > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {notes.join(' ')}
        </Text>
      )}
    </Section>
  )
}

/** Returns the range since a while before the oldest rule; undefined without rules. */
function lifeOf(rules: readonly ShieldRule[]): TimeRange | undefined {
  const oldest = Math.min(...rules.map(({ created }) => Date.parse(created)))
  return Number.isFinite(oldest) ? { from: addressTime(oldest - beforeMs) } : undefined
}

/** Rules of one change have one time. */
const marksOf = (rules: readonly ShieldRule[]): readonly ChartMark[] =>
  [...Map.groupBy(rules, ({ created }) => created)].map(([created, list]) => ({
    at: Date.parse(created),
    label: texts.added(list.length),
    state: 'ok',
  }))
