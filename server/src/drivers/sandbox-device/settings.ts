// The settings of a simulated device in the platform file.
import { bgpStates } from '@pharos/contract/inventory/bgp-session'
import { Type, type Static } from 'typebox'
import { settingsCheck } from '../driver/setting-problems.ts'

const Name = Type.String({ minLength: 1, maxLength: 100, expects: 'a name, 1 to 100 characters' })
const Rate = Type.Number({ minimum: 0, maximum: 1e15, expects: 'bits per second' })
const states = ['up', 'down', 'not_present'] as const

const Optic = Type.Object(
  {
    type: Name,
    vendor: Type.Optional(Name),
    part: Type.Optional(Name),
    serial: Type.Optional(Name),
    wavelength_nm: Type.Optional(Type.Number({ minimum: 600, maximum: 2000, expects: 'nanometers' })),
    reach_m: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, expects: 'meters' })),
    lanes: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, expects: 'a number of lanes, 1 to 8' })),
    rx_dbm: Type.Optional(Type.Number({ minimum: -40, maximum: 10, expects: 'dBm' })),
    tx_dbm: Type.Optional(Type.Number({ minimum: -40, maximum: 10, expects: 'dBm' })),
    fade_shift_days: Type.Optional(Type.Number({ minimum: 0, maximum: 120, expects: 'days, 0 to 120' })),
    fade_db_per_day: Type.Optional(Type.Number({ minimum: 0, maximum: 10, expects: 'decibels a day' })),
  },
  { additionalProperties: false },
)

const Count = Type.Integer({ minimum: 0, maximum: 10_000_000, expects: 'a number' })
const Octet = Type.Integer({ minimum: 0, maximum: 255, expects: 'a number, 0 to 255' })
const BgpSession = Type.Object(
  {
    peer: Name,
    asn: Type.Optional(Type.Integer({ minimum: 1, maximum: 4_294_967_295, expects: 'an AS number' })),
    state: Type.Optional(Type.Enum([...bgpStates], { expects: `one of ${bgpStates.join(', ')}` })),
    received: Type.Optional(Count),
    limit: Type.Optional(Count),
    error: Type.Optional(
      Type.Array(Octet, { minItems: 2, maxItems: 2, expects: 'the code and subcode of a NOTIFICATION' }),
    ),
  },
  { additionalProperties: false },
)

export const SandboxDeviceSettings = Type.Object(
  {
    bgp_sessions: Type.Optional(
      Type.Array(BgpSession, { maxItems: 1_000, expects: 'a list of BGP sessions' }),
    ),
    vendor: Type.Optional(Name),
    model: Type.Optional(Name),
    serial: Type.Optional(Name),
    software: Type.Optional(Name),
    silent: Type.Optional(Type.Boolean({ expects: 'true or false' })),
    interfaces: Type.Array(
      Type.Object(
        {
          name: Name,
          alias: Type.Optional(Name),
          speed_bps: Type.Optional(Rate),
          admin: Type.Optional(Type.Enum(['up', 'down'], { expects: 'up or down' })),
          oper: Type.Optional(Type.Enum([...states], { expects: `one of ${states.join(', ')}` })),
          lag: Type.Optional(Name),
          is_lag: Type.Optional(Type.Boolean({ expects: 'true or false' })),
          addresses: Type.Optional(Type.Array(Name, { maxItems: 16, expects: 'a list of addresses' })),
          in_bps: Type.Optional(Rate),
          out_bps: Type.Optional(Rate),
          optic: Type.Optional(Optic),
        },
        { additionalProperties: false },
      ),
      { maxItems: 10_000, expects: 'a list of interfaces' },
    ),
  },
  { additionalProperties: false },
)
export type SandboxDeviceSettings = Static<typeof SandboxDeviceSettings>
export type SandboxInterface = SandboxDeviceSettings['interfaces'][number]

/** The part that a member of a LAG carries of its traffic; 1 for other interfaces. */
export function partOfLag(
  { interfaces }: SandboxDeviceSettings,
  one: SandboxInterface,
  rate: 'in_bps' | 'out_bps',
): number {
  if (one.lag === undefined) return 1
  const members = interfaces.filter(({ lag }) => lag === one.lag)
  const total = members.reduce((sum, member) => sum + (member[rate] ?? 0), 0)
  return (one[rate] ?? 0) / Math.max(1, total)
}

export const checkSandboxDevice = settingsCheck(SandboxDeviceSettings, 'the device')
