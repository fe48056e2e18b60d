// Bills of services by their traffic: the current month and past ones, with everything that a recount needs.
import { Type, type Static } from 'typebox'
import { BillPrice, CreditNote } from './bill-price.ts'
import { BillingDirectionOf, BillingMethodOf, BillingScopeOf, CommitScopeOf } from './billing-rules.ts'
import { inventoryReading, route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'

/** `counters_32_bit`: they wrap within a poll at this speed. */
const billProblems = ['counters_32_bit', 'no_samples'] as const

/** The columns of rates that a percentile ranks; `max`: the greater of `in` and `out` of each line. */
export const rankedColumns = ['in', 'out', 'max', 'sum'] as const
export type RankedColumn = (typeof rankedColumns)[number]

/** `missing_samples`: too many for a figure that can be relied on. */
const billReviews = ['missing_samples'] as const

const Count = (description: string) => Nullable(Type.Integer({ minimum: 0, description }))
export const Month = (description: string) =>
  Type.String({
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
    expects: 'a month such as 2026-03',
    description,
    examples: ['2026-03'],
  })

export const BillablePort = Component('BillablePort', {
  port_id: Nullable({
    ...Id,
    description: 'id of the port; null if all ports of the service are billed as one',
  }),
  port_ids: Type.Array(Id, {
    description: 'the ports that are counted; a member of a LAG is in the LAG for the time of its membership',
  }),
  name: Type.String({ description: 'name of the port; that of the service for all ports' }),
  circuit_id: Type.String({ description: 'number of the circuit; empty for several ports' }),
  speed_bps: Count('bits per second, of several ports together; null if not known'),
  billing_method: BillingMethodOf,
  direction: BillingDirectionOf,
  scope: BillingScopeOf,
  commit_scope: CommitScopeOf,
  commit_bps: Count(
    'the committed rate of the bill; the mean by time if it changed in the period, and the sum of the ports with the commit scope `port`; null if none',
  ),
  included_octets: Count(
    'bytes that are included in the time of the bill, for `volume`: in proportion to its part of the month; null if none',
  ),
  p95_in_bps: Count('95th percentile of what the customer received; null without samples'),
  p95_out_bps: Count('95th percentile of what the customer sent'),
  average_in_bps: Count('mean of the samples'),
  average_out_bps: Count('mean of the samples'),
  octets_in: Count('bytes that the customer received'),
  octets_out: Count('bytes that the customer sent'),
  billable_bps: Count(
    'the billed rate by `billing_method` and `direction`; null for `volume`, and with a `problem`',
  ),
  billable_octets: Count('the billed bytes by `direction`; null unless the method is `volume`'),
  overage_bps: Count('the billed rate above the commit; null without one'),
  overage_octets: Count('the billed bytes above the included ones; null without any'),
  forecast_bps: Count(
    'for percentiles: the expected billed rate at the end of the month, from the samples so far and the same hours of the last four weeks; null for a month that is over',
  ),
  attack_excluded_bps: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        'the billed rate without attacks; null: the provider does not measure the traffic of attacks',
    }),
  ),
  problem: Nullable({
    ...Enumeration('BillProblem', billProblems),
    description:
      'why there is no billed rate. `counters_32_bit`: the counters of the device are too small for the speed of the port; `no_samples`: nothing was measured yet',
  }),
  samples: Type.Integer({ minimum: 0, description: 'buckets of 5 minutes that are ranked' }),
  missing_samples: Type.Integer({
    minimum: 0,
    description:
      'buckets so far of which less than half was measured: they are left out, not counted as zero',
  }),
  review: Nullable({
    ...Enumeration('BillReview', billReviews),
    description:
      'why the provider decides whether the bill stays or is corrected, once the month is over. `missing_samples`: more than 5 % of the buckets are missing, so ' +
      'that the 95th percentile could be any of their rates (10 % and 2 % for the other percentiles); null: nothing is to be decided',
  }),
  rank: Count(
    'position of the billed bucket among the samples in ascending order, from 1; null unless the method is a percentile',
  ),
  ranked: Nullable({
    ...Enumeration('RankedColumn', rankedColumns),
    description:
      'the column of the samples that is ranked: with the direction `max` the one that gives the greater figure. `max`: the greater rate of each line',
  }),
  ranked_at: { ...NullableTime, description: 'start of that bucket' },
  period_start: {
    ...Time,
    description:
      'start of the month in the time zone of the service; of the first assignment, of the time without a LAG or of the terms if that is later',
  },
  period_end: { ...Time, description: 'end of the month, or of one of these' },
  timezone: Type.String({ description: 'IANA name of the time zone of the service' }),
  price: Nullable({
    ...BillPrice,
    description:
      'prices, lines and amount, of a month that is not over for the figures so far; null if the service has no prices',
  }),
  as_of: { ...Time, description: 'time of the calculation' },
  closed: {
    ...NullableTime,
    description: 'when the month was closed: it never changes afterwards; null before',
  },
  samples_sha256: Nullable(
    Type.String({ description: 'of a closed month: SHA-256 of the file of its samples, in hexadecimal' }),
  ),
  corrects: Nullable({ ...Id, description: 'id of the closed bill that this one replaces; null if none' }),
  correction_reason: Nullable(Type.String({ description: 'why the provider has corrected or confirmed it' })),
  credit_note: Nullable({
    ...CreditNote,
    description: 'of a correction: what it changes; null if it confirms the figures, and for other bills',
  }),
})
export type BillablePort = Static<typeof BillablePort>

