// Corrections of closed bills: a new bill that names the old one, why, and the difference. Neither is ever changed.
import type { BillablePort, BillingPeriod } from '@pharos/contract/inventory/bill'
import type { BillingMethod } from '@pharos/contract/inventory/billing-rules'
import { writeAudit } from '../../db/audit.ts'
import type { Postgres } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { overageOf } from './bill.ts'
import { findBilledService, findClosedBill, insertCorrection, type ClosedBill } from './bill.store.ts'
import { billedMessages } from './billed-message.ts'
import { chargedOf, creditNoteOf, priceOf } from './price.ts'
import { readBills } from './read-bills.ts'
import { insertFile, sampleFileOf, type SampleFile } from './sample-file.ts'

export type Correction = {
  readonly billId: number
  readonly reason: string
  /**
   * `confirm`: the figures stay; `recount`: they are calculated from the samples and rules of the month as they are now known; otherwise
   * the billed rate or the billed bytes.
   */
  readonly to: 'confirm' | 'recount' | { readonly bps: number } | { readonly octets: number }
}

type CorrectDeps = { readonly postgres: Postgres; readonly now: () => Date }

/** Returns the new bill. Throws `not_found`, and `conflict` if the bill was corrected before or does not bill the stated figure. */
export async function correctBill(
  deps: CorrectDeps,
  { billId, reason, to }: Correction,
): Promise<BillingPeriod> {
  const { postgres } = deps
  const now = deps.now()
  const closed = await findClosedBill(postgres.owner, billId)
  if (!closed) throw notFound('bill')
  if (closed.bill.corrected_by !== null)
    throw fail('conflict', 'billCorrected', { id: closed.bill.corrected_by })
  checkFigure(closed.bill.billing_method, to)
  const recounted = to === 'recount' ? await recount(postgres, closed, now) : undefined
  const { period, bill_id: _id, corrected_by: _none, ...old } = closed.bill
  const corrected = recounted?.bill ?? (typeof to === 'object' ? withFigure(old, to) : old)
  const bill = { ...corrected, review: null, credit_note: creditNoteOf(closed.bill, corrected) }
  return postgres.owner.transaction().execute(async (trx) => {
    const { teamId, serviceId } = closed
    if (recounted) await insertFile(trx, teamId, recounted)
    const added = await insertCorrection(trx, closed, { bill, reason })
    if (!added) throw fail('conflict', 'billCorrected', { id: billId })
    const service = { ...closed, id: serviceId }
    await writeMessages(trx, billedMessages(service, period, [added.bill], { now, corrects: billId }))
    await writeAudit(trx, {
      actor: 'operator',
      teamId,
      action: 'bill.correct',
      target: `bill:${billId}`,
      before: figuresOf(closed.bill),
      after: { ...figuresOf(bill), reason, bill_id: added.bill.bill_id },
    })
    return added.bill
  })
}

/** Bills by volume have billed bytes, all others a billed rate. */
function checkFigure(method: BillingMethod, to: Correction['to']): void {
  if (typeof to !== 'object') return
  const isVolume = method === 'volume'
  if ('octets' in to && !isVolume) throw fail('conflict', 'billOfRate', { method })
  if ('bps' in to && isVolume) throw fail('conflict', 'billOfOctets')
}

const figuresOf = ({
  billable_bps,
  billable_octets,
  overage_bps,
  overage_octets,
  price,
  samples_sha256,
}: BillablePort) => ({
  billable_bps,
  billable_octets,
  overage_bps,
  overage_octets,
  amount: price && price.amount && `${price.amount} ${price.currency}`,
  samples_sha256,
})

/** The rank is no longer that of the billed rate. */
function withFigure(
  bill: BillablePort,
  figure: { readonly bps: number } | { readonly octets: number },
): BillablePort {
  const corrected: BillablePort =
    'bps' in figure
      ? {
          ...bill,
          billable_bps: figure.bps,
          overage_bps: overageOf(figure.bps, bill.commit_bps),
          problem: null,
          rank: null,
          ranked: null,
          ranked_at: null,
        }
      : {
          ...bill,
          billable_octets: figure.octets,
          overage_octets: overageOf(figure.octets, bill.included_octets),
          problem: null,
        }
  return { ...corrected, price: bill.price && priceOf(bill.price, chargedOf(corrected)) }
}

async function recount(
  postgres: Postgres,
  { teamId, serviceId, bill: { period: month, port_id: portId, period_start: start } }: ClosedBill,
  now: Date,
): Promise<SampleFile & { readonly bill: BillablePort }> {
  const service = await findBilledService(postgres, teamId, serviceId)
  if (!service) throw notFound('service')
  const read = await readBills(postgres, service, { month, now, wanted: (id) => id === portId })
  const found =
    read.find(({ bill }) => bill.port_id === portId && bill.period_start === start) ??
    read.find(({ bill }) => bill.port_id === portId)
  if (!found) throw notFound('bill')
  const file = await sampleFileOf(found.samples)
  return { ...file, bill: { ...found.bill, samples_sha256: file.sha256 } }
}
