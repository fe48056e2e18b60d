// How the traffic of a service is billed.
import { Enumeration } from './scalar.ts'

/** `p95`: 95th percentile of buckets of 5 minutes; `average` of them; `volume`: bytes; `flat`: not by traffic. */
export const billingMethods = ['p95', 'average', 'flat', 'volume'] as const
export type BillingMethod = (typeof billingMethods)[number]
export const billingDirections = ['in', 'out', 'max', 'sum'] as const
export type BillingDirection = (typeof billingDirections)[number]
export const billingScopes = ['port', 'service'] as const
export type BillingScope = (typeof billingScopes)[number]

export const BillingMethodOf = {
  ...Enumeration('BillingMethod', billingMethods),
  description:
    '`p95`: 95th percentile by nearest rank of buckets of 5 minutes; `average`: their mean; `volume`: bytes; `flat`: not by traffic',
}
export const BillingDirectionOf = {
  ...Enumeration('BillingDirection', billingDirections),
  description:
    'as the customer sees it; `max`: the greater figure of both directions; `sum`: the figure of both added per bucket',
}
export const BillingScopeOf = {
  ...Enumeration('BillingScope', billingScopes),
  description: '`port`: each port by itself; `service`: all ports of the service added per bucket, as one',
}
