// The money of a bill from its figures and prices: lines, each rounded once, in exact integers. Pure; it must not use floating point.
import type { BillPrice, CreditNote, PriceLine } from '@pharos/contract/inventory/bill-price'
import type { BillablePort } from '@pharos/contract/inventory/bill'

/** The prices in the time of a bill, each part with its buckets, and the length of the month. */
export type PriceTerms = Pick<BillPrice, 'currency' | 'decimals' | 'buckets' | 'month_buckets' | 'parts'>

/** The charged quantity: bit/s, or octets for `volume`. */
type Charged = {
  readonly unit: 'bps' | 'octets'
  /** Null: not known. */
  readonly billed: number | null
  /** The commit or the included octets; null without either. */
  readonly committed: number | null
}

/** The quantity that has the price: a Mbit/s, a GB. */
const per = { bps: 1_000_000, octets: 1_000_000_000 } as const

/**
 * Returns the charges of a bill; undefined while a billed figure is unknown. A flat rate bills the commit, or no
 * quantity.
 */
export function chargedOf({
  billing_method: method,
  problem,
  billable_bps: bps,
  billable_octets: octets,
  commit_bps: commit,
  included_octets: included,
}: Pick<
  BillablePort,
  'billing_method' | 'problem' | 'billable_bps' | 'billable_octets' | 'commit_bps' | 'included_octets'
>): Charged {
  if (method === 'volume')
    return { unit: 'octets', billed: problem === null ? octets : null, committed: included }
  const known = method === 'flat' ? (bps ?? 0) : bps
  return { unit: 'bps', billed: problem === null ? known : null, committed: commit }
}

/** Returns the price of a bill: lines in the order of the parts, and their sum. Without a billed figure it has no lines and no amount. */
export function priceOf(terms: PriceTerms, charged: Charged): BillPrice {
  const { currency, decimals, buckets, month_buckets, parts } = terms
  const { billed } = charged
  const lines = billed === null ? [] : parts.flatMap((part) => linesOf(part, { ...charged, billed }, terms))
  return {
    currency,
    decimals,
    rounding: 'half_up_per_line',
    buckets,
    month_buckets,
    parts,
    lines,
    amount: billed === null ? null : sumOf(lines, decimals),
  }
}

function linesOf(
  { monthly, commit, overage, tiers: ofMonth, tier_mode: mode, buckets }: PriceTerms['parts'][number],
  { unit, billed, committed }: Charged & { readonly billed: number },
  { decimals, month_buckets: monthBuckets, buckets: all }: PriceTerms,
): PriceLine[] {
  // A price of bytes is for all that were transferred, however long that took.
  const share = { buckets, of_buckets: unit === 'octets' ? all : monthBuckets }
  const line = (
    kind: PriceLine['kind'],
    price: string | null,
    quantity: number,
    above: number | null = null,
  ): PriceLine[] =>
    price === null ? [] : [withAmount({ kind, above, quantity, per: per[unit], price, ...share }, decimals)]
  const fixed: PriceLine[] =
    monthly === null
      ? []
      : [
          withAmount(
            {
              kind: 'monthly',
              above: null,
              quantity: null,
              per: null,
              price: monthly,
              buckets,
              of_buckets: monthBuckets,
            },
            decimals,
          ),
        ]
  if (ofMonth.length === 0)
    return [
      ...fixed,
      ...(committed === null ? [] : line('commit', commit, committed)),
      ...line('overage', overage, Math.max(0, billed - (committed ?? 0))),
    ]
  // Tiers of bytes apply to a month, like the included bytes: a bill for a part of the month has that part of each.
  const partOf = (above: number): number => Number((BigInt(above) * BigInt(all)) / BigInt(monthBuckets))
  const tiers = unit === 'bps' ? ofMonth : ofMonth.map((tier) => ({ ...tier, above: partOf(tier.above) }))
  const total = Math.max(billed, committed ?? 0)
  const reached = tiers.filter(({ above }, place) => place === 0 || above < total)
  if (mode === 'whole') {
    const { above, price } = reached.at(-1)!
    return [...fixed, ...line('tier', price, total, above)]
  }
  return [
    ...fixed,
    ...reached.flatMap(({ above, price }, place) =>
      line('tier', price, Math.min(total, reached[place + 1]?.above ?? total) - above, above),
    ),
  ]
}

/** Rounds quantity / per x price x buckets / of_buckets to the decimals, halves up. */
function withAmount(line: Omit<PriceLine, 'amount'>, decimals: number): PriceLine {
  const { units, scale } = parseDecimal(line.price)
  const numerator = BigInt(line.quantity ?? 1) * units * BigInt(line.buckets) * 10n ** BigInt(decimals)
  const denominator = BigInt(line.per ?? 1) * BigInt(line.of_buckets) * 10n ** BigInt(scale)
  return { ...line, amount: printDecimal((2n * numerator + denominator) / (2n * denominator), decimals) }
}

const sumOf = (lines: readonly PriceLine[], decimals: number): string =>
  printDecimal(
    lines.reduce((sum, { amount }) => sum + parseDecimal(amount).units, 0n),
    decimals,
  )

type Decimal = {
  /** In units of 10^-scale. */
  readonly units: bigint
  readonly scale: number
}

/** Parses `12.50` or `-12.50`. */
function parseDecimal(text: string): Decimal {
  const [whole, fraction = ''] = text.split('.')
  return { units: BigInt(`${whole}${fraction}`), scale: fraction.length }
}

function printDecimal(units: bigint, scale: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  return `${sign}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`
}

const figures = ['billable_bps', 'billable_octets', 'overage_bps', 'overage_octets'] as const

/** Returns the changes of a correction; null if all figures and the amount stay the same. */
export function creditNoteOf(
  former: BillablePort & { readonly bill_id: number },
  corrected: BillablePort,
): CreditNote | null {
  const isChanged =
    figures.some((name) => former[name] !== corrected[name]) ||
    former.price?.amount !== corrected.price?.amount ||
    former.price?.currency !== corrected.price?.currency
  if (!isChanged) return null
  const difference = (name: (typeof figures)[number]): number | null =>
    former[name] === null || corrected[name] === null ? null : corrected[name] - former[name]
  return {
    corrects: former.bill_id,
    billable_bps: difference('billable_bps'),
    billable_octets: difference('billable_octets'),
    overage_bps: difference('overage_bps'),
    overage_octets: difference('overage_octets'),
    ...moneyOf(former.price, corrected.price),
  }
}

/** The decimals of one currency may have changed. */
function moneyOf(
  former: BillPrice | null,
  corrected: BillPrice | null,
): Pick<CreditNote, 'currency' | 'amount'> {
  if (!former || !corrected || former.currency !== corrected.currency) return { currency: null, amount: null }
  const { currency } = corrected
  if (former.amount === null || corrected.amount === null) return { currency, amount: null }
  const scale = Math.max(former.decimals, corrected.decimals)
  const unitsOf = (amount: string): bigint => {
    const { units, scale: own } = parseDecimal(amount)
    return units * 10n ** BigInt(scale - own)
  }
  return { currency, amount: printDecimal(unitsOf(corrected.amount) - unitsOf(former.amount), scale) }
}
