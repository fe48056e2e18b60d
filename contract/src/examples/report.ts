// Examples of the monthly report.
import { example } from '../example.ts'
import { downloadMonthlyReportRoute, getMonthlyReportRoute } from '../messages/report.ts'
import { teamReference } from './world.ts'

const figures = (values: number[]) => ({
  values,
  min: Math.min(...values),
  max: Math.max(...values),
  avg: values.reduce((sum, value) => sum + value, 0) / values.length,
  last: values.at(-1)!,
  p95: Math.max(...values),
})

export const reportExamples = [
  example(getMonthlyReportRoute, {
    params: { month: '2026-03' },
    response: {
      month: '2026-03',
      timezone: 'Europe/Amsterdam',
      start: '2026-02-28T23:00:00.000Z',
      end: '2026-03-31T22:00:00.000Z',
      complete: true,
      prepared: '2026-04-02T04:00:09.120Z',
      provider: 'Example Net',
      team: teamReference,
      traffic: {
        state: 'measured',
        hours: {
          start: '2026-02-28T23:00:00.000Z',
          end: '2026-03-01T01:00:00.000Z',
          interval: 3600,
          timestamps: ['2026-02-28T23:00:00.000Z', '2026-03-01T00:00:00.000Z'],
          series: [
            {
              key: { direction: 'in' },
              label: 'In',
              unit: 'bps',
              ...figures([3_204_118_000, 2_998_220_000]),
            },
            {
              key: { direction: 'out' },
              label: 'Out',
              unit: 'bps',
              ...figures([1_104_550_000, 981_407_000]),
            },
          ],
          sampled: true,
          sampling_rate: 1000,
          resolution: 3600,
          partial: false,
          delay_seconds: 1,
          complete_until: '2026-04-02T04:00:08.000Z',
          previous: null,
        },
        bytes_in: 1_043_118_204_551_000,
        bytes_out: 412_004_118_220_000,
        protocols: [{ label: 'TCP', bytes: 1_102_004_118_220_000 }],
        applications: [{ label: 'HTTPS (443)', bytes: 910_114_118_220_000 }],
        networks: [{ label: 'AS64500 Example Access', bytes: 410_114_118_220_000 }],
        families: [{ label: 'IPv4', bytes: 1_010_114_118_220_000 }],
        facilities: [{ label: 'Amsterdam', bytes: 810_114_118_220_000 }],
      },
      attacks: {
        count: 2,
        count_before: 5,
        days: {
          start: '2026-02-28T23:00:00.000Z',
          end: '2026-03-02T23:00:00.000Z',
          interval: 86_400,
          timestamps: ['2026-02-28T23:00:00.000Z', '2026-03-01T23:00:00.000Z'],
          series: [
            { key: { peak_bps: 'from_10g' }, label: 'from_10g', unit: 'events', ...figures([1, 0]) },
            { key: { peak_bps: 'below_1g' }, label: 'below_1g', unit: 'events', ...figures([0, 1]) },
          ],
        },
        kinds: [
          { classification_key: 'tcp.syn_flood', count: 1 },
          { classification_key: 'udp.amplification.dns', count: 1 },
        ],
        largest: [
          {
            id: 'k7m2q4x5w3zt',
            network: '203.0.113.25/32',
            classification_key: 'udp.amplification.dns',
            start: '2026-03-01T03:12:40.000Z',
            end: '2026-03-01T03:41:02.000Z',
            bps: 12_400_000_000,
            pps: 3_100_000,
          },
        ],
      },
      services: [],
      changes: [
        { at: '2026-03-01T03:20:11.410Z', kind: 'shield_changed', prefix: '203.0.113.0/24', rules: 3 },
        {
          at: '2026-03-09T10:02:54.007Z',
          kind: 'announcement_enabled',
          prefix: '203.0.113.0/24',
          rules: null,
        },
      ],
      change_count: 2,
    },
  }),
  example(downloadMonthlyReportRoute, { params: { month: '2026-03' } }),
]
