// The names of the methods and states of a proof, and the badge of an ASN.
import type { AsnProof, AsnProofMethod, AsnProofState, HeldAsn } from '@pharos/contract/inventory'
import { daysUntil } from '../ui/time.tsx'
import { StatePill, type Shown } from '../ui/status.tsx'

export const methodNames: Record<AsnProofMethod, string> = {
  aut_num: 'Aut-num object',
  dns_txt: 'DNS record',
  roa: 'ROA',
  rdap_email: 'E-mail to the registry contact',
  peeringdb: 'PeeringDB',
}

/** Why the method proves something, in a sentence. */
export const methodReasons: Record<AsnProofMethod, string> = {
  aut_num: 'Only the holder of an ASN can change its object at the regional registry.',
  dns_txt: 'Only the holder of a prefix can write into its reverse zone. It does not verify the ASN.',
  roa: 'The holder of a prefix can name any ASN in a ROA. It does not verify the ASN.',
  rdap_email: 'The ASN’s registry contact confirms by e-mail.',
  peeringdb: 'An admin of the network’s PeeringDB entry signs in.',
}

const proofStates: Record<AsnProofState, Shown> = {
  valid: { label: 'Verified', color: 'ok' },
  pending: { label: 'Not checked yet', color: 'info' },
  missing: { label: 'Not found', color: 'warn' },
  unavailable: { label: 'Not available', color: 'idle' },
  error: { label: 'Error', color: 'bad' },
}

export function ProofBadge({ state, proves }: Pick<AsnProof, 'state' | 'proves'>) {
  if (state === 'valid' && proves === 'address_space')
    return <StatePill color="warn">Evidence only</StatePill>
  return <StatePill color={proofStates[state].color}>{proofStates[state].label}</StatePill>
}

const methodWords: Record<AsnProofMethod, string> = {
  aut_num: 'aut-num',
  dns_txt: 'DNS record',
  roa: 'ROA',
  rdap_email: 'e-mail',
  peeringdb: 'PeeringDB',
}

type Verification = Pick<HeldAsn, 'verified' | 'verified_by' | 'expires'>

export const verifiedBy = (by: NonNullable<Verification['verified_by']>): string =>
  by === 'operator' ? 'Verified by the provider' : `Verified by ${methodWords[by]}`

/** Days before expiry from which a proof is shown as expiring. */
export const warnDays = 30

export function AsnBadge({ verified, verified_by: by, expires }: Verification) {
  if (verified === null || by === null) return <StatePill color="warn">Not verified</StatePill>
  if (expires !== null && daysUntil(expires) <= warnDays)
    return <StatePill color="warn">{verifiedBy(by)}, expires soon</StatePill>
  return <StatePill color="ok">{verifiedBy(by)}</StatePill>
}
