// Vendor, model, serial number and software of a device, from ENTITY-MIB, scalars of the vendor and the description.
import type { DeviceIdentity, ReadPart } from '../../inventory/collect/device-source.ts'
import { cell, getObjects, indexesOf } from './columns.ts'
import { entPhysical, system } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toNumber, toOid, toText } from './value.ts'
import { findVendor } from './vendors.ts'
import { walkColumns } from './walk.ts'
import { DriverError } from '../../runtime/driver-error.ts'

export async function readDeviceIdentity(
  session: SnmpSession,
  signal: AbortSignal,
  readPart: ReadPart,
): Promise<DeviceIdentity> {
  const objects = await getObjects(session, Object.values(system), signal)
  const of = <T>(oid: string, convert: (value: NonNullable<ReturnType<typeof objects.get>>) => T | null) => {
    const value = objects.get(oid)
    return value === undefined ? null : convert(value)
  }
  const uptimeCs = of(system.sysUpTime, toNumber)
  if (uptimeCs === null) throw new DriverError('protocol', 'The device has no clock (sysUpTime).')
  const vendor = findVendor(of(system.sysObjectID, toOid))
  const description = of(system.sysDescr, toText) ?? ''
  const tables = await readPart('identity', async (ended) => ({
    chassis: await readChassis(session, ended),
    own: await getObjects(session, Object.values(vendor?.scalars ?? {}), ended),
  }))
  const chassis = tables?.chassis
  const unknown = tables ? null : undefined
  const scalar = (oid: string | undefined) => {
    const value = oid === undefined ? undefined : tables?.own.get(oid)
    return value === undefined ? null : toText(value)
  }
  return {
    name: of(system.sysName, toText),
    vendor: vendor?.name ?? null,
    model: chassis?.model ?? scalar(vendor?.scalars?.model) ?? matchIn(description, vendor?.model) ?? unknown,
    serial: chassis?.serial ?? scalar(vendor?.scalars?.serial) ?? unknown,
    software:
      scalar(vendor?.scalars?.software) ??
      matchIn(description, vendor?.software ?? /\bversion:?\s+v?([0-9][\w.()-]*)/i) ??
      chassis?.software ??
      unknown,
    uptimeMs: uptimeMs(uptimeCs, of(system.snmpEngineTime, toNumber)),
  }
}

/**
 * sysUpTime wraps after 497 days, snmpEngineTime (seconds) after 68 years: used if both agree but for whole wraps. Some engines
 * count from another time.
 */
export function uptimeMs(uptimeCs: number, engineSeconds: number | null): number {
  const wraps = engineSeconds === null ? 0 : Math.round((engineSeconds * 100 - uptimeCs) / 2 ** 32)
  const whole = uptimeCs + wraps * 2 ** 32
  const agrees = engineSeconds !== null && wraps > 0 && Math.abs(whole - engineSeconds * 100) < 60 * 100
  return (agrees ? whole : uptimeCs) * 10
}

const matchIn = (text: string, pattern: RegExp | undefined): string | null => pattern?.exec(text)?.[1] ?? null

type Chassis = {
  readonly model: string | null
  readonly serial: string | null
  readonly software: string | null
}

const chassisClass = 3
const entitiesMax = 5_000

/** Returns the first chassis of entPhysicalTable; undefined without a chassis. */
async function readChassis(session: SnmpSession, signal: AbortSignal): Promise<Chassis | undefined> {
  const classes = await walkColumns(session, [entPhysical.class], signal, {
    rowsMax: entitiesMax,
    isEnough: (_column, _index, value) => toNumber(value) === chassisClass,
  })
  const index = [...indexesOf(classes, entPhysical.class)].find(
    (one) => cell(classes, entPhysical.class, one, toNumber) === chassisClass,
  )
  if (index === undefined) return undefined
  const oid = (column: string) => `${column}.${index}`
  const columns = [entPhysical.modelName, entPhysical.serialNum, entPhysical.softwareRev]
  const objects = await getObjects(session, columns.map(oid), signal)
  const [model = null, serial = null, software = null] = columns.map((column) => {
    const value = objects.get(oid(column))
    return value === undefined ? null : toText(value)
  })
  return { model, serial, software }
}
