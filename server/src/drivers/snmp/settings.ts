// The settings of a device that is read by SNMP, in the platform file.
import { Type, type Static } from 'typebox'
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
export type SnmpSettings = Static<typeof SnmpSettings>

export const checkSnmpSettings = settingsCheck(SnmpSettings, 'the device')
