// Inventory: the ASNs of a team and their verification.
import { asnProofReasons } from '../reason/asn-proof-reason.ts'
import { Paragraphs } from '../text.ts'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  AsnNumber,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
  Component,
  Enumeration,
  TeamReference,
} from '../scalar.ts'

/** All methods; the first one alone verifies an ASN. */
export const asnProofMethods = ['aut_num', 'dns_txt', 'roa', 'rdap_email', 'peeringdb'] as const
export type AsnProofMethod = (typeof asnProofMethods)[number]

/**
 * The resource that a method proves. `asn`: control of the ASN; one such method verifies it. `address_space`: control of a prefix
 * only. The holder of a prefix may name any ASN in a ROA, so these methods never verify; staff may use them as evidence.
 */
export const asnProofScopes = {
  aut_num: 'asn',
  dns_txt: 'address_space',
  roa: 'address_space',
  rdap_email: 'asn',
  peeringdb: 'asn',
} as const satisfies Record<AsnProofMethod, 'asn' | 'address_space'>

/**
 * `pending`: not checked yet. `missing`: the registry answered without the proof. `unavailable`: it did not answer, or the
 * provider has not configured the method. `error`: its answer is invalid.
 */
export const asnProofStates = ['valid', 'pending', 'missing', 'unavailable', 'error'] as const
export type AsnProofState = (typeof asnProofStates)[number]

/** `operator`: assigned by the provider, without proof and expiry. */
const VerifiedBy = Nullable(Enumeration('AsnVerifiedBy', ['operator', ...asnProofMethods]))

export const HeldAsn = Component('Asn', {
  id: { ...Id, description: 'id of the record' },
  asn: { ...AsnNumber, description: 'AS number without AS, such as 64496' },
  name: Type.String({ description: 'name for people' }),
  verified: { ...NullableTime, description: 'when it was verified; null if it is not' },
  verified_by: { ...VerifiedBy, description: 'the method that verified it; `operator`: the provider' },
  expires: Nullable({ ...Time, description: 'when the verification expires; null for never' }),
  created: { ...Time, description: 'when it was added' },
})
export type HeldAsn = Static<typeof HeldAsn>

/** One step of a proof: what to do, and the lines to copy. */
export const ProofStep = Component('ProofStep', {
  text: Type.String({ description: 'what to do' }),
  lines: Type.Array(Type.String(), {
    description: 'literal lines to create; empty if there is nothing to copy',
  }),
  needs: {
    ...Enumeration('ProofStepNeeds', ['one', 'all']),
    description: 'whether one of the lines is enough',
  },
})
export type ProofStep = Static<typeof ProofStep>

export const AsnProof = Component('AsnProof', {
  method: { ...Enumeration('AsnProofMethod', asnProofMethods), description: 'the method' },
  proves: {
    ...Enumeration('AsnProofScope', ['asn', 'address_space']),
    description: '`asn`: the ASN; `address_space`: only a prefix',
  },
  state: { ...Enumeration('AsnProofState', asnProofStates), description: 'result of the method' },
  reason: Nullable({ ...Enumeration('AsnProofReason', asnProofReasons), description: 'code of the reason' }),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'attributes of the reason' }),
  note: Type.String({ description: 'the reason, as a sentence' }),
  instructions: Type.String({ description: 'the steps as one text' }),
  steps: Type.Array(ProofStep, {
    description: 'what to create; `needs`: one of the lines of a step is enough, or all are needed',
  }),
  token: Nullable(Type.String({ description: 'the text to publish, if there is one' })),
  evidence: Type.Record(Type.String(), Type.Unknown(), { description: 'data that was read, and its source' }),
  checked: { ...NullableTime, description: 'when it was last checked' },
})
export type AsnProof = Static<typeof AsnProof>

const AsnRevocation = Component('AsnRevocation', {
  at: { ...Time, description: 'when it was revoked' },
  reason: Type.String({ description: "the provider's reason" }),
})

export const AsnVerification = Component('AsnVerification', {
  asn: { ...AsnNumber, description: 'AS number without AS, such as 64496' },
  holder: Nullable(Type.String({ description: 'name in the registry, if known' })),
  rir: Nullable(Type.String({ description: 'regional registry of the ASN, if known' })),
  verified: Nullable(
    Type.String({ format: 'date-time', description: 'null unless the ASN is verified for the team' }),
  ),
  verified_by: { ...VerifiedBy, description: 'the method that verified it; `operator`: the provider' },
  expires: Nullable({ ...Time, description: 'when the verification expires; null for never' }),
  revoked: Nullable(AsnRevocation),
  conflict: Type.Boolean({
    description:
      'a proof of the team holds, but the ASN cannot be verified here: the provider has to decide. Always false while no ' +
      'method that proves `asn` is valid',
  }),
  methods: Type.Array(AsnProof, { description: 'every method with its state' }),
})
export type AsnVerification = Static<typeof AsnVerification>

// ASNs are verified for BYOIP: the operations use BYOIP scopes. Reading needs no module, because links of security events
// lead to an ASN, and every team with events follows them.
const reading = { credential: 'any', scope: 'ipam:read', grant: 'ipam.see' } as const
const ipam = { ...reading, module: 'ipam' } as const

const asnOrderings = ['id', 'asn', 'created'] as const

