// The figures of a bill in words. Pure.
import type { BillablePort } from '@pharos/contract/bill'
import { formatRate } from '../ui/rate.ts'
import { words } from './words.ts'

const { bill: texts } = words

export const rate = (bps: number | null) => (bps === null ? null : formatRate(bps, 'bps'))
export const amount = (octets: number | null) => (octets === null ? null : formatRate(octets, 'B'))

/** `9.1 Gbps of 10 Gbps, 11 Gbps expected`. */
export function summaryOf({
  billing_method: method,
  billable_bps,
  billable_octets,
  commit_bps,
  included_octets: included,
  forecast_bps,
}: BillablePort): string {
  if (method === 'flat') return texts.flat
  if (method === 'volume') {
    const billed = amount(billable_octets)
    return billed === null
      ? texts.unknown
      : `${billed}${included === null ? '' : texts.ofIncluded(amount(included)!)}`
  }
  if (billable_bps === null) return texts.unknown
  const of = commit_bps === null ? '' : texts.ofCommit(rate(commit_bps)!)
  const expected = forecast_bps === null ? '' : texts.expected(rate(forecast_bps)!)
  return `${rate(billable_bps)}${of}${expected}`
}

/** `95th percentile, greater of in and out`. */
export const modelOf = ({ billing_method: method, direction }: BillablePort): string =>
  `${words.billingMethod[method]}${method === 'flat' ? '' : `, ${words.billingDirection[direction]}`}`
