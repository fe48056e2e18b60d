// The money of a bill: its prices, the lines that they give, and the difference that a correction makes.
import { Type, type Static } from 'typebox'
import { currencyFields, Decimal, priceFields } from './billing-rules.ts'
import { Component, Enumeration, Id, Nullable } from '../scalar.ts'

/** `half_up_per_line`: each line is rounded to the decimals of the currency, halves up, and the amount is the sum of the lines. */
const billRoundings = ['half_up_per_line'] as const

/** `monthly`: the price of a month; `commit`, `overage`: below and above the commit or the included bytes; `tier`: by quantity. */
const priceLineKinds = ['monthly', 'commit', 'overage', 'tier'] as const

const Buckets = (description: string) => Type.Integer({ minimum: 1, description })
const Amount = (description: string) =>
  Type.String({ pattern: '^-?[0-9]+(\\.[0-9]+)?$', description, examples: ['4250.00'] })

export const PriceLine = Component('PriceLine', {
  kind: {
    ...Enumeration('PriceLineKind', priceLineKinds),
    description:
      '`monthly`: the price of a month; `commit`, `overage`: what is below and above the commit or the included bytes; `tier`: a tier of the quantity',
  },
  above: Nullable(
    Type.Integer({ minimum: 0, description: 'of a tier: where it begins, in bits per second or bytes' }),
  ),
  quantity: Nullable(
    Type.Integer({ minimum: 0, description: 'bits per second, or bytes for `volume`; null for `monthly`' }),
  ),
  per: Nullable(
    Type.Integer({
      minimum: 1,
      description: 'the quantity that has the price: 1000000 (Mbit/s) or 1000000000 (GB); null for `monthly`',
    }),
  ),
  price: Decimal('price of that quantity, or of a month for `monthly`'),
  buckets: Buckets('buckets of 5 minutes for which the price applied'),
  of_buckets: Buckets(
    'buckets of 5 minutes for which the price is: those of a month, or of the bill for `volume`',
  ),
  amount: Amount('quantity / per x price x buckets / of_buckets, rounded'),
})
export type PriceLine = Static<typeof PriceLine>

export const BillPrice = Component('BillPrice', {
  ...currencyFields,
  rounding: {
    ...Enumeration('BillRounding', billRoundings),
    description:
      '`half_up_per_line`: each line is rounded to `decimals`, halves up, and the amount is the sum of the rounded lines',
  },
  buckets: Buckets('buckets of 5 minutes of the time of the bill'),
  month_buckets: Buckets('buckets of 5 minutes of the month, from one billing day to the next'),
  parts: Type.Array(
    Component('BillPricePart', {
      ...priceFields,
      buckets: Buckets('buckets of 5 minutes of the bill in which these prices applied'),
    }),
    { description: 'the prices of the service in the time of the bill, in the order of time' },
  ),
  lines: Type.Array(PriceLine, {
    description: 'what is charged; empty if the billed figure is not known',
  }),
  amount: Nullable(Amount('the sum of the lines; null if the billed figure is not known')),
})
export type BillPrice = Static<typeof BillPrice>

const Difference = (description: string) =>
  Nullable(Type.Integer({ description: `${description}; negative if less; null if either is not known` }))

export const CreditNote = Component(
  'CreditNote',
  {
    corrects: { ...Id, description: 'id of the bill that is credited' },
    billable_bps: Difference('difference of the billed rates'),
    billable_octets: Difference('difference of the billed bytes'),
    overage_bps: Difference('difference of the rates above the commit'),
    overage_octets: Difference('difference of the bytes above the included ones'),
    currency: Nullable(
      Type.String({
        description: 'ISO 4217; null if a bill has no prices, or if they have different currencies',
      }),
    ),
    amount: Nullable(
      Amount('difference of the amounts: negative is a credit for the customer; null if either is not known'),
    ),
  },
  { description: 'what a correction changes: its figures less those of the bill that it replaces' },
)
export type CreditNote = Static<typeof CreditNote>
