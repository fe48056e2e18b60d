// Closes the months of services: their bills become immutable rows, with the files of their samples.
import { Temporal } from 'temporal-polyfill'
import type { Postgres } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { isClosable } from '../usage/billing-month.ts'
import { billedMessages } from './billed-message.ts'
import { insertBills, listServicesWithPorts, type BilledService } from './bill.store.ts'
import { readBills } from './read-bills.ts'
import { insertFile, sampleFileOf } from './sample-file.ts'
import { monthAt, periodOf } from './terms.ts'

/** Samples are kept for 400 days: older months cannot be closed. */
const monthsMax = 12

/**
 * Returns the number of closed months. A month that ended before the first port of the service was known is not closed,
 * since it has no measurements, unless `isMeasured` (imported). `months`: limit per service, newest first.
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
function closableMonths({ terms }: BilledService, sinceMs: number, now: Date): string[] {
  const current = Temporal.PlainYearMonth.from(monthAt(now.getTime(), terms))
  const months = Array.from({ length: monthsMax }, (_, back) =>
    String(current.subtract({ months: monthsMax - back })),
  )
  return months.filter((month) => {
    const period = periodOf(month, terms)
    return period.endMs > sinceMs && isClosable(period, now.getTime())
  })
}

async function closeMonth(
  postgres: Postgres,
  service: BilledService,
  month: string,
  now: Date,
): Promise<boolean> {
  const read = await readBills(postgres, service, { month, now })
  if (read.length === 0) return false
  const closed = await Promise.all(
    read.map(async ({ bill, samples }) => {
      const file = await sampleFileOf(samples)
      return { file, bill: { ...bill, samples_sha256: file.sha256 } }
    }),
  )
  const bills = closed.map(({ bill }) => bill)
  return postgres.owner.transaction().execute(async (trx) => {
    const ids = await insertBills(trx, service, month, bills)
    if (ids.length === 0) return false
    for (const { file } of closed) await insertFile(trx, service.teamId, file)
    const billed = bills.map((bill, place) => ({ ...bill, bill_id: ids[place]! }))
    await writeMessages(trx, billedMessages(service, month, billed, { now, corrects: null }))
    return true
  })
}
