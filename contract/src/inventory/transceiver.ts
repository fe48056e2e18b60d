// Modules of ports: what they are, their light levels with the limits that they state, and early warnings.
import { Type, type Static } from 'typebox'
import { inventoryReading, route } from '../route.ts'
import { Component, Enumeration, Id, Nullable, Optional, Repeatable, Strict, Time } from '../scalar.ts'
import { gaugeQuery } from './gauge.ts'
import { Timeseries } from '../timeseries.ts'

const Text = (description: string) => Type.String({ description: `${description}; empty if not known` })
const Value = (description: string) => Nullable(Type.Number({ description }))

export const Transceiver = Component('Transceiver', {
  vendor: Text('vendor'),
  part: Text('part number'),
  serial: Text('serial number'),
  type: Text('type, such as `100GBASE-LR4`'),
  wavelength_nm: Value('wavelength in nanometers; null if not known'),
  reach_m: Nullable(Type.Integer({ minimum: 0, description: 'reach in meters; null if not known' })),
  connector: Text('connector, such as `LC`'),
  lanes: Type.Integer({ minimum: 1, description: 'number of lanes' }),
  inserted: { ...Time, description: 'when it was first seen in the interface' },
})
export type Transceiver = Static<typeof Transceiver>

/** A level beside the limits of its module. `no_light`: darkness. `unknown`: not measured, or the module states no limits. */
export const opticStatuses = ['ok', 'warning', 'alarm', 'no_light', 'unknown'] as const
export type OpticStatus = (typeof opticStatuses)[number]

const Status = (description: string) => ({ ...Enumeration('OpticStatus', opticStatuses), description })

export const TransceiverReading = Component('TransceiverReading', {
  timestamp: { ...Time, description: 'time of the reading' },
  temperature_c: Value('temperature in degrees Celsius'),
  voltage_v: Value('supply voltage in volts'),
  lanes: Type.Array(
    Component('TransceiverLane', {
      lane: Type.Integer({ minimum: 0, description: 'number of the lane, from 1' }),
      rx_power_dbm: Value('received light in dBm; -40 in darkness'),
      tx_power_dbm: Value('transmitted light in dBm'),
      bias_ma: Value('bias current of the laser in mA'),
      pre_fec_ber: Value('bit error rate before forward error correction; null if it is not reported'),
      rx_status: Status('received light beside the limits: `no_light` is darkness'),
      tx_status: Status('transmitted light beside the limits'),
      margin_db: Value(
        'dB of received light above the low alarm limit, else above the low warning limit; null if the module states neither',
      ),
    }),
  ),
})
export type TransceiverReading = Static<typeof TransceiverReading>

const Limits = Component('TransceiverLimits', {
  alarm_low: Value('null, as the others: the module states none'),
  warn_low: Value('low warning'),
  warn_high: Value('high warning'),
  alarm_high: Value('high alarm'),
})
export const opticQuantities = [
  'rx_power_dbm',
  'tx_power_dbm',
  'bias_ma',
  'temperature_c',
  'voltage_v',
] as const
export type OpticQuantity = (typeof opticQuantities)[number]

const Thresholds = Component(
  'TransceiverThresholds',
  Object.fromEntries(opticQuantities.map((name) => [name, Limits])) as Record<OpticQuantity, typeof Limits>,
)
export type TransceiverThresholds = Static<typeof Thresholds>

/**
 * `low_margin`: close to the limit; `step`: the level fell suddenly; `trend`: it falls from day to day.
 */
const opticWarningCodes = ['low_margin', 'step', 'trend'] as const
/** `module`: the laser of this port; `far_module`: that of the other end; `path`: fibre, connectors and panels between them. */
export const opticCauses = ['module', 'path', 'far_module', 'path_or_far_module'] as const
export type OpticCause = (typeof opticCauses)[number]

const Day = (description: string) => Type.String({ format: 'date', description })

export const OpticWarning = Component('OpticWarning', {
  code: {
    ...Enumeration('OpticWarningCode', opticWarningCodes),
    description:
      '`low_margin`: close to the limit of the module; `step`: the level has fallen at once; `trend`: it falls from day to day',
  },
  metric: Enumeration('OpticWarningMetric', ['rx_power', 'tx_power', 'bias']),
  lane: Type.Integer({ minimum: 0, description: 'number of the lane' }),
  cause: {
    ...Enumeration('OpticCause', opticCauses),
    description:
      'what the levels point at: the laser of this port (`module`), that of the other end, or the fibre between them (`path`)',
  },
  since: { ...Day('first day of the finding, UTC') },
  margin_db: Value('`low_margin`: dB above the limit'),
  step_db: Value('`step`: change in dB'),
  per_day: Value('`trend`: dB a day, or mA a day for the bias current'),
  limit_reached: Nullable(
    Day('`trend`: the day on which the limit is reached at this rate; null if it has been passed'),
  ),
  message: Type.String({ description: 'the finding and what to do, for people' }),
})
export type OpticWarning = Static<typeof OpticWarning>

export const opticMetrics = ['rx_power', 'tx_power', 'bias', 'temperature', 'voltage', 'pre_fec_ber'] as const
export type OpticMetric = (typeof opticMetrics)[number]
export const TransceiverMetrics = Component('TransceiverMetrics', {
  transceiver: Transceiver,
  ddm: Type.Boolean({ description: 'whether it reports light levels (digital diagnostic monitoring)' }),
  latest: Nullable({ ...TransceiverReading, description: 'the last reading; null without one' }),
  thresholds: {
    ...Thresholds,
    description: 'limits that the module states, of its first lane: 0 is a limit',
  },
  warnings: Type.Array(OpticWarning, { description: 'early warnings of its lanes' }),
  timeseries: Nullable({ ...Timeseries, description: 'null without `metric`, `start` and `end`' }),
})
export type TransceiverMetrics = Static<typeof TransceiverMetrics>

export const getTransceiverMetricsRoute = route({
  name: 'getTransceiverMetrics',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/ports/{port_id}/transceiver/metrics',
  summary: 'Port transceiver metrics',
  description:
    'The module of a port with its last reading, its limits and early warnings; with `metric`, `start` or `end` also the history ' +
    'of the port since it belongs to the team and has its interface, across all modules in that time: one series for each lane, metric and statistic. Values of ' +
    '5 minutes are kept for 90 days and daily figures for 400: `interval` is rounded up to what is kept. Darkness (-40 dBm) is in ' +
    'the values of 5 minutes and not in the daily figures. 404 `no_transceiver` if the port has no module.',
  permission: { ...inventoryReading, limitedBy: 'port' },
  params: Strict({ port_id: Id }),
  query: Strict({
    lane: Optional(Repeatable(Type.Integer({ minimum: 0, maximum: 64, description: 'number of a lane' }))),
    metric: Optional(Repeatable({ ...Enumeration('OpticMetric', opticMetrics), description: 'a metric' })),
    ...gaugeQuery,
  }),
  response: TransceiverMetrics,
  success: 200,
  errors: ['no_transceiver'],
})

export const transceiverRoutes = [getTransceiverMetricsRoute]
