// The bills of a service: a month with its figures, the closed months, and how to recount them.
import { Alert, Button, Group, Modal, NativeSelect, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  getBillingSamplesRoute,
  listBillablePortsRoute,
  listBillingPeriodsRoute,
  type BillablePort,
  type BillingPeriod,
} from '@pharos/contract/inventory/bill'
import { billedText, overageText } from '@pharos/contract/inventory/bill-text'
import type { Service } from '@pharos/contract/inventory/service'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AlertLink } from '../alerts/alert-link.tsx'
import { call } from '../api/call.ts'
import { teamIdNow } from '../api/queries.ts'
import { BillBar } from '../charts/bill-bar.tsx'
import { Chart } from '../charts/chart.tsx'
import type { ChartColor } from '../charts/chart-props.ts'
import { SortedCurve } from '../charts/sorted-curve.tsx'
import { Dimmed, Mono, OrDash } from '../ui/cells.tsx'
import { CopyBlock, CopyIcon } from '../ui/copy.tsx'
import { csvWriter, download } from '../ui/export-file.ts'
import { FailedSection } from '../ui/failed-section.tsx'
import { Facts } from '../ui/facts.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { creditText, PriceLines } from './bill-price.tsx'
import { moneyText } from './money-text.ts'
import { monthOfBill, monthText, pastMonths } from './bill-month.ts'
import { amount, measuredPart, modelOf, overageSentence, rate, summaryOf } from './bill-figures.ts'
import { recountCommand, samplesFile, sortedRates } from './billing-samples.ts'
import { words } from './words.ts'

const { bill: texts } = words
const refetchMs = 60_000

export function BillCard({ service }: { service: Service }) {
  const [month, setMonth] = useState('')
  const answer = useAllRows(
    listBillablePortsRoute,
    { params: { service_id: service.id }, query: month === '' ? {} : { period: month } },
    refetchMs,
  )
  const bills = answer.data ?? []
  return (
    <Section
      title={texts.title}
      note={bills[0] && (bills[0].closed === null ? null : <StatePill color="ok">{texts.closed}</StatePill>)}
      actions={
        <NativeSelect
          size="xs"
          aria-label={texts.month}
          value={month}
          data={[{ value: '', label: texts.currentMonth }, ...pastMonths(new Date())]}
          onChange={(event) => setMonth(event.currentTarget.value)}
        />
      }
    >
      {answer.error && !answer.data ? (
        <Problem error={answer.error} retry={() => answer.refetch()} />
      ) : answer.isPending ? (
        <Skeleton height={120} radius="md" />
      ) : bills.length === 0 ? (
        <Dimmed>{texts.none}</Dimmed>
      ) : (
        <Stack gap="lg">
          {bills
            .toSorted((a, b) => Number(a.problem !== null) - Number(b.problem !== null))
            .map((bill) => (
              <Bill
                key={`${bill.port_id} ${bill.period_start}`}
                bill={bill}
                isPart={bills.some((other) => other !== bill && other.port_id === bill.port_id)}
                service={service}
                month={month}
              />
            ))}
        </Stack>
      )}
    </Section>
  )
}

type BillProps = { readonly bill: BillablePort; readonly service: Service; readonly month: string }

/** `isPart`: the terms of the service changed in the month. */
function Bill({ bill, isPart, service, month }: BillProps & { readonly isPart: boolean }) {
  const { billable_bps: billed, commit_bps: commit, forecast_bps: forecast, problem, review } = bill
  const overage = overageSentence(bill)
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {bill.circuit_id || bill.name}{' '}
          <Dimmed>{bill.port_id === null ? texts.portsTogether(bill.port_ids.length) : bill.name}</Dimmed>
        </Text>
        <Text size="sm">{summaryOf(bill)}</Text>
      </Group>
      {bill.billing_method !== 'flat' && (
        <BillBar label={bill.name} billed={billed} commit={commit} forecast={forecast} />
      )}
      {overage !== undefined && <Text size="sm">{overage}</Text>}
      {problem !== null && <Dimmed>{texts.problems[problem]}</Dimmed>}
      {review !== null && (
        <Alert color="yellow" p="xs" my="xs">
          {texts.reviews[review](bill.missing_samples, bill.samples + bill.missing_samples)}
        </Alert>
      )}
      {bill.correction_reason !== null && <Dimmed>{texts.decided(bill.correction_reason)}</Dimmed>}
      {bill.credit_note !== null && <Text size="sm">{creditText(bill.credit_note)}</Text>}
      {problem === null && (
        <Facts
          facts={[
            [texts.model, modelOf(bill)],
            [texts.p95, texts.bothWays(rate(bill.p95_in_bps) ?? '–', rate(bill.p95_out_bps) ?? '–')],
            [
              texts.average,
              texts.bothWays(rate(bill.average_in_bps) ?? '–', rate(bill.average_out_bps) ?? '–'),
            ],
            [texts.volume, texts.bothWays(amount(bill.octets_in) ?? '–', amount(bill.octets_out) ?? '–')],
            [
              texts.samples,
              <span key="samples">
                {texts.samplesOf(bill.samples, bill.missing_samples)} <Incomplete bill={bill} />
              </span>,
            ],
            ...(isPart
              ? [
                  [texts.from, <Time key="from" at={bill.period_start} />] as const,
                  [texts.until, <Time key="until" at={bill.period_end} />] as const,
                ]
              : []),
          ]}
        />
      )}
      {bill.price !== null && <PriceLines price={bill.price} />}
      {bill.rank !== null && <Recount bill={bill} service={service} month={month} />}
      {bill.closed === null && commit !== null && billed !== null && (
        <AlertLink kind="commit" object={service.id} part={bill.port_id} of={bill.name} />
      )}
    </div>
  )
}

