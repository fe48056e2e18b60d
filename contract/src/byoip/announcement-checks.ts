// Additional information about an announcement: its checks with reason and fix, its history, and deviations from the desired
// state. Schemas only.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { checkReasons } from '../reason/check-reason.ts'
import {
  Actor,
  Id,
  Nullable,
  NullableTime,
  Optional,
  optionalFields,
  Time,
  Component,
  Enumeration,
} from '../scalar.ts'
import { Line, Paragraphs } from '../text.ts'

export const validationNames = ['irr', 'rpki', 'loa', 'asn', 'size', 'overlap'] as const
export type ValidationName = (typeof validationNames)[number]

/**
 * `missing`: the registry answered and has no object. `mismatch_asn`: only objects with another origin. `mismatch_length`: only
 * for a shorter prefix. `unavailable`: no query has succeeded yet; a valid result stays valid meanwhile.
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
 * Kinds of evidence that authorize an announcement; the provider's settings list the sufficient kinds. `letter`: an accepted letter of
 * authorization. `roa`: a valid ROA of a verified ASN. `dns_txt`: a token in the reverse zone. `rdap`: a token in the remarks of
 * the registration.
 */
export const authorizationKinds = ['letter', 'roa', 'dns_txt', 'rdap'] as const
export type AuthorizationKind = (typeof authorizationKinds)[number]

const reasonFields = {
  reason: Nullable({
    ...Enumeration('CheckReason', checkReasons),
    description: 'code of the reason; null if it has none',
  }),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'attributes of the reason' }),
  note: Type.String({ description: 'the reason, as a sentence' }),
}

export const AuthorizationProof = Component('AuthorizationProof', {
  kind: { ...Enumeration('AuthorizationKind', authorizationKinds), description: 'kind of proof' },
  state: { ...Enumeration('ValidationState', validationStates), description: 'result of the check' },
  ...reasonFields,
  fix: Nullable(Type.String({ description: 'literal text of the object or record to create; null if none' })),
  checked: { ...NullableTime, description: 'when it was last checked; null if never' },
})
export type AuthorizationProof = Static<typeof AuthorizationProof>

export const Validation = Component('AnnouncementValidation', {
  name: { ...Enumeration('ValidationName', validationNames), description: 'the check' },
  state: { ...Enumeration('ValidationState', validationStates), description: 'result of the check' },
  ...reasonFields,
  evidence: Type.Record(Type.String(), Type.Unknown(), { description: 'evidence returned by the registry' }),
  fix: Nullable(Type.String({ description: 'literal text of the object or record to create; null if none' })),
  checked: { ...NullableTime, description: 'when it was last checked; null if never' },
  proofs: Optional(
    Type.Array(AuthorizationProof, {
      description: 'for `loa`: every kind of proof that the provider accepts; one valid proof is enough',
    }),
  ),
})
export type Validation = Static<typeof Validation>

/** Origin of a suspension: the staff of the provider, or its policy for failing checks. */
export const suspendedBy = ['staff', 'validation'] as const
export type SuspendedBy = (typeof suspendedBy)[number]

export const asSetDescription = 'AS-SET whose members may originate the prefix in the IRR, such as AS-EXAMPLE'
export const AsSet = Type.String({
  pattern: '^(AS[0-9]+:)*AS-[A-Za-z0-9_-]+(:(AS[0-9]+|AS-[A-Za-z0-9_-]+))*$',
  maxLength: 200,
  description: asSetDescription,
  expects: 'an AS-SET name such as AS-EXAMPLE or AS64500:AS-CUSTOMERS',
})

/** The details that the team sets, as in requests and as in answers. Each is stored in the column of the same name. */
const ownDetails = {
  description: {
    request: Paragraphs({ maxLength: 500 }),
    answer: Type.String({ description: 'text of the team' }),
  },
  as_set: {
    request: AsSet,
    answer: Nullable(
      Type.String({ description: 'AS-SET whose members may originate the prefix; null if none' }),
    ),
  },
  delegate_loa: {
    request: Type.Boolean({ description: 'the provider drafts the letter of authorization' }),
    answer: Type.Boolean({ description: 'the provider drafts the letter of authorization' }),
  },
  loa_signatory: {
    request: Line({ maxLength: 200, description: 'signer of the letter' }),
    answer: Type.String({ description: 'signer of the letter; empty if not given' }),
  },
}
export type OwnDetailName = keyof typeof ownDetails
export const ownDetailNames = Object.keys(ownDetails) as OwnDetailName[]

const ownDetailsIn = <Place extends 'request' | 'answer'>(place: Place) =>
  Object.fromEntries(ownDetailNames.map((name) => [name, ownDetails[name][place]])) as {
    [Name in OwnDetailName]: (typeof ownDetails)[Name][Place]
  }

/** Fields of the bodies that create and change announcements. */
export const requestedDetails = optionalFields(ownDetailsIn('request'))

export const AnnouncementDetails = Component('AnnouncementDetails', {
  ...ownDetailsIn('answer'),
  suspended: Type.Boolean({ description: 'whether the provider keeps it withdrawn' }),
  suspended_by: Nullable({
    ...Enumeration('SuspendedBy', suspendedBy),
    description: 'origin of the suspension; null if it is not suspended',
  }),
  suspended_reason: Nullable(Type.String({ description: 'the text of staff for the team' })),
  claimed: Nullable({ ...Time, description: 'since when the team holds the prefix' }),
  deleted: Nullable({ ...Time, description: 'when it was deleted; null if it is not' }),
})
export type AnnouncementDetails = Static<typeof AnnouncementDetails>

/** The kinds of entries in the history of an announcement. */
export const historyKinds = [
  'created',
  'enabled',
  'disabled',
  'updated',
  'announced',
  'withdrawn',
  'refused',
  'validation',
  'suspended',
  'resumed',
  'deleted',
  'restored',
  'letter_uploaded',
  'letter_superseded',
  'letter_accepted',
  'letter_rejected',
] as const
export type HistoryKind = (typeof historyKinds)[number]
export const HistoryKind = Enumeration('AnnouncementHistoryKind', historyKinds)

export const HistoryEntry = Component('AnnouncementHistoryEntry', {
  id: { ...Id, description: 'id of the entry' },
  at: { ...Time, description: 'time of the entry' },
  kind: { ...HistoryKind, description: 'what happened' },
  region: Nullable(Type.String({ description: 'slug of the region' })),
  actor: {
    ...Actor,
    description:
      'as in the audit log; or the loop that found it: `reconciler` (the routers) or `validator` (the checks)',
  },
  detail: Type.Record(Type.String(), Type.Unknown()),
  took_ms: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        'milliseconds from the request to the observation on the router; null if the routers did so before, such as after a restart',
    }),
  ),
})
export type HistoryEntry = Static<typeof HistoryEntry>
