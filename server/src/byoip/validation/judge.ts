// The rules of the checks: from the verdicts of registries and our own rows to results with reasons and fixes. Pure.
import type { CheckReason } from '@pharos/contract/check-reason'
import type { Asn } from '../../net/asn.ts'
import { prefixParts, type Prefix } from '../../net/prefix.ts'
import { roaFix, routeObjectFix } from './fix.ts'
import type { IrrVerdict } from '../../registry/irr-verdict.ts'
import type { RpkiVerdict } from '../../registry/rpki.ts'
import { because, type Judgement, type Reasoned } from './validation.ts'

/** The prefix and origin to check. */
export type Claim = { readonly prefix: Prefix; readonly originAsn: Asn; readonly asSet: string | null }

/** The longest prefixes that most networks accept. */
export const longestAccepted = { 4: 24, 6: 48 } as const
/** No organisation holds a larger block; a shorter prefix is a typing error. */
export const shortestAccepted = { 4: 8, 6: 16 } as const

export function judgeSize(prefix: Prefix, now: Date): Judgement {
  const { family, length } = prefixParts(prefix)
  const longest = longestAccepted[family]
  const evidence = { prefixlen: length, longest_accepted: longest }
  if (length <= longest)
    return { state: 'valid', ...because('size_accepted', { length }), evidence, fix: null, checked: now }
  return { state: 'invalid', ...because('size_too_long', { longest }), evidence, fix: null, checked: now }
}

export function judgeOverlap(contested: boolean, now: Date): Judgement {
  const rest = { evidence: {}, fix: null, checked: now }
  if (!contested) return { state: 'valid', ...because('prefix_unclaimed'), ...rest }
  return { state: 'invalid', ...because('prefix_contested'), ...rest }
}

/** The team's verification of the ASN. */
export type AsnHold = {
  readonly verified: Date | null
  readonly verifiedBy: string | null
  /** Null: it does not expire. */
  readonly expires: Date | null
  /** The operator ended the verification, so a proof of the team does not help. */
  readonly isRevoked?: boolean
}

export function judgeAsn(asn: Asn, hold: AsnHold | null, now: Date): Judgement {
  const evidence = {
    verified: hold?.verified?.toISOString() ?? null,
    verified_by: hold?.verifiedBy ?? null,
    expires: hold?.expires?.toISOString() ?? null,
  }
  const rest = { evidence, checked: now }
  const fix = `GET /v3/inventory/asns/${asn}/verify`
  if (hold?.isRevoked) return { state: 'missing', ...because('asn_revoked', { asn }), fix: null, ...rest }
  if (!hold?.verified) return { state: 'missing', ...because('asn_unverified', { asn }), fix, ...rest }
  if (hold.expires !== null && hold.expires <= now)
    return { state: 'expired', ...because('asn_expired', { asn }), fix, ...rest }
  return { state: 'valid', ...because('asn_verified', { asn }), fix: null, ...rest }
}

export function judgeRpki({ prefix, originAsn }: Claim, verdict: RpkiVerdict): Judgement {
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
    ...because(rpkiReasons[verdict.state], attrsOf(prefix, originAsn, verdict.reason)),
    evidence,
    fix,
    checked: verdict.state === 'unavailable' ? null : verdict.asOf,
  }
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

export function judgeIrr({ prefix, originAsn }: Claim, verdict: IrrVerdict): Judgement {
  const evidence = {
    objects: verdict.objects.map(({ prefix: of, origin, source }) => ({ prefix: of, origin, source })),
    source: verdict.source,
    as_of: verdict.fetched?.toISOString() ?? null,
    ...(verdict.member ? { member: verdict.member } : {}),
  }
  const asks = verdict.state !== 'valid' && verdict.state !== 'unavailable'
  return {
    state: verdict.state,
    ...because(irrReasons[verdict.state], attrsOf(prefix, verdict.member?.asn ?? originAsn, verdict.reason)),
    evidence,
    fix: asks ? routeObjectFix(prefix, originAsn) : null,
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
export type LetterVerdict = Reasoned & {
  readonly state: 'missing' | 'pending' | 'valid' | 'invalid' | 'expired'
  readonly validUntil: Date | null
  readonly letterId: number | null
}

export const noLetter: LetterVerdict = {
  state: 'missing',
  ...because('letter_missing'),
  validUntil: null,
  letterId: null,
}

/** Marks a check as valid that the platform file vouches for; the reason keeps the result of the registry. */
export function vouch(judged: Judgement, now: Date): Judgement {
  if (judged.state === 'valid') return judged
  const { reason, attrs } = judged
  const vouched = because('vouched', { instead: { reason, attrs } })
  return { ...judged, ...vouched, state: 'valid', fix: null, checked: judged.checked ?? now }
}
