// Decides from the results whether a team is verified for an ASN. Pure. One valid method that proves the ASN is enough.
// A missing proof has no effect before its expiry; a registry that does not answer never ends a verification.
import { asnProofMethods, asnProofScopes, type AsnProofMethod } from '@pharos/contract/inventory/asn'
import { isVerified, type HeldAsn } from './held-asn.ts'
import type { ProofResult } from './asn-proof-result.ts'
import type { AsnProof } from './asn-proof-result.ts'
import type { AsnVerificationState } from './asn-proof.store.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
const lifetimeMs = 180 * dayMs
/** Minimum time until a proof expires while its registry does not answer: the daily check needs time. */
const graceMs = 2 * dayMs
/** The time between the first of three daily checks and the third: after it the note contains a warning. */
const warnAfterMs = 2 * dayMs

export type ProofResults = ReadonlyMap<AsnProofMethod, ProofResult>

export type VerificationChange = {
  /** `verify` and `expire` change whether the team is verified; `extend` changes only the expiry. */
  readonly kind: 'verify' | 'extend' | 'expire'
  readonly after: AsnVerificationState
}

/** Control of a prefix does not prove control of the ASN, so it never verifies (decision 011). */
const verifyingMethods = asnProofMethods.filter((method) => asnProofScopes[method] === 'asn')

/** Returns undefined without a change. `conflict`: another team is verified for it, so only the operator can decide. */
export function nextVerification(
  held: HeldAsn | undefined,
  results: ProofResults,
  conflict: boolean,
  now: Date,
): VerificationChange | undefined {
  if (held?.verifiedBy === 'operator' || held?.revoked) return undefined
  const isCurrent = held !== undefined && isVerified(held, now)
  const proof = validMethod(results, held?.verifiedBy ?? null)
  if (proof && isCurrent) return extension(held, proof, later(now, lifetimeMs))
  if (proof && !conflict) return verification(proof, now)
  return held?.verified ? withoutProof(held, isCurrent, results, conflict, now) : undefined
}

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

/** Returns the method that the ASN is verified by, or else the strongest valid one. */
function validMethod(results: ProofResults, current: AsnProofMethod | null): AsnProofMethod | undefined {
  const order = current ? [current, ...verifyingMethods] : verifyingMethods
  return order.find((method) => results.get(method)?.state === 'valid')
}

const verification = (verifiedBy: AsnProofMethod, now: Date): VerificationChange => ({
  kind: 'verify',
  after: { verified: now, verifiedBy, expires: later(now, lifetimeMs) },
})

const extension = ({ verified }: HeldAsn, verifiedBy: AsnProofMethod, expires: Date): VerificationChange => ({
  kind: 'extend',
  after: { verified, verifiedBy, expires },
})

function withoutProof(
  held: HeldAsn,
  isCurrent: boolean,
  results: ProofResults,
  conflict: boolean,
  now: Date,
): VerificationChange | undefined {
  const method = held.verifiedBy as AsnProofMethod
  const isUnknown = results.get(method)?.state === 'unavailable'
  const grace = later(now, graceMs)
  if (isUnknown && held.expires! < grace && (isCurrent || !conflict)) return extension(held, method, grace)
  if (isCurrent || isUnknown || !results.has(method)) return undefined
  return { kind: 'expire', after: { verified: null, verifiedBy: null, expires: null } }
}

/** Returns the proof to store for a result. `provenBy`: the method that the ASN is verified by. */
export function proofAfter(
  before: AsnProof | undefined,
  method: AsnProofMethod,
  result: ProofResult,
  provenBy: HeldAsn['verifiedBy'],
  now: Date,
): AsnProof {
  const since = before?.missingSince ?? null
  const isGone = result.state === 'missing' || result.state === 'error'
  const startsNow = isGone && (provenBy === method || before?.state === 'valid')
  const missingSince = result.state === 'valid' ? null : (since ?? (startsNow ? now : null))
  return { method, ...result, missingSince, checked: now }
}

/** Returns the note of a proof, with a warning once it was missing on three consecutive days. */
export function noteOf({ note, missingSince, checked, method }: AsnProof, held: HeldAsn | undefined): string {
  if (!missingSince || checked.getTime() - missingSince.getTime() < warnAfterMs) return note
  const warning = `${note} It has been missing since ${day(missingSince)}`
  return held?.verifiedBy === method && held.expires
    ? `${warning}; the verification ends on ${day(held.expires)} unless the proof is restored.`
    : `${warning}.`
}

const day = (time: Date): string => time.toISOString().slice(0, 10)
