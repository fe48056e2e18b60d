// The rules of the checks: from the verdicts of registries and our own rows to results with reasons and fixes. Pure.
import type { CheckReason } from '@pharos/contract/reason/check-reason'
import type { Asn } from '../../net/asn.ts'
import { prefixParts, type Prefix } from '../../net/prefix.ts'
import { roaFix, routeObjectFix } from './check-fix.ts'
import type { IrrVerdict } from '../../registry/irr-verdict.ts'
import type { RpkiVerdict } from '../../registry/rpki.ts'
import { explain, type CheckResult, type Explanation, type ValidationState } from './validation.ts'

/** The prefix and origin to check. */
export type CheckTarget = { readonly prefix: Prefix; readonly originAsn: Asn; readonly asSet: string | null }

/** The longest prefixes that most networks accept. */
export const longestAccepted = { 4: 24, 6: 48 } as const
/** No organisation has a larger block; a shorter prefix is a typing error. */
export const shortestAccepted = { 4: 8, 6: 16 } as const

export function evaluateSize(prefix: Prefix, now: Date): CheckResult {
  const { family, length } = prefixParts(prefix)
  const longest = longestAccepted[family]
  const evidence = { prefixlen: length, longest_accepted: longest }
  if (length <= longest)
    return { state: 'valid', ...explain('size_accepted', { length }), evidence, fix: null, checked: now }
  return { state: 'invalid', ...explain('size_too_long', { longest }), evidence, fix: null, checked: now }
}

/** The states of the checks by which a team shows that it may announce the prefix. */
export type ProofStates = Readonly<Record<'loa' | 'rpki' | 'asn', ValidationState>>

/** Whether the holder of the prefix authorizes the team: by an accepted proof, or by a ROA for an ASN of the team. */
export const isAuthorized = ({ loa, rpki, asn }: ProofStates): boolean =>
  loa === 'valid' || (rpki === 'valid' && asn === 'valid')

/**
 * Before the team is authorized, the result does not depend on other teams: anyone could otherwise find out other
 * customers' prefixes.
 */
export function evaluateOverlap(contested: boolean, authorized: boolean, now: Date): CheckResult {
  const rest = { evidence: {}, fix: null, checked: now }
  if (!authorized) return { state: 'pending', ...explain('prefix_unproven'), ...rest, checked: null }
  if (!contested) return { state: 'valid', ...explain('prefix_unclaimed'), ...rest }
  return { state: 'invalid', ...explain('prefix_contested'), ...rest }
}

/** The team's verification of the ASN. */
export type AsnVerification = {
  readonly verified: Date | null
  readonly verifiedBy: string | null
  /** Null: it does not expire. */
  readonly expires: Date | null
  /** The operator ended the verification, so a proof of the team does not help. */
  readonly isRevoked?: boolean
}

export function evaluateAsn(asn: Asn, verification: AsnVerification | null, now: Date): CheckResult {
  const evidence = {
    verified: verification?.verified?.toISOString() ?? null,
    verified_by: verification?.verifiedBy ?? null,
    expires: verification?.expires?.toISOString() ?? null,
  }
  const rest = { evidence, checked: now }
  const fix = `GET /v3/inventory/asns/${asn}/verify`
  if (verification?.isRevoked)
    return { state: 'missing', ...explain('asn_revoked', { asn }), fix: null, ...rest }
  if (!verification?.verified)
    return { state: 'missing', ...explain('asn_unverified', { asn }), fix, ...rest }
  if (verification.expires !== null && verification.expires <= now)
    return { state: 'expired', ...explain('asn_expired', { asn }), fix, ...rest }
  return { state: 'valid', ...explain('asn_verified', { asn }), fix: null, ...rest }
}

export function evaluateRpki({ prefix, originAsn }: CheckTarget, verdict: RpkiVerdict): CheckResult {
  const evidence = {
    vrps: verdict.covering.map(({ prefix: covering, maxLength, asn }) => ({
      prefix: covering,
      max_length: maxLength,
      asn,
    })),
    source: verdict.source,
    as_of: verdict.asOf?.toISOString() ?? null,
  }
  const fix = verdict.state === 'valid' || verdict.state === 'unavailable' ? null : roaFix(prefix, originAsn)
  return {
    state: verdict.state,
    ...explainRpki(attrsOf(prefix, originAsn, verdict.reason), verdict),
    evidence,
    fix,
    checked: verdict.state === 'unavailable' ? null : verdict.asOf,
  }
}

/** A ROA of AS 0 names no other network: it forbids the prefix (RFC 6483 section 4). */
function explainRpki(attrs: ReturnType<typeof attrsOf>, { state, covering }: RpkiVerdict) {
  const forbidding = state === 'mismatch_asn' ? covering.find(({ asn }) => asn === 0) : undefined
  return forbidding
    ? explain('roa_forbids', { ...attrs, forbidden: forbidding.prefix })
    : explain(rpkiReasons[state], attrs)
}

const rpkiReasons = {
  valid: 'roa_valid',
  missing: 'roa_missing',
  mismatch_asn: 'roa_mismatch_asn',
  mismatch_length: 'roa_mismatch_length',
  unavailable: 'rpki_unavailable',
} as const satisfies Record<RpkiVerdict['state'], CheckReason>

const attrsOf = (prefix: Prefix, asn: Asn, detail: string | undefined) => ({
  prefix,
  asn,
  ...(detail === undefined ? {} : { detail }),
})

export function evaluateIrr({ prefix, originAsn }: CheckTarget, verdict: IrrVerdict): CheckResult {
  const evidence = {
    objects: verdict.objects.map(({ prefix: of, origin, source }) => ({ prefix: of, origin, source })),
    source: verdict.source,
    as_of: verdict.fetched?.toISOString() ?? null,
    ...(verdict.member ? { member: verdict.member } : {}),
  }
  const needsFix = verdict.state !== 'valid' && verdict.state !== 'unavailable'
  return {
    state: verdict.state,
    ...explain(irrReasons[verdict.state], attrsOf(prefix, verdict.member?.asn ?? originAsn, verdict.reason)),
    evidence,
    fix: needsFix ? routeObjectFix(prefix, originAsn) : null,
    checked: verdict.state === 'unavailable' ? null : verdict.fetched,
  }
}

const irrReasons = {
  valid: 'route_valid',
  missing: 'route_missing',
  mismatch_asn: 'route_mismatch_asn',
  mismatch_length: 'route_mismatch_length',
  unavailable: 'irr_unavailable',
} as const satisfies Record<IrrVerdict['state'], CheckReason>

/** The verdict of the letters of one announcement. */
export type LetterVerdict = Explanation & {
  readonly state: 'missing' | 'pending' | 'valid' | 'invalid' | 'expired'
  readonly validUntil: Date | null
  readonly letterId: number | null
}

export const noLetter: LetterVerdict = {
  state: 'missing',
  ...explain('letter_missing'),
  validUntil: null,
  letterId: null,
}

/** Marks a check as valid that the platform file vouches for; the reason keeps the result of the registry. */
export function vouch(result: CheckResult, now: Date): CheckResult {
  if (result.state === 'valid') return result
  const { reason, attrs } = result
  const vouched = explain('vouched', { instead: { reason, attrs } })
  return { ...result, ...vouched, state: 'valid', fix: null, checked: result.checked ?? now }
}
