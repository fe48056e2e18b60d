// The module of a port: its light levels between their limits, early warnings, and the levels of the past 90 days.
import { Alert, Group, SegmentedControl, Stack, Table } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import {
  getTransceiverMetricsRoute,
  type OpticMetric,
  type OpticStatus,
  type TransceiverMetrics,
  type TransceiverReading,
} from '@pharos/contract/inventory/transceiver'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AlertLink } from '../alerts/alert-link.tsx'
import { call } from '../api/call.ts'
import { answerOverLastOf, refetchIntervalOf, teamIdNow } from '../api/queries.ts'
import { Chart } from '../charts/chart.tsx'
import type { ChartColor, ChartSeries } from '../charts/chart-props.ts'
import { LevelBar } from '../charts/level-bar.tsx'
import { formatValue } from '../charts/units.ts'
import { Dimmed, OrDash } from '../ui/cells.tsx'
import { Facts } from '../ui/facts.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'

const { optics: texts } = words
const dayMs = 86_400_000
const historyDays = 90
const refetchMs = 60_000

const colors: Readonly<Record<OpticStatus, StateColor>> = {
  ok: 'ok',
  warning: 'warn',
  alarm: 'bad',
  no_light: 'bad',
  unknown: 'idle',
}

/** Undefined until the module is known; null for a port without one. */
export function useTransceiver(portId: number) {
  return useQuery({
    queryKey: [teamIdNow(), getTransceiverMetricsRoute.name, 'module', portId],
    meta: { group: getTransceiverMetricsRoute.group },
    queryFn: async ({ signal }): Promise<TransceiverMetrics | null> => {
      try {
        return (await call(getTransceiverMetricsRoute, { params: { port_id: portId }, query: {}, signal }))
          .body
      } catch (error) {
        if (error instanceof ProblemError && error.problem.code === 'no_transceiver') return null
        throw error
      }
    },
    refetchInterval: () => refetchIntervalOf(getTransceiverMetricsRoute, refetchMs),
  })
}

export function OpticsCard({ portId, metrics }: { portId: number; metrics: TransceiverMetrics }) {
  const { latest, thresholds, warnings, ddm } = metrics
  return (
    <Section
      title={texts.title}
      actions={ddm && <AlertLink kind="light_margin" object={portId} of={texts.title} />}
    >
      <Stack gap="sm">
        {warnings.map((warning) => (
          <Alert key={`${warning.code} ${warning.metric} ${warning.lane}`} color="warn" variant="light">
            {warning.message}
          </Alert>
        ))}
        {!ddm && <Dimmed>{texts.noDdm}</Dimmed>}
        {ddm && latest === null && <Dimmed>{texts.notRead}</Dimmed>}
        {latest !== null && <Lanes latest={latest} thresholds={thresholds} />}
        {ddm && <History portId={portId} thresholds={thresholds} warnings={warnings} />}
      </Stack>
    </Section>
  )
}

type LanesProps = {
  readonly latest: TransceiverReading
  readonly thresholds: TransceiverMetrics['thresholds']
}

const hasRates = ({ lanes }: TransceiverReading): boolean =>
  lanes.some(({ pre_fec_ber: rate }) => rate !== null)

