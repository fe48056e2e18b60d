// Why a check of an announcement, or a proof of its authorization, has its state: a closed list of codes, each with its
// attributes. Codes are stored; the sentences are made here and nowhere else.
import type { ReasonAttrs } from './region-reason.ts'

type Text = (attrs: ReasonAttrs) => string

/** Follows the sentence of a check: the detail that the registry returned. */
const detailOf = ({ detail }: ReasonAttrs): string =>
  typeof detail === 'string' ? ` ${sentence(detail)}` : ''

const listOf = (value: unknown): string => (Array.isArray(value) ? value.join(' and ') : String(value))

const texts = {
  not_checked: () => 'Not checked yet.',

  size_accepted: ({ length }) => `Other networks accept a /${String(length)}.`,
  size_too_long: ({ longest }) =>
    `Other networks do not accept prefixes longer than /${String(longest)}. Announce a shorter prefix.`,

  prefix_unclaimed: () => 'No other customer holds the prefix.',
  prefix_contested: () =>
    'Another customer holds the prefix or one that covers it, so it cannot be validated here. Contact your provider.',
  prefix_unproven: () =>
    'Checked once a proof of authorization holds, such as a ROA for an ASN that is verified for the team.',

  asn_verified: ({ asn }) => `AS${String(asn)} is verified for the team.`,
  asn_unverified: ({ asn }) =>
    `AS${String(asn)} is not verified for the team. The call below returns how to verify it.`,
  asn_expired: ({ asn }) =>
    `The verification of AS${String(asn)} has expired. The call below returns how to renew it.`,
  asn_revoked: ({ asn }) =>
    `The provider has revoked the verification of AS${String(asn)} for the team. Contact the provider.`,

  roa_valid: ({ asn, prefix, ...rest }) =>
    `A ROA authorizes AS${String(asn)} to originate ${String(prefix)}.${detailOf(rest)}`,
  roa_missing: (attrs) => `No ROA covers the prefix.${detailOf(attrs)}`,
  roa_mismatch_asn: ({ asn, ...rest }) =>
    `ROAs cover the prefix, but none of them is for AS${String(asn)}.${detailOf(rest)}`,
  roa_forbids: ({ asn, forbidden, ...rest }) =>
    `A ROA of AS0 forbids to announce ${String(forbidden)} and its subnets, except by networks with a ROA of their own: AS${String(asn)} has none.${detailOf(rest)}`,
  roa_mismatch_length: ({ asn, prefix, ...rest }) =>
    `A ROA for AS${String(asn)} covers the prefix, but its maxLength does not allow ${String(prefix)}.${detailOf(rest)}`,
  rpki_unavailable: (attrs) => `The RPKI could not be queried.${detailOf(attrs)}`,

  route_valid: ({ asn, prefix, ...rest }) =>
    `The routing registry has a route object for ${String(prefix)} with origin AS${String(asn)}.${detailOf(rest)}`,
  route_missing: (attrs) => `The routing registries have no route object for the prefix.${detailOf(attrs)}`,
  route_mismatch_asn: ({ asn, ...rest }) =>
    `The routing registries have the prefix with other origins only, not AS${String(asn)}.${detailOf(rest)}`,
  route_mismatch_length: ({ asn, prefix, ...rest }) =>
    `The routing registries have a shorter prefix of AS${String(asn)} only, not ${String(prefix)}.${detailOf(rest)}`,
  irr_unavailable: (attrs) => `The routing registries could not be queried.${detailOf(attrs)}`,

  letter_missing: () => 'No letter of authorization has been uploaded.',
  letter_pending: () => 'A letter of authorization waits for review by the provider.',
  letter_accepted: () => 'The provider accepted a letter of authorization.',
  letter_expired: () => 'The letter of authorization has expired. Upload a new one.',
  letter_rejected: ({ reason }) => `The letter of authorization was rejected: ${String(reason)}`,

  authorization_missing: () => 'Nothing authorizes the announcement yet. One of these proofs is enough.',
  proof_lost: ({ proof }) =>
    `The proof that authorized the announcement is gone: ${proof ? nested(proof) : 'the provider no longer accepts it.'}`,
  proof_roa_valid: ({ asn }) =>
    `A valid ROA of AS${String(asn)}, which is verified for the team, authorizes the announcement.`,
  proof_roa_missing: () => 'The announcement has no valid ROA.',
  proof_roa_asn_unverified: ({ asn }) => `A ROA counts once AS${String(asn)} is verified for the team.`,

  txt_zones_too_many: ({ prefix }) => `${String(prefix)} has too many reverse zones for this proof.`,
  txt_found: ({ names }) => `The token was found at ${listOf(names)}.`,
  txt_other: ({ name }) => `Other text, but no token, was found at ${String(name)}.`,
  txt_missing: ({ name }) => `No token was found at ${String(name)}.`,
  txt_unavailable: ({ name }) => `The name servers of ${String(name)} did not answer.`,

  rdap_found: ({ networks }) => `The token was found in the remarks of the registration ${listOf(networks)}.`,
  rdap_unregistered: ({ prefix }) => `The address registry has no registration of ${String(prefix)}.`,
  rdap_other_network: ({ network, prefix }) =>
    `The address registry returned ${String(network)}, which does not contain ${String(prefix)}.`,
  rdap_registry_block: ({ network, prefix }) =>
    `Only the block of a registry, ${String(network)}, contains ${String(prefix)}. It has no registration of its own.`,
  rdap_token_missing: ({ network }) =>
    `The remarks of the registration ${String(network)} do not have the token as a line of its own.`,
  rdap_unavailable: () => 'The address registry did not answer, or its answer could not be read.',

  vouched: ({ instead }) => `The provider vouches for it. Without that: ${nested(instead)}`,
} satisfies Record<string, Text>

export type CheckReason = keyof typeof texts
export const checkReasons = Object.keys(texts) as [CheckReason, ...CheckReason[]]

/** A reason inside the attributes of another. */
export type NestedReason = { readonly reason: CheckReason; readonly attrs: ReasonAttrs }

/**
 * Returns the sentence of a code for people. While a registry does not answer, the last answer is kept, and its attribute
 * `unanswered` is the reason of the later attempt.
 */
export function checkReasonText(reason: CheckReason, attrs: ReasonAttrs): string {
  const text: Text = texts[reason]
  const { unanswered, ...rest } = attrs
  const last = isNested(unanswered) ? ` This is the last answer: ${nested(unanswered)}` : ''
  return `${text(rest)}${last}`
}

const isNested = (value: unknown): value is NestedReason =>
  typeof value === 'object' && value !== null && checkReasons.includes((value as NestedReason).reason)

const nested = (value: unknown): string =>
  isNested(value) ? checkReasonText(value.reason, value.attrs) : 'it is not known.'

const sentence = (text: string): string =>
  `${text[0]!.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
