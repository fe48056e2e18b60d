// The driver of devices that are read by SNMP.
import type { DeviceDriver } from '../../inventory/collect/device-driver.ts'
import type { SnmpCredential } from './credential.ts'
import { checkSnmpSettings, type SnmpSettings } from './settings.ts'
import { createSnmpSource } from './source.ts'

export const snmp: DeviceDriver = {
  kind: 'snmp',
  needs: ['address', 'credential'],
  check: checkSnmpSettings,
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
