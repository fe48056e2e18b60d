// The check `loa`: whether somebody who may has authorised the announcement, by any of the kinds of proof that the operator
// accepts. Pure.
import type { AuthorizationKind, AuthorizationProof } from '@pharos/contract/announcement-checks'
import type { Claim, LetterVerdict } from './judge.ts'
import { roaFix } from './fix.ts'
import { rdapFix, txtFix } from './prefix-proof.ts'
import type { PrefixTokens } from './prefix-token.ts'
import type { Judgement } from './validation.ts'

/** The kinds that are looked for and kept, each by itself. */
export const keptKinds = ['dns_txt', 'rdap'] as const
export type KeptKind = (typeof keptKinds)[number]
export type KeptProofs = Partial<Readonly<Record<KeptKind, Judgement>>>

/** What is known of each kind of proof. */
export type AuthorizationFacts = {
  /** Null: it is not stored yet. */
  readonly announcementId: number | null
  readonly claim: Claim
  readonly tokens: PrefixTokens
  readonly letter: LetterVerdict
  /** The other checks of the announcement. */
  readonly rpki: Judgement
  readonly asn: Judgement
  /** Undefined until it was looked for. */
  readonly kept: KeptProofs
}

type Proof = Judgement & { readonly kind: AuthorizationKind }

/** `before`: the check as it stands, which tells a proof that is gone from one that never was. */
export function judgeAuthorization(
  kinds: readonly AuthorizationKind[],
  facts: AuthorizationFacts,
  before: Pick<Judgement, 'state' | 'evidence'> | undefined,
  now: Date,
): Judgement {
  const proofs = kinds.map((kind) => ({ ...judges[kind](facts, now), kind }))
  const evidence = { proofs: proofs.map(presentProof) }
  const valid = proofs.find(({ state }) => state === 'valid')
  if (valid) {
    const rest = { state: 'valid' as const, note: valid.note, fix: null, checked: valid.checked }
    return { ...rest, evidence: { by: valid.kind, ...valid.evidence, ...evidence } }
  }
  const fix = fixOf(proofs)
  const letter = proofs.find(({ kind }) => kind === 'letter')
  if (letter && letter.state !== 'missing') {
    const { state, note, checked } = letter
    return { state, note, checked, fix, evidence: { ...letter.evidence, ...evidence } }
  }
  const lost = lostKind(before)
  if (lost !== undefined) {
    const gone = proofs.find(({ kind }) => kind === lost)
    const note = `The proof that authorized the announcement is gone: ${gone?.note ?? 'the provider no longer accepts it.'}`
    return { state: 'expired', note, evidence: { ...evidence, lost }, fix, checked: gone?.checked ?? now }
  }
  const letterEvidence = letter?.evidence ?? {}
  return {
    state: 'missing',
    note: noteOf(proofs),
    evidence: { ...letterEvidence, ...evidence },
    fix,
    checked: now,
  }
}

/** The kind by which it was authorised until now, unless it was a letter, whose own end is told by itself. */
function lostKind(before: Pick<Judgement, 'state' | 'evidence'> | undefined): unknown {
  if (before?.state === 'expired') return before.evidence['lost']
  const by = before?.state === 'valid' ? before.evidence['by'] : undefined
  return by === 'letter' ? undefined : by
}

/** One kind is told as such; of several any is enough. */
function noteOf(proofs: readonly Proof[]): string {
  const [only] = proofs
  return proofs.length === 1
    ? only!.note
    : 'Nothing authorizes the announcement yet. One of these proofs is enough.'
}

function fixOf(proofs: readonly Proof[]): string | null {
  const fixes = proofs.filter(({ fix }) => fix !== null)
  if (proofs.length === 1 || fixes.length === 0) return fixes[0]?.fix ?? null
  return fixes.map(({ kind, fix }) => `${kind}:\n${fix}`).join('\n\n')
}

const presentProof = ({ kind, state, note, fix, checked }: Proof): AuthorizationProof => ({
  kind,
  state,
  note,
  fix,
  checked: checked?.toISOString() ?? null,
})

const judges: Record<AuthorizationKind, (facts: AuthorizationFacts, now: Date) => Judgement> = {
  letter: judgeLetter,
  roa: judgeRoa,
  dns_txt: ({ claim, tokens, kept }, now) => kept.dns_txt ?? notYet(txtFix(claim.prefix, tokens), now),
  rdap: ({ tokens, kept }, now) => kept.rdap ?? notYet(rdapFix(tokens), now),
}

function notYet(fix: string | null, now: Date): Judgement {
  return { state: 'missing', note: 'It has not been checked yet.', evidence: {}, fix, checked: now }
}

function judgeLetter({ announcementId, letter }: AuthorizationFacts, now: Date): Judgement {
  const { state, note, letterId, validUntil } = letter
  const evidence = { letter_id: letterId, valid_until: validUntil?.toISOString() ?? null }
  const asks = state !== 'valid' && state !== 'pending'
  const path = `/v3/ipam/announcements/${announcementId ?? '{announcement_id}'}/loa`
  const fix = asks ? `POST ${path} with a signed letter of authorization; GET ${path}/draft makes one` : null
  return { state, note, evidence, fix, checked: now }
}

/** A signature can be checked, ink cannot; but a ROA alone says nothing about who asks. */
function judgeRoa({ claim, rpki, asn }: AuthorizationFacts, now: Date): Judgement {
  const rest = { evidence: {}, checked: now }
  if (rpki.state !== 'valid') {
    const fix = roaFix(claim.prefix, claim.originAsn)
    return { state: 'missing', note: 'There is no valid ROA for the announcement.', fix, ...rest }
  }
  if (asn.state !== 'valid') {
    const note = `A ROA counts once AS${claim.originAsn} is verified for the team.`
    return { state: 'missing', note, fix: `GET /v3/inventory/asns/${claim.originAsn}/verify`, ...rest }
  }
  const note = `A valid ROA of AS${claim.originAsn}, which is verified for the team, authorizes the announcement.`
  return { state: 'valid', note, fix: null, ...rest }
}