const serviceParams = Strict({ service_id: Id })

export const billOrderings = ['name', 'circuit_id', 'billable_bps'] as const

export const listBillablePortsRoute = route({
  name: 'listBillablePorts',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/services/{service_id}/billable-ports',
  summary: 'List service billable ports',
  description:
    'The figures by which a service is billed in a month, one row for each port, or one for all ports if the scope is `service`. A month in which ' +
    'method, direction or scope changed has rows for each part of it. Rates are ' +
    'whole bits per second of buckets of 5 minutes. A month is closed 24 hours after its end and never changes afterwards: a correction is a ' +
    'new bill, and the one that it replaces is in listBillingPeriods. To recount a figure, see getBillingSamples.',
  permission: { ...inventoryReading, limitedBy: 'service' },
  params: serviceParams,
  query: Strict({
    period: Optional(
      Month('a month such as 2026-03; by default the current one in the time zone of the service'),
    ),
    ordering: Ordering(billOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(BillablePort),
  success: 200,
})

export const BillingPeriod = Component('BillingPeriod', {
  period: Month('the month'),
  bill_id: { ...Id, description: 'id of the closed bill' },
  ...BillablePort.properties,
  corrected_by: Nullable({ ...Id, description: 'id of the bill that replaces this one; null if none' }),
})
export type BillingPeriod = Static<typeof BillingPeriod>

export const listBillingPeriodsRoute = route({
  name: 'listBillingPeriods',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/services/{service_id}/billing-periods',
  summary: 'List closed months of a service',
  description:
    'The figures of all months that are closed, corrected bills among them (`corrected_by`). They are kept when ports leave the service, and after the ' +
    'service itself is gone.',
  permission: { ...inventoryReading, limitedBy: 'service' },
  params: serviceParams,
  query: Strict({
    ordering: Ordering(['period', 'name'], '-period,name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(BillingPeriod),
  success: 200,
})

export const getBillingSamplesRoute = route({
  name: 'getBillingSamples',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/services/{service_id}/billing-samples',
  summary: 'Download the samples of a month',
  description:
    'All buckets of 5 minutes of a billed month as CSV (RFC 4180): `start`, `covered_ms`, `octets_in`, `octets_out`, `in_bps`, `out_bps`, `sum_bps`. ' +
    'Buckets with too little measured have empty rates. Sort the column `ranked` ascending: line `rank` is the percentile. The SHA-256 of the file of ' +
    'a closed month is `samples_sha256`; it is kept with the bill. Samples of other months are kept for 400 days.',
  permission: { ...inventoryReading, limitedBy: 'service' },
  params: serviceParams,
  query: Strict({
    period: Optional(Month('a month such as 2026-03; by default the current one')),
    port_id: Optional({
      ...Id,
      description: 'id of the port; only with the scope `port`, and required then',
    }),
    period_start: Optional({
      ...Time,
      description: 'of the bill, if the port has several in the month',
    }),
    bill_id: Optional({ ...Id, description: 'id of a closed bill; instead of the others' }),
  }),
  success: 200,
  download: ['text/csv'],
})

export const billRoutes = [listBillablePortsRoute, listBillingPeriodsRoute, getBillingSamplesRoute]
