// The result of checking one method. A failed check differs from a check without a finding. Independent of the methods.
import { asnProofReasonText, type AsnProofReason } from '@pharos/contract/reason/asn-proof-reason'
import type { AsnProofMethod, AsnProofState, ProofStep } from '@pharos/contract/inventory/asn'
import type { ReasonAttrs } from '@pharos/contract/reason/region-reason'
import type { Asn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'
import { unlessAborted } from '../../runtime/abort.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { Failure } from '../../runtime/error.ts'
import type { Irr } from '../../registry/irr.ts'
import type { Rpki } from '../../registry/rpki.ts'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import type { AsnTokens } from './asn-token.ts'

export type ProofEvidence = Readonly<Record<string, unknown>>

export type ProofResult = {
  /** `pending` is a method that was not checked, so it is never a result. */
  readonly state: Exclude<AsnProofState, 'pending'>
  /** Null: stored before reasons had codes. */
  readonly reason: AsnProofReason | null
  readonly attrs: ReasonAttrs
  /** The sentence of the reason, for people. */
  readonly note: string
  readonly evidence: ProofEvidence
}

/** The last result of a method, as stored. */
export type AsnProof = {
  readonly method: AsnProofMethod
  readonly state: AsnProofState
  readonly reason: AsnProofReason | null
  readonly attrs: ReasonAttrs
  readonly note: string
  readonly evidence: ProofEvidence
  /** The time since which a proof that was valid is missing; null if it is valid, or never was. */
  readonly missingSince: Date | null
  readonly checked: Date
}

/** The sources of proofs. A method whose source is not configured is `unavailable`. */
export type AsnProofSources = {
  readonly irr?: Pick<Irr, 'autNum'> | undefined
  readonly rpki?: Pick<Rpki, 'judge' | 'originsOf'> | undefined
  readonly txt?: TxtResolver | undefined
}

/** The ASN, with the data that every method needs. */
export type ProofSubject = {
  readonly asn: Asn
  readonly tokens: AsnTokens
  /** The prefixes of the team that do not depend on the ASN. */
  readonly heldPrefixes: readonly Prefix[]
}

/** Returns a result with the sentence of its reason. */
export const proofResult = (
  state: ProofResult['state'],
  reason: AsnProofReason,
  attrs: ReasonAttrs = {},
  evidence: ProofEvidence = {},
): ProofResult => ({ state, reason, attrs, note: asnProofReasonText(reason, attrs), evidence })

/** Returns a step with its lines, all of which are needed unless `needs` is `one`. */
export const step = (
  text: string,
  lines: readonly string[] = [],
  needs: ProofStep['needs'] = 'all',
): ProofStep => ({
  text,
  lines: [...lines],
  needs,
})

/** Returns the first step of a method that is only evidence. */
export const instructEvidence = (asn: Asn): ProofStep =>
  step(
    `This does not verify AS${asn}, since the holder of a prefix can name any ASN. Add the token to the aut-num object instead. ` +
      'If no regional registry has an aut-num object of the ASN, ask the provider to verify it with this as evidence.',
  )

export const notConfigured = proofResult('unavailable', 'not_configured')

/** Runs a check with a timeout, whether or not it respects its signal. Every error becomes a result, never `valid`. */
export async function runCheck(
  timeoutMs: number,
  signal: AbortSignal,
  check: (signal: AbortSignal) => Promise<ProofResult>,
  onError: (error: unknown) => void,
): Promise<ProofResult> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const ended = AbortSignal.any([signal, timeout])
  try {
    return await unlessAborted(ended, check(ended))
  } catch (error) {
    if (timeout.aborted) return proofResult('unavailable', 'timeout', { seconds: timeoutMs / 1000 })
    signal.throwIfAborted()
    return resultOfError(error, onError)
  }
}

function resultOfError(error: unknown, onError: (error: unknown) => void): ProofResult {
  if (error instanceof Failure && error.code === 'unavailable')
    return proofResult('unavailable', 'not_queried')
  if (!(error instanceof DriverError)) {
    onError(error)
    return proofResult('error', 'failed')
  }
  return error.kind === 'unreachable'
    ? proofResult('unavailable', 'unreachable')
    : proofResult('error', 'unreadable')
}
