// The driver of devices that are read by SNMP.
import { Type, type Static } from 'typebox'
import type { DeviceDriver } from '../../inventory/collect/device-driver.ts'
import type { SnmpCredential } from './credential.ts'
import { createSnmpSource } from './source.ts'
import { settingsCheck } from '../driver/setting-problems.ts'

const SnmpSettings = Type.Object(
  {
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, expects: 'a port, 1 to 65535' })),
    timeout_ms: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 10_000, expects: 'milliseconds, 100 to 10000' }),
    ),
    tries: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, expects: 'a number, 1 to 10' })),
    any_source: Type.Optional(
      Type.Boolean({ expects: 'true for a device that answers from another address' }),
    ),
  },
  { additionalProperties: false },
)
type SnmpSettings = Static<typeof SnmpSettings>

export const snmp: DeviceDriver = {
  kind: 'snmp',
  needs: ['address', 'credential'],
  settings: SnmpSettings,
  check: settingsCheck(SnmpSettings, 'the device'),
  create({ settings, address, credential }) {
    if (address === null || credential === null) return undefined
    const { port, timeout_ms: timeoutMs, tries, any_source: acceptsAnySource } = settings as SnmpSettings
    return createSnmpSource({
      address,
      // The source rejects protocols that it does not know.
      credential: credential as SnmpCredential,
      ...(port === undefined ? {} : { port }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(tries === undefined ? {} : { tries }),
      ...(acceptsAnySource === undefined ? {} : { acceptsAnySource }),
    })
  },
}
