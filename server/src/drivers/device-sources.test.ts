import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeviceSource, deviceDrivers } from './device-sources.ts'

const device = {
  name: 'switch',
  settings: { interfaces: [] },
  address: '192.0.2.1',
  credential: { kind: 'v2c', community: 'public' },
  readSamples: async () => [],
  now: () => new Date(),
} as const

test('the driver of a device creates its source, and none if the device lacks what it needs', async () => {
  assert.deepEqual(deviceDrivers.kinds, ['snmp', 'sflow', 'sandbox'])
  for (const driver of deviceDrivers.kinds) {
    const source = createDeviceSource({ ...device, driver })
    assert.ok(source, driver)
    await source.close()
    for (const field of deviceDrivers.find(driver)!.needs)
      assert.equal(
        createDeviceSource({ ...device, driver, [field]: null }),
        undefined,
        `${driver} without ${field}`,
      )
  }
})

test('a device without a driver, or with that of a newer release, has no source', () => {
  for (const driver of ['none', 'gnmi']) assert.equal(createDeviceSource({ ...device, driver }), undefined)
})
