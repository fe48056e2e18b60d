// How the traffic of a service is billed.
import { Type, type Static } from 'typebox'
import { Component, Enumeration, Nullable } from '../scalar.ts'

/** `p90`, `p95`, `p98`: percentiles of buckets of 5 minutes; `average` of them; `volume`: bytes; `flat`: not by traffic. */
export const billingMethods = ['p90', 'p95', 'p98', 'average', 'flat', 'volume'] as const
export type BillingMethod = (typeof billingMethods)[number]
export const billingDirections = ['in', 'out', 'max', 'max_sample', 'sum'] as const
export type BillingDirection = (typeof billingDirections)[number]
export const billingScopes = ['port', 'service'] as const
export type BillingScope = (typeof billingScopes)[number]

export const BillingMethodOf = {
  ...Enumeration('BillingMethod', billingMethods),
  description:
    '`p90`, `p95`, `p98`: 90th, 95th or 98th percentile by nearest rank of buckets of 5 minutes; `average`: their mean; `volume`: bytes; `flat`: not by traffic',
}
export const BillingDirectionOf = {
  ...Enumeration('BillingDirection', billingDirections),
  description:
    'as the customer sees it; `max`: the greater figure of both directions; `max_sample`: the figure of the greater direction of each bucket; `sum`: the figure ' +
    'of both added per bucket',
}
export const BillingScopeOf = {
  ...Enumeration('BillingScope', billingScopes),
  description: '`port`: each port by itself; `service`: all ports of the service added per bucket, as one',
}
export const CommitScopeOf = {
  ...Enumeration('BillingScope', billingScopes),
  description:
    'whether commit and included bytes are of each port, added for the ports of a bill (`port`), or of all ports together (`service`). With the scope `port` ' +
    'they are of each port',
}

/** A decimal number of a currency, as text: it is never a binary fraction. */
export const Decimal = (description: string) =>
  Type.String({
    pattern: '^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,8})?$',
    expects: 'a decimal number in quotes with at most 8 decimals, such as "0.45"',
    description: `${description}; a decimal number as text`,
    examples: ['0.45'],
  })

/** `graduated`: each part of the quantity at the price of its tier; `whole`: all of it at the price of the last tier that it reaches. */
export const billingTierModes = ['graduated', 'whole'] as const

const BillingTier = Component('BillingTier', {
  above: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'the tier begins above this many bits per second, or bytes for `volume`; 0 for the first',
  }),
  price: Decimal('price of a Mbit/s for a month, or of a GB for `volume`'),
})

/** The prices themselves; a Mbit/s are 10^6 bits per second, a GB are 10^9 bytes. */
export const priceFields = {
  monthly: Nullable(Decimal('price of a month, whatever is transferred; null if none')),
  commit: Nullable(
    Decimal(
      'price of a Mbit/s of the commit for a month, or of a GB of the included bytes for `volume`; null if none, and with tiers',
    ),
  ),
  overage: Nullable(
    Decimal(
      'price of a Mbit/s above the commit for a month, or of a GB above the included bytes for `volume`; null if none, and with tiers',
    ),
  ),
  tiers: Type.Array(BillingTier, {
    description:
      'prices by quantity, instead of `commit` and `overage`: of the billed rate or bytes, at least the commit or the included bytes; empty if none',
  }),
  tier_mode: {
    ...Enumeration('BillingTierMode', billingTierModes),
    description:
      '`graduated`: each part of the quantity has the price of its tier; `whole`: all of it has the price of the last tier that it reaches',
  },
}

export const currencyFields = {
  currency: Type.String({
    pattern: '^[A-Z]{3}$',
    description: 'ISO 4217, such as EUR',
    examples: ['EUR'],
  }),
  decimals: Type.Integer({
    minimum: 0,
    maximum: 4,
    description: 'decimals of amounts: 2 for EUR, 0 for JPY',
  }),
}

export const BillingPrices = Component('BillingPrices', { ...currencyFields, ...priceFields })
export type BillingPrices = Static<typeof BillingPrices>
