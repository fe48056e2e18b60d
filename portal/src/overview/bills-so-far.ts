// The bills of the current month of several services in one figure. Pure.
import type { BillablePort } from '@pharos/contract/inventory/bill'

type Bill = Pick<BillablePort, 'overage_bps' | 'overage_octets' | 'problem' | 'price'>
export type ServiceBills<One extends Bill = BillablePort> = {
  readonly service: string
  readonly bills: readonly One[]
}

export type BillsSoFar<One extends Bill = BillablePort> = {
  /** Above the commits of all ports; null: no overage. */
  readonly overageBps: number | null
  /** Above the included volumes. */
  readonly overageOctets: number | null
  /** The bill with the greatest overage; undefined without overage. */
  readonly largest: { readonly service: string; readonly bill: One } | undefined
  /** Undefined unless each bill has an amount, all in one currency. */
  readonly amount: { readonly value: string; readonly currency: string } | undefined
}

/** Returns undefined without bills. */
export function billsSoFar<One extends Bill>(
  services: readonly ServiceBills<One>[],
): BillsSoFar<One> | undefined {
  const all = services.flatMap(({ service, bills }) =>
    bills.filter(({ problem }) => problem === null).map((bill) => ({ service, bill })),
  )
  if (all.length === 0) return undefined
  const sum = (of: (bill: One) => number | null) =>
    all.reduce<number | null>((total, { bill }) => {
      const value = of(bill)
      return value === null || value === 0 ? total : (total ?? 0) + value
    }, null)
  const over = ({ bill }: (typeof all)[number]) => bill.overage_bps ?? bill.overage_octets ?? 0
  const [largest] = all.toSorted((a, b) => over(b) - over(a))
  return {
    overageBps: sum(({ overage_bps: bps }) => bps),
    overageOctets: sum(({ overage_octets: octets }) => octets),
    largest: over(largest!) > 0 ? largest : undefined,
    amount: amountOf(all.map(({ bill }) => bill.price)),
  }
}

/** In the smallest unit of the currency, because an amount is not a binary fraction. */
function amountOf(prices: readonly Bill['price'][]): BillsSoFar['amount'] {
  const currencies = new Set(prices.map((price) => price?.currency))
  const currency = prices[0]?.currency
  if (currencies.size !== 1 || currency === undefined) return undefined
  let sum = 0n
  let decimals = 0
  for (const price of prices) {
    if (price?.amount === null || price?.amount === undefined) return undefined
    const [whole = '', fraction = ''] = price.amount.split('.')
    if (fraction.length > decimals) {
      sum *= 10n ** BigInt(fraction.length - decimals)
      decimals = fraction.length
    }
    sum += BigInt(whole + fraction.padEnd(decimals, '0'))
  }
  const digits = String(sum).padStart(decimals + 1, '0')
  const value = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return { value, currency }
}
