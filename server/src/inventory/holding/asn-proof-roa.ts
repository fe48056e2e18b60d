// Evidence by ROA: a ROA of a prefix that belongs to the team independently authorizes the ASN. The holder of the
// prefix signs a ROA and can authorize any ASN in it, so this never verifies the ASN; staff may take it into account.
import type { ProofStep } from '@pharos/contract/inventory/asn'
import { comparePrefixes, lengthOf, type Prefix } from '../../net/prefix.ts'
import type { Vrp } from '../../registry/objects/vrp.ts'
import {
  proofResult,
  instructEvidence,
  notConfigured,
  step,
  type AsnProofSources,
  type ProofSubject,
  type ProofResult,
} from './asn-proof-result.ts'

/** Limits of checked prefixes, and of prefixes in the instructions. */
const prefixesMax = 1000
const namedMax = 10

/** Searches the ROAs of the team's prefixes for the ASN. */
export function checkRoa({ rpki }: Pick<AsnProofSources, 'rpki'>, subject: ProofSubject): ProofResult {
  if (!rpki) return notConfigured
  const prefixes = subject.heldPrefixes.slice(0, prefixesMax)
  if (prefixes.length === 0) return proofResult('missing', 'roa_no_prefix')
  const verdicts = prefixes.map((prefix) => [prefix, rpki.judge(prefix, subject.asn)] as const)
  for (const [prefix, { covering }] of verdicts) {
    const roa = covering.find((one) => isOf(one, prefix, subject))
    if (roa) return proofResult('valid', 'roa_found', { asn: subject.asn, prefix }, evidenceOf(roa))
  }
  if (verdicts.some(([, { state }]) => state === 'unavailable'))
    return proofResult('unavailable', 'roa_unavailable')
  return proofResult('missing', 'roa_missing', { asn: subject.asn })
}

/** Only a ROA of the prefix itself counts: a ROA of a covering prefix may belong to another holder. */
const isOf = (roa: Vrp, prefix: Prefix, { asn }: ProofSubject): boolean =>
  roa.asn === asn && roa.prefix === prefix

const evidenceOf = ({ prefix, maxLength, asn }: Vrp) => ({ prefix, max_length: maxLength, asn })

export function instructRoa({ asn, heldPrefixes }: ProofSubject): ProofStep[] {
  if (heldPrefixes.length === 0)
    return [instructEvidence(asn), step('The team has no verified prefix yet that a ROA could be for.')]
  const tuples = heldPrefixes
    .toSorted(comparePrefixes)
    .slice(0, namedMax)
    .map((prefix) => `(${prefix}, maxLength ${lengthOf(prefix)}, AS${asn})`)
  return [instructEvidence(asn), step('Create one of these ROAs at your regional registry:', tuples, 'one')]
}
