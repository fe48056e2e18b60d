// The states of a proof, and the badge of an ASN.
import type { AsnProof, AsnProofState, HeldAsn } from '@pharos/contract/inventory/asn'
import { StatePill, type Shown } from '../ui/status.tsx'
import { daysUntil } from '../ui/time.tsx'
import { words } from './words.ts'

const { states, badge: texts } = words

export const proofStates: Record<AsnProofState, Shown> = {
  valid: { label: states.valid, color: 'ok' },
  pending: { label: states.pending, color: 'info' },
  missing: { label: states.missing, color: 'warn' },
  unavailable: { label: states.unavailable, color: 'idle' },
  error: { label: states.error, color: 'bad' },
}

/** A proof of address space is evidence: it does not verify the ASN. */
export const ProofPill = ({ state, proves }: Pick<AsnProof, 'state' | 'proves'>) =>
  state === 'valid' && proves === 'address_space' ? (
    <StatePill color="info">{states.evidence}</StatePill>
  ) : (
    <StatePill color={proofStates[state].color}>{proofStates[state].label}</StatePill>
  )

type Verification = Pick<HeldAsn, 'verified' | 'verified_by' | 'expires'>

const verifiedBy = (by: NonNullable<Verification['verified_by']>): string =>
  by === 'operator' ? texts.provider : texts.by(by)

/** Days before expiry from which a proof is marked as expiring. */
const warnDays = 30

export function AsnBadge({ verified, verified_by: by, expires }: Verification) {
  if (verified === null || by === null) return <StatePill color="warn">{texts.notVerified}</StatePill>
  if (expires !== null && daysUntil(expires) <= warnDays)
    return <StatePill color="warn">{texts.soon(verifiedBy(by))}</StatePill>
  return <StatePill color="ok">{verifiedBy(by)}</StatePill>
}
