// The figures of a bill in words. Pure.
import type { BillablePort } from '@pharos/contract/inventory/bill'
import { billedText } from '@pharos/contract/inventory/bill-text'
import { formatRate } from '../ui/rate.ts'
import { words } from './words.ts'

const { bill: texts } = words

export const rate = (bps: number | null) => (bps === null ? null : formatRate(bps, 'bps'))
export const amount = (octets: number | null) => (octets === null ? null : formatRate(octets, 'B'))

/** `9.1 Gbps of 10 Gbps, 11 Gbps expected`. */
export function summaryOf(bill: BillablePort): string {
  const { billing_method: method, commit_bps, included_octets: included, forecast_bps } = bill
  if (method === 'flat') return texts.flat
  const billed = billedText(bill)
  if (billed === null) return texts.unknown
  if (method === 'volume') return `${billed}${included === null ? '' : texts.ofIncluded(amount(included)!)}`
  const of = commit_bps === null ? '' : texts.ofCommit(rate(commit_bps)!)
  const expected = forecast_bps === null ? '' : texts.expected(rate(forecast_bps)!)
  return `${billed}${of}${expected}`
}

/** `3.7 Gbps above the commit of 10 Gbps.`, with what is expected of a month that goes on; undefined without a commit. */
export function overageSentence(bill: Overage): string | undefined {
  const { overage_bps: over, commit_bps: commit, billable_bps: billed, forecast_bps: forecast } = bill
  const { overage_octets: overOctets, included_octets: included } = bill
  if (overOctets !== null && overOctets > 0 && included !== null)
    return texts.aboveIncluded(amount(overOctets)!, amount(included)!)
  if (commit === null || billed === null) return undefined
  const now =
    over !== null && over > 0
      ? texts.above(rate(over)!, rate(commit)!)
      : texts.within(rate(commit - billed)!, rate(commit)!)
  const isExpected = forecast !== null && forecast > commit && !(over !== null && over > 0)
  return isExpected ? `${now} ${texts.expectedAbove(rate(forecast - commit)!)}` : now
}

type Overage = Pick<
  BillablePort,
  'overage_bps' | 'overage_octets' | 'commit_bps' | 'included_octets' | 'billable_bps' | 'forecast_bps'
>

/** `95th percentile, greater of in and out`. */
export const modelOf = ({ billing_method: method, direction }: BillablePort): string =>
  `${words.billingMethod[method]}${method === 'flat' ? '' : `, ${words.billingDirection[direction]}`}`

/** Share below which a month is marked as incomplete: a percentile ignores as much. */
const measuredWhole = 0.95

/** Returns the share of the samples that were measured, in whole percent and rounded down, if it is too small to rely on. */
export function measuredPart({
  samples,
  missing_samples: missing,
}: Pick<BillablePort, 'samples' | 'missing_samples'>): number | undefined {
  const all = samples + missing
  return all === 0 || samples >= measuredWhole * all ? undefined : Math.floor((100 * samples) / all)
}
