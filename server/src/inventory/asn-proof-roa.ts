// Evidence by ROA: a ROA of a prefix that is the team's by other proof names the ASN. The holder of the prefix signs a ROA and
// can name any ASN in it, so this never verifies the ASN; staff may take it into account.
import type { ProofStep } from '@pharos/contract/inventory'
import { comparePrefixes, lengthOf, type Prefix } from '../net/prefix.ts'
import {
  evidenceOnly,
  instructEvidence,
  missing,
  notSetUp,
  step,
  unavailable,
  valid,
  type Claim,
  type Finding,
} from './asn-finding.ts'
import type { Roa, RoaSource } from './asn-proof-sources.ts'

/** Prefixes looked at in one check, and named in the instructions. */
const prefixesMax = 1000
const namedMax = 10

export async function checkRoa(source: RoaSource | undefined, claim: Claim): Promise<Finding> {
  if (!source) return notSetUp
  const prefixes = claim.heldPrefixes.slice(0, prefixesMax)
  if (prefixes.length === 0) return missing('The team holds no prefix by other proof yet.')
  const answers = await Promise.all(
    prefixes.map(async (prefix) => [prefix, await source.roasOf(prefix)] as const),
  )
  for (const [prefix, answer] of answers) {
    if (answer.state !== 'found') continue
    const roa = answer.roas.find((one) => isOf(one, prefix, claim))
    if (roa)
      return valid(
        `A ROA allows AS${claim.asn} to originate ${prefix}, a prefix of the team. ${evidenceOnly}`,
        evidenceOf(roa),
      )
  }
  if (answers.some(([, { state }]) => state === 'unavailable')) return unavailable('ROAs could not be read.')
  return missing(`No ROA of a prefix of the team names AS${claim.asn}.`)
}

/** A ROA of a covering prefix may be somebody else's: only one of the prefix itself counts. */
const isOf = (roa: Roa, prefix: Prefix, { asn }: Claim): boolean => roa.asn === asn && roa.prefix === prefix

const evidenceOf = ({ prefix, maxLength, asn }: Roa) => ({ prefix, max_length: maxLength, asn })

export function instructRoa({ asn, heldPrefixes }: Claim): ProofStep[] {
  if (heldPrefixes.length === 0)
    return [instructEvidence(asn), step('The team has no verified prefix yet that a ROA could be for.')]
  const tuples = heldPrefixes
    .toSorted(comparePrefixes)
    .slice(0, namedMax)
    .map((prefix) => `(${prefix}, maxLength ${lengthOf(prefix)}, AS${asn})`)
  return [instructEvidence(asn), step('Create one of these ROAs at your regional registry:', tuples, 'one')]
}
