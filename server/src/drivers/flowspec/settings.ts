// The settings of a FlowSpec scrubber in the platform file. They contain paths of key files, never keys.
import { Type, type Static } from 'typebox'
import { parseLargeCommunity } from '../../net/community.ts'
import { callMsMax } from '../driver/scrubber-lists.ts'
import { settingsCheck, type SettingProblem } from '../driver/setting-problems.ts'

export const FlowspecSettings = Type.Object(
  {
    kind: Type.Literal('flowspec'),
    address: Type.String({
      minLength: 1,
      maxLength: 300,
      expects: 'host:port, [ipv6]:port or unix:/path, such as 127.0.0.1:50051',
    }),
    owner: Type.String({
      minLength: 1,
      maxLength: 40,
      expects: 'a large community, such as 64500:2:1',
    }),
    families: Type.Optional(
      Type.Array(Type.Union([Type.Literal(4), Type.Literal(6)]), { minItems: 1, uniqueItems: true }),
    ),
    packet_rate: Type.Optional(Type.Boolean()),
    tls: Type.Optional(
      Type.Object(
        {
          ca_file: Type.String({ minLength: 1 }),
          cert_file: Type.Optional(Type.String({ minLength: 1 })),
          key_file: Type.Optional(Type.String({ minLength: 1 })),
        },
        { additionalProperties: false },
      ),
    ),
    insecure: Type.Optional(Type.Boolean()),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: callMsMax })),
  },
  { additionalProperties: false },
)

export type FlowspecSettings = Static<typeof FlowspecSettings>

const checkSchema = settingsCheck(FlowspecSettings, 'the scrubber')

/** Returns the problems of the settings; an empty list if they are FlowspecSettings. */
export function checkFlowspecSettings(
  settings: Readonly<Record<string, unknown>>,
): readonly SettingProblem[] {
  const problems = checkSchema(settings)
  return problems.length > 0 ? problems : checkValues(settings as FlowspecSettings)
}

function checkValues({ address, owner, tls, insecure }: FlowspecSettings): SettingProblem[] {
  const problems: SettingProblem[] = []
  const add = (path: readonly string[], message: string) => problems.push({ path, message })
  if (!/^unix:\/.+|^\[[0-9a-fA-F:.]+\]:\d{1,5}$|^[A-Za-z0-9.-]+:\d{1,5}$/.test(address))
    add(['address'], 'address must be host:port, [ipv6]:port or unix:/path')
  try {
    parseLargeCommunity(owner)
  } catch {
    add(['owner'], 'owner must be a large community such as 64500:2:1')
  }
  if (tls && (tls.cert_file === undefined) !== (tls.key_file === undefined))
    add(['tls'], 'cert_file needs key_file, and key_file needs cert_file')
  if (!tls && !insecure && !/^unix:|^127\.\d+\.\d+\.\d+:|^localhost:|^\[::1\]:/.test(address)) {
    const advice = 'set tls, or insecure: true on a trusted network'
    add(['address'], `this port controls the routers without authentication: ${advice}`)
  }
  return problems
}
