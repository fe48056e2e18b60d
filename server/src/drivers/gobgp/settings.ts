// The settings of a GoBGP speaker in the platform file. They contain paths of key files, never keys.
import { isIP } from 'node:net'
import { Type, type Static } from 'typebox'
import { parseLargeCommunity } from '../../net/community.ts'
import { settingsCheck, type SettingProblem } from '../driver/setting-problems.ts'
import { isEndpoint, isOfThisMachine } from './endpoint.ts'

export const GobgpSettings = Type.Object(
  {
    kind: Type.Literal('gobgp'),
    address: Type.String({
      minLength: 1,
      maxLength: 300,
      expects: 'host:port, [ipv6]:port or unix:/path, such as 127.0.0.1:50051',
    }),
    owner: Type.String({
      minLength: 1,
      maxLength: 40,
      expects: 'a large community, such as 64500:1:1',
    }),
    next_hop: Type.Optional(
      Type.Object(
        { ipv4: Type.Optional(Type.String()), ipv6: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
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
    timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 60_000 })),
  },
  { additionalProperties: false },
)

export type GobgpSettings = Static<typeof GobgpSettings>

const checkSchema = settingsCheck(GobgpSettings)

/** Returns the problems of the settings; an empty list if they are GobgpSettings. */
export function checkGobgpSettings(settings: Readonly<Record<string, unknown>>): readonly SettingProblem[] {
  const problems = checkSchema(settings)
  return problems.length > 0 ? problems : checkValues(settings as GobgpSettings)
}

function checkValues({ address, owner, next_hop, tls, insecure }: GobgpSettings): SettingProblem[] {
  const problems: SettingProblem[] = []
  const add = (path: readonly string[], message: string) => problems.push({ path, message })
  if (!isEndpoint(address)) add(['address'], 'address must be host:port, [ipv6]:port or unix:/path')
  if (!isLargeCommunity(owner)) add(['owner'], 'owner must be a large community such as 64500:1:1')
  if (next_hop?.ipv4 !== undefined && isIP(next_hop.ipv4) !== 4) {
    add(['next_hop', 'ipv4'], 'ipv4 must be an IPv4 address')
  }
  if (next_hop?.ipv6 !== undefined && isIP(next_hop.ipv6) !== 6) {
    add(['next_hop', 'ipv6'], 'ipv6 must be an IPv6 address')
  }
  if (tls && (tls.cert_file === undefined) !== (tls.key_file === undefined)) {
    add(['tls'], 'cert_file needs key_file, and key_file needs cert_file')
  }
  if (!tls && !insecure && !isOfThisMachine(address)) {
    add(
      ['address'],
      'this port controls the router without authentication: set tls, or insecure: true on a trusted network',
    )
  }
  return problems
}

function isLargeCommunity(text: string): boolean {
  try {
    parseLargeCommunity(text)
    return true
  } catch {
    return false
  }
}
