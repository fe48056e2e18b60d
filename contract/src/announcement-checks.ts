// The parts of an announcement beside its fields: its checks, each with its reason and its fix, its history, and the messages
// about everything that is not yet as wanted. Shapes only.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { checkReasons } from './check-reason.ts'
import { stateMessageTags } from './state-message.ts'
import { Id, Nullable, NullableTime, OneOf, Optional, Strict, Time } from './scalar.ts'

export const validationNames = ['irr', 'rpki', 'loa', 'asn', 'size', 'overlap'] as const
export type ValidationName = (typeof validationNames)[number]

/**
 * `missing`: the registry answered, and holds nothing. `mismatch_asn`: only with another origin. `mismatch_length`: only
 * for a shorter prefix. `unavailable`: it was never asked with success; what was valid stays valid meanwhile.
 */
export const validationStates = [
  'valid',
  'pending',
  'missing',
  'invalid',
  'mismatch_asn',
  'mismatch_length',
  'expired',
  'unavailable',
] as const
export type ValidationState = (typeof validationStates)[number]

/**
 * What can authorise an announcement; the provider's settings say which kinds are enough. `letter`: an accepted letter of
 * authorization. `roa`: a valid ROA of a verified ASN. `dns_txt`: a token in the reverse zone. `rdap`: a token in the remarks of
 * the registration.
 */
export const authorizationKinds = ['letter', 'roa', 'dns_txt', 'rdap'] as const
export type AuthorizationKind = (typeof authorizationKinds)[number]

export const AuthorizationProof = Strict({
  kind: OneOf(...authorizationKinds),
  state: OneOf(...validationStates),
  reason: Nullable(OneOf(...checkReasons)),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'the attributes of the reason' }),
  note: Type.String({ description: 'the reason as a sentence' }),
  fix: Nullable(
    Type.String({ description: 'the literal text of what to create; null if there is nothing to do' }),
  ),
  checked: NullableTime,
})
export type AuthorizationProof = Static<typeof AuthorizationProof>

export const Validation = Strict({
  name: OneOf(...validationNames),
  state: OneOf(...validationStates),
  reason: Nullable(OneOf(...checkReasons)),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'the attributes of the reason' }),
  note: Type.String({ description: 'the reason as a sentence' }),
  evidence: Type.Record(Type.String(), Type.Unknown(), { description: 'what the registry said' }),
  fix: Nullable(
    Type.String({ description: 'the literal text of what to create; null where there is nothing to do' }),
  ),
  checked: NullableTime,
  proofs: Optional(
    Type.Array(AuthorizationProof, {
      description: 'of `loa`: every kind of proof that the provider accepts; one valid proof is enough',
    }),
  ),
})
export type Validation = Static<typeof Validation>

export const StateMessage = Strict({
  severity: OneOf('info', 'warning', 'error'),
  tag: OneOf(...stateMessageTags),
  message: Type.String({
    description: 'the tag as a sentence: why something is not as wanted, and who can act',
  }),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'the attributes of the tag' }),
  timestamp: Time,
})
export type StateMessage = Static<typeof StateMessage>

/** Who suspended an announcement: the staff of the provider, or its policy for failing checks. */
export const suspendedBy = ['staff', 'validation'] as const
export type SuspendedBy = (typeof suspendedBy)[number]

export const AnnouncementDetails = Strict({
  description: Type.String(),
  as_set: Nullable(Type.String()),
  delegate_loa: Type.Boolean(),
  loa_signatory: Type.String(),
  suspended: Type.Boolean(),
  suspended_by: Nullable(OneOf(...suspendedBy)),
  suspended_reason: Nullable(Type.String({ description: 'the text of staff for the team' })),
  claimed: Nullable(Time),
  deleted: Nullable(Time),
})
export type AnnouncementDetails = Static<typeof AnnouncementDetails>

export const HistoryEntry = Strict({
  id: Id,
  at: Time,
  kind: Type.String({
    description: 'such as created, enabled, announced, withdrawn, validation, letter_accepted',
  }),
  region: Nullable(Type.String({ description: 'region slug' })),
  actor: Type.String({ description: '`user:7`, `token:...`, `operator`, or the loop that saw it' }),
  detail: Type.Record(Type.String(), Type.Unknown()),
  took_ms: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'from the request to what was seen on the router, milliseconds',
    }),
  ),
})
export type HistoryEntry = Static<typeof HistoryEntry>
