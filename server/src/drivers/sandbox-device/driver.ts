// The driver of simulated devices, for demos and tests.
import type { DeviceDriver } from '../../inventory/collect/device-driver.ts'
import { checkSandboxDevice, SandboxDeviceSettings } from './settings.ts'
import { SandboxDeviceSource } from './source.ts'

export const sandboxDevice: DeviceDriver = {
  kind: 'sandbox',
  needs: [],
  settings: SandboxDeviceSettings,
  check: checkSandboxDevice,
  create: ({ name, settings, now }) =>
    new SandboxDeviceSource({ name, settings: settings as SandboxDeviceSettings, now }),
}
