// The figures of a bill as text: the same on every page, in reports and in the terminal.
import type { BillablePort } from './bill.ts'
import { formatRate } from '../rate.ts'

const textOf = (bps: number | null, octets: number | null): string | null =>
  octets === null ? (bps === null ? null : formatRate(bps, 'bps')) : formatRate(octets, 'B')

/** Returns the billed rate or volume; null if it is not known, and of flat rates. */
export const billedText = (bill: Pick<BillablePort, 'billable_bps' | 'billable_octets'>): string | null =>
  textOf(bill.billable_bps, bill.billable_octets)

/** Returns the usage above the commit or the included volume; null if there is no overage or it is unknown. */
export const overageText = (bill: Pick<BillablePort, 'overage_bps' | 'overage_octets'>): string | null =>
  textOf(bill.overage_bps, bill.overage_octets)
