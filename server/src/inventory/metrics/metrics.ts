// The ports and devices of a team as OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/), in base units.
import { inventoryMetricsMediaType } from '@pharos/contract/inventory/metrics'
import { Counter, Gauge, Registry } from 'prom-client'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { presentWarnings } from '../optics/lane-warnings.ts'
import { presentReading } from '../optics/present-transceiver.ts'
import { listTransceiverRows, type TransceiverRow } from '../optics/transceiver.store.ts'
import type { CounterName } from '../usage/reading.ts'
import {
  listDeviceReadings,
  listPortReadings,
  type DeviceReading,
  type PortReading,
} from './metrics.store.ts'

export type MetricsDeps = { readonly postgres: Postgres }

const portLabels = ['port_id', 'circuit_id', 'device', 'name', 'service'] as const
type Labels = Readonly<Record<(typeof portLabels)[number], string>>

export async function getInventoryMetrics(
  { postgres }: MetricsDeps,
  { actor }: Operation,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  const ports = await listPortReadings(postgres, actor.teamId)
  const modules = await listTransceiverRows(
    postgres,
    actor.teamId,
    ports.map(({ id }) => id),
  )
  const text = await openMetrics(ports, modules, await listDeviceReadings(postgres, actor.teamId))
  return { bytes: Buffer.from(text), mediaType: inventoryMetricsMediaType, filename: 'metrics.txt' }
}

/** The customer receives what the device sends. */
const counters: readonly (readonly [name: string, help: string, from: CounterName])[] = [
  ['receive_bytes', 'bytes that the customer received', 'octetsOut'],
  ['transmit_bytes', 'bytes that the customer sent', 'octetsIn'],
  ['receive_packets', 'unicast packets that the customer received', 'packetsOut'],
  ['transmit_packets', 'unicast packets that the customer sent', 'packetsIn'],
  ['receive_errors', 'packets to the customer that could not be sent because of errors', 'errorsOut'],
  ['transmit_errors', 'packets of the customer that arrived with errors', 'errorsIn'],
  ['receive_discards', 'packets to the customer that were discarded', 'discardsOut'],
  ['transmit_discards', 'packets of the customer that were discarded', 'discardsIn'],
]

export async function openMetrics(
  ports: readonly PortReading[],
  modules: ReadonlyMap<number, TransceiverRow>,
  devices: readonly DeviceReading[],
): Promise<string> {
  const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const registers = [registry]
  for (const [name, help, from] of counters) {
    const counter = new Counter({ name: `pharos_port_${name}`, help, labelNames: portLabels, registers })
    for (const port of ports) {
      const value = port.counters?.[from] ?? null
      if (value !== null) counter.inc(labelsOf(port), Number(value))
    }
  }
  addStates(registers, ports)
  addOptics(registers, ports, modules)
  const up = new Gauge({
    name: 'pharos_device_up',
    help: '1 if the device answered the last poll',
    labelNames: ['device'],
    registers,
  })
  for (const { name, is_answering: isAnswering } of devices)
    if (isAnswering !== null) up.set({ device: name }, Number(isAnswering))
  return registry.metrics()
}

const labelsOf = ({ id, name, circuit_id, device_name, service }: PortReading): Labels => ({
  port_id: String(id),
  circuit_id,
  device: device_name,
  name,
  service,
})

type Registers = Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>[]

function addStates(registers: Registers, ports: readonly PortReading[]): void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `pharos_port_${name}`, help, labelNames: portLabels, registers })
  const up = gauge('up', '1 if the port is up')
  const enabled = gauge('enabled', '1 if the port is not disabled by configuration')
  const speed = gauge('speed_bits_per_second', 'speed of the port')
  const polled = gauge('last_poll_timestamp_seconds', 'time of the last answer of the device')
  for (const port of ports) {
    const labels = labelsOf(port)
    if (port.oper_status !== 'unknown') up.set(labels, Number(port.oper_status === 'up'))
    if (port.admin_status !== 'unknown') enabled.set(labels, Number(port.admin_status === 'up'))
    if (port.speed_bps !== null) speed.set(labels, port.speed_bps)
    if (port.seen !== null) polled.set(labels, port.seen.getTime() / 1000)
  }
}

function addOptics(
  registers: Registers,
  ports: readonly PortReading[],
  modules: ReadonlyMap<number, TransceiverRow>,
): void {
  const laneLabels = [...portLabels, 'lane'] as const
  const ofLane = (name: string, help: string) =>
    new Gauge({ name: `pharos_port_optic_${name}`, help, labelNames: laneLabels, registers })
  const rx = ofLane('receive_power_dbm', 'received light; -40 in darkness')
  const tx = ofLane('transmit_power_dbm', 'transmitted light')
  const bias = ofLane('bias_amperes', 'current of the laser')
  const ber = ofLane('pre_fec_bit_error_ratio', 'bit errors before forward error correction, of all bits')
  const margin = ofLane('margin_decibels', 'received light above the low limit of the module')
  const ofPort = (name: string, help: string) =>
    new Gauge({ name: `pharos_port_optic_${name}`, help, labelNames: portLabels, registers })
  const temperature = ofPort('temperature_celsius', 'temperature of the module')
  const warnings = ofPort('warnings', 'number of early warnings of the module')
  for (const port of ports) {
    const module = modules.get(port.id)
    if (!module) continue
    const labels = labelsOf(port)
    const reading = presentReading(module.gauges)
    for (const lane of reading?.lanes ?? []) {
      const own = { ...labels, lane: String(lane.lane) }
      setIfKnown(rx, own, lane.rx_power_dbm)
      setIfKnown(tx, own, lane.tx_power_dbm)
      setIfKnown(bias, own, lane.bias_ma === null ? null : lane.bias_ma / 1000)
      setIfKnown(ber, own, lane.pre_fec_ber)
      setIfKnown(margin, own, lane.margin_db)
    }
    setIfKnown(temperature, labels, reading?.temperature_c ?? null)
    warnings.set(labels, presentWarnings(module.warnings).length)
  }
}

function setIfKnown<L extends string>(
  gauge: Gauge<L>,
  labels: Readonly<Record<L, string>>,
  value: number | null,
): void {
  if (value !== null) gauge.set(labels, value)
}
