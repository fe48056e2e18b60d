// Usage of ports: rates over time, with the 95th percentile.
import { Type, type Static } from 'typebox'
import { PortFlowRecords } from './port-flows.ts'
import { inventoryReading, route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Include,
  Nullable,
  Optional,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'
import { bucketQuery, Timeseries } from '../timeseries.ts'

/** `bps`, `pps`: rates; `errors`, `discards`: packets a second. */
export const usageMetrics = ['bps', 'pps', 'errors', 'discards'] as const
export type UsageMetric = (typeof usageMetrics)[number]
export const usageDirections = ['in', 'out'] as const
export type UsageDirection = (typeof usageDirections)[number]

export const PortUsage = Component('PortUsage', {
  ...Timeseries.properties,
  direction_of: {
    ...Enumeration('DirectionOf', ['customer']),
    description: '`in` is received by the customer, `out` is sent by the customer',
  },
  samples: Type.Integer({
    minimum: 0,
    description: 'buckets of 5 minutes with values; `p95` and the other figures are of these',
  }),
  missing_samples: Type.Integer({
    minimum: 0,
    description: 'buckets of 5 minutes of which less than half is measured; they count nowhere',
  }),
  octets_in: Nullable(Type.Integer({ minimum: 0, description: 'bytes received in the window' })),
  octets_out: Nullable(Type.Integer({ minimum: 0, description: 'bytes sent in the window' })),
  flow_records: Optional(
    Nullable({
      ...PortFlowRecords,
      description:
        'with `include=flow_records`: the interface beside flow records; null without flow records of the port, or without a whole hour of both',
    }),
  ),
})
const usageFamilies = ['all', 'ipv4', 'ipv6'] as const
export type PortUsage = Static<typeof PortUsage>

export const getPortUsageRoute = route({
  name: 'getPortUsage',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/ports/{port_id}/usage',
  summary: 'Port usage metrics',
  description:
    'Rates of a port over time, while it belonged to the team, by default of the last 24 hours; a former customer keeps them. One series for each metric and ' +
    'direction; directions are those of the customer. Buckets of 5 minutes are kept for 400 days and of one minute for 30 ' +
    'days: `interval` is rounded up to what is kept. A bucket without a measurement is null, never 0. ' +
    'The figures of a series (`min`, `max`, `avg`, `last`, `p95`) are of the buckets of 5 minutes, whatever the interval: ' +
    '`p95` is their 95th percentile by nearest rank.',
  permission: { ...inventoryReading, limitedBy: 'port' },
  params: Strict({ port_id: Id }),
  query: Strict({
    start: Optional({ ...Time, description: 'start of the window' }),
    end: Optional({ ...Time, description: 'end of the window' }),
    ...bucketQuery,
    metric: Optional(Repeatable({ ...Enumeration('UsageMetric', usageMetrics), description: 'a metric' })),
    direction: Optional(
      Repeatable({ ...Enumeration('UsageDirection', usageDirections), description: 'a direction' }),
    ),
    family: Optional({
      ...Enumeration('UsageFamily', usageFamilies),
      description:
        '`all` by default, or the address family of the packets. Devices count octets of all families together: the series of `ipv4` and `ipv6` are from flows, estimated if they are sampled and kept for days; they have no values while the provider receives no flows of the port',
    }),
    include: Optional(Include('PortUsageInclude', ['flow_records'])),
  }),
  response: PortUsage,
  success: 200,
})

export const usageRoutes = [getPortUsageRoute]
