// Closes the months of services: their bills become rows that nothing changes, with the hash of their samples.
import type { BillablePort } from '@pharos/contract/bill'
import { hash } from 'node:crypto'
import { Temporal } from 'temporal-polyfill'
import type { Postgres } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { billingMonth, isClosable, monthOf } from '../usage/billing-month.ts'
import { billOf } from './bill.ts'
import { insertBills, listServicesWithPorts, type BilledService } from './bill.store.ts'
import { readBilled } from './read-billed.ts'
import { samplesFile } from './samples.ts'

/** Samples are kept for 400 days: older months cannot be closed. */
const monthsMax = 12

/**
 * Returns the number of months that were closed. A month that ended before the first port of the service was known is not closed,
 * since nothing was measured; `isMeasured`: it was, by an import. `months`: of each service, the newest ones.
 */
export async function closePeriods(
  postgres: Postgres,
  now: Date,
  signal: AbortSignal,
  { isMeasured = false, months = monthsMax } = {},
): Promise<number> {
  let closed = 0
  for (const service of await listServicesWithPorts(postgres.owner)) {
    const since = isMeasured ? service.firstMs : Math.max(service.firstMs, service.knownMs)
    for (const month of closableMonths(service, since, now).slice(-months)) {
      if (signal.aborted || service.closed.includes(month)) continue
      if (await closeMonth(postgres, service, month, now)) closed++
    }
  }
  return closed
}

/** The months that are over for long enough, the oldest first. */
function closableMonths({ timezone }: BilledService, sinceMs: number, now: Date): string[] {
  const current = Temporal.PlainYearMonth.from(monthOf(now.getTime(), timezone))
  const months = Array.from({ length: monthsMax }, (_, back) =>
    String(current.subtract({ months: monthsMax - back })),
  )
  return months.filter((month) => {
    const period = billingMonth(month, timezone)
    return period.endMs > sinceMs && isClosable(period, now.getTime())
  })
}

async function closeMonth(
  postgres: Postgres,
  service: BilledService,
  month: string,
  now: Date,
): Promise<boolean> {
  const period = billingMonth(month, service.timezone)
  const billed = await readBilled(postgres, service, period)
  const bills = billed.map((one): BillablePort => ({
    ...billOf(one, service, { period, nowMs: now.getTime() }),
    samples_sha256: hash('sha256', samplesFile(one.samples)),
  }))
  if (bills.length === 0) return false
  return postgres.owner.transaction().execute(async (trx) => {
    if (!(await insertBills(trx, service, month, bills))) return false
    const data = {
      service_id: service.id,
      name: service.name,
      billing_ref: service.billingRef,
      period: month,
      ports: bills.map(({ port_id, name, circuit_id, billable_bps, billable_octets, overage_bps }) => ({
        port_id,
        name,
        circuit_id,
        billable_bps,
        billable_octets,
        overage_bps,
      })),
      at: now.toISOString(),
    }
    await writeMessages(trx, [{ teamId: service.teamId, type: 'service.billed', data }])
    return true
  })
}
