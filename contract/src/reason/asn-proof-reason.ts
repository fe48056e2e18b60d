// Why a method to prove an ASN has its state: a closed list of codes, each with its attributes. Codes are stored; the sentences
// are made here and nowhere else.
import type { ReasonAttrs } from './region-reason.ts'

/** Follows a method that shows control of a prefix only. */
const evidenceOnly = 'It shows control of the prefix, not of the ASN, and does not verify the ASN by itself.'

const listOf = (value: unknown): string => (Array.isArray(value) ? value.join(' and ') : String(value))

const autNum = ({ asn, source }: ReasonAttrs): string =>
  `the aut-num object of AS${String(asn)} in ${String(source)}`

const texts = {
  not_checked: () => 'Not checked yet.',
  not_configured: () => 'The provider has not configured this method.',
  timeout: ({ seconds }) => `The registry did not answer within ${String(seconds)} seconds.`,
  not_queried: () => 'The registry could not be queried now. Try again later.',
  unreachable: () => 'The registry did not answer. The check is repeated every day, and when you refresh.',
  unreadable: () => 'The registry returned an error, or its answer could not be read.',
  failed: () => 'The check failed. The provider has been notified.',

  registry_unavailable: () => 'The routing registry did not answer.',
  aut_num_missing: ({ asn }) => `The routing registries have no aut-num object of AS${String(asn)}.`,
  aut_num_unreadable: () => 'The aut-num object could not be read.',
  aut_num_token_missing: (attrs) => `The token was not found in ${autNum(attrs)}.`,
  aut_num_open_registry: (attrs) =>
    `The token was found in ${autNum(attrs)}, where anybody may register. Add it to the object in the database of a regional registry.`,
  aut_num_found: (attrs) => `The token was found in ${autNum(attrs)}.`,

  origins_unavailable: () =>
    'The prefixes that the ASN originates are not known now: ROAs and route objects could not be read.',
  origins_missing: ({ asn }) =>
    `No ROA and no route object names a prefix of AS${String(asn)} that has reverse zones.`,
  txt_found: ({ names }) => `The token was found at ${listOf(names)}. ${evidenceOnly}`,
  txt_unavailable: () => 'The name servers did not answer.',
  txt_failed: ({ name }) => `The name servers returned an error at ${String(name)}.`,
  txt_partial: ({ name }) => `The token was found at ${String(name)}, but not at all zones of its prefix.`,
  txt_other: ({ name }) => `Other text, but no token, was found at ${String(name)}.`,
  txt_missing: () => 'No such record was found.',

  roa_no_prefix: () => 'The team has no verified prefix yet that a ROA could be for.',
  roa_found: ({ asn, prefix }) =>
    `A ROA authorizes AS${String(asn)} to originate ${String(prefix)}, a prefix of the team. ${evidenceOnly}`,
  roa_unavailable: () => 'ROAs could not be read.',
  roa_missing: ({ asn }) => `No ROA of a prefix of the team names AS${String(asn)}.`,
} satisfies Record<string, (attrs: ReasonAttrs) => string>

export type AsnProofReason = keyof typeof texts
export const asnProofReasons = Object.keys(texts) as [AsnProofReason, ...AsnProofReason[]]

/** Returns the sentence of a code for people. */
export function asnProofReasonText(reason: AsnProofReason, attrs: ReasonAttrs): string {
  const text: (attrs: ReasonAttrs) => string = texts[reason]
  return text(attrs)
}
