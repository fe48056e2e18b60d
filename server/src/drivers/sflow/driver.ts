// The driver of devices whose counters come with sFlow.
import { Type } from 'typebox'
import type { DeviceDriver } from '../../inventory/collect/device-driver.ts'
import { settingsCheck } from '../driver/setting-problems.ts'
import { SflowSource } from './source.ts'

const Settings = Type.Object({}, { additionalProperties: false })

export const sflow: DeviceDriver = {
  kind: 'sflow',
  needs: [],
  settings: Settings,
  check: settingsCheck(Settings, 'a device that is read by sFlow'),
  create: (device) => new SflowSource(device),
}
