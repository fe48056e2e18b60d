// The check `loa`: whether the holder of the prefix has authorized the announcement, by any of the kinds of proof that the
// operator accepts. Pure.
import type { AuthorizationKind, AuthorizationProof } from '@pharos/contract/byoip/announcement-checks'
import type { CheckTarget, LetterVerdict } from './check-rules.ts'
import { roaFix } from './check-fix.ts'
import { rdapFix, txtFix } from './prefix-proof.ts'
import type { PrefixTokens } from './prefix-token.ts'
import { explain, type CheckResult, type Explanation } from './validation.ts'

/** The kinds that are queried and stored separately. */
export const storedKinds = ['dns_txt', 'rdap'] as const
export type StoredKind = (typeof storedKinds)[number]
export type StoredProofs = Partial<Readonly<Record<StoredKind, CheckResult>>>

/** The facts about each kind of proof. */
export type AuthorizationFacts = {
  /** Null: the announcement is not stored yet. */
  readonly announcementId: number | null
  readonly target: CheckTarget
  readonly tokens: PrefixTokens
  readonly letter: LetterVerdict
  /** The other checks of the announcement. */
  readonly rpki: CheckResult
  readonly asn: CheckResult
  /** Undefined before the first query. */
  readonly stored: StoredProofs
}

type Proof = CheckResult & { readonly kind: AuthorizationKind }

/** `before`: the stored check, which distinguishes a lost proof from a proof that never existed. */
export function evaluateAuthorization(
  kinds: readonly AuthorizationKind[],
  facts: AuthorizationFacts,
  before: Pick<CheckResult, 'state' | 'evidence'> | undefined,
  now: Date,
): CheckResult {
  const proofs = kinds.map((kind) => ({ ...evaluators[kind](facts, now), kind }))
  const evidence = { proofs: proofs.map(presentProof) }
  const valid = proofs.find(({ state }) => state === 'valid')
  if (valid) {
    const rest = { state: 'valid' as const, fix: null, checked: valid.checked }
    return { ...rest, ...reasonOf(valid), evidence: { by: valid.kind, ...valid.evidence, ...evidence } }
  }
  const fix = fixOf(proofs)
  const letter = proofs.find(({ kind }) => kind === 'letter')
  if (letter && letter.state !== 'missing') {
    const { state, checked } = letter
    return { state, ...reasonOf(letter), checked, fix, evidence: { ...letter.evidence, ...evidence } }
  }
  const lost = lostKind(before)
  if (lost !== undefined) {
    const gone = proofs.find(({ kind }) => kind === lost)
    const proof = gone ? { reason: gone.reason, attrs: gone.attrs } : null
    const reason = explain('proof_lost', { proof })
    return {
      state: 'expired',
      ...reason,
      evidence: { ...evidence, lost },
      fix,
      checked: gone?.checked ?? now,
    }
  }
  const letterEvidence = letter?.evidence ?? {}
  return {
    state: 'missing',
    ...missingReason(proofs),
    evidence: { ...letterEvidence, ...evidence },
    fix,
    checked: now,
  }
}

/** Returns the kind that authorized the announcement until now; undefined for a letter, which has its own end date. */
function lostKind(before: Pick<CheckResult, 'state' | 'evidence'> | undefined): unknown {
  if (before?.state === 'expired') return before.evidence['lost']
  const by = before?.state === 'valid' ? before.evidence['by'] : undefined
  return by === 'letter' ? undefined : by
}

const reasonOf = ({ reason, attrs, note }: Explanation): Explanation => ({ reason, attrs, note })

/** Returns the reason of the only accepted kind; if several are accepted, a common one. */
const missingReason = (proofs: readonly Proof[]): Explanation =>
  proofs.length === 1 ? reasonOf(proofs[0]!) : explain('authorization_missing')

function fixOf(proofs: readonly Proof[]): string | null {
  const fixes = proofs.filter(({ fix }) => fix !== null)
  if (proofs.length === 1 || fixes.length === 0) return fixes[0]?.fix ?? null
  return fixes.map(({ kind, fix }) => `${kind}:\n${fix}`).join('\n\n')
}

const presentProof = ({ kind, state, reason, attrs, note, fix, checked }: Proof): AuthorizationProof => ({
  kind,
  state,
  reason,
  attrs,
  note,
  fix,
  checked: checked?.toISOString() ?? null,
})

const evaluators: Record<AuthorizationKind, (facts: AuthorizationFacts, now: Date) => CheckResult> = {
  letter: evaluateLetter,
  roa: evaluateRoa,
  dns_txt: ({ target, tokens, stored }, now) => stored.dns_txt ?? notYet(txtFix(target.prefix, tokens), now),
  rdap: ({ tokens, stored }, now) => stored.rdap ?? notYet(rdapFix(tokens), now),
}

function notYet(fix: string | null, now: Date): CheckResult {
  return { state: 'missing', ...explain('not_checked'), evidence: {}, fix, checked: now }
}

function evaluateLetter({ announcementId, letter }: AuthorizationFacts, now: Date): CheckResult {
  const { state, letterId, validUntil } = letter
  const evidence = { letter_id: letterId, valid_until: validUntil?.toISOString() ?? null }
  const isRequired = state !== 'valid' && state !== 'pending'
  const path = `/v3/ipam/announcements/${announcementId ?? '{announcement_id}'}/loa`
  const fix = isRequired
    ? `POST ${path} with a signed letter of authorization; GET ${path}/draft returns a draft to sign`
    : null
  return { state, ...reasonOf(letter), evidence, fix, checked: now }
}

/** A ROA is signed, unlike a letter on paper, but does not identify the team: the ASN must be verified too. */
function evaluateRoa({ target, rpki, asn }: AuthorizationFacts, now: Date): CheckResult {
  const rest = { evidence: {}, checked: now }
  if (rpki.state !== 'valid') {
    const fix = roaFix(target.prefix, target.originAsn)
    return { state: 'missing', ...explain('proof_roa_missing'), fix, ...rest }
  }
  if (asn.state !== 'valid') {
    const reason = explain('proof_roa_asn_unverified', { asn: target.originAsn })
    return { state: 'missing', ...reason, fix: `GET /v3/inventory/asns/${target.originAsn}/verify`, ...rest }
  }
  return { state: 'valid', ...explain('proof_roa_valid', { asn: target.originAsn }), fix: null, ...rest }
}
