// The modules and light levels of a device, from every family of MIB tables that it implements. A new family is one file and one line of the
// list.
import type { InterfaceKey, OpticReading, SeenTransceiver } from '../../../inventory/collect/device-source.ts'
import { advaAccessPorts, advaFacilities, advaNetworkPorts } from './adva.ts'
import { arubaCx } from './aruba-cx.ts'
import { brocadeFc } from './brocade-fc.ts'
import { brocadeIp } from './brocade-ip.ts'
import { cienaCes, cienaSaos, cienaWaveserver } from './ciena.ts'
import { ciscoEntitySensor } from './cisco.ts'
import { dellOs9 } from './dell-os9.ts'
import {
  type EntityMap,
  entityColumns,
  findInterface,
  type InterfaceKeys,
  listEntityModules,
  mapEntities,
} from './entities.ts'
import { entitySensor } from './entity-sensor.ts'
import { ericssonTransceiver } from './ericsson.ts'
import type { DecodedModule, DecodedReading, OpticFamily, OpticTables, PortReference } from './family.ts'
import { fsFiber } from './fs.ts'
import { grooveLanes, groovePorts } from './groove.ts'
import { h3cTransceiver } from './h3c.ts'
import { hpeTransceiver } from './hpe.ts'
import { huaweiEntityExtent } from './huawei.ts'
import { juniperCoherent } from './juniper-coherent.ts'
import { juniperDom } from './juniper.ts'
import { mikrotik } from './mikrotik.ts'
import { nokiaCoherent } from './nokia-coherent.ts'
import { nokiaPort } from './nokia.ts'
import { ocnosChassis } from './ocnos.ts'
import { raisecom, raisecomRos } from './raisecom.ts'
import { snr } from './snr.ts'

/** For each interface, the first family with readings is used: vendor families are more exact than the standard. */
export const opticFamilies: readonly OpticFamily[] = [
  juniperCoherent,
  juniperDom,
  huaweiEntityExtent,
  nokiaCoherent,
  nokiaPort,
  mikrotik,
  h3cTransceiver,
  ocnosChassis,
  dellOs9,
  fsFiber,
  arubaCx,
  raisecom,
  raisecomRos,
  brocadeIp,
  brocadeFc,
  hpeTransceiver,
  cienaSaos,
  cienaCes,
  cienaWaveserver,
  ericssonTransceiver,
  advaNetworkPorts,
  advaAccessPorts,
  advaFacilities,
  grooveLanes,
  groovePorts,
  snr,
  ciscoEntitySensor,
  entitySensor,
]

/** Reads columns, or only the first value of each; a missing column is empty or absent. */
export type OpticWalk = (columns: readonly string[], part?: 'first') => Promise<OpticTables>

/**
 * The families of a device with all of their tables. Measurements are read again; the rest stays as long as the modules
 * do.
 */
export type KnownOptics = { readonly families: readonly OpticFamily[]; readonly tables: OpticTables }

export async function readKnownOptics(walk: OpticWalk): Promise<KnownOptics> {
  const probes = await walk(
    opticFamilies.map(({ probe }) => probe),
    'first',
  )
  const families = opticFamilies.filter(({ probe }) => (probes.get(probe)?.size ?? 0) > 0)
  const columns = families.flatMap((family) => family.columns)
  return { families, tables: await walk([...new Set([...columns, ...entityColumns])]) }
}

/** Returns the modules, one per interface with a module. `keys` are the interfaces by ifIndex. Pure. */
export function listTransceivers({ families, tables }: KnownOptics, keys: InterfaceKeys): SeenTransceiver[] {
  const map = mapEntities(tables, keys)
  const decoded = families.map((family) => family.decode(tables))
  const readings = readingsByInterface(map, keys, decoded)
  const modules = [...decoded.flatMap(({ transceivers }) => transceivers), ...listEntityModules(map)]
  const seen = byInterface(map, keys, modules)
  return [...new Set([...seen.keys(), ...readings.keys()])].map((key) =>
    mergeModules(key, seen.get(key) ?? [], readings.get(key) ?? []),
  )
}

/** Returns the light levels of all modules. `keys` are the interfaces by ifIndex. */
export async function readOptics(
  walk: OpticWalk,
  keys: InterfaceKeys,
  { families, tables: known }: KnownOptics,
): Promise<OpticReading[]> {
  if (families.length === 0) return []
  const measured = await walk([...new Set(families.flatMap((family) => family.measured))])
  const tables = new Map([...known, ...measured])
  const map = mapEntities(tables, keys)
  const found = readingsByInterface(
    map,
    keys,
    families.map((family) => family.decode(tables)),
  )
  return [...found].flatMap(([interfaceKey, readings]) =>
    readings.map((reading) => seenReading(interfaceKey, reading)),
  )
}

function seenReading(interfaceKey: InterfaceKey, reading: DecodedReading): OpticReading {
  const { port: _port, ...values } = reading
  return { interfaceKey, ...values }
}

type Decoded = ReturnType<OpticFamily['decode']>

/** Returns the readings of the first family that has readings of the interface, one per lane. */
function readingsByInterface(
  map: EntityMap,
  keys: InterfaceKeys,
  decoded: readonly Decoded[],
): Map<InterfaceKey, DecodedReading[]> {
  const found = new Map<InterfaceKey, DecodedReading[]>()
  for (const { readings } of decoded)
    for (const [key, own] of byInterface(map, keys, readings))
      if (!found.has(key)) found.set(key, uniqueLanes(own))
  return found
}

const uniqueLanes = (readings: readonly DecodedReading[]): DecodedReading[] =>
  [...new Map(readings.toReversed().map((reading) => [reading.lane, reading])).values()].sort(
    (a, b) => a.lane - b.lane,
  )

function byInterface<T extends { readonly port: PortReference }>(
  map: EntityMap,
  keys: InterfaceKeys,
  values: readonly T[],
): Map<InterfaceKey, T[]> {
  const found = new Map<InterfaceKey, T[]>()
  for (const value of values) {
    const key = findInterface(map, keys, value.port)
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), value])
  }
  return found
}

/** Each fact comes from the first table that has it. */
function mergeModules(
  interfaceKey: InterfaceKey,
  modules: readonly DecodedModule[],
  readings: readonly DecodedReading[],
): SeenTransceiver {
  const first = <K extends keyof DecodedModule>(name: K) =>
    modules.find((one) => one[name] !== null)?.[name] ?? null
  return {
    interfaceKey,
    vendor: first('vendor'),
    part: first('part'),
    serial: first('serial'),
    type: first('type'),
    wavelengthNm: first('wavelengthNm'),
    reachM: first('reachM'),
    connector: first('connector'),
    lanes: Math.max(1, ...modules.map(({ lanes }) => lanes), ...readings.map(({ lane }) => lane)),
    hasDdm: readings.length > 0,
  }
}
