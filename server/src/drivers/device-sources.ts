// The drivers of the port DeviceSource, by the `driver` of a device.
import type { DeviceSource } from '../inventory/collect/device-source.ts'
import { checkSandboxDevice, type SandboxDeviceSettings } from './sandbox-device/settings.ts'
import { SandboxDeviceSource } from './sandbox-device/source.ts'
import type { SettingProblem } from './setting-problems.ts'

export const deviceDrivers = ['none', 'sandbox'] as const
type DeviceDriver = (typeof deviceDrivers)[number]

export type DeviceSourceConfig = {
  readonly name: string
  readonly driver: string
  readonly settings: unknown
}

/** Lists the problems of the settings of a device; an empty list means that its driver accepts them. */
export const checkDeviceSettings = (driver: DeviceDriver, settings: unknown): readonly SettingProblem[] =>
  driver === 'sandbox' ? checkSandboxDevice(settings) : []

/** Returns the source of a device, which asks nothing yet; undefined for a device that is not read. */
export function createDeviceSource(
  { name, driver, settings }: DeviceSourceConfig,
  now: () => Date,
): DeviceSource | undefined {
  if (driver !== 'sandbox') return undefined
  return new SandboxDeviceSource({ name, settings: settings as SandboxDeviceSettings, now })
}