export const listAsnsRoute = route({
  name: 'listAsns',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/asns',
  summary: 'List ASNs',
  description:
    'The ASNs of the team, assigned by the provider or proven by the team (see verifyAsn). `verified` is ' +
    'null if the ASN is not, or no longer, verified.',
  permission: reading,
  query: Strict({
    asn: Optional(Repeatable(AsnNumber)),
    verified: Optional(Type.Boolean({ description: 'when it was verified; null if it is not' })),
    ordering: Ordering(asnOrderings, 'asn'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(HeldAsn),
  success: 200,
})

export const getAsnRoute = route({
  name: 'getAsn',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/asns/{asn}',
  summary: 'Get ASN',
  description:
    'Returns one ASN of the team, by its number; `verified` is null if it is not, or no longer, verified. ' +
    '404 unless it was assigned to the team, or the team has tried to verify it.',
  permission: reading,
  params: Strict({ asn: AsnNumber }),
  response: HeldAsn,
  success: 200,
  conditional: true,
})

export const verifyAsnRoute = route({
  name: 'verifyAsn',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/asns/{asn}/verify',
  summary: 'Verify ASN ownership',
  description:
    'Returns how the team proves that it holds an ASN, and the state of each method. One valid method that proves `asn` ' +
    'verifies the ASN for 180 days and is checked again every day. Methods that prove `address_space` (`dns_txt`, `roa`) ' +
    'never verify an ASN: the holder of a prefix can name any ASN. The provider may verify the ASN with them as evidence. ' +
    'A proof that is missing is reported in `note` and ends the verification only when it expires; a registry that does ' +
    'not answer never ends it. After the provider has revoked a verification (`revoked`), only the provider can verify ' +
    'the ASN again. Without `refresh` nothing is queried and nothing changes; with it the methods are checked now, once ' +
    'a minute for each ASN, and an API token needs the scope `ipam:write`.',
  permission: ipam,
  params: Strict({ asn: AsnNumber }),
  query: Strict({
    method: Optional(
      Repeatable({
        ...Enumeration('AsnProofMethod', asnProofMethods),
        description: 'a method to return or check',
      }),
    ),
    refresh: Type.Boolean({ default: false, description: 'run the checks now and store the results' }),
  }),
  response: AsnVerification,
  success: 200,
  secret: true,
  errors: ['reserved_asn', 'conflict'],
})

/** An ASN of one team for staff: verified, revoked, or with evidence only. */
export const AsnOfTeam = Component('TeamAsn', {
  asn: { ...AsnNumber, description: 'AS number without AS, such as 64496' },
  team: { ...TeamReference, description: 'the team' },
  verified: { ...NullableTime, description: 'when it was verified; null if it is not' },
  verified_by: { ...VerifiedBy, description: 'the method that verified it; `operator`: the provider' },
  expires: Nullable({ ...Time, description: 'when the verification expires; null for never' }),
  revoked: Nullable(AsnRevocation),
  evidence: Type.Array(
    Component('TeamAsnEvidence', {
      method: { ...Enumeration('AsnProofMethod', asnProofMethods), description: 'the method' },
      proves: {
        ...Enumeration('AsnProofScope', ['asn', 'address_space']),
        description: '`asn`: the ASN; `address_space`: only a prefix',
      },
      state: { ...Enumeration('AsnProofState', asnProofStates), description: 'result of the method' },
      note: Type.String({ description: 'the reason, as a sentence' }),
      evidence: Type.Record(Type.String(), Type.Unknown()),
      checked: { ...Time, description: 'when it was last checked' },
    }),
    { description: 'the last result of each method that the team has tried' },
  ),
})
export type AsnOfTeam = Static<typeof AsnOfTeam>

const asnOfTeamOrderings = ['asn'] as const

export const listAsnsOfTeamsRoute = route({
  name: 'listAsnsOfTeams',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/asns',
  summary: 'List ASNs of all teams',
  description:
    'ASNs that teams hold, held, or try to verify, with the evidence of each method. Teams with the same ASN ' +
    'are adjacent.',
  permission: staffReading('operator.see'),
  query: Strict({
    asn: Optional(Repeatable(AsnNumber)),
    team_id: Optional(Repeatable(Id)),
    verified: Optional(Type.Boolean({ description: 'when it was verified; null if it is not' })),
    ordering: Ordering(asnOfTeamOrderings, 'asn'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(AsnOfTeam),
  success: 200,
})

const Decision = Component('AsnDecision', {
  team_id: { ...Id, description: 'id of the team' },
  reason: Paragraphs({
    minLength: 1,
    maxLength: 1000,
    pattern: '\\S',
    expects: 'a text that is not blank',
    description: 'shown to the team, kept in the audit log',
  }),
})

export const verifyAsnOfTeamRoute = route({
  name: 'verifyAsnOfTeam',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/asns/{asn}/verify',
  summary: 'Verify ASN of a team',
  description:
    'Verifies the ASN for one team without an expiry, and ends the proofs of all other teams. Returns 409 if ' +
    'the provider has verified it for another team: revoke that first. Repeating it changes nothing.',
  permission: staffChanging('requests.decide'),
  params: Strict({ asn: AsnNumber }),
  body: Decision,
  response: AsnOfTeam,
  success: 200,
  dryRun: true,
  errors: ['conflict', 'reserved_asn'],
})

export const revokeAsnOfTeamRoute = route({
  name: 'revokeAsnOfTeam',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/asns/{asn}/revoke',
  summary: 'Revoke ASN of a team',
  description:
    'Ends the verification of the ASN for one team at once, whatever its method. From then on proofs of the ' +
    'team do not count until the provider verifies the ASN again. The checks of its announcements run again; ' +
    'withdrawals depend on `on_validation_loss`. Repeating it changes nothing.',
  permission: staffChanging('requests.decide'),
  params: Strict({ asn: AsnNumber }),
  body: Decision,
  response: AsnOfTeam,
  success: 200,
  dryRun: true,
})

export const inventoryRoutes = [
  listAsnsRoute,
  getAsnRoute,
  verifyAsnRoute,
  listAsnsOfTeamsRoute,
  verifyAsnOfTeamRoute,
  revokeAsnOfTeamRoute,
]
