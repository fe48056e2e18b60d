// What one look at one method comes to, and how a look that fails is told from one that finds nothing. It knows no method.
import type { AsnProofState, ProofStep } from '@pharos/contract/inventory'
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import { unlessAborted } from '../runtime/abort.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { Failure } from '../runtime/error.ts'
import type { AsnTokens } from './asn-token.ts'

export type Evidence = Readonly<Record<string, unknown>>

export type Finding = {
  /** `pending` is what was not looked at, and so never found. */
  readonly state: Exclude<AsnProofState, 'pending'>
  /** One sentence for the team. */
  readonly note: string
  readonly evidence: Evidence
}

/** What a look needs to know. */
export type Claim = {
  readonly asn: Asn
  readonly tokens: AsnTokens
  /** The prefixes that are the team's by other proof than the ASN's. */
  readonly heldPrefixes: readonly Prefix[]
}

export const valid = (note: string, evidence: Evidence): Finding => ({ state: 'valid', note, evidence })
export const missing = (note: string, evidence: Evidence = {}): Finding => ({
  state: 'missing',
  note,
  evidence,
})
export const unavailable = (note: string, evidence: Evidence = {}): Finding => ({
  state: 'unavailable',
  note,
  evidence,
})

/** Follows what a method found that shows control of a prefix only. */
export const evidenceOnly =
  'It shows control of the prefix, not of the ASN, and does not verify the ASN by itself.'

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

/** The first step of such a method. */
export const instructEvidence = (asn: Asn): ProofStep =>
  step(
    `This does not verify AS${asn}, since the holder of a prefix can name any ASN. Add the token to the aut-num object instead. ` +
      'If no regional registry has an aut-num object of the ASN, ask the provider to verify it with this as evidence.',
  )

export const notSetUp = unavailable('The provider has not configured this method.')

/** Runs a look for at most so long, whether it heeds its signal or not. Whatever it throws is a finding, never `valid`. */
export async function lookFor(
  timeoutMs: number,
  signal: AbortSignal,
  look: (signal: AbortSignal) => Promise<Finding>,
  onError: (error: unknown) => void,
): Promise<Finding> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const ended = AbortSignal.any([signal, timeout])
  try {
    return await unlessAborted(ended, look(ended))
  } catch (error) {
    if (timeout.aborted) return unavailable(`There was no answer within ${timeoutMs / 1000} seconds.`)
    signal.throwIfAborted()
    return findingOf(error, onError)
  }
}

function findingOf(error: unknown, onError: (error: unknown) => void): Finding {
  if (error instanceof Failure && error.code === 'unavailable') return unavailable(error.message)
  if (!(error instanceof DriverError)) {
    onError(error)
    return { state: 'error', note: 'The check failed; the provider has been told.', evidence: {} }
  }
  return error.kind === 'unreachable'
    ? unavailable('There was no answer; it is tried again every day, and whenever you ask.')
    : { state: 'error', note: 'The answer was an error or could not be read.', evidence: {} }
}
