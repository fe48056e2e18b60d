// The bill of a service as a team sees it: the month so far, closed months, and the samples to recount them.
import { hash } from 'node:crypto'
import type {
  billOrderings,
  BillablePort,
  BillingPeriod,
  getBillingSamplesRoute,
  listBillablePortsRoute,
  listBillingPeriodsRoute,
} from '@pharos/contract/inventory/bill'
import type { BillingScope } from '@pharos/contract/inventory/billing-rules'
import type { QueryOf } from '@pharos/contract/route'
import type { OrderingText } from '@pharos/contract/scalar'
import { parseOrdering } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation, ReadingActor } from '../../operation/operation.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import { billingGridMs } from '../usage/bucket.ts'
import {
  findBilledService,
  findBillOfTeam,
  listClosedBills,
  listPeriodRows,
  type BilledService,
} from './bill.store.ts'
import { readBills } from './read-bills.ts'
import { readFile } from './sample-file.ts'
import { samplesFile } from './samples.ts'
import { monthAt, scopesOf } from './terms.ts'

export type BillDeps = { readonly postgres: Postgres; readonly now: () => Date }

/**
 * A closed month is read as it was closed; an open one is calculated from its samples. Throws `not_found` for a service
 * of another team.
 */
export async function listBillablePorts(
  deps: BillDeps,
  { actor }: ReadingActor,
  serviceId: number,
  { period, ordering, limit, offset }: QueryOf<typeof listBillablePortsRoute>,
): Promise<{ results: BillablePort[]; count: number }> {
  const service = await serviceOf(deps, actor.teamId, serviceId)
  const now = lastSample(deps.now())
  const month = period ?? monthAt(now.getTime(), service.terms)
  const closed = await listClosedBills(deps.postgres, actor.teamId, serviceId, month)
  const all =
    closed.length > 0
      ? closed.map(({ period: _period, bill_id: _id, corrected_by: _none, ...bill }) => bill)
      : (await readBills(deps.postgres, service, { month, now })).map(({ bill }) => bill)
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

/** The closed months of a service, including former ports. */
export async function listBillingPeriods(
  { postgres }: BillDeps,
  { actor }: Operation,
  serviceId: number,
  query: QueryOf<typeof listBillingPeriodsRoute>,
): Promise<{ results: BillingPeriod[]; count: number }> {
  const { page, count } = await listPeriodRows(postgres, actor.teamId, serviceId, query)
  return { results: page, count }
}

/** The file of the samples of one bill. That of a closed bill is the stored one, whatever has become of its service and ports. */
export async function getBillingSamples(
  deps: BillDeps,
  { actor }: Operation,
  serviceId: number,
  query: QueryOf<typeof getBillingSamplesRoute>,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  const { teamId } = actor
  const { month, bill } =
    query.bill_id === undefined
      ? await selectClosed(deps, teamId, serviceId, query)
      : await closedById(deps, teamId, serviceId, query.bill_id)
  const stored = bill?.samples_sha256 && (await readFile(deps.postgres, teamId, bill.samples_sha256))
  const portId = bill ? (bill.port_id ?? undefined) : query.port_id
  const wanted = { month, portId, start: bill?.period_start ?? query.period_start }
  const bytes = stored || (await calculateFile(deps, teamId, serviceId, wanted))
  // Closed by a version that kept no files, and calculated from other samples since.
  if (bill && hash('sha256', bytes) !== bill.samples_sha256) throw fail('not_found', 'samplesOfBill')
  return {
    bytes,
    mediaType: 'text/csv',
    filename: `samples-${month}-${portId === undefined ? `service-${serviceId}` : `port-${portId}`}.csv`,
  }
}

async function closedById({ postgres }: BillDeps, teamId: number, serviceId: number, id: number) {
  const bill = await findBillOfTeam(postgres, teamId, serviceId, id)
  if (!bill) throw notFound('bill')
  return { month: bill.period, bill }
}

/** `bill` is undefined if the month is not closed. */
async function selectClosed(
  deps: BillDeps,
  teamId: number,
  serviceId: number,
  { period, port_id: portId, period_start: start }: QueryOf<typeof getBillingSamplesRoute>,
): Promise<{ month: string; bill?: BillablePort }> {
  const month = period ?? monthAt(deps.now().getTime(), (await serviceOf(deps, teamId, serviceId)).terms)
  const closed = await listClosedBills(deps.postgres, teamId, serviceId, month)
  if (closed.length === 0) return { month }
  checkPort(new Set(closed.map(({ scope }) => scope)), portId)
  return { month, bill: selectBill(closed, portId, start) }
}

async function calculateFile(
  deps: BillDeps,
  teamId: number,
  serviceId: number,
  { month, portId, start }: { month: string; portId: number | undefined; start: string | undefined },
): Promise<Buffer> {
  const service = await serviceOf(deps, teamId, serviceId)
  checkPort(scopesOf(month, service.terms), portId)
  const options = { month, now: lastSample(deps.now()), wanted: (id: number) => id === portId }
  const read = await readBills(deps.postgres, service, options)
  const bill = selectBill(
    read.map((one) => one.bill),
    portId,
    start,
  )
  return Buffer.from(samplesFile(read.find((one) => one.bill === bill)!.samples))
}

function checkPort(scopes: ReadonlySet<BillingScope>, portId: number | undefined): void {
  if (portId === undefined && !scopes.has('service')) throw invalid(['query', 'port_id'], 'portOfBill')
  if (portId !== undefined && !scopes.has('port')) throw invalid(['query', 'port_id'], 'noPortOfBill')
}

/** A port has several bills of a month in which its service got other terms. */
function selectBill(
  bills: readonly BillablePort[],
  portId: number | undefined,
  start: string | undefined,
): BillablePort {
  const own = bills.filter((bill) => bill.port_id === (portId ?? null))
  const [found, ...others] =
    start === undefined ? own : own.filter((bill) => Date.parse(bill.period_start) === Date.parse(start))
  if (!found) throw notFound('bill')
  if (others.length > 0) throw invalid(['query', 'period_start'], 'startOfBill')
  return found
}

async function serviceOf({ postgres }: BillDeps, teamId: number, id: number): Promise<BilledService> {
  const service = await findBilledService(postgres, teamId, id)
  if (!service) throw notFound('service')
  return service
}

/** The end of the newest whole sample: the figures do not change between two of them. */
const lastSample = (now: Date): Date => new Date(now.getTime() - (now.getTime() % billingGridMs))