/** The samples in ascending order with the rank, and the same with a shell. */
function Recount({ bill, service, month }: BillProps) {
  const [opened, { open, close }] = useDisclosure(false)
  const samples = useQuery({
    queryKey: [
      teamIdNow(),
      'samples',
      service.id,
      bill.port_id,
      bill.period_start,
      bill.samples_sha256,
      month,
    ],
    queryFn: async () => (await samplesOf(service, bill, month)).text(),
    enabled: opened,
  })
  const values = samples.data === undefined ? [] : sortedRates(samples.data, bill)
  return (
    <>
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" variant="default" onClick={open}>
          {texts.recount}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => void saveSamples(service, bill, month).catch(notifyProblem)}
        >
          {texts.download}
        </Button>
      </Group>
      <Modal opened={opened} onClose={close} title={texts.recountTitle} size="lg">
        <Stack gap="sm">
          {samples.error && <Problem error={samples.error} retry={() => samples.refetch()} />}
          {samples.isPending ? (
            <Skeleton height={160} />
          ) : (
            <SortedCurve label={texts.curve} values={values} rank={bill.rank!} />
          )}
          <Text size="sm">
            {texts.recountText(
              bill.samples,
              bill.rank!,
              words.billingMethod[bill.billing_method],
              rate(bill.billable_bps)!,
            )}{' '}
            <Time at={bill.ranked_at} />.
          </Text>
          {samples.data !== undefined && values[bill.rank! - 1] === bill.billable_bps && (
            <StatePill color="ok">{texts.agrees}</StatePill>
          )}
          <Text size="sm">{texts.withShell}</Text>
          <CopyBlock text={recountCommand(bill, month)} label={texts.copyCommand} />
          {bill.samples_sha256 !== null && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {texts.hash} <Mono>{bill.samples_sha256}</Mono>
            </Text>
          )}
        </Stack>
      </Modal>
    </>
  )
}

async function samplesOf(
  service: Service,
  { port_id: portId, period_start: start }: BillablePort,
  month: string,
): Promise<Blob> {
  const { body } = await call(getBillingSamplesRoute, {
    params: { service_id: service.id },
    query: {
      ...(month === '' ? {} : { period: month }),
      ...(portId === null ? {} : { port_id: portId }),
      period_start: start,
    },
  })
  return body as unknown as Blob
}

const saveSamples = async (service: Service, bill: BillablePort, month: string): Promise<void> =>
  download(samplesFile(bill, month), await samplesOf(service, bill, month))

function saveMonths({ id }: Service, periods: readonly BillingPeriod[]): void {
  const writer = csvWriter()
  const file = writer.add(periods) + writer.end()
  download(`bills-of-service-${id}.csv`, new Blob([file], { type: 'text/csv' }))
}

