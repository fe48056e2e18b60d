// The traffic of a port over a day, a week or a month, with the 95th percentile, and gaps as gaps.
import { SegmentedControl, Table } from '@mantine/core'
import { flowDifferenceText, type PortFlowRecords } from '@pharos/contract/inventory/port-flows'
import { getServiceRoute } from '@pharos/contract/inventory/service'
import type { Series } from '@pharos/contract/timeseries'
import { getPortUsageRoute, type PortUsage } from '@pharos/contract/inventory/usage'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOverLastOf, refetchIntervalOf, useAnswer } from '../api/queries.ts'
import { Chart } from '../charts/chart.tsx'
import { Dimmed, OrDash } from '../ui/cells.tsx'
import { problemText } from '../ui/problem-text.ts'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { useNow } from '../ui/use-now.ts'
import { valueNow } from './value-now.ts'
import { words } from './words.ts'

const { usage: texts } = words
const spans = { day: 1, week: 7, month: 30, year: 365 } as const
type Span = keyof typeof spans
const dayMs = 86_400_000
const refetchMs = 60_000

export function UsageCard({ portId, serviceId }: { portId: number; serviceId: number }) {
  const [span, setSpan] = useState<Span>('day')
  const commit = useCommit(serviceId)
  const input = {
    params: { port_id: portId },
    query: { ...queryOf(span, useNow()), include: 'flow_records' },
  }
  const answer = useQuery({
    ...answerOverLastOf(getPortUsageRoute, input),
    refetchInterval: () => refetchIntervalOf(getPortUsageRoute, refetchMs),
  })
  const usage = answer.data
  return (
    <Section
      title={texts.title}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={texts.span}
          value={span}
          data={Object.entries(texts.spans).map(([value, label]) => ({ value, label }))}
          onChange={(next) => setSpan(next as Span)}
        />
      }
    >
      <Chart
        label={texts.chart}
        kind="area"
        times={(usage?.timestamps ?? []).map((at) => Date.parse(at))}
        series={(usage?.series ?? []).map(({ label, values, key }) => ({
          label,
          unit: 'bps' as const,
          color: key['direction'] === 'in' ? (1 as const) : (2 as const),
          values,
        }))}
        thresholds={(usage?.series ?? [])
          .flatMap(({ label, p95 }) =>
            p95 === null ? [] : [{ value: p95, unit: 'bps' as const, label: texts.p95Of(label) }],
          )
          .concat(
            commit === null ? [] : [{ value: commit, unit: 'bps' as const, label: words.services.commit }],
          )}
        {...(usage ? { range: [Date.parse(usage.start), Date.parse(usage.end)] as const } : {})}
        height={260}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        {...(answer.error
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
        emptyText={texts.empty}
      />
      {usage && usage.samples > 0 && <Figures usage={usage} />}
      {usage?.flow_records && <FlowRecords records={usage.flow_records} />}
    </Section>
  )
}

/** The committed rate of this port; null if several ports share it. */
function useCommit(serviceId: number): number | null {
  const { data: service } = useAnswer(getServiceRoute, { params: { service_id: serviceId } })
  const isOfPort = service?.billing.scope === 'port' || service?.port_ids.length === 1
  return isOfPort ? (service?.commit_bps ?? null) : null
}

/** Rounded to minutes, so that the answer is cached. */
function queryOf(span: Span, now: number): { readonly start: string; readonly points: number } {
  const minute = Math.floor(now / refetchMs) * refetchMs
  return { start: new Date(minute - spans[span] * dayMs).toISOString(), points: 300 }
}

const rate = (value: number | null) => <OrDash>{value === null ? null : formatRate(value, 'bps')}</OrDash>

function Figures({ usage }: { usage: PortUsage }) {
  const volumeOf = ({ key }: Series) => (key['direction'] === 'in' ? usage.octets_in : usage.octets_out)
  return (
    <>
      <Table.ScrollContainer minWidth={480}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.direction}</Table.Th>
              <Table.Th>{texts.now}</Table.Th>
              <Table.Th>{texts.average}</Table.Th>
              <Table.Th>{texts.maximum}</Table.Th>
              <Table.Th>{texts.p95}</Table.Th>
              <Table.Th>{texts.volume}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {usage.series.map((one) => (
              <Table.Tr key={one.label}>
                <Table.Td>{one.label}</Table.Td>
                <Table.Td>{rate(valueNow(usage, one))}</Table.Td>
                <Table.Td>{rate(one.avg)}</Table.Td>
                <Table.Td>{rate(one.max)}</Table.Td>
                <Table.Td>{rate(one.p95)}</Table.Td>
                <Table.Td>
                  <OrDash>{volumeOf(one) === null ? null : formatRate(volumeOf(one)!, 'B')}</OrDash>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
      <Table.ScrollContainer minWidth={480} mt="md">
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
