// Examples of bills by traffic.
import {
  getBillingSamplesRoute,
  listBillablePortsRoute,
  listBillingPeriodsRoute,
  type BillablePort,
} from '../inventory/bill.ts'
import { example } from '../example.ts'
import { uplink } from './port.ts'
import { transit } from './service.ts'

const bill: BillablePort = {
  port_id: uplink.id,
  port_ids: [uplink.id],
  name: uplink.name,
  circuit_id: uplink.circuit_id,
  speed_bps: uplink.speed_bps,
  billing_method: 'p95',
  direction: 'max',
  scope: 'port',
  commit_scope: 'port',
  commit_bps: 10_000_000_000,
  included_octets: null,
  p95_in_bps: 11_210_448_120,
  p95_out_bps: 4_920_771_015,
  average_in_bps: 6_144_090_771,
  average_out_bps: 2_803_116_442,
  octets_in: 2_056_842_101_774_210,
  octets_out: 938_417_220_190_551,
  billable_bps: 11_210_448_120,
  billable_octets: null,
  overage_bps: 1_210_448_120,
  overage_octets: null,
  forecast_bps: null,
  attack_excluded_bps: null,
  problem: null,
  samples: 8914,
  missing_samples: 2,
  review: null,
  rank: 8469,
  ranked: 'in',
  ranked_at: '2026-03-17T19:35:00.000Z',
  period_start: '2026-02-28T23:00:00.000Z',
  period_end: '2026-03-31T22:00:00.000Z',
  timezone: 'Europe/Amsterdam',
  price: {
    currency: 'EUR',
    decimals: 2,
    rounding: 'half_up_per_line',
    buckets: 8916,
    month_buckets: 8916,
    parts: [
      {
        monthly: '250',
        commit: '0.40',
        overage: '0.55',
        tiers: [],
        tier_mode: 'graduated',
        buckets: 8916,
      },
    ],
    lines: [
      {
        kind: 'monthly',
        above: null,
        quantity: null,
        per: null,
        price: '250',
        buckets: 8916,
        of_buckets: 8916,
        amount: '250.00',
      },
      {
        kind: 'commit',
        above: null,
        quantity: 10_000_000_000,
        per: 1_000_000,
        price: '0.40',
        buckets: 8916,
        of_buckets: 8916,
        amount: '4000.00',
      },
      {
        kind: 'overage',
        above: null,
        quantity: 1_210_448_120,
        per: 1_000_000,
        price: '0.55',
        buckets: 8916,
        of_buckets: 8916,
        amount: '665.75',
      },
    ],
    amount: '4915.75',
  },
  as_of: '2026-04-01T22:00:09.412Z',
  closed: '2026-04-01T22:00:09.440Z',
  samples_sha256: '3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855e',
  corrects: null,
  correction_reason: null,
  credit_note: null,
}
export const closedBill = { period: '2026-03', bill_id: 371, ...bill, corrected_by: null }

const params = { service_id: transit.id }

export const billExamples = [
  example(listBillablePortsRoute, {
    params,
    query: { period: '2026-03' },
    response: { results: [bill], count: 1 },
  }),
  example(listBillingPeriodsRoute, {
    params,
    query: { ordering: '-period,name', limit: 12 },
    response: { results: [closedBill], count: 1 },
  }),
  example(getBillingSamplesRoute, { params, query: { period: '2026-03', port_id: uplink.id } }),
]
