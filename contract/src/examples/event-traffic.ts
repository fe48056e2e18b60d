// Example of the traffic of a security event.
import { getEventTrafficRoute } from '../events/event-traffic.ts'
import { example } from '../example.ts'
import { eventId } from './world.ts'

export const eventTrafficExamples = [
  example(getEventTrafficRoute, {
    params: { event_id: eventId },
    query: { start: '2026-04-01T03:15:00Z', end: '2026-04-01T03:17:00Z', interval: 60 },
    response: {
      start: '2026-04-01T03:15:00.000Z',
      end: '2026-04-01T03:17:00.000Z',
      interval: 60,
      timestamps: ['2026-04-01T03:15:00.000Z', '2026-04-01T03:16:00.000Z'],
      source: 'flows',
      notes: [],
      series: [
        {
          key: { part: 'total' },
          label: 'Total',
          unit: 'bps',
          values: [9_100_000_000, 9_500_000_000],
          min: 9_100_000_000,
          max: 9_500_000_000,
          avg: 9_300_000_000,
          last: 9_500_000_000,
          p95: 9_500_000_000,
        },
        {
          key: { part: 'dropped' },
          label: 'Dropped',
          unit: 'bps',
          values: [0, 9_400_000_000],
          min: 0,
          max: 9_400_000_000,
          avg: 4_700_000_000,
          last: 9_400_000_000,
          p95: 9_400_000_000,
        },
        {
          key: { part: 'passed' },
          label: 'Passed',
          unit: 'bps',
          values: [9_100_000_000, 100_000_000],
          min: 100_000_000,
          max: 9_100_000_000,
          avg: 4_600_000_000,
          last: 100_000_000,
          p95: 9_100_000_000,
        },
      ],
    },
  }),
]
