// The load and the temperatures of a device in the time range of its page.
import { Table } from '@mantine/core'
import { getDeviceMetricsRoute } from '@pharos/contract/inventory/device'
import type { Timeseries } from '@pharos/contract/timeseries'
import { useQuery } from '@tanstack/react-query'
import { answerOverLastOf, refetchIntervalOf } from '../api/queries.ts'
import { Chart } from '../charts/chart.tsx'
import type { ChartColor } from '../charts/chart-props.ts'
import { Dimmed, OrDash } from '../ui/cells.tsx'
import { problemText } from '../ui/problem-text.ts'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { formatDuration } from '../ui/time-text.ts'
import { TimeRangeField } from '../ui/time-range-field.tsx'
import { usePageRange } from '../ui/use-page-range.ts'
import { valueNow } from './value-now.ts'
import { words } from './words.ts'

const { health: texts } = words
const refetchMs = 60_000
/** The chart has the load only: temperatures and rates have other units. */
const charted: readonly string[] = ['cpu', 'memory']

export function HealthCard({ deviceId }: { deviceId: number }) {
  const { range, span, setRange, zoom } = usePageRange()
  const answer = useQuery({
    ...answerOverLastOf(getDeviceMetricsRoute, {
      params: { device_id: deviceId },
      query: { ...span, points: 300 },
    }),
    refetchInterval: () => refetchIntervalOf(getDeviceMetricsRoute, refetchMs),
  })
  const metrics = answer.data
  const load = (metrics?.series ?? []).filter(({ key }) => charted.includes(key['metric']!))
  return (
    <Section
      title={texts.title}
      actions={<TimeRangeField value={range} onChange={setRange} canBeAny={false} />}
    >
      <Chart
        label={texts.chart}
        kind="lines"
        times={(metrics?.timestamps ?? []).map((at) => Date.parse(at))}
        series={load.map(({ label, values }, at) => ({
          label,
          unit: 'percent' as const,
          color: ((at % 7) + 1) as ChartColor,
          values,
        }))}
        {...(metrics ? { range: [Date.parse(metrics.start), Date.parse(metrics.end)] as const } : {})}
        {...zoom}
        height={180}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        {...(answer.error
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
        emptyText={texts.empty}
      />
      {metrics && <Figures metrics={metrics} />}
    </Section>
  )
}

function Figures({ metrics }: { metrics: Timeseries }) {
  const known = metrics.series.filter(({ last, key }) => last !== null && key['metric'] !== 'uptime')
  if (known.length === 0) return null
  return (
    <Table.ScrollContainer minWidth={400}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.metric}</Table.Th>
            <Table.Th>{texts.last}</Table.Th>
            <Table.Th>{texts.average}</Table.Th>
            <Table.Th>{texts.maximum}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {known.map((one) => (
            <Table.Tr key={`${one.key['metric']} ${one.key['part']}`}>
              <Table.Td>
                {one.label} {one.unit === 'bps' && <Dimmed>{texts.ofYourPorts}</Dimmed>}
              </Table.Td>
              {[valueNow(metrics, one), one.avg, one.max].map((value, at) => (
                <Table.Td key={at}>
                  <OrDash>{value === null ? null : valueText(value, one.unit)}</OrDash>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function valueText(value: number, unit: string): string {
  if (unit === 'bps') return formatRate(value, unit)
  if (unit === 's') return formatDuration(value * 1000)
  return `${Number(value.toFixed(1))} ${unitNames[unit] ?? unit}`
}

const unitNames: Readonly<Record<string, string>> = { percent: '%', Cel: '°C' }
