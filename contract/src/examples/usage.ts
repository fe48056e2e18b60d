// Examples of the usage of a port.
import { example } from '../example.ts'
import { getInventoryMetricsRoute } from '../inventory/metrics.ts'
import { getPortUsageRoute } from '../inventory/usage.ts'
import { portId } from './world.ts'

const series = (direction: 'in' | 'out', label: string, values: (number | null)[]) => ({
  key: { metric: 'bps', direction },
  label,
  unit: 'bps',
  values,
  min: 2_114_500_812,
  max: 9_870_114_020,
  avg: 5_420_118_733,
  last: 4_988_003_120,
  p95: 9_101_552_004,
})

export const usageExamples = [
  example(getInventoryMetricsRoute, {}),
  example(getPortUsageRoute, {
    params: { port_id: portId },
    query: {
      start: '2026-03-14T06:00:00Z',
      end: '2026-03-14T09:00:00Z',
      interval: 3600,
      metric: ['bps'],
      include: 'flow_records',
    },
    response: {
      start: '2026-03-14T06:00:00.000Z',
      end: '2026-03-14T09:00:00.000Z',
      interval: 3600,
      timestamps: ['2026-03-14T06:00:00.000Z', '2026-03-14T07:00:00.000Z', '2026-03-14T08:00:00.000Z'],
      series: [
        series('in', 'In', [4_120_552_110, null, 5_012_870_400]),
        series('out', 'Out', [2_260_118_004, null, 2_440_900_117]),
      ],
      direction_of: 'customer',
      samples: 25,
      missing_samples: 11,
      octets_in: 5_081_361_312_187,
      octets_out: 2_391_882_114_909,
      flow_records: {
        hours: 2,
        counted_octets_in: 4_110_040_129_500,
        counted_octets_out: 2_115_458_454_450,
        octets_in: 4_045_201_881_088,
        octets_out: 2_010_118_209_536,
        ratio_in: 0.984,
        ratio_out: 0.95,
        sampling_rate: 1000,
        differences: ['frame_overhead', 'sampling'],
        checked_hour: '2026-03-14T08:00:00.000Z',
        checked_ratio: 0.983,
      },
    },
  }),
]