/** Closed months as columns beside the commit, and as a table with their hashes. */
export function PastMonths({ service }: { service: Service }) {
  const answer = useAllRows(listBillingPeriodsRoute, { params: { service_id: service.id } })
  const current = useAllRows(
    listBillablePortsRoute,
    { params: { service_id: service.id }, query: {} },
    refetchMs,
  )
  if (answer.error && !answer.data) return <FailedSection title={texts.past} answer={answer} />
  const all = answer.data ?? []
  const periods = all.filter(({ corrected_by: next }) => next === null)
  if (periods.length === 0) return null
  return (
    <Section
      title={texts.past}
      actions={
        <Button variant="subtle" size="compact-sm" onClick={() => saveMonths(service, all)}>
          {texts.saveMonths}
        </Button>
      }
    >
      <MonthsChart periods={periods} current={current.data ?? []} />
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.month}</Table.Th>
              <Table.Th>{texts.port}</Table.Th>
              <Table.Th>{texts.billed}</Table.Th>
              <Table.Th>{texts.over}</Table.Th>
              <Table.Th>{texts.amount}</Table.Th>
              <Table.Th>{texts.missing}</Table.Th>
              <Table.Th>{texts.hashShort}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {all
              .filter(({ problem }) => problem === null)
              .map((period) => (
                <PastMonth key={period.bill_id} {...period} />
              ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  )
}

type MonthsChartProps = {
  readonly periods: readonly BillingPeriod[]
  /** The bills of this month, whose forecast follows the closed months. */
  readonly current: readonly BillablePort[]
}

function MonthsChart({ periods, current }: MonthsChartProps) {
  const months = [...new Set(periods.map(({ period }) => period))].sort()
  const billed = periods.filter(({ problem }) => problem === null)
  const ports = [...Map.groupBy(billed, ({ port_id: id }) => id)]
  // A service whose method changed shows the months of the present one: two units would be two axes.
  const latest = periods.find(({ period }) => period === months.at(-1))!
  const isOfVolume = latest.billing_method === 'volume'
  const unit = isOfVolume ? ('bytes' as const) : ('bps' as const)
  const commit = isOfVolume ? latest.included_octets : latest.commit_bps
  const [open] = current
  const thisMonth = open && monthOfBill(open)
  const isExpected = thisMonth !== undefined && thisMonth > months.at(-1)! && !isOfVolume
  const forecast = forecastsOf(isExpected ? current : [])
  const shown = forecast.size > 0 ? [...months, thisMonth!] : months
  return (
    <Chart
      label={texts.past}
      kind="bars"
      times={shown.map((month) => Date.parse(`${month}-01T00:00:00Z`))}
      periodMs={30 * 86_400_000}
      timeText={(time) => monthText(new Date(time).toISOString().slice(0, 7))}
      {...(forecast.size > 0
        ? {
            forecastFrom: months.length,
            pointText: (at: number) => (at === months.length ? texts.forecast : ''),
          }
        : {})}
      series={ports.map(([port, own], at) => ({
        label: own[0]!.circuit_id || own[0]!.name,
        unit,
        color: ((at % 7) + 1) as ChartColor,
        values: shown.map((month) => {
          if (!months.includes(month)) return forecast.get(port) ?? null
          const bill = own.find(({ period }) => period === month)
          return (isOfVolume ? bill?.billable_octets : bill?.billable_bps) ?? null
        }),
      }))}
      thresholds={commit === null ? [] : [{ value: commit, unit, label: texts.commit }]}
      height={200}
    />
  )
}

/** The expected rates of this month by port. A month of several bills has none. */
const forecastsOf = (bills: readonly BillablePort[]): ReadonlyMap<number | null, number> =>
  new Map(
    bills.flatMap(({ port_id: port, forecast_bps: bps }) => (bps === null ? [] : [[port, bps] as const])),
  )

function Incomplete({ bill }: { bill: Pick<BillablePort, 'samples' | 'missing_samples'> }) {
  const percent = measuredPart(bill)
  return percent === undefined ? null : <StatePill color="warn">{texts.incomplete(percent)}</StatePill>
}

const PastMonth = (period: BillingPeriod) => (
  <Table.Tr>
    <Table.Td>{monthText(period.period)}</Table.Td>
    <Table.Td>{period.circuit_id || period.name}</Table.Td>
    <Table.Td>
      <OrDash>{billedText(period)}</OrDash>
    </Table.Td>
    <Table.Td>
      <OrDash>{overageText(period)}</OrDash>
    </Table.Td>
    <Table.Td>
      <OrDash>{period.price?.amount && moneyText(period.price.amount, period.price.currency)}</OrDash>
    </Table.Td>
    <Table.Td>
      {period.missing_samples.toLocaleString('en')} <Incomplete bill={period} />
      {period.corrected_by !== null ? (
        <> · {texts.replaced(period.corrected_by)}</>
      ) : (
        period.review !== null && <> · {texts.undecided}</>
      )}
    </Table.Td>
    <Table.Td>
      <OrDash>
        {period.samples_sha256 && (
          <>
            <Mono>{period.samples_sha256.slice(0, 8)}</Mono>{' '}
            <CopyIcon text={period.samples_sha256} label={texts.copyHash} />
          </>
        )}
      </OrDash>
    </Table.Td>
  </Table.Tr>
)
