// The bills of a month from its samples, as of now: the bills so far, and the closed ones.
import { setImmediate } from 'node:timers/promises'
import type { BillablePort } from '@pharos/contract/inventory/bill'
import type { Postgres } from '../../db/postgres.ts'
import { intersect } from '../usage/billing-month.ts'
import { billOf } from './bill.ts'
import type { BilledService } from './bill.store.ts'
import { readBilled } from './read-billed.ts'
import type { Sample } from './samples.ts'
import {
  commitOf,
  includedOf,
  monthBucketsOf,
  periodOf,
  priceTermsOf,
  segmentsOf,
  timezoneOf,
} from './terms.ts'

/** The forecast needs the samples of four weeks. */
const forecastMs = 28 * 86_400_000

export type ReadBill = { readonly bill: BillablePort; readonly samples: readonly Sample[] }

type BillsOf = {
  readonly month: string
  readonly now: Date
  /** Limits the ports that are read, if each is billed by itself. */
  readonly wanted?: (portId: number) => boolean
}

/**
 * A month has a bill for each part with the same method, direction, scopes and currency. The samples are limited to the
 * bill's time.
 */
export const readBills = async (
  postgres: Postgres,
  service: BilledService,
  { now, ...of }: BillsOf,
): Promise<ReadBill[]> => (await readBillsAt(postgres, service, { ...of, times: [now] }))[0]!

/** Returns the bills of a month as of several times in order, from one reading of its samples. */
export async function readBillsAt(
  postgres: Postgres,
  service: BilledService,
  { month, times, wanted }: Omit<BillsOf, 'now'> & { readonly times: readonly Date[] },
): Promise<ReadBill[][]> {
  const bills: ReadBill[][] = times.map(() => [])
  const [timezone, monthBuckets] = [timezoneOf(month, service.terms), monthBucketsOf(month, service.terms)]
  for (const segment of segmentsOf(periodOf(month, service.terms), service.terms)) {
    const current = times.find((at) => at.getTime() >= segment.startMs && at.getTime() < segment.endMs)
    const sinceMs = current ? Math.min(segment.startMs, current.getTime() - forecastMs) : segment.startMs
    const billed = await readBilled(postgres, service, { ...segment, sinceMs, ...(wanted && { wanted }) })
    for (const one of billed) {
      const parts = one.parts.flatMap((part) => intersect(part, segment) ?? [])
      const rules = {
        ...segment,
        timezone,
        commitBps: commitOf(parts, service.terms),
        includedOctets: includedOf(parts, service.terms, monthBuckets),
        prices: priceTermsOf(parts, service.terms, monthBuckets),
      }
      const samples = one.samples.filter(({ startMs }) => startMs >= segment.startMs)
      for (const [index, at] of times.entries()) {
        // Each takes milliseconds: requests are answered between two of them.
        if (index > 0) await setImmediate()
        bills[index]!.push({ bill: billOf(one, rules, { period: segment, nowMs: at.getTime() }), samples })
      }
    }
  }
  return bills
}
