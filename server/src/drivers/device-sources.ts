// The drivers of the port DeviceSource, by the `driver` of a device.
import { Type } from 'typebox'
import type { DeviceSource } from '../inventory/collect/device-source.ts'
import { checkSandboxDevice, type SandboxDeviceSettings } from './sandbox-device/settings.ts'
import { SandboxDeviceSource } from './sandbox-device/source.ts'
import { SflowSource, type SflowSourceOptions } from './sflow/source.ts'
import { settingsCheck, type SettingProblem } from './driver/setting-problems.ts'
import type { SnmpCredential } from './snmp/credential.ts'
import { checkSnmpSettings, type SnmpSettings } from './snmp/settings.ts'
import { createSnmpSource } from './snmp/source.ts'

/** How a device is read, always by one of them, so that nothing is counted twice. `none`: it is not read. */
export const deviceDrivers = ['none', 'snmp', 'sflow', 'sandbox'] as const
type DeviceDriver = (typeof deviceDrivers)[number]

/** A device of the platform file, with its credential opened. */
export type DeviceSourceConfig = {
  readonly name: string
  readonly driver: string
  readonly settings: unknown
  readonly address: string | null
  readonly credential: SnmpCredential | null
  /** Counters that the device has sent by itself; needed by `sflow`. */
  readonly readSamples?: SflowSourceOptions['readSamples']
}

const checks: Readonly<Record<DeviceDriver, (settings: unknown) => readonly SettingProblem[]>> = {
  none: () => [],
  snmp: checkSnmpSettings,
  sflow: settingsCheck(Type.Object({}, { additionalProperties: false }), 'a device that is read by sFlow'),
  sandbox: checkSandboxDevice,
}

/** Lists the problems of the settings of a device; an empty list means that its driver accepts them. */
export const checkDeviceSettings = (driver: DeviceDriver, settings: unknown): readonly SettingProblem[] =>
  checks[driver](settings)

/** Returns the source of a device, which asks nothing yet; undefined for a device that is not read. */
export function createDeviceSource(
  { name, driver, settings, address, credential, readSamples }: DeviceSourceConfig,
  now: () => Date,
): DeviceSource | undefined {
  if (driver === 'sandbox')
    return new SandboxDeviceSource({ name, settings: settings as SandboxDeviceSettings, now })
  if (driver === 'sflow') return readSamples && new SflowSource({ name, readSamples, now })
  if (driver !== 'snmp' || address === null || credential === null) return undefined
  const { port, timeout_ms: timeoutMs, tries, any_source: acceptsAnySource } = settings as SnmpSettings
  const given = Object.entries({ port, timeoutMs, tries, acceptsAnySource }).filter(
    ([, value]) => value !== undefined,
  )
  return createSnmpSource({ address, credential, ...Object.fromEntries(given) })
}
