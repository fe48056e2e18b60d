// Inventory: what a team holds. So far its ASNs, and how it proves that they are its own.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  OneOf,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from './scalar.ts'

/** The ways to prove an ASN, the one that only the holder of the ASN has first. */
export const asnProofMethods = ['aut_num', 'dns_txt', 'roa', 'rdap_email', 'peeringdb'] as const
export type AsnProofMethod = (typeof asnProofMethods)[number]

/**
 * `pending`: not tried yet. `missing`: the registry answered, and the proof is not there. `unavailable`: it did not
 * answer, or the provider has not set the method up. `error`: it answered with what cannot be read.
 */
export const asnProofStates = ['valid', 'pending', 'missing', 'unavailable', 'error'] as const
export type AsnProofState = (typeof asnProofStates)[number]

/** `operator`: the provider says so by itself, without a proof and without an end. */
const VerifiedBy = Nullable(OneOf('operator', ...asnProofMethods))

const AsnNumber = Type.Integer({ minimum: 1, maximum: 4_294_967_295 })

export const HeldAsn = Strict({
  id: Id,
  asn: AsnNumber,
  name: Type.String(),
  verified: NullableTime,
  verified_by: VerifiedBy,
  expires: Nullable(Time),
  created: Time,
})
export type HeldAsn = Static<typeof HeldAsn>

export const AsnProof = Strict({
  method: OneOf(...asnProofMethods),
  state: OneOf(...asnProofStates),
  note: Type.String({ description: 'why it is in this state' }),
  instructions: Type.String({ description: 'what to create, to the letter' }),
  token: Nullable(Type.String({ description: 'the text that has to stand there, where there is one' })),
  evidence: Type.Record(Type.String(), Type.Unknown(), { description: 'what was read, and where' }),
  checked: NullableTime,
})
export type AsnProof = Static<typeof AsnProof>

export const AsnVerification = Strict({
  asn: AsnNumber,
  holder: Nullable(Type.String({ description: 'the name in the registry, once it was read' })),
  rir: Nullable(
    Type.String({ description: 'the regional registry whose database has the ASN, once it was read' }),
  ),
  verified: Nullable(Type.String({ format: 'date-time', description: 'null unless the team holds it now' })),
  verified_by: VerifiedBy,
  expires: Nullable(Time),
  conflict: Type.Boolean({
    description: 'another team is known to hold it: proofs are still checked, and the provider decides',
  }),
  methods: Type.Array(AsnProof),
})
export type AsnVerification = Static<typeof AsnVerification>

// The ASN is proven for BYOIP, which a team may have without the inventory's devices and services. Whoever has these
// routes' other half, creating announcements, has to reach this half too: hence the module and the scopes of BYOIP.
const ipam = { credential: 'any', module: 'ipam', scope: 'ipam:read' } as const

export const asnOrderings = ['id', 'asn', 'created'] as const

export const listAsns = route({
  name: 'listAsns',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/asns',
  summary: 'List ASNs',
  description:
    'What the team holds: given by the provider, or proven by the team (see verifyAsn). `verified` is null where neither ' +
    'is so, or no longer.',
  permission: ipam,
  query: Strict({
    asn: Optional(Repeatable(AsnNumber)),
    verified: Optional(Type.Boolean()),
    ordering: Ordering(asnOrderings, 'asn'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(HeldAsn),
  success: 200,
})

export const verifyAsn = route({
  name: 'verifyAsn',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/asns/{asn}/verify',
  summary: 'Verify ASN ownership',
  description:
    'How the team proves that an ASN is its own, and how far it is. One method that is valid is enough: it verifies the ' +
    'ASN for 180 days, and is looked at again every day. What was found missing is said in `note`, and ends the ' +
    'verification only when it expires; a registry that does not answer never ends it. Without `refresh` nothing is ' +
    'asked and nothing changes; with it the methods are checked now, once a minute for each ASN, which takes an API ' +
    'token the scope `ipam:write`.',
  permission: ipam,
  params: Strict({ asn: AsnNumber }),
  query: Strict({
    method: Optional(Repeatable(OneOf(...asnProofMethods))),
    refresh: Type.Boolean({ default: false, description: 'check now, and keep the result' }),
  }),
  response: AsnVerification,
  success: 200,
  errors: ['reserved_asn'],
})

export const inventoryRoutes = [listAsns, verifyAsn]
