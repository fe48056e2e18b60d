// The bill of a service as a team sees it: the month so far, closed months, and the samples to recount them.
import type {
  billOrderings,
  BillablePort,
  BillingPeriod,
  getBillingSamplesRoute,
  listBillablePortsRoute,
  listBillingPeriodsRoute,
} from '@pharos/contract/bill'
import type { QueryOf } from '@pharos/contract/route'
import type { OrderingText } from '@pharos/contract/scalar'
import { parseOrdering } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation, TeamReader } from '../../operation/operation.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import { billingMonth, monthOf, type Period } from '../usage/billing-month.ts'
import { billingGridMs } from '../usage/bucket.ts'
import { billOf } from './bill.ts'
import {
  findBilledService,
  listClosedBills,
  listPeriodRows,
  type BilledService,
  type PeriodRow,
} from './bill.store.ts'
import { readBilled } from './read-billed.ts'
import { samplesFile } from './samples.ts'

export type BillDeps = { readonly postgres: Postgres; readonly now: () => Date }

/** The forecast needs the samples of four weeks. */
const forecastMs = 28 * 86_400_000

/** A closed month is what was closed; another one is calculated from its samples. Throws `not_found` for another team's service. */
export async function listBillablePorts(
  deps: BillDeps,
  { actor }: TeamReader,
  serviceId: number,
  { period, ordering, limit, offset }: QueryOf<typeof listBillablePortsRoute>,
): Promise<{ results: BillablePort[]; count: number }> {
  const service = await serviceOf(deps, actor.teamId, serviceId)
  const now = lastSample(deps.now())
  const month = period ?? monthOf(now.getTime(), service.timezone)
  const closed = await listClosedBills(deps.postgres, actor.teamId, serviceId, month)
  const all =
    closed.length > 0
      ? closed.map(({ period: _period, closedAt, ...bill }) => ({ ...bill, closed: closedAt.toISOString() }))
      : await currentBills(deps.postgres, service, periodOf(month, service), now)
  return { results: orderBills(all, ordering).slice(offset, offset + limit), count: all.length }
}

type Key = (typeof billOrderings)[number]
const collator = new Intl.Collator('en', { numeric: true })

const comparisons: Readonly<Record<Key, (a: BillablePort, b: BillablePort) => number>> = {
  name: (a, b) => collator.compare(a.name, b.name),
  circuit_id: (a, b) => collator.compare(a.circuit_id, b.circuit_id),
  billable_bps: (a, b) => (a.billable_bps ?? -1) - (b.billable_bps ?? -1),
}

/** In memory: the figures are calculated, and a service has few ports. */
function orderBills(bills: readonly BillablePort[], ordering: OrderingText<Key>): BillablePort[] {
  const keys = parseOrdering(ordering)
  return bills.toSorted((a, b) => {
    for (const { key, descending } of keys) {
      const order = comparisons[key](a, b)
      if (order !== 0) return descending ? -order : order
    }
    return (a.port_id ?? 0) - (b.port_id ?? 0)
  })
}

/** The bills of a month that is not closed, as of now. */
async function currentBills(
  postgres: Postgres,
  service: BilledService,
  period: Period,
  now: Date,
): Promise<BillablePort[]> {
  const nowMs = now.getTime()
  const isCurrent = nowMs >= period.startMs && nowMs < period.endMs
  const sinceMs = isCurrent ? Math.min(period.startMs, nowMs - forecastMs) : period.startMs
  const billed = await readBilled(postgres, service, period, { sinceMs })
  return billed.map((one) => billOf(one, service, { period, nowMs }))
}

/** The closed months of a service, with those of its former ports. */
export async function listBillingPeriods(
  { postgres }: BillDeps,
  { actor }: Operation,
  serviceId: number,
  query: QueryOf<typeof listBillingPeriodsRoute>,
): Promise<{ results: BillingPeriod[]; count: number }> {
  const { page, count } = await listPeriodRows(postgres, actor.teamId, serviceId, query)
  return { results: page.map(presentPeriod), count }
}

const presentPeriod = ({ month, bill, closed }: PeriodRow): BillingPeriod => ({
  period: month,
  ...bill,
  closed: closed.toISOString(),
})

/** The file of the samples of one bill. */
export async function getBillingSamples(
  deps: BillDeps,
  { actor }: Operation,
  serviceId: number,
  { period: text, port_id: portId }: QueryOf<typeof getBillingSamplesRoute>,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  const service = await serviceOf(deps, actor.teamId, serviceId)
  const isByPort = service.scope === 'port'
  if (isByPort && portId === undefined) throw invalid(['query', 'port_id'], 'portOfBill')
  if (!isByPort && portId !== undefined) throw invalid(['query', 'port_id'], 'noPortOfBill')
  const month = text ?? monthOf(deps.now().getTime(), service.timezone)
  const [billed] = await readBilled(deps.postgres, service, periodOf(month, service), {
    wanted: (id) => id === portId,
  })
  if (!billed) throw notFound('port')
  return {
    bytes: Buffer.from(samplesFile(billed.samples)),
    mediaType: 'text/csv',
    filename: `samples-${month}-${isByPort ? `port-${portId}` : `service-${serviceId}`}.csv`,
  }
}

async function serviceOf({ postgres }: BillDeps, teamId: number, id: number): Promise<BilledService> {
  const service = await findBilledService(postgres, teamId, id)
  if (!service) throw notFound('service')
  return service
}

/** The end of the newest whole sample: the figures do not change between two of them. */
const lastSample = (now: Date): Date => new Date(now.getTime() - (now.getTime() % billingGridMs))

const periodOf = (month: string, { timezone }: BilledService): Period => billingMonth(month, timezone)
