// From what registries and our own tables say to judgements with their reasons and fixes. Pure: whoever calls has asked.
import type { Asn } from '../../net/asn.ts'
import { prefixParts, type Prefix } from '../../net/prefix.ts'
import { roaFix, routeObjectFix } from './fix.ts'
import type { IrrVerdict } from '../../registry/irr-verdict.ts'
import type { RpkiVerdict } from '../../registry/rpki.ts'
import type { Judgement } from './validation.ts'

/** What is judged. */
export type Claim = { readonly prefix: Prefix; readonly originAsn: Asn; readonly asSet: string | null }

/** The longest prefixes that other networks accept. */
export const longestAccepted = { 4: 24, 6: 48 } as const
/** Nobody holds more; a shorter prefix is a slip of the keyboard. */
export const shortestAccepted = { 4: 8, 6: 16 } as const

export function judgeSize(prefix: Prefix, now: Date): Judgement {
  const { family, length } = prefixParts(prefix)
  const longest = longestAccepted[family]
  const evidence = { prefixlen: length, longest_accepted: longest }
  if (length <= longest)
    return { state: 'valid', note: `Other networks accept a /${length}.`, evidence, fix: null, checked: now }
  const note = `Other networks accept nothing longer than /${longest}.`
  return { state: 'invalid', note, evidence, fix: null, checked: now }
}

export function judgeOverlap(contested: boolean, now: Date): Judgement {
  const rest = { evidence: {}, fix: null, checked: now }
  if (!contested) return { state: 'valid', note: 'No other customer holds the prefix.', ...rest }
  const note = 'Another customer holds the prefix or one that covers it. If it is yours, ask your provider.'
  return { state: 'invalid', note, ...rest }
}

/** What is known of the team's hold on the ASN. */
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
  if (hold?.isRevoked) {
    const note = `The provider has revoked the verification of AS${asn} for the team. Contact the provider.`
    return { state: 'missing', note, fix: null, ...rest }
  }
  if (!hold?.verified) {
    const note = `It has not been proven that AS${asn} is the team's; the call below says how.`
    return { state: 'missing', note, fix, ...rest }
  }
  if (hold.expires !== null && hold.expires <= now) {
    const note = `The proof that AS${asn} is the team's has expired; the call below says how to renew it.`
    return { state: 'expired', note, fix, ...rest }
  }
  return { state: 'valid', note: `AS${asn} is the team's.`, fix: null, ...rest }
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
  const note = rpkiNotes[verdict.state](prefix, originAsn)
  return {
    state: verdict.state,
    note: verdict.reason === undefined ? note : `${note} ${sentence(verdict.reason)}`,
    evidence,
    fix,
    checked: verdict.state === 'unavailable' ? null : verdict.asOf,
  }
}

const rpkiNotes: Record<RpkiVerdict['state'], (prefix: Prefix, asn: Asn) => string> = {
  valid: (prefix, asn) => `A ROA authorises AS${asn} to originate ${prefix}.`,
  missing: () => 'No ROA covers the prefix; create this one.',
  mismatch_asn: (_, asn) =>
    `The prefix is covered by ROAs, and none of them is for AS${asn}; create this one.`,
  mismatch_length: (prefix, asn) =>
    `A ROA for AS${asn} covers the prefix, but its maxLength does not allow ${prefix}; create this one.`,
  unavailable: () => 'The RPKI could not be asked.',
}

export function judgeIrr({ prefix, originAsn }: Claim, verdict: IrrVerdict): Judgement {
  const evidence = {
    objects: verdict.objects.map(({ prefix: of, origin, source }) => ({ prefix: of, origin, source })),
    source: verdict.source,
    as_of: verdict.fetched?.toISOString() ?? null,
    ...(verdict.member ? { member: verdict.member } : {}),
  }
  const asks = verdict.state !== 'valid' && verdict.state !== 'unavailable'
  const note = irrNotes[verdict.state](prefix, verdict.member?.asn ?? originAsn)
  return {
    state: verdict.state,
    note: verdict.reason === undefined ? note : `${note} ${sentence(verdict.reason)}`,
    evidence,
    fix: asks ? routeObjectFix(prefix, originAsn) : null,
    checked: verdict.state === 'unavailable' ? null : verdict.fetched,
  }
}

const irrNotes: Record<IrrVerdict['state'], (prefix: Prefix, asn: Asn) => string> = {
  valid: (prefix, asn) => `The routing registry holds a route object of ${prefix} with origin AS${asn}.`,
  missing: () => 'The routing registries hold no route object of the prefix; create this one.',
  mismatch_asn: (_, asn) =>
    `The routing registries hold the prefix with other origins only, not AS${asn}; create this object.`,
  mismatch_length: (prefix, asn) =>
    `The routing registries hold a shorter prefix of AS${asn} only, not ${prefix}; create this object.`,
  unavailable: () => 'The routing registries could not be asked.',
}

/** What a store of letters knows about one announcement. */
export type LetterVerdict = {
  readonly state: 'missing' | 'pending' | 'valid' | 'invalid' | 'expired'
  readonly note: string
  readonly validUntil: Date | null
  readonly letterId: number | null
}

export const noLetter: LetterVerdict = {
  state: 'missing',
  note: 'No letter of authorization was uploaded.',
  validUntil: null,
  letterId: null,
}

/** The operator's file vouches for a check: that counts, and what the registry says stands beside it. */
export function vouch(judged: Judgement, now: Date): Judgement {
  if (judged.state === 'valid') return judged
  const note = `The provider vouches for it; without that: ${judged.note}`
  return { ...judged, state: 'valid', note, fix: null, checked: judged.checked ?? now }
}

const sentence = (text: string): string =>
  `${text[0]!.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
