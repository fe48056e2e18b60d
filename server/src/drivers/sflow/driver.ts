// The driver of devices whose counters come with sFlow.
import { Type } from 'typebox'
import type { DeviceDriver } from '../../inventory/collect/device-driver.ts'
import { settingsCheck } from '../driver/setting-problems.ts'
import { SflowSource } from './source.ts'

export const sflow: DeviceDriver = {
  kind: 'sflow',
  needs: [],
  check: settingsCheck(Type.Object({}, { additionalProperties: false }), 'a device that is read by sFlow'),
  create: (device) => new SflowSource(device),
}
