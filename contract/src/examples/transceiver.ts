// Examples of modules of ports and their light levels.
import { example } from '../example.ts'
import {
  getTransceiverMetricsRoute,
  type OpticWarning,
  type Transceiver,
  type TransceiverReading,
} from '../inventory/transceiver.ts'
import { portId } from './world.ts'

export const transceiver: Transceiver = {
  vendor: 'Example Optics',
  part: 'EX-Q28-LR4',
  serial: 'XK0217A',
  type: '100GBASE-LR4',
  wavelength_nm: 1310,
  reach_m: 10_000,
  connector: 'LC',
  lanes: 1,
  inserted: '2025-11-02T08:10:44.000Z',
}

export const latest: TransceiverReading = {
  timestamp: '2026-03-14T09:40:12.000Z',
  temperature_c: 34.1,
  voltage_v: 3.31,
  lanes: [
    {
      lane: 1,
      rx_power_dbm: -9.42,
      tx_power_dbm: 1.08,
      bias_ma: 38.02,
      pre_fec_ber: null,
      rx_status: 'ok',
      tx_status: 'ok',
      margin_db: 4.58,
    },
  ],
}

export const fading: OpticWarning = {
  code: 'trend',
  metric: 'rx_power',
  lane: 1,
  cause: 'path_or_far_module',
  since: '2026-03-02',
  margin_db: null,
  step_db: null,
  per_day: -0.061,
  limit_reached: '2026-04-09',
  message:
    'Lane 1 receives 0.061 dB less light from day to day: at this rate it reaches its warning limit on 2026-04-09. Check the fibre and its connectors, and the module at the other end.',
}

const limits = (alarm_low: number, warn_low: number, warn_high: number, alarm_high: number) => ({
  alarm_low,
  warn_low,
  warn_high,
  alarm_high,
})

export const transceiverExamples = [
  example(getTransceiverMetricsRoute, {
    params: { port_id: portId },
    query: {
      metric: ['rx_power'],
      start: '2026-03-12T00:00:00Z',
      end: '2026-03-14T00:00:00Z',
      interval: 86_400,
    },
    response: {
      transceiver,
      ddm: true,
      latest,
      thresholds: {
        rx_power_dbm: limits(-14, -11, 3.5, 5),
        tx_power_dbm: limits(-8, -6, 4.5, 5.5),
        bias_ma: limits(5, 10, 80, 90),
        temperature_c: limits(-10, -5, 70, 75),
        voltage_v: limits(2.97, 3.13, 3.46, 3.63),
      },
      warnings: [fading],
      timeseries: {
        start: '2026-03-12T00:00:00.000Z',
        end: '2026-03-14T00:00:00.000Z',
        interval: 86_400,
        timestamps: ['2026-03-12T00:00:00.000Z', '2026-03-13T00:00:00.000Z'],
        series: [
          {
            key: { metric: 'rx_power', lane: '1', statistic: 'median' },
            label: 'Received light, lane 1',
            unit: 'dBm',
            values: [-9.3, -9.37],
            min: -9.37,
            max: -9.3,
            avg: -9.335,
            last: -9.37,
            p95: -9.3,
          },
        ],
      },
    },
  }),
]
