// What the methods and the states of a proof are called.
import { Badge } from '@mantine/core'
import type { AsnProof, AsnProofMethod, AsnProofState, HeldAsn } from '@pharos/contract/inventory'
import { daysUntil } from '../ui/time.tsx'

export const methodNames: Record<AsnProofMethod, string> = {
  aut_num: 'Aut-num object',
  dns_txt: 'DNS record',
  roa: 'ROA',
  rdap_email: 'Mail to the registry’s contact',
  peeringdb: 'PeeringDB',
}

/** Why it proves something, in a sentence. */
export const methodReasons: Record<AsnProofMethod, string> = {
  aut_num: 'Only the holder of an ASN can change its object at the regional registry.',
  dns_txt: 'Only the holder of a prefix can write into its reverse zone. It does not verify the ASN.',
  roa: 'The holder of a prefix can name any ASN in a ROA. It does not verify the ASN.',
  rdap_email: 'The registry’s contact of the ASN follows a link.',
  peeringdb: 'The network’s account at PeeringDB speaks for the ASN.',
}

const proofStates: Record<AsnProofState, { label: string; color: string }> = {
  valid: { label: 'proven', color: 'teal' },
  pending: { label: 'not looked for yet', color: 'blue' },
  missing: { label: 'not there', color: 'orange' },
  unavailable: { label: 'not available', color: 'gray' },
  error: { label: 'cannot be read', color: 'red' },
}

export function ProofBadge({ state, proves }: Pick<AsnProof, 'state' | 'proves'>) {
  if (state === 'valid' && proves === 'address_space') return <Badge color="yellow">evidence only</Badge>
  return <Badge color={proofStates[state].color}>{proofStates[state].label}</Badge>
}

const proofWords: Record<AsnProofMethod, string> = {
  aut_num: 'its aut-num object',
  dns_txt: 'a DNS record',
  roa: 'a ROA',
  rdap_email: 'mail',
  peeringdb: 'PeeringDB',
}

type Hold = Pick<HeldAsn, 'verified' | 'verified_by' | 'expires'>

export const provenBy = (by: NonNullable<Hold['verified_by']>): string =>
  by === 'operator' ? 'vouched for by the provider' : `proven by ${proofWords[by]}`

/** Days before its end at which a proof is worth a word. */
export const warnDays = 30

export function HoldBadge({ verified, verified_by: by, expires }: Hold) {
  if (verified === null || by === null) return <Badge color="orange">not proven</Badge>
  if (expires !== null && daysUntil(expires) <= warnDays)
    return <Badge color="yellow">{provenBy(by)}, ends soon</Badge>
  return <Badge color="teal">{provenBy(by)}</Badge>
}