const Lanes = ({ latest, thresholds }: LanesProps) => (
  <>
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.lane}</Table.Th>
            <Table.Th>{texts.received}</Table.Th>
            <Table.Th>{texts.margin}</Table.Th>
            <Table.Th>{texts.transmitted}</Table.Th>
            <Table.Th>{texts.current}</Table.Th>
            {hasRates(latest) && <Table.Th>{texts.preFecBer}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {latest.lanes.map((lane) => (
            <Table.Tr key={lane.lane}>
              <Table.Td>{lane.lane}</Table.Td>
              <Table.Td>
                <Level
                  label={texts.received}
                  value={lane.rx_power_dbm}
                  status={lane.rx_status}
                  limits={thresholds.rx_power_dbm}
                />
              </Table.Td>
              <Table.Td>
                <OrDash>{lane.margin_db === null ? null : `${lane.margin_db.toFixed(1)} dB`}</OrDash>
              </Table.Td>
              <Table.Td>
                <Level
                  label={texts.transmitted}
                  value={lane.tx_power_dbm}
                  status={lane.tx_status}
                  limits={thresholds.tx_power_dbm}
                />
              </Table.Td>
              <Table.Td>
                <OrDash>{lane.bias_ma === null ? null : `${lane.bias_ma.toFixed(1)} mA`}</OrDash>
              </Table.Td>
              {hasRates(latest) && (
                <Table.Td>
                  <OrDash>{lane.pre_fec_ber === null ? null : lane.pre_fec_ber.toExponential(1)}</OrDash>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
    <Dimmed>
      {[
        latest.temperature_c === null ? '' : texts.temperature(latest.temperature_c.toFixed(0)),
        latest.voltage_v === null ? '' : texts.voltage(latest.voltage_v.toFixed(2)),
      ]
        .filter(Boolean)
        .concat(texts.readAt)
        .join(' · ')}{' '}
      <Time at={latest.timestamp} />
    </Dimmed>
  </>
)

type LevelProps = {
  readonly label: string
  readonly value: number | null
  readonly status: OpticStatus
  readonly limits: TransceiverMetrics['thresholds']['rx_power_dbm']
}

function Level({ label, value, status, limits }: LevelProps) {
  if (value === null) return <OrDash>{null}</OrDash>
  return (
    <>
      {status === 'no_light' ? texts.statuses.no_light : formatValue(value, 'dBm')}{' '}
      {status !== 'unknown' && status !== 'no_light' && (
        <StatePill color={colors[status]}>{texts.statuses[status]}</StatePill>
      )}
      <LevelBar label={label} value={value} unit="dBm" limits={limits} stateText={texts.statuses[status]} />
    </>
  )
}

type Shown = Extract<OpticMetric, 'rx_power' | 'tx_power'>
const shownMetrics: readonly Shown[] = ['rx_power', 'tx_power']

type HistoryProps = Pick<TransceiverMetrics, 'thresholds' | 'warnings'> & { readonly portId: number }

/** Daily medians with the range of the day, and the limits of the module. */
function History({ portId, thresholds, warnings }: HistoryProps) {
  const [metric, setMetric] = useState<Shown>('rx_power')
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const answer = useQuery({
    ...answerOverLastOf(getTransceiverMetricsRoute, {
      params: { port_id: portId },
      query: {
        metric: [metric],
        statistic: ['median', 'min', 'max'],
        start: new Date(today - historyDays * dayMs).toISOString(),
        interval: 86_400,
      },
    }),
  })
  const history = answer.data?.timeseries
  const limits = thresholds[`${metric}_dbm`]
  return (
    <>
      <Group>
        <SegmentedControl
          size="xs"
          aria-label={texts.metric}
          value={metric}
          data={shownMetrics.map((value) => ({ value, label: texts.metrics[value] }))}
          onChange={(next) => setMetric(next as Shown)}
        />
      </Group>
      <Chart
        label={texts.history(texts.metrics[metric])}
        kind="band"
        isPlaceholder={answer.isPlaceholderData}
        times={(history?.timestamps ?? []).map((at) => Date.parse(at))}
        series={bandsOf(history?.series ?? [])}
        thresholds={(['alarm_low', 'warn_low'] as const).flatMap((name) => {
          const value = limits[name]
          return value === null
            ? []
            : [
                {
                  value,
                  unit: 'dBm' as const,
                  label: texts.limits[name],
                  color: name === 'alarm_low' ? ('bad' as const) : ('warn' as const),
                },
              ]
        })}
        marks={warnings
          .filter((warning) => warning.metric === metric && warning.code === 'step')
          .map(({ since, message }) => ({ at: Date.parse(since), label: message, state: 'warn' as const }))}
        height={220}
        isLoading={answer.isPending}
        {...(answer.error
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
        emptyText={texts.noHistory}
      />
    </>
  )
}

type Series = NonNullable<TransceiverMetrics['timeseries']>['series'][number]

function bandsOf(series: readonly Series[]): ChartSeries[] {
  const of = (lane: string | null | undefined, statistic: string) =>
    series.find(({ key }) => key['lane'] === lane && key['statistic'] === statistic)?.values ?? []
  return series
    .filter(({ key }) => key['statistic'] === 'median')
    .map(({ key, values }, at) => ({
      label: texts.laneOf(key['lane'] ?? ''),
      unit: 'dBm',
      color: ((at % 7) + 1) as ChartColor,
      values,
      low: of(key['lane'], 'min'),
      high: of(key['lane'], 'max'),
    }))
}

export const ModuleFacts = ({ metrics: { transceiver } }: { metrics: TransceiverMetrics }) => (
  <Section title={texts.module}>
    <Facts
      facts={[
        [texts.type, transceiver.type],
        [texts.vendor, transceiver.vendor],
        [texts.part, transceiver.part],
        [texts.serial, transceiver.serial],
        [
          texts.wavelength,
          transceiver.wavelength_nm === null ? undefined : `${transceiver.wavelength_nm} nm`,
        ],
        [texts.reach, transceiver.reach_m === null ? undefined : texts.meters(transceiver.reach_m)],
        [texts.connector, transceiver.connector],
        [texts.inserted, <Time key="inserted" at={transceiver.inserted} />],
      ]}
    />
  </Section>
)
