// The traffic of a port in the time range of its page, with the 95th percentile, and gaps as gaps.
import { Table } from '@mantine/core'
import { flowDifferenceText, type PortFlowRecords } from '@pharos/contract/inventory/port-flows'
import type { Port } from '@pharos/contract/inventory/port'
import { getServiceRoute } from '@pharos/contract/inventory/service'
import type { Series } from '@pharos/contract/timeseries'
import { getPortUsageRoute, type PortUsage } from '@pharos/contract/inventory/usage'
import { useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { AlertLink } from '../alerts/alert-link.tsx'
import { answerOverLastOf, refetchIntervalOf, useAnswer } from '../api/queries.ts'
import { useHasModule } from '../api/use-grant.ts'
import { directionColors, type ChartThreshold } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { defaultView, type TrafficView } from '../traffic/traffic-view.ts'
import { useExplorer } from '../traffic/use-traffic.ts'
import { Dimmed, OrDash } from '../ui/cells.tsx'
import { problemText } from '../ui/problem-text.ts'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { TimeRangeField } from '../ui/time-range-field.tsx'
import { usePageRange } from '../ui/use-page-range.ts'
import { busyFrom } from './load-trend.ts'
import { valueNow } from './value-now.ts'
import { words } from './words.ts'

const { usage: texts } = words
const refetchMs = 60_000
const points = 300

type UsageCardProps = {
  readonly port: Port
  readonly title?: ReactNode
  /** The chart alone, for the overview. */
  readonly isChartOnly?: boolean
  readonly height?: number
}

export function UsageCard({ port, title = texts.title, isChartOnly = false, height = 260 }: UsageCardProps) {
  const { id, service_id: serviceId, speed_bps: speed } = port
  const commit = useCommit(serviceId)
  const { range, span, setRange, zoom } = usePageRange()
  const answer = useQuery({
    ...answerOverLastOf(getPortUsageRoute, {
      params: { port_id: id },
      query: { ...span, points, include: 'flow_records' },
    }),
    refetchInterval: () => refetchIntervalOf(getPortUsageRoute, refetchMs),
  })
  const { opens } = useExplorer(useViewOf(id), range)
  const hasExplorer = useHasModule('lighthouse')
  const usage = answer.data
  return (
    <Section
      title={title}
      fill={isChartOnly}
      actions={
        <>
          {!isChartOnly && <AlertLink kind="port_utilisation" object={id} of={texts.title} />}
          <TimeRangeField value={range} onChange={setRange} canBeAny={false} />
        </>
      }
    >
      <Chart
        label={texts.chart}
        kind="area"
        times={(usage?.timestamps ?? []).map((at) => Date.parse(at))}
        series={(usage?.series ?? []).map((one) => ({
          label: one.label,
          unit: 'bps' as const,
          color: colorOf(one),
          values: one.values,
        }))}
        thresholds={usage ? thresholdsOf(usage, commit, speed) : []}
        {...(usage ? { range: [Date.parse(usage.start), Date.parse(usage.end)] as const } : {})}
        {...zoom}
        {...(hasExplorer ? { opens } : {})}
        height={height}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        {...(answer.error && !usage
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
        emptyText={texts.empty}
      />
      {!isChartOnly && usage && usage.samples > 0 && <Figures usage={usage} />}
      {!isChartOnly && usage?.flow_records && <FlowRecords records={usage.flow_records} />}
    </Section>
  )
}

const directionOf = ({ key }: Series) => (key['direction'] === 'in' ? 'in' : 'out')
const colorOf = (series: Series) => directionColors[directionOf(series)]

/** The level from which the port is busy, only if its traffic comes near: the axis would else hide the traffic. */
function thresholdsOf({ series }: PortUsage, commit: number | null, speed: number | null): ChartThreshold[] {
  const highest = Math.max(...series.map(({ max }) => max ?? 0))
  const busy = (speed ?? 0) * busyFrom
  const limit = (label: string, value: number, color: ChartThreshold['color'] = 'warn'): ChartThreshold => ({
    label,
    value,
    unit: 'bps',
    color,
  })
  return [
    ...series.flatMap((one) =>
      one.p95 === null ? [] : [limit(texts.p95Of(one.label), one.p95, colorOf(one))],
    ),
    ...(commit === null ? [] : [limit(words.services.commit, commit)]),
    ...(busy > 0 && highest > busy / 2 ? [limit(texts.busyLevel, busy, 'bad')] : []),
  ]
}

/** The flows of the port by direction, as the chart has its counters. */
const useViewOf = (portId: number): TrafficView =>
  useMemo(
    () => ({
      ...defaultView,
      direction: 'both',
      by: ['direction'],
      filters: [{ key: 'interface', op: 'eq', values: [String(portId)] }],
      chart: 'lines',
    }),
    [portId],
  )

/** The committed rate of this port; null if several ports share it. */
function useCommit(serviceId: number): number | null {
  const { data: service } = useAnswer(getServiceRoute, { params: { service_id: serviceId } })
  const isOfPort = service?.billing.scope === 'port' || service?.port_ids.length === 1
  return isOfPort ? (service?.commit_bps ?? null) : null
}

const rate = (value: number | null) => <OrDash>{value === null ? null : formatRate(value, 'bps')}</OrDash>

/** A column for each direction, so that the table fits a phone. */
function Figures({ usage }: { usage: PortUsage }) {
  const volumeOf = (one: Series) => (directionOf(one) === 'in' ? usage.octets_in : usage.octets_out)
  const rows = [
    [texts.p95, ({ p95 }: Series) => rate(p95)],
    [texts.now, (one: Series) => rate(valueNow(usage, one))],
    [texts.average, ({ avg }: Series) => rate(avg)],
    [texts.maximum, ({ max }: Series) => rate(max)],
    [texts.volume, (one: Series) => volume(volumeOf(one))],
  ] as const
  return (
    <>
      <Table aria-label={texts.title} mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.figure}</Table.Th>
            {usage.series.map(({ label }) => (
              <Table.Th key={label} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([label, valueOf]) => (
            <Table.Tr key={label}>
              <Table.Td>{label}</Table.Td>
              {usage.series.map((one) => (
                <Table.Td key={one.label} ta="right">
                  {valueOf(one)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Dimmed>{texts.samples(usage.samples, usage.missing_samples)}</Dimmed>
    </>
  )
}

/** Both counts of the same hours, and why they differ. */
function FlowRecords({ records }: { records: PortFlowRecords }) {
  const { compared } = texts
  const rows = [
    [texts.in, records.counted_octets_in, records.octets_in, records.ratio_in],
    [texts.out, records.counted_octets_out, records.octets_out, records.ratio_out],
  ] as const
  return (
    <>
      <Table.ScrollContainer minWidth={300} mt="md">
        <Table aria-label={compared.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{compared.hours(records.hours)}</Table.Th>
              <Table.Th>{compared.counters}</Table.Th>
              <Table.Th>{compared.flows}</Table.Th>
              <Table.Th>{compared.ratio}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([label, counted, octets, ratio]) => (
              <Table.Tr key={label}>
                <Table.Td>{label}</Table.Td>
                <Table.Td>{volume(counted)}</Table.Td>
                <Table.Td>{volume(octets)}</Table.Td>
                <Table.Td>
                  <OrDash>{ratio === null ? null : compared.percent(ratio)}</OrDash>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Dimmed>
        {[
          ...records.differences.map(flowDifferenceText),
          ...(records.checked_ratio === null
            ? []
            : [compared.checked(compared.percent(records.checked_ratio))]),
        ].join(' ')}
      </Dimmed>
    </>
  )
}

const volume = (octets: number | null) => <OrDash>{octets === null ? null : formatRate(octets, 'B')}</OrDash>
