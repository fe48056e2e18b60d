// An ASN of a team, and whether it counts as verified.
import type { AsnProofMethod } from '@pharos/contract/inventory/asn'
import type { Asn } from '../../net/asn.ts'

export type HeldAsn = {
  readonly id: number
  readonly teamId: number
  readonly asn: Asn
  /** Empty if missing. */
  readonly name: string
  /** Null if the team was never verified for it, or no longer is. */
  readonly verified: Date | null
  /** `operator`: by the platform file, without expiry. Null if and only if `verified` is. */
  readonly verifiedBy: AsnProofMethod | 'operator' | null
  /** The expiry of the proof. The verification counts until then, even if the row is updated later. */
  readonly expires: Date | null
  /** The operator ended the verification: proofs of the team do not count until the operator verifies it again. */
  readonly revoked: { readonly at: Date; readonly reason: string } | null
  readonly created: Date
}

/** Returns whether the verification counts at that time: by the operator, or proven and not expired. */
export function isVerified({ verified, expires }: HeldAsn, now: Date): boolean {
  return verified !== null && (expires === null || expires > now)
}
