// Load, memory, temperature, fans and power of a device, from HOST-RESOURCES-MIB, UCD-SNMP-MIB and ENTITY-SENSOR-MIB. A device
// without them has no such readings.
import type { HealthMetric, HealthReading, ReadPart } from '../../inventory/collect/device-source.ts'
import { cell, getObjects, indexesOf } from './columns.ts'
import { entPhysical, entPhySensor, hostResources, ucd } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toNumber, toOid, toText } from './value.ts'
import { walkColumns, type WalkedColumns } from './walk.ts'

const { storageRam, ...hostColumns } = hostResources

/** The names of entities are `readNames`, so that they need not be read each time. */
export async function readDeviceHealth(
  session: SnmpSession,
  readPart: ReadPart,
  readNames: (signal: AbortSignal) => Promise<WalkedColumns>,
): Promise<HealthReading[]> {
  const load = await readPart('load', async (ended) => {
    const objects = await getObjects(session, Object.values(ucd), ended)
    const scalars = new Map([...objects].map(([oid, value]) => [oid, toNumber(value)]))
    const host = await walkColumns(session, Object.values(hostColumns), ended)
    return [...cpuReadings(host, scalars), ...memoryReadings(host, scalars)]
  })
  const sensors = await readPart('sensors', async (ended) => {
    const found = await walkColumns(session, Object.values(entPhySensor), ended)
    if (found.get(entPhySensor.value)!.size === 0) return []
    return sensorReadings(found, await readNames(ended))
  })
  return [...(load ?? []), ...(sensors ?? [])]
}

type Scalars = ReadonlyMap<string, number | null>

function cpuReadings(host: WalkedColumns, scalars: Scalars): HealthReading[] {
  const loads = [...indexesOf(host, hostResources.processorLoad)].flatMap((index) => {
    const load = cell(host, hostResources.processorLoad, index, toNumber)
    return load === null ? [] : [load]
  })
  if (loads.length > 0)
    return loads.map((value, at) => ({
      metric: 'cpu',
      part: loads.length === 1 ? '' : `CPU ${at + 1}`,
      value,
    }))
  const idle = scalars.get(ucd.cpuIdle) ?? null
  return idle === null ? [] : [{ metric: 'cpu', part: '', value: 100 - idle }]
}

/** UCD first: hrStorage counts the memory of caches as used. */
function memoryReadings(host: WalkedColumns, scalars: Scalars): HealthReading[] {
  const [total, available] = [scalars.get(ucd.memTotalReal) ?? 0, scalars.get(ucd.memAvailReal) ?? null]
  if (total > 0 && available !== null) {
    const free = available + (scalars.get(ucd.memBuffer) ?? 0) + (scalars.get(ucd.memCached) ?? 0)
    return [{ metric: 'memory', part: '', value: percent(total - free, total) }]
  }
  const rows = [...indexesOf(host, hostResources.storageType)].filter(
    (index) => cell(host, hostResources.storageType, index, toOid) === storageRam,
  )
  return rows.flatMap((index) => {
    const size = cell(host, hostResources.storageSize, index, toNumber)
    const used = cell(host, hostResources.storageUsed, index, toNumber)
    const part =
      rows.length === 1 ? '' : (cell(host, hostResources.storageDescr, index, toText) ?? `Memory ${index}`)
    return size === null || used === null || size <= 0
      ? []
      : [{ metric: 'memory' as const, part, value: percent(used, size) }]
  })
}

const percent = (part: number, whole: number): number => Math.min(100, Math.max(0, (100 * part) / whole))

export function readEntityNames(session: SnmpSession, signal: AbortSignal): Promise<WalkedColumns> {
  return walkColumns(session, [entPhysical.name, entPhysical.descr], signal)
}

/** entPhySensorType: watts(6), celsius(8), rpm(10). */
const sensorMetrics: Readonly<Record<number, HealthMetric>> = { 6: 'power', 8: 'temperature', 10: 'fan' }

/** Sensors of modules belong to the optics of their port. */
const ofModule = /xcvr|transceiver|\bq?sfp|optic|laser|\blane|\b[rt]x\b|ethernet|gig|\bdom\b/i

function sensorReadings(sensors: WalkedColumns, names: WalkedColumns): HealthReading[] {
  return [...indexesOf(sensors, entPhySensor.value)].flatMap((index): HealthReading[] => {
    const metric = sensorMetrics[cell(sensors, entPhySensor.type, index, toNumber) ?? 0]
    const isOk = (cell(sensors, entPhySensor.operStatus, index, toNumber) ?? 1) === 1
    const value = sensorValue(sensors, index)
    const part =
      cell(names, entPhysical.name, index, toText) ??
      cell(names, entPhysical.descr, index, toText) ??
      `Sensor ${index}`
    if (metric === undefined || !isOk || value === null || ofModule.test(part)) return []
    return isPlausible(metric, value) ? [{ metric, part, value }] : []
  })
}

/** value x 1000^(scale - 9) / 10^precision: scale 9 is the unit itself (RFC 3433). */
export function sensorValue(sensors: WalkedColumns, index: string): number | null {
  const number = (column: string) => cell(sensors, column, index, toNumber)
  const [value, scale, precision] = [
    number(entPhySensor.value),
    number(entPhySensor.scale) ?? 9,
    number(entPhySensor.precision) ?? 0,
  ]
  const isValid =
    value !== null && Math.abs(value) < 1_000_000_000 && scale >= 1 && scale <= 17 && Math.abs(precision) <= 9
  return isValid ? value * 10 ** ((scale - 9) * 3 - precision) : null
}

/** Devices report absent parts with values such as -32768. */
function isPlausible(metric: HealthMetric, value: number): boolean {
  return metric === 'temperature' ? value > -100 && value < 300 : value >= 0
}
