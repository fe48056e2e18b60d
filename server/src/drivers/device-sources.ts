// The drivers of the port DeviceSource, by the `driver` of a device in the platform file and in `devices.driver`. Each
// device has one driver, so that no value is counted twice.
import type { DeviceDriver, DeviceOptions } from '../inventory/collect/device-driver.ts'
import type { DeviceSource } from '../inventory/collect/device-source.ts'
import { driverList } from './driver/driver-list.ts'
import { sandboxDevice } from './sandbox-device/driver.ts'
import { sflow } from './sflow/driver.ts'
import { snmp } from './snmp/driver.ts'

export const deviceDrivers = driverList<DeviceDriver>('device', [snmp, sflow, sandboxDevice])

/** Returns the source of a device; undefined if the device is not read, or lacks a setting of its driver. */
export const createDeviceSource = ({
  driver,
  ...device
}: DeviceOptions & { readonly driver: string }): DeviceSource | undefined =>
  deviceDrivers.find(driver)?.create(device)
