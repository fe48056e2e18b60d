// How the routers of a region are reached, as the operator writes it and as the database keeps it (regions.speakers). It
// holds paths of key files, never keys: these are read when the router is connected to.
import { isIP } from 'node:net'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseLargeCommunity } from '../net/community.ts'
import { nearest } from '../text/did-you-mean.ts'

const Sandbox = Type.Object(
  { kind: Type.Literal('sandbox'), latency_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })) },
  { additionalProperties: false },
)

const Gobgp = Type.Object(
  {
    kind: Type.Literal('gobgp'),
    address: Type.String({ minLength: 1, maxLength: 300 }),
    owner: Type.String({ minLength: 1, maxLength: 40 }),
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

const schemas = { sandbox: Sandbox, gobgp: Gobgp }

export type SpeakerSettings = Static<typeof Sandbox> | Static<typeof Gobgp>

/** A speaker of a region; the name is unique in the region. */
export type NamedSpeaker = SpeakerSettings & { readonly name: string }

export type SpeakerProblem = { readonly path: readonly string[]; readonly message: string }

/** What is wrong with the settings, each with the field it concerns; none means that they are SpeakerSettings. */
export function checkSpeaker(value: Readonly<Record<string, unknown>>): readonly SpeakerProblem[] {
  const { kind } = value
  if (kind !== 'sandbox' && kind !== 'gobgp') {
    return [{ path: ['kind'], message: 'the kind of a speaker is sandbox or gobgp' }]
  }
  const unknown = unknownFields(value, schemas[kind].properties, [])
  if (unknown.length > 0) return unknown
  if (!Value.Check(schemas[kind], value)) return shapeProblems(kind, value)
  return kind === 'gobgp' ? gobgpProblems(value as Static<typeof Gobgp>) : []
}

function unknownFields(value: object, known: object, path: readonly string[]): SpeakerProblem[] {
  return Object.keys(value)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => ({
      path: [...path, name],
      message: `a speaker has no ${name}${nearest(name, Object.keys(known))}`,
    }))
}

function shapeProblems(kind: SpeakerSettings['kind'], value: object): SpeakerProblem[] {
  if (kind === 'gobgp' && (!('address' in value) || !('owner' in value))) {
    const missing = ['address', 'owner'].filter((name) => !(name in value))
    return [{ path: [], message: `a gobgp speaker needs ${missing.join(' and ')}` }]
  }
  const [error] = Value.Errors(schemas[kind], value)
  const path = (error?.instancePath ?? '').split('/').slice(1)
  return [{ path, message: `${path.at(-1) ?? 'the speaker'} ${error?.message ?? 'is not valid'}` }]
}

function gobgpProblems({ address, owner, next_hop, tls, insecure }: Static<typeof Gobgp>): SpeakerProblem[] {
  const problems: SpeakerProblem[] = []
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
    add(['tls'], 'cert_file and key_file go together')
  }
  if (!tls && !insecure && !isOfThisMachine(address)) {
    add(
      ['address'],
      'whoever reaches this port commands the router: give tls, or insecure: true on a network that you trust',
    )
  }
  return problems
}

function isEndpoint(address: string): boolean {
  return /^unix:\/.+|^\[[0-9a-fA-F:.]+\]:\d{1,5}$|^[A-Za-z0-9.-]+:\d{1,5}$/.test(address)
}

function isOfThisMachine(address: string): boolean {
  return /^unix:|^127\.\d+\.\d+\.\d+:|^localhost:|^\[::1\]:/.test(address)
}

function isLargeCommunity(text: string): boolean {
  try {
    parseLargeCommunity(text)
    return true
  } catch {
    return false
  }
}
