// Examples of traffic, filter keys and time zones.
import { example } from '../example.ts'
import { getFilterKeysRoute } from '../events/filter-key.ts'
import {
  exportFlowTimeseriesRoute,
  getFlowGraphRoute,
  getFlowTimeseriesRoute,
  type FlowTimeseriesRequest,
} from '../flow/flow.ts'
import { getTimezoneRoute } from '../timezone.ts'

const request = {
  start: '2026-04-01T03:00:00Z',
  end: '2026-04-01T03:30:00Z',
  interval: 600,
  metric: 'bps',
  direction: 'in',
  group_by: ['protocol', 'service_port'],
  filters: [{ key: 'protocol', op: 'in', value: ['udp', 'tcp'] }],
  limit: 1,
} satisfies FlowTimeseriesRequest

const figures = (values: number[]) => ({
  values,
  min: Math.min(...values),
  max: Math.max(...values),
  avg: values.reduce((sum, value) => sum + value, 0) / values.length,
  last: values.at(-1)!,
  p95: Math.max(...values),
})

const quality = {
  sampled: true,
  sampling_rate: 1000,
  resolution: 60,
  partial: false,
  delay_seconds: 1,
  complete_until: '2026-04-01T11:59:59.000Z',
}

export const flowExamples = [
  example(getFlowTimeseriesRoute, {
    body: request,
    response: {
      start: '2026-04-01T03:00:00.000Z',
      end: '2026-04-01T03:30:00.000Z',
      interval: 600,
      timestamps: ['2026-04-01T03:00:00.000Z', '2026-04-01T03:10:00.000Z', '2026-04-01T03:20:00.000Z'],
      series: [
        {
          key: { protocol: 'udp', service_port: '53' },
          label: 'UDP · DNS (53)',
          unit: 'bps',
          ...figures([12_400_000, 7_841_000_000, 9_120_500_000]),
        },
        {
          key: { protocol: null, service_port: null },
          label: 'Other',
          unit: 'bps',
          ...figures([1_204_118_000, 1_198_220_000, 1_187_004_000]),
        },
      ],
      ...quality,
      previous: null,
    },
  }),
  example(exportFlowTimeseriesRoute, { body: request }),
  example(getFlowGraphRoute, {
    body: { start: request.start, end: request.end, group_by: ['remote_asn', 'protocol'], limit: 1 },
    response: {
      start: '2026-04-01T03:00:00.000Z',
      end: '2026-04-01T03:30:00.000Z',
      unit: 'bps',
      nodes: [
        { key: 'remote_asn', value: '64511', label: 'AS64511', total: 5_100_000_000 },
        { key: 'remote_asn', value: null, label: 'Other', total: 820_000_000 },
        { key: 'protocol', value: 'udp', label: 'UDP', total: 5_920_000_000 },
      ],
      links: [
        { source: 0, target: 2, value: 5_100_000_000 },
        { source: 1, target: 2, value: 820_000_000 },
      ],
      ...quality,
      resolution: 1,
    },
  }),
  example(getFilterKeysRoute, {
    query: { dataset: ['flows'], key: 'service_port', prefix: '44', limit: 100 },
    response: {
      results: [
        {
          key: 'service_port',
          label: 'Service port',
          description:
            'the lower port of the flow if it is below 32768, which is the port of the service; otherwise 0',
          dataset: 'flows',
          type: 'integer',
          operators: ['eq', 'ne', 'in', 'not_in', 'gt', 'lt'],
          groupable: true,
          values: [
            { value: '443', label: 'HTTPS (443)' },
            { value: '445', label: 'SMB (445)' },
          ],
        },
      ],
      count: 1,
    },
  }),
  example(getTimezoneRoute, {
    query: { location: 'SYD' },
    response: {
      location: 'SYD',
      name: 'Sydney',
      country: 'AU',
      timezone: 'Australia/Sydney',
      utc_offset: '+11:00',
      dst: true,
      at: '2026-04-01T03:12:09.120Z',
    },
  }),
]
